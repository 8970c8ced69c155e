// The directory of the lowdb engine: a snapshot and the journals written since then.
import { join } from "node:path";
import type { Adapter } from "lowdb";
import type { Cipher } from "../cipher.ts";
import { StoreUnavailable } from "../store.ts";
import type { StoreFiles } from "./files.ts";
import type { Gate } from "./gate.ts";
import { type Commit, Journal, type OpenJournal, type Trouble } from "./journal.ts";
import { journalName, type LoadedStore, load, snapshotName } from "./loading.ts";
import type { Memory } from "./memory.ts";
import { type ProgressRecord, RECORD_NAME, writeRecord } from "./progress-record.ts";
import { headerLine, SnapshotAborted, type SnapshotJob, writeSnapshot } from "./snapshot.ts";

export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface PersistenceOptions {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly cipher: Cipher;
  readonly gate: Gate;
  readonly log: StoreLog | null;
  /** The journal is compacted when it is larger than this and larger than the snapshot. */
  readonly snapshotBytes: number;
  /** Nothing is written, and no leftover files are removed. */
  readonly readOnly: boolean;
  /** Rolls back the open transaction, if there is one. */
  onFailure(cause: Error): void;
}

const RETRY_MS = [10, 50, 100, 200, 500, 1_000];
const SNAPSHOT_RETRY_MS = 30_000;

export class Persistence implements Adapter<Memory> {
  readonly #options: PersistenceOptions;
  readonly #memory: Memory;
  #journal!: Journal;
  #failures = 0;
  #closed = false;
  #compaction: Promise<void> | null = null;
  #compactionPausedUntil = 0;
  #recovery: Promise<void> = Promise.resolve();
  #generationsTried = 0;
  #wake: (() => void) | null = null;
  /** Total size of the older journals that the next snapshot replaces; excludes the current journal. */
  #olderBytes = 0;
  #snapshotSize = 0;
  #snapshotMs = 0;
  #obsolete: string[] = [];
  #record: ProgressRecord = { snapshot: 0, journal: 1, lines: 0 };

  constructor(memory: Memory, options: PersistenceOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  async read(): Promise<Memory> {
    const { files, dir, cipher, log, readOnly } = this.#options;
    const loaded = await load(files, dir, this.#memory, cipher);
    if (readOnly) return this.#memory;
    for (const name of loaded.leftovers) await files.unlink(join(dir, name));
    if (loaded.torn > 0)
      log?.warn({ file: journalName(loaded.generation), bytes: loaded.torn }, "dropped the torn end of the journal");
    this.#snapshotSize = loaded.snapshotBytes;
    this.#olderBytes = loaded.olderBytes;
    this.#obsolete = [...loaded.older];
    this.#journal = new Journal(await this.#openJournal(loaded), {
      onFailure: (trouble, cause) => this.#failed(trouble, cause),
      onGroup: () => this.#compactWhenDue(),
    });
    await this.#openRecord(loaded);
    return this.#memory;
  }

  async #openRecord({ record, base, size, generation }: LoadedStore): Promise<void> {
    if (record !== null && record !== "unreadable") {
      this.#record = record;
      return;
    }
    if (record === "unreadable")
      this.#options.log?.warn(
        { file: RECORD_NAME },
        "the record of the store's files could not be read and is written again",
      );
    const writing = this.#keepRecord({ snapshot: base, journal: generation, lines: 0 });
    // A store with data must be readable even when the disk is full.
    await (size === null ? writing : writing.catch((error: Error) => this.#recordFailed(error)));
  }

  async #keepRecord(record: ProgressRecord): Promise<void> {
    await writeRecord(this.#options.files, this.#options.dir, record);
    this.#record = record;
  }

  /** Safe to ignore: an older record only promises less than there is. */
  #recordFailed(error: Error): void {
    this.#options.log?.warn({ err: error, file: RECORD_NAME }, "the record of the store's files could not be written");
  }

  /** lowdb calls this after each change. Resolves when all staged commits are durable. */
  async write(): Promise<void> {
    if (!this.#options.readOnly) await this.#journal.flush();
  }

  stage(commit: Commit): void {
    this.assertWritable();
    this.#journal.stage(commit);
  }

  assertWritable(): void {
    if (this.#closed) throw new StoreUnavailable("the store is closed");
    if (this.#options.readOnly) throw new StoreUnavailable("the store was opened read-only");
    this.#journal.assertWritable();
  }

  async #openJournal({ generation, size, torn, nextLine }: LoadedStore): Promise<OpenJournal> {
    if (size === null) return this.#createJournal(generation);
    const file = await this.#options.files.open(join(this.#options.dir, journalName(generation)));
    if (torn > 0) {
      await file.truncate(size);
      await file.sync();
    }
    return { generation, file, size, nextLine };
  }

  /**
   * The journal is renamed to its final name once its header is durable: a journal without a header is damaged, not
   * new.
   */
  async #createJournal(generation: number): Promise<OpenJournal> {
    const { files, dir, cipher } = this.#options;
    const path = join(dir, journalName(generation));
    const file = await files.create(`${path}.tmp`);
    try {
      const header = headerLine("journal", generation, this.#memory, cipher);
      await file.write(header, 0);
      await file.sync();
      await files.rename(`${path}.tmp`, path);
      await files.syncDir(dir);
      return { generation, file, size: header.length, nextLine: 1 };
    } catch (error) {
      await file.close().catch(() => {});
      await files.unlink(`${path}.tmp`).catch(() => {});
      throw error;
    }
  }

  #compactWhenDue(): void {
    const bytes = this.#journal.bytes + this.#olderBytes;
    if (bytes <= Math.max(this.#options.snapshotBytes, this.#snapshotSize)) return;
    if (this.#compaction || this.#closed || performance.now() < this.#compactionPausedUntil) return;
    this.compact().catch((error: Error) => {
      if (error instanceof SnapshotAborted) return;
      this.#compactionPausedUntil = performance.now() + SNAPSHOT_RETRY_MS;
      this.#options.log?.error({ err: error }, "the snapshot failed; the journal keeps growing");
    });
  }

  /**
   * Creates a snapshot and a journal of the next generation and removes older files. Can be interrupted safely at any
   * point.
   */
  compact(): Promise<void> {
    this.#compaction ??= this.#nextGeneration().finally(() => {
      this.#compaction = null;
    });
    return this.#compaction;
  }

  async #nextGeneration(): Promise<void> {
    const failures = this.#failures;
    const check = () => {
      if (this.#failures !== failures) throw new SnapshotAborted("changes were rolled back during the snapshot");
    };
    const generation = await this.#journal.betweenGroups(async () => {
      check();
      this.#journal.assertWritable();
      const next = this.#journal.generation + 1;
      const journal = await this.#createJournal(next);
      this.#olderBytes += this.#journal.bytes;
      this.#obsolete.push(journalName(this.#journal.generation));
      await this.#journal.replace(journal);
      return next;
    });
    await this.#snapshot(generation, { gate: this.#options.gate, check, settle: () => this.#journal.flush() });
    this.#olderBytes = 0;
  }

  async #snapshot(generation: number, how: Pick<SnapshotJob, "gate" | "check" | "settle">): Promise<void> {
    const { files, dir, cipher } = this.#options;
    const start = performance.now();
    this.#snapshotSize = await writeSnapshot({ files, dir, generation, memory: this.#memory, cipher, ...how });
    this.#snapshotMs = performance.now() - start;
    for (const name of this.#obsolete.splice(0)) await files.unlink(join(dir, name)).catch(() => {});
    this.#obsolete.push(snapshotName(generation));
    const record = { snapshot: generation, journal: generation, lines: 0 };
    await this.#keepRecord(record).catch((error: Error) => this.#recordFailed(error));
  }

  #failed(trouble: Trouble, cause: Error): void {
    this.#failures++;
    this.#options.log?.error(
      { err: cause, trouble },
      "the journal cannot be written: writes are refused until it recovers",
    );
    this.#options.onFailure(cause);
    this.#recovery = this.#recover();
  }

  async #recover(): Promise<void> {
    // A running compaction notices the failure and stops; wait for it so that its files do not interfere.
    await this.#compaction?.catch(() => {});
    for (let attempt = 0; !this.#closed; attempt++) {
      await this.#pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!);
      if (this.#closed) return;
      try {
        if (this.#journal.trouble === "tail") await this.#journal.probe();
        else await this.#startOver(this.#options.gate);
        this.#options.log?.info({}, "the journal can be written again");
        return;
      } catch (error) {
        this.#journal.cause = error as Error;
      }
    }
  }

  /**
   * The old journal is no longer trusted: all of memory is written as a new generation before the next write. No
   * commits happen meanwhile, so nothing has to be settled.
   */
  async #startOver(gate: Pick<Gate, "step">): Promise<void> {
    const generation = this.#journal.generation + ++this.#generationsTried;
    const old = journalName(this.#journal.generation);
    // The journal is created first, because a snapshot without its journal counts as damage.
    const journal = await this.#createJournal(generation);
    try {
      await this.#snapshot(generation, { gate, check: () => {}, settle: async () => {} });
    } catch (error) {
      await journal.file.close().catch(() => {});
      // Not removed yet: the snapshot may already have its final name although the call failed.
      this.#obsolete.push(journalName(generation), snapshotName(generation));
      throw error;
    }
    await this.#journal.replace(journal);
    this.#generationsTried = 0;
    this.#olderBytes = 0;
    await this.#options.files.unlink(join(this.#options.dir, old)).catch(() => {});
  }

  /**
   * Makes all of memory durable after rows were added without journal lines. Call it only inside a transaction. If it
   * fails, the caller clears memory again, and the next generation is then written empty.
   */
  async keepMemory(): Promise<void> {
    await this.#compaction?.catch(() => {});
    await this.#journal.betweenGroups(async () => {
      this.#journal.assertWritable();
      await this.#startOver({ step: async (step) => step() }).catch((error: Error) => {
        this.#journal.distrust(error);
        throw new StoreUnavailable(`the rows cannot be written: ${error.message}`, { cause: error });
      });
    });
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  stats(): Record<string, number> {
    if (this.#options.readOnly) return { rows: this.#memory.rowCount };
    return {
      journal_bytes: this.#journal.bytes + this.#olderBytes,
      snapshot_bytes: this.#snapshotSize,
      generation: this.#journal.generation,
      rows: this.#memory.rowCount,
      pending_writes: this.#journal.pending,
      journal_groups: this.#journal.groups,
      last_sync_ms: this.#journal.lastSyncMs,
      last_snapshot_ms: this.#snapshotMs,
      failures: this.#failures,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#options.readOnly) return;
    this.#wake?.();
    await this.#recovery;
    await this.#compaction?.catch(() => {});
    await this.#journal.flush().catch(() => {});
    const { generation, sureLines, trouble } = this.#journal;
    if (trouble === null && sureLines > 1)
      await this.#keepRecord({ ...this.#record, journal: generation, lines: sureLines }).catch((error: Error) =>
        this.#recordFailed(error),
      );
    await this.#journal.close();
  }
}
