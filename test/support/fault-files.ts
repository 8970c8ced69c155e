// A file system in memory that fails on demand and loses power: data that was not synced survives partly, damaged, or
// not at all.
import { basename, dirname } from "node:path";
import type { StoreFile, StoreFiles } from "../../src/server/platform/store/lowdb/files.ts";

export type Operation = "create" | "open" | "write" | "sync" | "truncate" | "rename" | "unlink" | "syncDir";

export const fault = (code: "ENOSPC" | "EIO" | "EMFILE"): Error =>
  Object.assign(new Error(`${code}: injected`), { code });

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Pending =
  | { readonly kind: "write"; readonly bytes: Buffer; readonly at: number }
  | { readonly kind: "truncate"; readonly size: number };

/** Content that is certainly on the disk, and the changes since the last sync. */
class Inode {
  durable: Buffer = Buffer.alloc(0);
  pending: Pending[] = [];

  apply(content: Buffer, change: Pending): Buffer {
    if (change.kind === "truncate") {
      if (change.size <= content.length) return content.subarray(0, change.size);
      return Buffer.concat([content, Buffer.alloc(change.size - content.length)]);
    }
    const size = Math.max(content.length, change.at + change.bytes.length);
    const result = Buffer.alloc(size);
    content.copy(result);
    change.bytes.copy(result, change.at);
    return result;
  }

  get content(): Buffer {
    return this.pending.reduce((content, change) => this.apply(content, change), this.durable);
  }

  sync(): void {
    this.durable = this.content;
    this.pending = [];
  }

  /** Each unsynced write reaches the disk or not, page by page; missing pages read as zeros. */
  cut(random: () => number): void {
    const mood = random();
    for (const change of this.pending) {
      if (change.kind === "truncate") {
        if (random() < 0.5) this.durable = this.apply(this.durable, change);
        continue;
      }
      if (mood < 0.25) continue;
      if (mood < 0.5) {
        const kept = change.bytes.subarray(0, Math.floor(random() * (change.bytes.length + 1)));
        if (kept.length > 0) this.durable = this.apply(this.durable, { ...change, bytes: Buffer.from(kept) });
        continue;
      }
      const page = 64 + Math.floor(random() * 512);
      for (let from = 0; from < change.bytes.length; from += page)
        if (random() < 0.6)
          this.durable = this.apply(this.durable, {
            kind: "write",
            bytes: change.bytes.subarray(from, from + page),
            at: change.at + from,
          });
    }
    this.pending = [];
  }
}

type NameChange = { readonly dir: string; readonly apply: (names: Map<string, Inode>) => void };

export interface FaultOptions {
  readonly random: () => number;
  /** Defective variants: data that the store believes to be synced is not. */
  readonly ignoreSync?: boolean;
  readonly ignoreSyncDir?: boolean;
  /** ... or is synced only some time later. */
  readonly lateSync?: boolean;
}

/** The disk, which outlives the processes that use it. */
export class FaultDisk {
  /** Called before each operation: throw to make it fail. A failing write stores half of its bytes. */
  onOperation: (operation: Operation, path: string) => void | Promise<void> = () => {};
  names = new Map<string, Inode>();
  locked = false;
  /** Increased by each power cut. */
  epoch = 0;
  readonly options: FaultOptions;
  #durableNames = new Map<string, Inode>();
  #pendingNames: NameChange[] = [];

  constructor(options: FaultOptions) {
    this.options = options;
  }

  /**
   * The files as one process sees them: after a power cut the process is dead, and its remaining operations neither
   * happen nor end.
   */
  boot(): StoreFiles {
    return new ProcessFiles(this);
  }

  /** Only synced data is certain to exist afterwards. */
  cutPower(): void {
    const { random } = this.options;
    this.epoch++;
    this.locked = false;
    for (const change of this.#pendingNames) if (random() < 0.5) change.apply(this.#durableNames);
    this.#pendingNames = [];
    this.names = new Map(this.#durableNames);
    for (const inode of new Set(this.names.values())) inode.cut(random);
  }

  content(path: string): Buffer {
    return this.find(path).content;
  }

  /** Changes bytes on the disk behind the store's back. */
  tamper(path: string, change: (content: Buffer) => Buffer): void {
    const inode = this.find(path);
    inode.durable = change(Buffer.from(inode.content));
    inode.pending = [];
  }

  /** Removes a file behind the store's back. */
  remove(path: string): void {
    this.find(path);
    this.names.delete(path);
    this.#durableNames.delete(path);
  }

  find(path: string): Inode {
    const inode = this.names.get(path);
    if (!inode) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
    return inode;
  }

  change(dir: string, apply: NameChange["apply"]): void {
    apply(this.names);
    this.#pendingNames.push({ dir, apply });
  }

  syncDir(dir: string): void {
    if (this.options.ignoreSyncDir) return;
    for (const change of this.#pendingNames) if (change.dir === dir) change.apply(this.#durableNames);
    this.#pendingNames = this.#pendingNames.filter((change) => change.dir !== dir);
  }
}

class ProcessFiles implements StoreFiles {
  readonly #disk: FaultDisk;
  readonly #epoch: number;

  constructor(disk: FaultDisk) {
    this.#disk = disk;
    this.#epoch = disk.epoch;
  }

  get #isGone(): boolean {
    return this.#epoch !== this.#disk.epoch;
  }

  async #begin(operation: Operation, path: string): Promise<void> {
    // On a real disk, too, the result never arrives in the same turn.
    await new Promise(setImmediate);
    if (!this.#isGone) await this.#disk.onOperation(operation, path);
    if (this.#isGone) await new Promise(() => {});
  }

  #file(path: string, inode: Inode): StoreFile {
    const { ignoreSync, lateSync } = this.#disk.options;
    return {
      write: async (bytes, position) => {
        const copy = Buffer.from(bytes);
        try {
          await this.#begin("write", path);
        } catch (error) {
          inode.pending.push({ kind: "write", bytes: copy.subarray(0, copy.length >> 1), at: position });
          throw error;
        }
        inode.pending.push({ kind: "write", bytes: copy, at: position });
      },
      sync: async () => {
        await this.#begin("sync", path);
        if (ignoreSync) return;
        if (!lateSync) inode.sync();
        else setTimeout(() => !this.#isGone && inode.sync(), 2);
      },
      truncate: async (size) => {
        await this.#begin("truncate", path);
        inode.pending.push({ kind: "truncate", size });
      },
      close: async () => {},
    };
  }

  async makeDir(): Promise<void> {}

  async list(dir: string): Promise<string[]> {
    return [...this.#disk.names.keys()].filter((path) => dirname(path) === dir).map((path) => basename(path));
  }

  async create(path: string): Promise<StoreFile> {
    await this.#begin("create", path);
    const inode = new Inode();
    this.#disk.change(dirname(path), (names) => names.set(path, inode));
    return this.#file(path, inode);
  }

  async open(path: string): Promise<StoreFile> {
    await this.#begin("open", path);
    return this.#file(path, this.#disk.find(path));
  }

  async *read(path: string): AsyncIterable<Buffer> {
    const { content } = this.#disk.find(path);
    // Small pieces, so that lines span several of them.
    for (let at = 0; at < content.length; at += 1_000) yield content.subarray(at, at + 1_000);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#begin("rename", to);
    const inode = this.#disk.find(from);
    this.#disk.change(dirname(to), (names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  async unlink(path: string): Promise<void> {
    await this.#begin("unlink", path);
    this.#disk.find(path);
    this.#disk.change(dirname(path), (names) => names.delete(path));
  }

  async syncDir(dir: string): Promise<void> {
    await this.#begin("syncDir", dir);
    this.#disk.syncDir(dir);
  }

  async lock(dir: string): Promise<() => Promise<void>> {
    if (this.#disk.locked) throw new Error(`${dir} is locked`);
    this.#disk.locked = true;
    return async () => {
      if (!this.#isGone) this.#disk.locked = false;
    };
  }
}
