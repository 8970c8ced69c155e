// Keeps room on the disk for what keeps the service alive: the store is often on the same disk as the blobs.
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { NoRoom } from "./blobs.ts";
import { isMissing } from "./file-steps.ts";

const GiB = 1024 ** 3;
/** What blobs leave free: this share of the disk, and at most this many bytes. */
const KEPT_SHARE = 0.1;
const KEPT_MAX = GiB;
/** The disk is looked at again after this many bytes. */
const INTERVAL_BYTES = 8 * 1024 * 1024;

export interface DiskSpace {
  readonly free: number;
  readonly total: number;
}
export type ReadDisk = (folder: string) => Promise<DiskSpace>;

/** Space on the disk on which the folder is, or will be. */
const diskOf: ReadDisk = async (folder) => {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch (error) {
    const parent = dirname(folder);
    if (!isMissing(error) || parent === folder) throw error;
    return diskOf(parent);
  }
};

export class FreeSpace {
  readonly #folder: string;
  readonly #read: ReadDisk;

  constructor(folder: string, read: ReadDisk = diskOf) {
    this.#folder = folder;
    this.#read = read;
  }

  /** Throws `NoRoom` if this many bytes more leave too little free. */
  async check(bytes: number): Promise<void> {
    const { free, total } = await this.#read(this.#folder);
    const kept = Math.min(KEPT_SHARE * total, KEPT_MAX);
    // A file system without sizes, as some network folders are.
    if (total > 0 && free - bytes < kept) throw new NoRoom(this.#folder, free, Math.ceil(kept));
  }

  /** The content, which ends with `NoRoom` as soon as too little is free. */
  async *guard(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let unchecked = INTERVAL_BYTES;
    for await (const chunk of content) {
      unchecked += chunk.length;
      if (unchecked >= INTERVAL_BYTES) {
        await this.check(chunk.length);
        unchecked = 0;
      }
      yield chunk;
    }
  }
}
