import type pg from "pg";
import { admin, type WithAdmin } from "../admin.ts";
import type { Cipher } from "../cipher.ts";
import { lazyCollections } from "../lazy-collections.ts";
import { type Collections, type Store, StoreUnavailable, type Tables, type Tx, type TxOptions } from "../store.ts";
import type { Table } from "../table.ts";
import { postgresAdmin } from "./admin.ts";
import { layoutsByName, PgCollection } from "./collections.ts";
import { Candidacy } from "./connection/lead.ts";
import type { RunnerContext } from "./connection/lease.ts";
import { Listening } from "./connection/listen.ts";
import { type Message, notifying, sealed } from "./connection/messages.ts";
import { connectClient, createPool, destroy, type PoolLog, StatementNames } from "./connection/pool.ts";
import { lockStatements, poolRunner, type Runner, readTogether, transaction } from "./connection/runner.ts";
import { probeOf, Watchdog } from "./connection/watchdog.ts";
import { translate } from "./errors.ts";
import { Layout } from "./layout.ts";
import { checkKey, checkVersion, create, migrate, requireCurrent } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";
import type { LayoutOf } from "./predicate.ts";
import { constraintsOf } from "./schema.ts";

export interface PostgresOptions<S extends Tables> {
  readonly tables: S;
  /** `postgres://user:password@host:port/database?sslmode=...` */
  readonly url: string;
  readonly cipher: Cipher;
  readonly log?: PoolLog;
  /** Connections for statements and transactions (default 10). Listening, leading and the watchdog add one each. */
  readonly poolSize?: number;
  /** How long a statement waits for a connection before it fails with `StoreUnavailable` (default 10 s). */
  readonly waitMs?: number;
  /** Creates missing declared tables without migrations. */
  readonly create?: boolean;
  /** Runs missing migrations. Without this and `create`, an outdated schema is refused. */
  readonly migrate?: boolean;
  /** Called with the titles of the migrations that ran, if any. */
  readonly onMigrated?: (applied: readonly string[]) => void;
  /** The migrations to use (default: those of the program). For tests. */
  readonly migrations?: readonly Migration[];
  /** How often a server that is not the leader tries to become it. */
  readonly leadEveryMs?: number;
}

const CHECK_LIMIT_MS = 2_000;

/**
 * A call that fails with `StoreUnavailable` stored nothing, with one exception that no database can avoid: if the
 * connection is lost during a single write or a COMMIT, the result is unknown. Work that must not happen twice has to
 * check first.
 */
export async function openPostgres<S extends Tables>(options: PostgresOptions<S>): Promise<Store<S>> {
  await prepare(options);
  return new PostgresEngine(options).open();
}

class PostgresEngine<S extends Tables> {
  readonly #options: PostgresOptions<S>;
  readonly #watchdog: Watchdog;
  readonly #context: RunnerContext;
  readonly #layouts: Readonly<Record<string, Layout>>;
  readonly #layoutOf: LayoutOf;
  readonly #collections: (runner: Runner) => Collections<S>;
  readonly #runner: Runner;
  readonly #listening: Listening;
  readonly #candidacies = new Set<Candidacy>();
  #closing: Promise<void> | undefined;

  constructor(options: PostgresOptions<S>) {
    const { tables, url, cipher, log, poolSize = 10, waitMs } = options;
    const watchdog = new Watchdog(probeOf(url), log);
    const pool = createPool({ url, poolSize, log, waitMs, watchdog });
    const layouts = Object.fromEntries(
      Object.entries(tables).map(([key, table]) => [key, new Layout(table as Table, cipher)]),
    );
    const layoutOf = layoutsByName(layouts);
    this.#layoutOf = layoutOf;
    this.#options = options;
    this.#watchdog = watchdog;
    this.#context = { pool, watchdog, names: new StatementNames(), constraints: constraintsOf(tables) };
    this.#layouts = layouts;
    this.#collections = lazyCollections(
      tables,
      (key, runner: Runner) => new PgCollection(layouts[key]!, layoutOf, runner),
    );
    this.#runner = poolRunner(this.#context);
    this.#listening = new Listening(url, log, watchdog);
  }

  open(): WithAdmin<S> {
    const { tables } = this.#options;
    const members = {
      engine: "postgres" as const,
      tables,
      tx: <R>(work: (store: Tx<S>) => Promise<R>, options?: TxOptions) => this.#tx(work, options),
      readTogether: <R>(work: (store: Collections<S>) => Promise<R>) =>
        readTogether(this.#context, (together) => work(this.#collections(together))),
      notify: (channel: string, payload: string) => this.#notify(channel, payload),
      listen: (channel: string, onMessage: (payload: string) => void, onReset?: () => void) =>
        this.#listen(channel, onMessage, onReset),
      lead: (name: string, onElected: (lost: AbortSignal) => Promise<void>) => this.#lead(name, onElected),
      check: () => this.#check(),
      stats: () => this.#stats(),
      close: () => {
        this.#closing ??= this.#close();
        return this.#closing;
      },
      [admin]: postgresAdmin({
        context: this.#context,
        tables,
        layouts: this.#layouts,
        layoutOf: this.#layoutOf,
        on: this.#collections,
      }),
    };
    this.#watchdog.start();
    return Object.assign(this.#collections(this.#runner), members);
  }

  async #tx<R>(work: (store: Tx<S>) => Promise<R>, options: TxOptions = {}): Promise<R> {
    const { lock, snapshot, failFast } = options;
    const listening = this.#listening;
    let sent: Message[] = [];
    const result = await transaction(
      this.#context,
      async (inner, beforeCommit) => {
        const messages: Message[] = [];
        let hasEnded = false;
        const value = await work(
          inTransaction(this.#collections(inner), inner, async (channel, payload) => {
            if (hasEnded) throw new Error("the transaction has ended: await its messages");
            messages.push(sealed(listening, channel, payload));
          }),
        );
        hasEnded = true;
        if (messages.length > 0) beforeCommit(notifying(messages));
        sent = messages;
        return value;
      },
      { lock, failFast, ...(snapshot ? { snapshot } : {}) },
    );
    for (const message of sent) listening.deliver(message.channel, message.sealed);
    return result;
  }

  async #notify(channel: string, payload: string): Promise<void> {
    const message = sealed(this.#listening, channel, payload);
    await this.#runner.read({ text: "SELECT pg_notify($1, $2)", values: [message.channel, message.sealed] });
    this.#listening.deliver(channel, message.sealed);
  }

  #listen(channel: string, onMessage: (payload: string) => void, onReset?: () => void): Promise<() => Promise<void>> {
    return this.#listening.listen(channel, onMessage, onReset).catch((error) => {
      throw translate(error, this.#context.constraints);
    });
  }

  async #lead(name: string, onElected: (lost: AbortSignal) => Promise<void>): Promise<() => Promise<void>> {
    const { url, log, leadEveryMs: everyMs = 3_000 } = this.#options;
    const candidacy = new Candidacy({ url, name, log, everyMs, watchdog: this.#watchdog }, onElected);
    this.#candidacies.add(candidacy);
    return async () => {
      this.#candidacies.delete(candidacy);
      await candidacy.stop();
    };
  }

  async #check(): Promise<void> {
    const late = new Promise<never>((_, failed) =>
      setTimeout(() => failed(new StoreUnavailable("the database did not answer in time")), CHECK_LIMIT_MS).unref(),
    );
    await Promise.race([this.#runner.read({ text: "SELECT 1 AS one", values: [] }), late]);
  }

  #stats(): Record<string, number> {
    const { pool, names } = this.#context;
    return {
      pool_size: pool.totalCount,
      pool_idle: pool.idleCount,
      pool_waiting: pool.waitingCount,
      prepared_statements: names.size,
      unreachable: this.#watchdog.silent ? 1 : 0,
      outages: this.#watchdog.outages,
    };
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#candidacies].map((candidacy) => candidacy.stop()));
    this.#listening.close();
    await this.#context.pool.end();
    this.#watchdog.close();
  }
}

/** Checks (and creates) version, schema and key on a separate connection before the pool is used. */
async function prepare<S extends Tables>(options: PostgresOptions<S>): Promise<void> {
  const constraints = constraintsOf(options.tables);
  let client: pg.Client | undefined;
  try {
    client = await connectClient(options.url, { unhurried: true });
    await checkVersion(client);
    const expected = options.migrations ?? migrations;
    if (options.create) await create(client, options.tables);
    else if (options.migrate) {
      const { applied, trigram } = await migrate(client, options.tables, expected);
      if (!trigram)
        options.log?.warn(
          {},
          "the database lacks the pg_trgm extension and the user may not create it: text search will be slow",
        );
      if (applied.length > 0) {
        options.log?.info?.({ applied }, "the database was migrated");
        options.onMigrated?.(applied);
      }
    } else await requireCurrent(client, expected);
    await checkKey(client, options.cipher);
  } catch (error) {
    throw translate(error, constraints);
  } finally {
    if (client) destroy(client);
  }
}

function inTransaction<S extends Tables>(
  view: Collections<S>,
  runner: Runner,
  notify: (channel: string, payload: string) => Promise<void>,
): Tx<S> {
  const store: Tx<S> = Object.assign(view, {
    async tx<R>(work: (store: Tx<S>) => Promise<R>, { lock }: TxOptions = {}): Promise<R> {
      for (const text of lockStatements(lock)) await runner.read({ text, values: [] });
      return work(store);
    },
    readTogether: <R>(work: (store: Collections<S>) => Promise<R>) => work(store),
    notify,
  });
  return store;
}
