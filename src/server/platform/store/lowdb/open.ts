import { Low } from "lowdb";
import type { WithAdmin } from "../admin.ts";
import type { Cipher } from "../cipher.ts";
import { lazyCollections } from "../lazy-collections.ts";
import type { Collections, Tables, Tx, TxOptions } from "../store.ts";
import { MemoryCollection } from "./collection.ts";
import { realFiles, type StoreFiles } from "./files.ts";
import { Gate } from "./gate.ts";
import { Memory } from "./memory.ts";
import { checkPayload, Messages } from "./messages.ts";
import { Persistence, type StoreLog } from "./persistence.ts";
import { admin, storeAdmin } from "./restoring.ts";
import { type Session, Sessions, type Transaction } from "./session.ts";

export interface LowdbOptions<S extends Tables> {
  readonly tables: S;
  readonly dir: string;
  /** Encrypts secret columns on disk. A directory that was written with a different key cannot be opened. */
  readonly cipher: Cipher;
  readonly log?: StoreLog;
  readonly files?: StoreFiles;
  /** The journal is compacted into a snapshot when it is larger than this and larger than the last snapshot. */
  readonly snapshotBytes?: number;
  /**
   * Reads the durable data while another server may use the directory, and writes nothing. Transactions that are
   * committed during the read may be missing, but always completely.
   */
  readonly readOnly?: boolean;
  /** Freezes rows so that changing one throws. For tests. */
  readonly frozen?: boolean;
}

/** Functions of the lowdb engine in addition to the store contract. */
interface LowdbExtras {
  /** Writes a snapshot immediately. */
  compact(): Promise<void>;
}

const SNAPSHOT_BYTES = 32 * 1024 * 1024;

export async function openLowdb<S extends Tables>(options: LowdbOptions<S>): Promise<WithAdmin<S> & LowdbExtras> {
  const { tables, log = null } = options;
  const { memory, persistence, sessions, messages, close } = await openDirectory(options);
  const leaders = new Leaders(log);
  const collections = lazyCollections(
    tables,
    (key, session: Session) => new MemoryCollection(tables[key]!, memory, session),
  );
  const members = collections(sessions);
  let closing: Promise<void> | null = null;

  return Object.assign(members, {
    engine: "lowdb",
    tables,
    tx: <R>(work: (store: Tx<S>) => Promise<R>, { failFast }: TxOptions = {}) =>
      sessions.transact((transaction) => work(storeInside(transaction, collections(transaction))), failFast),
    readTogether: <R>(work: (store: Collections<S>) => Promise<R>) => work(members),
    async notify(channel: string, payload: string) {
      sessions.assertOpen();
      checkPayload(payload);
      messages.send(channel, payload);
    },
    async listen(channel: string, onMessage: (payload: string) => void) {
      sessions.assertOpen();
      const stop = messages.listen(channel, onMessage);
      return async () => stop();
    },
    async lead(_name: string, onElected: (lost: AbortSignal) => Promise<void>) {
      sessions.assertOpen();
      return leaders.start(onElected);
    },
    async check() {
      sessions.assertOpen();
      persistence.assertWritable();
    },
    stats: () => persistence.stats(),
    compact: () => persistence.compact(),
    [admin]: storeAdmin<S>(memory, sessions, persistence, (work) =>
      sessions.transact((transaction) => work(collections(transaction))),
    ),
    close() {
      leaders.end();
      closing ??= close();
      return closing;
    },
  }) as WithAdmin<S> & LowdbExtras;
}

/** Locks the directory and reads its data into memory. */
async function openDirectory<S extends Tables>(options: LowdbOptions<S>) {
  const { tables, dir, cipher, log = null, files = realFiles, snapshotBytes = SNAPSHOT_BYTES } = options;
  const { readOnly = false } = options;
  const memory = new Memory(tables, cipher, options.frozen ?? false);
  if (!readOnly) await files.makeDir(dir);
  const unlock = readOnly ? async () => {} : await files.lock(dir);
  const gate = new Gate();
  const onFailure = (cause: Error) => sessions.failOpen(cause);
  const persistence = new Persistence(memory, { files, dir, cipher, gate, log, snapshotBytes, readOnly, onFailure });
  const low = new Low<Memory>(persistence, memory);
  const messages = new Messages((error) => log?.error({ err: error }, "a listener failed"));
  const sessions = new Sessions(gate, low, persistence, messages);
  try {
    await low.read();
  } catch (error) {
    await unlock();
    throw error;
  }
  const close = async () => {
    await sessions.close();
    await persistence.close();
    messages.clear();
    gate.close();
    await unlock();
  };
  return { memory, persistence, sessions, messages, close };
}

/** The store that a transaction hands to its work. */
function storeInside<S extends Tables>(transaction: Transaction, collections: Collections<S>): Tx<S> {
  const store: Tx<S> = Object.assign(collections, {
    tx: async <R>(inner: (store: Tx<S>) => Promise<R>) => {
      transaction.check();
      return inner(store);
    },
    readTogether: <R>(reads: (store: Collections<S>) => Promise<R>) => reads(store),
    async notify(channel: string, payload: string) {
      transaction.check();
      checkPayload(payload);
      transaction.messages.push([channel, payload]);
    },
  });
  return store;
}

/** The work of leaders: the only server of a directory is always elected. */
class Leaders {
  readonly #controllers = new Set<AbortController>();
  readonly #log: StoreLog | null;

  constructor(log: StoreLog | null) {
    this.#log = log;
  }

  /** The returned function ends the work and waits for it. */
  start(onElected: (lost: AbortSignal) => Promise<void>): () => Promise<void> {
    const controller = new AbortController();
    this.#controllers.add(controller);
    const running = onElected(controller.signal).catch((error: Error) =>
      this.#log?.error({ err: error }, "the work of a leader failed"),
    );
    return async () => {
      this.#controllers.delete(controller);
      controller.abort();
      await running;
    };
  }

  end(): void {
    for (const controller of this.#controllers) controller.abort();
  }
}
