// The journal file: transactions are written in groups, each group synced before any of it is acknowledged.
import { StoreUnavailable } from "../store.ts";
import type { StoreFile } from "./files.ts";
import { encodeLine } from "./lines.ts";

export interface Commit {
  /** The bodies of its lines. */
  readonly lines: readonly string[];
  /** Takes it back out of memory. */
  undo(): void;
}

export interface OpenJournal {
  readonly generation: number;
  readonly file: StoreFile;
  size: number;
  nextLine: number;
}

/** `tail`: a write failed and the file was cut back to what was synced. `unknown`: nobody can tell what the file holds. */
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
    // Whoever waits sees it; a group that nobody waits for must not end the process.
    this.done.catch(() => {});
  }
}

export interface JournalEvents {
  /** Before the commits are undone: takes back what is on top of them. */
  onFailure(trouble: Trouble, cause: Error): void;
  onGroup(): void;
}

const PROBE = encodeLine(`[${" ".repeat(64 * 1024)}]`);

export class Journal {
  private current: OpenJournal;
  private next = new Group();
  private writing: Group | null = null;
  private running: Promise<void> = Promise.resolve();
  private scheduled = false;
  private readonly between: (() => Promise<void>)[] = [];
  private readonly events: JournalEvents;
  trouble: Trouble | null = null;
  cause: Error | null = null;
  groups = 0;
  lastSyncMs = 0;

  constructor(current: OpenJournal, events: JournalEvents) {
    this.current = current;
    this.events = events;
  }

  get bytes(): number {
    return this.current.size;
  }

  get generation(): number {
    return this.current.generation;
  }

  get pending(): number {
    return this.next.commits.length + (this.writing?.commits.length ?? 0);
  }

  assertWritable(): void {
    if (this.trouble !== null)
      throw new StoreUnavailable(`the journal cannot be written: ${this.cause?.message}`, { cause: this.cause });
  }

  stage(commit: Commit): void {
    this.assertWritable();
    this.next.commits.push(commit);
  }

  /** Resolves when all that was staged is durable; rejects when it was undone instead. */
  flush(): Promise<void> {
    if (this.next.commits.length === 0) return this.writing?.done ?? Promise.resolve();
    const { done } = this.next;
    this.schedule();
    return done;
  }

  /** Runs work between two groups, while nothing is being written. */
  async betweenGroups<R>(work: () => Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.between.push(() => work().then(resolve, reject));
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // After the microtasks of this turn, so that commits made together are synced together.
    this.running = Promise.resolve().then(() => this.run());
  }

  private async run(): Promise<void> {
    while (this.between.length > 0 || this.next.commits.length > 0) {
      await this.between.shift()?.();
      if (this.next.commits.length > 0) await this.writeGroup();
    }
    this.scheduled = false;
  }

  private async writeGroup(): Promise<void> {
    const group = this.next;
    this.next = new Group();
    this.writing = group;
    const { current } = this;
    const bytes = this.encode(group, current.nextLine);
    try {
      await current.file.write(bytes, current.size);
    } catch (error) {
      const cut = await current.file.truncate(current.size).then(
        () => true,
        () => false,
      );
      this.fail(group, cut ? "tail" : "unknown", error as Error);
      return;
    }
    const start = performance.now();
    try {
      await current.file.sync();
    } catch (error) {
      // The kernel may have dropped the pages and called them clean: a second sync would succeed and prove nothing. The
      // file is not written again; a new generation takes its place. Cutting it is for the case of a crash until then.
      await current.file.truncate(current.size).catch(() => {});
      this.fail(group, "unknown", error as Error);
      return;
    }
    this.lastSyncMs = performance.now() - start;
    current.size += bytes.length;
    for (const commit of group.commits) current.nextLine += Math.max(1, commit.lines.length);
    this.groups++;
    this.writing = null;
    group.resolve();
    this.events.onGroup();
  }

  private encode(group: Group, first: number): Buffer {
    const parts: Buffer[] = [];
    let number = first;
    for (const { lines } of group.commits)
      lines.forEach((line, i) => {
        parts.push(encodeLine(`[${number++},${first},${i < lines.length - 1 ? 1 : 0},${line}]`));
      });
    return Buffer.concat(parts);
  }

  /** Takes back everything that is not durable, newest first: later transactions may have seen the earlier ones. */
  private fail(group: Group, trouble: Trouble, cause: Error): void {
    this.trouble = trouble;
    this.cause = cause;
    this.writing = null;
    const later = this.next;
    this.next = new Group();
    this.events.onFailure(trouble, cause);
    for (const { commits } of [later, group]) for (const commit of commits.toReversed()) commit.undo();
    const error = new StoreUnavailable(`the journal cannot be written: ${cause.message}`, { cause });
    group.reject(error);
    later.reject(error);
  }

  /** The file is not to be written any more; nothing is waiting for it. */
  distrust(cause: Error): void {
    this.trouble = "unknown";
    this.cause = cause;
    this.events.onFailure("unknown", cause);
  }

  /** After a failed write: whether there is room again. Throws, and may find that the file is not to be trusted. */
  async probe(): Promise<void> {
    const { file, size } = this.current;
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

  /** Goes on in another file; between groups, or while in trouble. */
  async replace(journal: OpenJournal): Promise<void> {
    const old = this.current;
    this.current = journal;
    this.trouble = null;
    await old.file.close().catch(() => {});
  }

  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.running;
    await this.current.file.close().catch(() => {});
  }
}
