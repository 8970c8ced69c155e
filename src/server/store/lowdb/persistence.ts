// What lowdb reads from and writes to: a directory with a snapshot and the journals since.
import { join } from "node:path";
import type { Adapter } from "lowdb";
import type { Cipher } from "../../core/cipher.ts";
import { StoreUnavailable } from "../store.ts";
import type { StoreFiles } from "./files.ts";
import type { Gate } from "./gate.ts";
import { type Commit, Journal, type OpenJournal, type Trouble } from "./journal.ts";
import { journalName, type Loaded, load, snapshotName } from "./loading.ts";
import type { Memory } from "./memory.ts";
import { headerLine, SnapshotAborted, type SnapshotJob, writeSnapshot } from "./snapshot.ts";

export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PersistenceOptions {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly cipher: Cipher;
  readonly gate: Gate;
  readonly log: StoreLog | null;
  /** The journal is compacted once it is larger than this and than the snapshot. */
  readonly snapshotBytes: number;
  /** Takes back the transaction that is open, if one is. */
  onFailure(cause: Error): void;
}

const RETRY_MS = [10, 50, 100, 200, 500, 1_000];
const SNAPSHOT_RETRY_MS = 30_000;

export class Persistence implements Adapter<Memory> {
  private readonly options: PersistenceOptions;
  private readonly memory: Memory;
  private journal!: Journal;
  private failures = 0;
  private closed = false;
  private compaction: Promise<void> | null = null;
  private compactionPausedUntil = 0;
  private recovery: Promise<void> = Promise.resolve();
  private generationsTried = 0;
  private wake: (() => void) | null = null;
  /** Bytes of journals that the next snapshot replaces, besides the one being written. */
  private olderBytes = 0;
  private snapshotSize = 0;
  private snapshotMs = 0;
  private obsolete: string[] = [];

  constructor(memory: Memory, options: PersistenceOptions) {
    this.memory = memory;
    this.options = options;
  }

  async read(): Promise<Memory> {
    const { files, dir, cipher, log } = this.options;
    const loaded = await load(files, dir, this.memory, cipher);
    for (const name of loaded.leftovers) await files.unlink(join(dir, name));
    if (loaded.torn > 0)
      log?.warn({ file: journalName(loaded.generation), bytes: loaded.torn }, "dropped the torn end of the journal");
    this.snapshotSize = loaded.snapshotBytes;
    this.olderBytes = loaded.olderBytes;
    this.obsolete = [...loaded.older];
    this.journal = new Journal(await this.openJournal(loaded), {
      onFailure: (trouble, cause) => this.failed(trouble, cause),
      onGroup: () => this.compactWhenDue(),
    });
    return this.memory;
  }

  /** lowdb calls this after each change: it resolves when all that was staged is durable. */
  write(): Promise<void> {
    return this.journal.flush();
  }

  stage(commit: Commit): void {
    this.assertWritable();
    this.journal.stage(commit);
  }

  assertWritable(): void {
    if (this.closed) throw new StoreUnavailable("the store is closed");
    this.journal.assertWritable();
  }

  private async openJournal({ generation, size, torn, nextLine }: Loaded): Promise<OpenJournal> {
    if (size === null) return this.createJournal(generation);
    const file = await this.options.files.open(join(this.options.dir, journalName(generation)));
    if (torn > 0) {
      await file.truncate(size);
      await file.sync();
    }
    return { generation, file, size, nextLine };
  }

  private async createJournal(generation: number): Promise<OpenJournal> {
    const { files, dir, cipher } = this.options;
    const file = await files.create(join(dir, journalName(generation)));
    try {
      const header = headerLine("journal", generation, this.memory, cipher);
      await file.write(header, 0);
      await file.sync();
      await files.syncDir(dir);
      return { generation, file, size: header.length, nextLine: 1 };
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
  }

  private compactWhenDue(): void {
    const bytes = this.journal.bytes + this.olderBytes;
    if (bytes <= Math.max(this.options.snapshotBytes, this.snapshotSize)) return;
    if (this.compaction || this.closed || performance.now() < this.compactionPausedUntil) return;
    this.compact().catch((error: Error) => {
      if (error instanceof SnapshotAborted) return;
      this.compactionPausedUntil = performance.now() + SNAPSHOT_RETRY_MS;
      this.options.log?.error({ err: error }, "the snapshot failed; the journal goes on growing");
    });
  }

  /** Makes a snapshot and a journal of the next generation and removes the older ones. Safe to break off anywhere. */
  compact(): Promise<void> {
    this.compaction ??= this.nextGeneration().finally(() => {
      this.compaction = null;
    });
    return this.compaction;
  }

  private async nextGeneration(): Promise<void> {
    const failures = this.failures;
    const check = () => {
      if (this.failures !== failures) throw new SnapshotAborted("memory was taken back during the snapshot");
    };
    const generation = await this.journal.betweenGroups(async () => {
      check();
      this.journal.assertWritable();
      const next = this.journal.generation + 1;
      const journal = await this.createJournal(next);
      this.olderBytes += this.journal.bytes;
      this.obsolete.push(journalName(this.journal.generation));
      await this.journal.replace(journal);
      return next;
    });
    await this.snapshot(generation, { gate: this.options.gate, check, settle: () => this.journal.flush() });
    this.olderBytes = 0;
  }

  private async snapshot(generation: number, how: Pick<SnapshotJob, "gate" | "check" | "settle">): Promise<void> {
    const { files, dir, cipher } = this.options;
    const start = performance.now();
    this.snapshotSize = await writeSnapshot({ files, dir, generation, memory: this.memory, cipher, ...how });
    this.snapshotMs = performance.now() - start;
    for (const name of this.obsolete.splice(0)) await files.unlink(join(dir, name)).catch(() => {});
    this.obsolete.push(snapshotName(generation));
  }

  private failed(trouble: Trouble, cause: Error): void {
    this.failures++;
    this.options.log?.error({ err: cause, trouble }, "the journal cannot be written: writes are refused until it can");
    this.options.onFailure(cause);
    this.recovery = this.recover();
  }

  private async recover(): Promise<void> {
    // A compaction under way sees the failure and gives up; its files must not get in the way.
    await this.compaction?.catch(() => {});
    for (let attempt = 0; !this.closed; attempt++) {
      await this.pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!);
      if (this.closed) return;
      try {
        if (this.journal.trouble === "tail") await this.journal.probe();
        else await this.startOver(this.options.gate);
        this.options.log?.info({}, "the journal can be written again");
        return;
      } catch (error) {
        this.journal.cause = error as Error;
      }
    }
  }

  /**
   * Nothing of the old journal is trusted any more: all of memory goes into a new generation before the next write.
   * Nobody writes meanwhile, so that there is nothing to settle.
   */
  private async startOver(gate: Pick<Gate, "step">): Promise<void> {
    const generation = this.journal.generation + ++this.generationsTried;
    const old = journalName(this.journal.generation);
    await this.snapshot(generation, { gate, check: () => {}, settle: async () => {} });
    await this.journal.replace(await this.createJournal(generation));
    this.generationsTried = 0;
    this.olderBytes = 0;
    await this.options.files.unlink(join(this.options.dir, old)).catch(() => {});
  }

  /**
   * Makes memory durable as a whole, after rows were put there that no journal has. Only from inside a transaction.
   * When it fails, the caller empties memory again, and that is what the next generation holds.
   */
  async keepMemory(): Promise<void> {
    await this.compaction?.catch(() => {});
    await this.journal.betweenGroups(async () => {
      this.journal.assertWritable();
      await this.startOver({ step: async (step) => step() }).catch((error: Error) => {
        this.journal.distrust(error);
        throw new StoreUnavailable(`the rows cannot be written: ${error.message}`, { cause: error });
      });
    });
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      timer.unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  stats(): Record<string, number> {
    return {
      journal_bytes: this.journal.bytes + this.olderBytes,
      snapshot_bytes: this.snapshotSize,
      generation: this.journal.generation,
      rows: this.memory.rowCount,
      pending_writes: this.journal.pending,
      journal_groups: this.journal.groups,
      last_sync_ms: this.journal.lastSyncMs,
      last_snapshot_ms: this.snapshotMs,
      failures: this.failures,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    this.wake?.();
    await this.recovery;
    await this.compaction?.catch(() => {});
    await this.journal.close();
  }
}
