// Downloads a package, continuing what an earlier attempt has left.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type StreamedReply, Unreachable } from "../net/connection.ts";
import { readObject, replaceFile } from "../state/files.ts";

const GiB = 1024 ** 3;
const LARGEST = 20 * GiB;
/** Space that stays free for the system itself. */
const SPARE = 64 * 1024 ** 2;

/** A download that also fails when it is tried again. */
export class DownloadFailed extends Error {}

interface PackageSource {
  /** Requests the package, with headers of the request. */
  open(headers: Record<string, string>): Promise<StreamedReply>;
}

interface DownloadOptions {
  readonly folder: string;
  /** What the file must have, hexadecimal. Default: the digest that is sent with the file. */
  readonly sha256?: string | null;
  /** Bytes. */
  readonly largest?: number;
  /** Bytes that can be written to the folder. */
  readonly free?: (folder: string) => Promise<number>;
}

interface ExpectedFile {
  readonly etag: string;
  /** The SHA-256 of the file, hexadecimal; empty if the server has sent none. */
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
}

const header = ({ headers }: StreamedReply, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
};

/** The file's name as the server sends it (RFC 6266), without what could lead to another folder. */
export function fileNameIn(disposition: string): string {
  const exact = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition)?.[1];
  const plain = /filename="([^"]*)"/i.exec(disposition)?.[1] ?? "";
  let name = plain;
  try {
    if (exact !== undefined) name = decodeURIComponent(exact);
  } catch {
    // The plain name is also there.
  }
  const last = name.split(/[\\/]/).at(-1)!;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const safe = last.replace(/[\u0000-\u001f\u007f<>:"|?*]/g, "_").replace(/^\.+/, "");
  return Buffer.from(safe).length > 200 ? safe.slice(-60) : safe || "package";
}

/** RFC 9530. */
const digestIn = (text: string): string => {
  const encoded = /sha-256=:([A-Za-z0-9+/=]+):/.exec(text)?.[1];
  return encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("hex");
};

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

const freeIn = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/**
 * Returns the path of the complete file. Throws `DownloadFailed` for what cannot succeed later either; after any
 * other error the next call continues.
 */
export async function downloadPackage(source: PackageSource, options: DownloadOptions): Promise<string> {
  const { folder, largest = LARGEST, free = freeIn } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, "download");
  const cached = await readExpected(folder);
  const have = cached === null ? 0 : ((await stat(draft).catch(() => null))?.size ?? 0);
  const isComplete = cached !== null && have === cached.size;
  if (isComplete) return finish(folder, draft, cached, true);

  const range = { range: `bytes=${have}-`, ...(cached === null ? {} : { "if-range": cached.etag }) };
  const reply = await source.open(have > 0 && cached?.etag ? range : {});
  const { from, expected: sent } = await begun(reply, have);
  const expected = { ...sent, sha256: options.sha256 || sent.sha256 };
  const size = expected.size;
  if (size > largest) throw new DownloadFailed(`the package has ${size} bytes; the agent accepts up to ${largest}`);
  const room = (await free(folder)) - SPARE;
  if (size - from > room)
    throw new DownloadFailed(
      `the package needs ${size - from} bytes, and ${Math.max(0, room)} are free in ${folder}. Free some space, then install it again.`,
    );
  await replaceFile(join(folder, "expected.json"), JSON.stringify(expected));
  const file = await open(draft, from > 0 ? "r+" : "w", 0o600);
  let at = from;
  try {
    await file.truncate(from);
    for await (const part of reply.parts) {
      if (at + part.length > size) throw new DownloadFailed("the server sent more bytes than it announced");
      await file.write(part, 0, part.length, at);
      at += part.length;
    }
    await file.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC")
      throw new DownloadFailed(`the disk is full: ${at} of ${size} bytes of the package were downloaded`);
    throw error;
  } finally {
    await file.close();
  }
  if (at < size) throw new Unreachable(`the download ended after ${at} of ${size} bytes`);
  return finish(folder, draft, expected, from > 0);
}

async function readExpected(folder: string): Promise<ExpectedFile | null> {
  const stored = await readObject(join(folder, "expected.json"));
  if (stored === null) return null;
  const { etag, sha256, size, name } = stored;
  return { etag: String(etag), sha256: String(sha256), size: Number(size), name: fileNameIn(`filename="${name}"`) };
}

/** Where the bytes of the reply belong, and what the whole file has to be. */
async function begun(reply: StreamedReply, have: number): Promise<{ from: number; expected: ExpectedFile }> {
  const { status } = reply;
  const about = {
    etag: header(reply, "etag"),
    sha256: digestIn(header(reply, "repr-digest")),
    name: fileNameIn(header(reply, "content-disposition")),
  };
  if (status === 206) {
    const [, start, , size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header(reply, "content-range")) ?? [];
    if (Number(start) === have) return { from: have, expected: { ...about, size: Number(size) } };
  }
  if (status === 200) {
    const length = header(reply, "content-length");
    if (!/^\d+$/.test(length)) throw new DownloadFailed("the server does not send the size of the package");
    return { from: 0, expected: { ...about, size: Number(length) } };
  }
  const text = (await reply.text()).slice(0, 300);
  const message = `the server answered the request for the package with status ${status}: ${text}`;
  // What is overloaded, restarts or does not know the key will be right later.
  if (status >= 500 || [401, 408, 416, 425, 429].includes(status) || status < 400) throw new Unreachable(message);
  throw new DownloadFailed(message);
}

/** A damaged file that came in several parts is downloaded again. */
async function finish(folder: string, draft: string, expected: ExpectedFile, isContinued: boolean): Promise<string> {
  const sha256 = expected.sha256 === "" ? "" : await sha256Of(draft);
  if (sha256 !== expected.sha256) {
    await rm(draft, { force: true });
    const message = `the downloaded package has the SHA-256 ${sha256} instead of ${expected.sha256}`;
    throw isContinued ? new Unreachable(message) : new DownloadFailed(message);
  }
  const place = join(folder, "package");
  await mkdir(place, { recursive: true, mode: 0o700 });
  const path = join(place, expected.name);
  await rename(draft, path);
  return path;
}
