// Downloads that resume where they were interrupted.
import { type FileHandle, open } from "node:fs/promises";
import { ApiCallError } from "../../client/errors.ts";
import { sha256In } from "../../text/digest-field.ts";
import { CliError, failed } from "../errors.ts";
import { cannotWrite } from "./file-errors.ts";

interface OpenedDownload {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
}

/** Requests the content with these additional headers. */
export type Open = (headers: Record<string, string>, signal: AbortSignal) => Promise<OpenedDownload>;

export interface Remote {
  readonly size: number;
  readonly etag: string;
  /** The SHA-256 digest of the whole content in hex (RFC 9530), or null if the server does not name it. */
  readonly sha256: string | null;
  /** The file name from the server, reduced so that it is never a path. */
  readonly name: string;
}

export interface Waiting {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  note(message: string): void;
}

const MAX_TRIES = 5;
/** A connection counts as broken if no byte arrives for this long. */
const SILENCE_MS = 60_000;
/** Number of bytes at the beginning and at the end of an existing file that are compared with the server's. */
const COMPARED_BYTES = 64 * 1024;

/** Fetches size, ETag and name of the download. */
export async function fetchRemote(ask: Open): Promise<Remote> {
  const { signal } = new AbortController();
  const { status, headers, body } = await ask({ range: "bytes=0-0" }, signal).catch((error: unknown) => {
    // An empty content has no first byte.
    if (error instanceof ApiCallError && error.status === 416) return ask({}, signal);
    throw error;
  });
  for await (const _ of body);
  const isEmpty = status === 200 && headers.get("content-length") === "0";
  const [, total = isEmpty ? "0" : ""] = /^bytes 0-0\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const size = total === "" ? Number.NaN : Number(total);
  const etag = headers.get("etag");
  if (Number.isNaN(size) || etag === null) throw failed("the server does not report the size of the download");
  const [, name = ""] = /filename="([^"]+)"/.exec(headers.get("content-disposition") ?? "") ?? [];
  const sha256 = sha256In(headers.get("repr-digest") ?? "");
  return { size, etag, sha256, name: name.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "") || "download" };
}

/** Passes on the bytes from `start`, each exactly once; resumes after lost connections. */
export async function fetchFrom(
  ask: Open,
  { size, etag }: Remote,
  start: number,
  take: (bytes: Uint8Array, at: number) => Promise<void>,
  { sleep, note }: Waiting,
): Promise<void> {
  let at = start;
  for (let failures = 0; at < size; ) {
    const before = at;
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new Error("the server stopped sending")), SILENCE_MS);
    };
    let taking = false;
    try {
      heard();
      const { status, headers, body } = await ask({ range: `bytes=${at}-`, "if-range": etag }, silence.signal);
      if (status !== 206 || headers.get("content-range") !== `bytes ${at}-${size - 1}/${size}`)
        throw failed("the file on the server has changed", "Start over with --force.");
      for await (const bytes of body) {
        if (bytes.length > size - at) throw failed("the server sent more bytes than it announced");
        clearTimeout(timer);
        taking = true;
        await take(bytes, at);
        taking = false;
        heard();
        at += bytes.length;
      }
      if (at < size) throw new Error("the connection ended early");
    } catch (error) {
      // A retry does not help after a refusal by the server or a failed write.
      if (taking || error instanceof CliError || error instanceof ApiCallError) throw error;
      failures = at > before ? 1 : failures + 1;
      if (failures >= MAX_TRIES) throw error;
      const ms = 500 * 2 ** failures;
      note(`the connection was lost after ${at} of ${size} bytes; retrying in ${ms / 1000} s`);
      await sleep(ms);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Opens the file to continue with; `at` is the number of bytes in it. Its content must be the beginning of the
 * download, otherwise it is overwritten with `force`, or refused.
 */
export async function openPartial(
  path: string,
  ask: Open,
  remote: Remote,
  force: boolean,
): Promise<{ file: FileHandle; at: number }> {
  let file: FileHandle;
  try {
    file = await open(path, "wx+", 0o600);
    return { file, at: 0 };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw cannotWrite(error, path);
    file = await open(path, "r+").catch((cause: unknown) => {
      throw cannotWrite(cause, path);
    });
  }
  try {
    const { size } = await file.stat();
    if (size <= remote.size && (await agrees(file, size, ask, remote))) return { file, at: size };
    if (!force)
      throw new CliError("conflict", `${path} already exists with other content`, "Overwrite it with --force.");
    await file.truncate(0);
    return { file, at: 0 };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Whether the file begins and ends with the bytes that the server has at these positions. Both are compared, because
 * the end of an archive may be nothing but padding, while its beginning contains the names of its files.
 */
async function agrees(file: FileHandle, size: number, ask: Open, remote: Remote): Promise<boolean> {
  const tail = Math.max(0, size - COMPARED_BYTES);
  const parts: [number, number][] = [[0, Math.min(size, COMPARED_BYTES)]];
  if (tail > 0) parts.push([tail, size]);
  for (const [from, to] of parts) if (to > from && !(await agreesAt(file, from, to, ask, remote))) return false;
  return true;
}

async function agreesAt(file: FileHandle, from: number, to: number, ask: Open, remote: Remote): Promise<boolean> {
  const mine = Buffer.alloc(to - from);
  await file.read(mine, 0, mine.length, from);
  const range = { range: `bytes=${from}-${to - 1}`, "if-range": remote.etag };
  const { status, body } = await ask(range, new AbortController().signal);
  if (status !== 206) return false;
  const theirs: Uint8Array[] = [];
  for await (const bytes of body) theirs.push(bytes);
  return Buffer.concat(theirs).equals(mine);
}
