// The few file operations that the journal rests on. Tests put a file system behind them that fails and loses power.
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { lockDirectory } from "./lock.ts";

export interface StoreFile {
  /** Writes all of the bytes at the position; may fail with a part of them written. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Makes the content durable (fdatasync). */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

export interface StoreFiles {
  makeDir(dir: string): Promise<void>;
  list(dir: string): Promise<string[]>;
  /** A new, empty file; what had that name is emptied. */
  create(path: string): Promise<StoreFile>;
  /** An existing file, for writing. */
  open(path: string): Promise<StoreFile>;
  read(path: string): AsyncIterable<Buffer>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes created, renamed and removed names in the directory durable. */
  syncDir(dir: string): Promise<void>;
  /** Keeps other processes out of the directory until the returned function is called. */
  lock(dir: string): Promise<() => Promise<void>>;
}

const READ_SIZE = 1 << 20;

class RealFile implements StoreFile {
  private readonly handle: FileHandle;

  constructor(handle: FileHandle) {
    this.handle = handle;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.handle.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return this.handle.datasync();
  }

  truncate(size: number): Promise<void> {
    return this.handle.truncate(size);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

// Rows hold personal data and sealed secrets: nobody but the server's user reads them.
const FILE_MODE = 0o600;

export const realFiles: StoreFiles = {
  async makeDir(dir) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  },
  list: (dir) => readdir(dir),
  create: async (path) =>
    new RealFile(await open(path, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY, FILE_MODE)),
  open: async (path) => new RealFile(await open(path, constants.O_WRONLY)),
  async *read(path) {
    const handle = await open(path, constants.O_RDONLY);
    try {
      for (let position = 0; ; ) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_SIZE), 0, READ_SIZE, position);
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
    // Windows cannot open a directory for syncing and needs none.
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
