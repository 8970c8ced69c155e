// Large files that hosts get, such as bootstrap packages: on disk, or at an address. They are read twice, in pieces, and
// never kept in memory: for their digest, and to upload them.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import type { UploadSource } from "../../api/bodies.ts";
import { FileProblem, requireRegular } from "./disk.ts";

export interface LargeFile extends UploadSource {
  readonly size: number;
  readonly sha256: string;
  /** Path or address of the file. */
  readonly origin: string;
}

const CHUNK_BYTES = 256 * 1024;

export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text);

/** Reads the whole file. Throws an error with the reason. */
export async function readLargeFile(origin: string, limit: number): Promise<LargeFile> {
  const name = isUrl(origin) ? nameIn(origin) : basename(origin);
  const open = (start = 0) => (isUrl(origin) ? download(origin, start) : onDisk(origin, start));
  if (!isUrl(origin) && (await sizeOf(origin)) > limit) throw tooLarge(limit);
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of open()) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    hash.update(chunk);
  }
  if (size === 0) throw new Error("is empty");
  return { origin, name, size, sha256: hash.digest("hex"), canRepeat: true, open };
}

function nameIn(url: string): string {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const tooLarge = (limit: number): Error => new Error(`is larger than ${limit} bytes`);

const sizeOf = (path: string): Promise<number> =>
  requireRegular(path).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof FileProblem) throw error;
    throw new Error(error.code === "EISDIR" ? "is not a file" : `cannot be read (${error.code})`);
  });

async function* onDisk(path: string, start: number): AsyncGenerator<Uint8Array> {
  await sizeOf(path);
  for await (const chunk of createReadStream(path, { start, highWaterMark: CHUNK_BYTES })) yield chunk as Buffer;
}

async function* download(url: string, start: number): AsyncGenerator<Uint8Array> {
  // Compressed replies have other positions.
  const headers = { "accept-encoding": "identity", ...(start > 0 ? { range: `bytes=${start}-` } : {}) };
  const reply = await fetch(url, { headers }).catch((error: Error) => {
    throw new Error(`cannot be downloaded: ${causeOf(error)}`);
  });
  if (!reply.ok || reply.body === null)
    throw new Error(`cannot be downloaded: the server replied with ${reply.status}`);
  let skipped = reply.status === 206 ? start : 0;
  for await (const chunk of reply.body) {
    const tail = chunk.subarray(Math.min(start - skipped, chunk.length));
    skipped += chunk.length - tail.length;
    if (tail.length > 0) yield tail;
  }
}

const causeOf = ({ message, cause }: Error): string => (cause instanceof Error ? cause.message : message);
