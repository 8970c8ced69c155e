// Reading files whose folders other accounts may write to. A named pipe would block the reader, a device may change when
// it is opened (a watchdog restarts the machine), and some files have no end.
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { within } from "./time-limit.ts";

/** O_PATH of Linux, which Node does not name: a descriptor of a file that is not opened yet (open(2)). */
const O_PATH = 0o10000000;
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;
const PART_BYTES = 64 * 1024;
const READ_MS = 5_000;

/** A folder, pipe, socket, device, or a link where none is allowed. */
class NotRegular extends Error {}

class FileTooLarge extends Error {}

/** The account that a file is read for may not read it. */
class NotReadable extends Error {}

export interface OpenedFile {
  readonly stats: Stats;
  /** Without links. */
  readonly realPath: string;
}

interface ReadOptions {
  readonly maxBytes: number;
  /** True: what is longer is cut. Default: it is refused. */
  readonly cuts?: boolean;
  /** False: the last part of the path must not be a link. */
  readonly followsLinks?: boolean;
  readonly limitMs?: number;
  readonly mayRead?: (file: OpenedFile) => boolean;
}

/** The content of a regular file. Rejects with `NotRegular`, `FileTooLarge`, `NotReadable` or `TimeLimitExceeded`. */
export async function readRegular(path: string, options: ReadOptions): Promise<Buffer> {
  const { limitMs = READ_MS } = options;
  const parts: Buffer[] = [];
  await within(
    limitMs,
    path,
    visitRegular(path, options, (part) => parts.push(part)),
  );
  return Buffer.concat(parts);
}

/** Passes on the content of a regular file, part by part. The time limit is the caller's. */
export async function visitRegular(
  path: string,
  { maxBytes, cuts = false, followsLinks = true, mayRead }: ReadOptions,
  visit: (part: Buffer) => void,
): Promise<void> {
  const file = await openRegular(path, followsLinks);
  try {
    if (mayRead !== undefined && !mayRead(await describe(file, path)))
      throw new NotReadable(`${path}: the owner of the folder may not read it`);
    // Files of the kernel have no size before they are read.
    if (!cuts && (await file.stat()).size > maxBytes)
      throw new FileTooLarge(`${path} is larger than ${maxBytes} bytes`);
    for (let size = 0; ; ) {
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, maxBytes - size + 1));
      const { bytesRead } = await file.read(part, 0, part.length, null);
      if (bytesRead === 0) return;
      const rest = maxBytes - size;
      if (bytesRead > rest && !cuts) throw new FileTooLarge(`${path} is larger than ${maxBytes} bytes`);
      visit(part.subarray(0, Math.min(bytesRead, rest)));
      size += bytesRead;
      if (size > maxBytes) return;
    }
  } finally {
    await file.close();
  }
}

/**
 * On Linux the file is looked at before it is opened, without a moment in which somebody could replace it. Elsewhere a
 * pipe that takes the place of a file in that moment is opened without waiting, and closed.
 */
async function openRegular(path: string, followsLinks: boolean): Promise<FileHandle> {
  const link = followsLinks ? 0 : NO_LINK;
  if (process.platform !== "linux") {
    requireRegular(path, await stat(path));
    return requireOpenedRegular(path, await open(path, READ | link));
  }
  const place = await open(path, O_PATH | link);
  try {
    requireRegular(path, await place.stat());
    return await requireOpenedRegular(path, await open(`/proc/self/fd/${place.fd}`, READ));
  } finally {
    await place.close();
  }
}

function requireRegular(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new NotRegular(`${path} is not a regular file`);
}

async function requireOpenedRegular(path: string, file: FileHandle): Promise<FileHandle> {
  try {
    requireRegular(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function describe(file: FileHandle, path: string): Promise<OpenedFile> {
  const stats = await file.stat();
  if (process.platform === "linux") return { stats, realPath: await readlink(`/proc/self/fd/${file.fd}`) };
  const realPath = await realpath(path);
  const named = await stat(realPath);
  if (named.ino !== stats.ino || named.dev !== stats.dev) throw new NotRegular(`${path} was replaced`);
  return { stats, realPath };
}
