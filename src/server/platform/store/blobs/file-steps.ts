// Steps of storing blobs in files.
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreUnavailable } from "../store.ts";
import { NoSuchBlob } from "./blobs.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EROFS"]);
export const FOLDER = { recursive: true, mode: 0o700 } as const;

/** Chunks are written together until they have this many bytes: each write costs a turn of a thread. */
const WRITE_BYTES = 1024 * 1024;

/**
 * Writes the content at the end of the file, whose length is `start`. Returns its number of bytes. `check` is called
 * with each chunk and the number of bytes up to its end, before it is written. One part is written while the next one
 * arrives.
 */
export async function writeFrom(
  file: FileHandle,
  start: number,
  content: AsyncIterable<Uint8Array>,
  check: (chunk: Uint8Array, size: number) => void,
): Promise<number> {
  let size = 0;
  let written = 0;
  let waiting: Uint8Array[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    await writing;
    writing = writeAll(file, waiting, start + written);
    // Awaited with the next part; until then a failure is not unhandled.
    writing.catch(() => undefined);
    waiting = [];
    written = size;
  };
  try {
    for await (const chunk of content) {
      check(chunk, size + chunk.length);
      size += chunk.length;
      waiting.push(chunk);
      if (size - written >= WRITE_BYTES) await write();
    }
    if (size > written) await write();
  } finally {
    await writing.catch(() => undefined);
  }
  await writing;
  return size;
}

/** A single write may store fewer bytes than it was given. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[], start: number): Promise<void> {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten: done } = await file.writev(chunks, start);
  if (done === bytes) return;
  const rest = Buffer.concat(chunks).subarray(done);
  for (let at = 0; at < rest.length; )
    at += (await file.write(rest, at, rest.length - at, start + done + at)).bytesWritten;
}

/** Creates missing parent directories and makes each of them durable by syncing the directory that contains it. */
export async function ensureFolder(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, FOLDER);
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length && created !== root; created = dirname(created))
    await syncFolder(dirname(created));
}

export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open directories; its file system logs renames by itself.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

/** A file that cannot be written because of a full disk can be written later. */
export const writeError = (error: unknown): unknown =>
  FULL.has(codeOf(error)) ? new StoreUnavailable("the file cannot be stored at the moment", { cause: error }) : error;

export async function orNoSuchBlob<R>(key: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw isMissing(error) ? new NoSuchBlob(key) : error;
  }
}
