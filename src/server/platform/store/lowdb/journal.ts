// The journal file. Transactions are written in groups, and a group is synced before any of it is acknowledged.
import { StoreUnavailable } from "../store.ts";
import type { StoreFile } from "./files.ts";
import { encodeLine } from "./lines.ts";

export interface Commit {
  /** The bodies of the journal lines. */
  readonly lines: readonly string[];
  /** Rolls the transaction back in memory. */
  undo(): void;
}

export interface OpenJournal {
  readonly generation: number;
  readonly file: StoreFile;
  size: number;
  nextLine: number;
}

/**
 * `tail`: a write failed and the file was truncated to its synced part. `unknown`: the content of the file is
 * uncertain.
 */
export type Trouble = "tail" | "unknown";

class Group {
  readonly commits: Commit[] = [];
  readonly done: Promise<void>;
  resolve!: () => void;
  reject!: (error: Error) => void;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Waiting callers get the error. Without this handler, a group that no one waits for would end the process.
    this.done.catch(() => {});
  }
}

interface JournalEvents {
  /** Called before the commits are rolled back: rolls back the open transaction, which builds on them. */
  onFailure(trouble: Trouble, cause: Error): void;
  onGroup(): void;
}

const PROBE = encodeLine(`[${" ".repeat(64 * 1024)}]`);

export class Journal {
  #current: OpenJournal;
  #next = new Group();
  #writing: Group | null = null;
  #running: Promise<void> = Promise.resolve();
  #scheduled = false;
  readonly #between: (() => Promise<void>)[] = [];
  readonly #events: JournalEvents;
  trouble: Trouble | null = null;
  cause: Error | null = null;
  groups = 0;
  /** The file is durable up to this line, not counting the last group. 0 until a group has been written. */
  sureLines = 0;
  lastSyncMs = 0;

  constructor(current: OpenJournal, events: JournalEvents) {
    this.#current = current;
    this.#events = events;
  }

  get bytes(): number {
    return this.#current.size;
  }

  get generation(): number {
    return this.#current.generation;
  }

  get pending(): number {
    return this.#next.commits.length + (this.#writing?.commits.length ?? 0);
  }

  assertWritable(): void {
    if (this.trouble !== null)
      throw new StoreUnavailable(`the journal cannot be written: ${this.cause?.message}`, { cause: this.cause });
  }

  stage(commit: Commit): void {
    this.assertWritable();
    this.#next.commits.push(commit);
  }

  /** Resolves when all staged commits are durable; rejects if they were rolled back. */
  flush(): Promise<void> {
    if (this.#next.commits.length === 0) return this.#writing?.done ?? Promise.resolve();
    const { done } = this.#next;
    this.#schedule();
    return done;
  }

  /** Runs `work` between two groups, while nothing is being written. */
  async betweenGroups<R>(work: () => Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#between.push(() => work().then(resolve, reject));
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Deferred until the microtasks of this turn have run, so that simultaneous commits are synced together.
    this.#running = Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#between.length > 0 || this.#next.commits.length > 0) {
      await this.#between.shift()?.();
      if (this.#next.commits.length > 0) await this.#writeGroup();
    }
    this.#scheduled = false;
  }

  async #writeGroup(): Promise<void> {
    const group = this.#next;
    this.#next = new Group();
    this.#writing = group;
    const current = this.#current;
    const bytes = this.#encode(group, current.nextLine);
    try {
      await current.file.write(bytes, current.size);
    } catch (error) {
      const cut = await current.file.truncate(current.size).then(
        () => true,
        () => false,
      );
      this.#fail(group, cut ? "tail" : "unknown", error as Error);
      return;
    }
    const start = performance.now();
    try {
      await current.file.sync();
    } catch (error) {
      // After a failed sync the kernel may have dropped the dirty pages and marked them clean: a second sync would
      // succeed and prove nothing. So this file is never written again; a new generation replaces it. It is truncated
      // only in case the server crashes before that.
      await current.file.truncate(current.size).catch(() => {});
      this.#fail(group, "unknown", error as Error);
      return;
    }
    this.lastSyncMs = performance.now() - start;
    current.size += bytes.length;
    this.sureLines = current.nextLine;
    for (const commit of group.commits) current.nextLine += Math.max(1, commit.lines.length);
    this.groups++;
    this.#writing = null;
    group.resolve();
    this.#events.onGroup();
  }

  #encode(group: Group, first: number): Buffer {
    const parts: Buffer[] = [];
    let number = first;
    for (const { lines } of group.commits)
      lines.forEach((line, i) => {
        parts.push(encodeLine(`[${number++},${first},${i < lines.length - 1 ? 1 : 0},${line}]`));
      });
    return Buffer.concat(parts);
  }

  /**
   * Rolls back everything that is not durable, newest first, because later transactions may have read the earlier
   * ones.
   */
  #fail(group: Group, trouble: Trouble, cause: Error): void {
    this.trouble = trouble;
    this.cause = cause;
    this.#writing = null;
    const later = this.#next;
    this.#next = new Group();
    this.#events.onFailure(trouble, cause);
    for (const { commits } of [later, group]) for (const commit of commits.toReversed()) commit.undo();
    const error = new StoreUnavailable(`the journal cannot be written: ${cause.message}`, { cause });
    group.reject(error);
    later.reject(error);
  }

  /** Stops all writing to this file. Called while no caller waits for it. */
  distrust(cause: Error): void {
    this.trouble = "unknown";
    this.cause = cause;
    this.#events.onFailure("unknown", cause);
  }

  /**
   * After a failed write: checks whether writing works again. Throws if it does not, and may find that the file can
   * no longer be trusted.
   */
  async probe(): Promise<void> {
    const { file, size } = this.#current;
    try {
      await file.write(PROBE, size);
      await file.truncate(size);
    } catch (error) {
      await file.truncate(size).catch(() => {
        this.trouble = "unknown";
      });
      throw error;
    }
    try {
      await file.sync();
    } catch (error) {
      this.trouble = "unknown";
      throw error;
    }
    this.trouble = null;
  }

  /** Switches to another file. Called between groups or after a failure. */
  async replace(journal: OpenJournal): Promise<void> {
    const old = this.#current;
    this.#current = journal;
    this.sureLines = 0;
    this.trouble = null;
    await old.file.close().catch(() => {});
  }

  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#running;
    await this.#current.file.close().catch(() => {});
  }
}
