// Reading request bodies: bounded as sent and, when gzipped, bounded again as inflated.
import { createGunzip } from "node:zlib";
import { ApiError, badRequest, tooLarge, unsupportedMediaType } from "./errors.ts";

export type ByteSource = AsyncIterable<Uint8Array>;

/**
 * The whole body. More than `limit` bytes, as sent or inflated, is 413; a broken gzip stream 400.
 * Inflation stops at the limit: what a small body would inflate to is never built.
 */
export async function readBytes(
  source: ByteSource | null,
  encoding: string | null | undefined,
  limit: number,
): Promise<Buffer> {
  if (source === null) return Buffer.alloc(0);
  const coding = (encoding ?? "identity").trim().toLowerCase();
  if (coding === "identity" || coding === "") return collect(source, limit);
  if (coding !== "gzip" && coding !== "x-gzip")
    throw unsupportedMediaType(`Content-Encoding ${coding} is not known; use gzip`);
  const gunzip = createGunzip();
  const feed = feedInto(gunzip, source, limit);
  feed.catch(() => {});
  try {
    const bytes = await collect(gunzip, limit);
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

async function collect(source: ByteSource, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1
    ? Buffer.from(chunks[0]!.buffer, chunks[0]!.byteOffset, chunks[0]!.byteLength)
    : Buffer.concat(chunks, size);
}

const MAX_DEPTH = 64;

/** JSON text as a value; nesting over 64 is refused, and so are keys that would touch prototypes. */
export function parseJson(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw badRequest("json decoder error");
  }
  checkShape(value, MAX_DEPTH);
  return value;
}

/** One walk over what was parsed; lists of 100,000 ids go through here. */
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
