// The few file operations that the journal needs. Tests replace them with a file system that fails and loses power.
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { lockDirectory } from "./lock.ts";
import { isLink, openFile } from "./open-file.ts";

export interface StoreFile {
  /** Writes all bytes at the position. On failure, some of them may have been written. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Makes the content durable (fdatasync). */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

export interface StoreFiles {
  /** Creates the directory if it does not exist. */
  makeDir(dir: string): Promise<void>;
  list(dir: string): Promise<string[]>;
  /** Creates an empty file; an existing file of that name is truncated. */
  create(path: string): Promise<StoreFile>;
  /** Opens an existing file for writing. */
  open(path: string): Promise<StoreFile>;
  /** Reads the file up to the size that it had when reading began. */
  read(path: string): AsyncIterable<Buffer>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes created, renamed and removed names in the directory durable (fsync of the directory). */
  syncDir(dir: string): Promise<void>;
  /** Locks the directory against other processes until the returned function is called. */
  lock(dir: string): Promise<() => Promise<void>>;
}

const READ_SIZE = 1 << 20;

class RealFile implements StoreFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

export const realFiles: StoreFiles = {
  async makeDir(dir) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if ((await lstat(dir)).isSymbolicLink()) throw isLink(dir);
  },
  list: (dir) => readdir(dir),
  create: async (path) =>
    new RealFile(await openFile(path, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY)),
  open: async (path) => new RealFile(await openFile(path, constants.O_WRONLY)),
  async *read(path) {
    const handle = await openFile(path, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      for (let position = 0; position < size; ) {
        const length = Math.min(READ_SIZE, size - position);
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  },
  rename,
  unlink,
  async syncDir(dir) {
    // Windows cannot open a directory for syncing and does not need it.
    if (process.platform === "win32") return;
    const handle = await open(dir, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  lock: lockDirectory,
};
