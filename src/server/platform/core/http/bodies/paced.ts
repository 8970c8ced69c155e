import { type ApiError, tooSlow } from "../../errors.ts";
import { type ByteSource, incomplete } from "../body.ts";

/** The sender is too slow if fewer bytes than this arrive in so much time. Only the time in which the server waits counts. */
const STRETCH_MS = 10_000;
const STRETCH_BYTES = 10 * 1024;

interface Failures {
  readonly slow: () => Error;
  readonly broken: (error: unknown) => unknown;
}
/** Failures of requests: 408 for a slow sender, and 400 if the connection breaks. */
const ofRequests: Failures = { slow: tooSlow, broken: incomplete };

/** The bytes of a body that may take as long as its size requires, as long as its sender keeps sending. */
export async function* paced(
  source: ByteSource,
  stretchMs = STRETCH_MS,
  failures = ofRequests,
): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let waited = 0;
  let arrived = 0;
  try {
    for (;;) {
      const began = performance.now();
      const next = await within(chunks.next(), stretchMs - waited, failures);
      if (next.done) return;
      waited += performance.now() - began;
      arrived += next.value.byteLength;
      if (waited >= stretchMs && arrived < STRETCH_BYTES) throw failures.slow();
      if (arrived >= STRETCH_BYTES) {
        waited = 0;
        arrived = 0;
      }
      yield next.value;
    }
  } finally {
    void chunks.return?.()?.catch(() => {});
  }
}

/** The bytes, unless there are more than the limit. */
export async function* upTo(source: ByteSource, limit: number, tooMany: () => ApiError): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > limit) throw tooMany();
    yield chunk;
  }
}

async function within<T>(work: Promise<T>, ms: number, { slow, broken }: Failures): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(slow()), Math.max(0, ms));
  });
  try {
    return await Promise.race([
      work.catch((error: unknown): never => {
        throw broken(error);
      }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
