// Inflates gzip bodies within a size limit. Large bodies are measured first, so that oversized ones are never buffered.
import { createGunzip, gunzip, gunzipSync } from "node:zlib";

export class Oversize extends Error {}
export class BadGzip extends Error {}

/** Below this size (bytes) a worker thread costs more than inflating synchronously. */
const SMALL_BYTES = 4096;
const SMALL_INFLATED = 128 * 1024;
/** Bodies with a larger limit are measured by streaming before they are inflated. */
const BUFFERED_MAX = 16 * 1024 * 1024;

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** Maximum number of concurrently inflated bodies; each may grow to its limit. */
const MAX_CONCURRENT = 4;
let inflating = 0;
const waiting: (() => void)[] = [];

export async function inflate(bytes: Buffer, cap: number): Promise<Buffer> {
  if (bytes.length <= SMALL_BYTES) {
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.min(cap, SMALL_INFLATED) });
    } catch (error) {
      if (!isTooLarge(error)) throw new BadGzip("broken gzip");
      if (cap <= SMALL_INFLATED) throw new Oversize();
    }
  }
  if (inflating >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  else inflating++;
  try {
    return await inflateLarge(bytes, cap);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else inflating--;
  }
}

async function inflateLarge(bytes: Buffer, cap: number): Promise<Buffer> {
  try {
    return await gunzipTo(bytes, Math.min(cap, BUFFERED_MAX));
  } catch (error) {
    if (!isTooLarge(error)) throw new BadGzip("broken gzip");
    if (cap <= BUFFERED_MAX) throw new Oversize();
  }
  await measure(bytes, cap);
  return gunzipTo(bytes, cap);
}

const gunzipTo = (bytes: Buffer, maxOutputLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength }, (error, inflated) => (error ? reject(error) : resolve(inflated)));
  });

/** Throws `Oversize` if the body inflates to more than `cap` bytes. Discards the output. */
function measure(bytes: Buffer, cap: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = createGunzip();
    let size = 0;
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > cap) stream.destroy(new Oversize());
    });
    stream.on("error", (error) => reject(error instanceof Oversize ? error : new BadGzip("broken gzip")));
    stream.on("end", resolve);
    stream.end(bytes);
  });
}
