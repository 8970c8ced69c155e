// Gzipped bodies, bounded: what a small body would inflate to is never held beyond its cap, nor built to find that out.
import { createGunzip, gunzip, gunzipSync } from "node:zlib";

export class Oversize extends Error {}
export class BadGzip extends Error {}

/** Below this many bytes another thread costs more than the work. */
const SMALL = 4096;
const SMALL_INFLATED = 128 * 1024;
/** Inflated in one go; more is measured first. */
const AT_ONCE = 16 * 1024 * 1024;

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** Bodies inflated at the same time: each may come to be as large as its cap. */
const TOGETHER = 4;
let inflating = 0;
const waiting: (() => void)[] = [];

export async function inflate(bytes: Buffer, cap: number): Promise<Buffer> {
  if (bytes.length <= SMALL) {
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.min(cap, SMALL_INFLATED) });
    } catch (error) {
      if (!isTooLarge(error)) throw new BadGzip("broken gzip");
      if (cap <= SMALL_INFLATED) throw new Oversize();
    }
  }
  if (inflating >= TOGETHER) await new Promise<void>((resolve) => waiting.push(resolve));
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
    return await gunzipTo(bytes, Math.min(cap, AT_ONCE));
  } catch (error) {
    if (!isTooLarge(error)) throw new BadGzip("broken gzip");
    if (cap <= AT_ONCE) throw new Oversize();
  }
  await measure(bytes, cap);
  return gunzipTo(bytes, cap);
}

const gunzipTo = (bytes: Buffer, maxOutputLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength }, (error, inflated) => (error ? reject(error) : resolve(inflated)));
  });

/** Throws when the body inflates to more than the cap; holds none of it. */
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
