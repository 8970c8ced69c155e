// Reads request bodies, with a limit on the size as sent and, for gzip, on the uncompressed size too.
import { createGunzip } from "node:zlib";
import { isRecord } from "../../../../text/record.ts";
import { ApiError, badRequest, invalid, overloaded, tooLarge, tooSlow, unsupportedMediaType } from "../errors.ts";
import { limit } from "../limits.ts";
import type { BodyRoom, Cut, Sender } from "./body-room.ts";

export type ByteSource = AsyncIterable<Uint8Array>;

/** The sender of a body, and the memory budget that it counts against. */
export interface BodySource {
  readonly room: BodyRoom;
  readonly sender: Sender;
}

/** Who may send how much: callers without a proved identity send small bodies. */
export interface Admission {
  /** Maximum size of the body of a caller who has not proved who it is. */
  readonly strangerLimit: number;
  /**
   * Throws unless the caller may go on, by what has arrived: the beginning of a body that is larger than
   * `strangerLimit`, or a whole one.
   */
  check(bytes: Buffer, isLarger: boolean): Promise<void>;
  /** Decodes what has arrived, and charges the caller for it. */
  measure<T>(work: () => T): T;
  /** Charges the caller for what is not measured. */
  charge(milliseconds: number): void;
}

/** Milliseconds that it costs to receive or decompress a MiB, and to begin with decompressing. */
const RECEIVING = 5;
const DECOMPRESSING = 1;

/** The body ended with an error of the connection: not an error of the server, so it must not be logged as one. */
export const incomplete = () => badRequest("the connection was closed before the whole body arrived");
export const noRoom = () => overloaded("the server has no room for the request's body now; try again");

/**
 * Reads the whole body. Throws 413 for more than `limit` bytes, as sent or uncompressed, and 400 for a broken gzip
 * stream. Decompression stops at the limit, so that a small body cannot expand to fill memory.
 */
export async function readBytes(
  source: ByteSource | null,
  encoding: string | null | undefined,
  limit: number,
  from?: BodySource,
  admission?: Admission,
): Promise<Buffer> {
  if (source === null) return Buffer.alloc(0);
  if (from === undefined) return readCoded(source, encoding, limit, admission);
  let cut: Cut | null = null;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(cut === "too slow" ? tooSlow() : noRoom());
  });
  stopped.catch(() => {});
  const claim = from.room.claim(from.sender, (why) => {
    cut = why;
    stop();
  });
  const counted = async function* () {
    const chunks = source[Symbol.asyncIterator]();
    let size = 0;
    try {
      for (;;) {
        // Without the race, the server would wait for a sender that has stopped sending.
        const next = await Promise.race([chunks.next().catch(failIncomplete), stopped]);
        if (next.done) return;
        size += next.value.byteLength;
        // The content is too large for this endpoint, whatever room there is: the sender must not try again.
        if (size > limit) throw tooLarge(limit);
        if (!claim.add(next.value.byteLength)) throw noRoom();
        yield next.value;
      }
    } finally {
      void chunks.return?.()?.catch(() => {});
    }
  };
  try {
    return await readCoded(counted(), encoding, limit, admission);
  } finally {
    claim.release();
  }
}

const failIncomplete = (): never => {
  throw incomplete();
};

async function readCoded(
  source: ByteSource,
  encoding: string | null | undefined,
  limit: number,
  admission?: Admission,
): Promise<Buffer> {
  const coding = (encoding ?? "identity").trim().toLowerCase();
  if (coding === "identity" || coding === "") return collect(source, limit, admission);
  if (coding !== "gzip" && coding !== "x-gzip")
    throw unsupportedMediaType(`Content-Encoding ${coding} is not known; use gzip`);
  admission?.charge(DECOMPRESSING);
  const gunzip = createGunzip();
  const feed = feedInto(gunzip, source, limit);
  // Without this, the reader would wait forever for the rest of an upload that was cut off.
  feed.catch((error: Error) => gunzip.destroy(error));
  try {
    const bytes = await collect(gunzip, limit, admission);
    await feed;
    return bytes;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest("gzip decoder error");
  } finally {
    gunzip.destroy();
  }
}

async function feedInto(gunzip: ReturnType<typeof createGunzip>, source: ByteSource, limit: number): Promise<void> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > limit) {
      gunzip.destroy(tooLarge(limit));
      return;
    }
    if (!gunzip.write(chunk))
      await new Promise<void>((resolve) => {
        gunzip.once("drain", resolve);
        gunzip.once("close", resolve);
      });
    if (gunzip.destroyed) return;
  }
  gunzip.end();
}

async function collect(source: ByteSource, limit: number, admission?: Admission): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isChecked = admission === undefined;
  for await (const chunk of source) {
    size += chunk.byteLength;
    admission?.charge((chunk.byteLength / (1024 * 1024)) * RECEIVING);
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
    if (isChecked || size <= admission!.strangerLimit) continue;
    await admission!.check(joined(chunks, size), true);
    isChecked = true;
  }
  const bytes = joined(chunks, size);
  if (!isChecked) await admission!.check(bytes, false);
  return bytes;
}

const joined = (chunks: readonly Uint8Array[], size: number): Buffer =>
  chunks.length === 1
    ? Buffer.from(chunks[0]!.buffer, chunks[0]!.byteOffset, chunks[0]!.byteLength)
    : Buffer.concat(chunks, size);

export const formLimit = limit({
  what: "fields of a form",
  max: 100,
  unit: "entries",
  per: "message",
  beyond: "The form is refused with 400.",
});

/** The fields of a form post. As many as fit into a body would take a long time. */
export function formFields(content: Buffer): URLSearchParams {
  let fields = 1;
  for (let at = content.indexOf("&"); at !== -1; at = content.indexOf("&", at + 1))
    if (++fields > formLimit.max) throw badRequest(`the form has more than ${formLimit.max} fields`);
  return new URLSearchParams(content.toString("utf8"));
}

const MAX_DEPTH = 64;

/**
 * What happens to halves of characters (lone surrogates), which JSON can spell but many parsers refuse: 422 that names the
 * field, or U+FFFD instead of them.
 */
type HalfCharacters = "refused" | "replaced";

/** Escapes of surrogates, of which a pair is a whole character. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** Parses JSON. Rejects nesting deeper than 64 levels and keys that would change prototypes. */
export function parseJson(bytes: Buffer, halves: HalfCharacters): unknown {
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("json decoder error");
  }
  checkShape(value, MAX_DEPTH);
  return SURROGATE.test(text) && !isWhole(value) ? wholeCharacters(value, halves, []) : value;
}

function isWhole(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWhole);
  return !isRecord(value) || Object.entries(value).every(([key, item]) => key.isWellFormed() && isWhole(item));
}

function wholeCharacters(value: unknown, halves: HalfCharacters, path: readonly string[]): unknown {
  if (typeof value === "string") return wholeText(value, halves, path);
  if (Array.isArray(value)) return value.map((item, i) => wholeCharacters(item, halves, [...path, String(i)]));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = wholeText(key, halves, path);
      return [name, wholeCharacters(item, halves, [...path, name])];
    }),
  );
}

function wholeText(text: string, halves: HalfCharacters, path: readonly string[]): string {
  if (text.isWellFormed()) return text;
  if (halves === "replaced") return text.toWellFormed();
  throw invalid(path.join(".") || "base", "has half of a character (a surrogate without its other half)");
}

/** A single pass over the parsed value, because lists of 100,000 ids are checked too. */
function checkShape(value: unknown, left: number): void {
  if (typeof value !== "object" || value === null) return;
  if (left === 0) throw badRequest("json decoder error: nested too deeply");
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") checkShape(item, left - 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw badRequest('unsupported key provided: "__proto__"');
    checkShape(item, left - 1);
  }
}
