import type pg from "pg";
import { admin, type WithAdmin } from "../admin.ts";
import type { Cipher } from "../cipher.ts";
import { lazyCollections } from "../lazy-collections.ts";
import { type Collections, type Store, StoreUnavailable, type Tables, type Tx, type TxOptions } from "../store.ts";
import type { Table } from "../table.ts";
import { postgresAdmin } from "./admin.ts";
import { layoutsByName, PgCollection } from "./collections.ts";
import { Candidacy } from "./connection/lead.ts";
import { Listening } from "./connection/listen.ts";
import { connectClient, createPool, destroy, type PoolLog, StatementNames } from "./connection/pool.ts";
import { lockNumber, poolRunner, type Runner, readTogether, transaction } from "./connection/runner.ts";
import { probeOf, Watchdog } from "./connection/watchdog.ts";
import { translate } from "./errors.ts";
import { Layout } from "./layout.ts";
import { checkKey, checkVersion, create, migrate, requireCurrent } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";
import { constraintsOf } from "./schema.ts";
import { list, sql, textOf } from "./sql.ts";

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
const PAYLOAD_LIMIT = 7_000;

/**
 * A call that fails with `StoreUnavailable` stored nothing, with one exception that no database can avoid: if the
 * connection is lost during a single write or a COMMIT, the result is unknown. Work that must not happen twice has to
 * check first.
 */
export async function openPostgres<S extends Tables>(options: PostgresOptions<S>): Promise<Store<S>> {
  const { tables, url, cipher, log } = options;
  await prepare(options);

  const watchdog = new Watchdog(probeOf(url), log);
  const pool = createPool({ url, poolSize: options.poolSize ?? 10, log, waitMs: options.waitMs, watchdog });
  const names = new StatementNames();
  const context = { pool, watchdog, names, constraints: constraintsOf(tables) };
  const layouts = Object.fromEntries(
    Object.entries(tables).map(([key, table]) => [key, new Layout(table as Table, cipher)]),
  );
  const layoutOf = layoutsByName(layouts);
  const on = lazyCollections(tables, (key, runner: Runner) => new PgCollection(layouts[key]!, layoutOf, runner));
  const runner = poolRunner(context);
  const listening = new Listening(url, log, watchdog);
  const candidacies = new Set<Candidacy>();
  let closing: Promise<void> | undefined;

  const tx = async <R>(
    work: (store: Tx<S>) => Promise<R>,
    { lock, snapshot, failFast }: TxOptions = {},
  ): Promise<R> => {
    let sent: Message[] = [];
    const result = await transaction(
      context,
      async (inner, beforeCommit) => {
        const messages: Message[] = [];
        let ended = false;
        const value = await work(
          inTransaction(on(inner), inner, async (channel, payload) => {
            if (ended) throw new Error("the transaction has ended: await its messages");
            messages.push(sealed(listening, channel, payload));
          }),
        );
        ended = true;
        if (messages.length > 0) beforeCommit(notifying(messages));
        sent = messages;
        return value;
      },
      { lock, failFast, ...(snapshot ? { snapshot } : {}) },
    );
    for (const { channel, sealed } of sent) listening.deliver(channel, sealed);
    return result;
  };

  const store: WithAdmin<S> = Object.assign(on(runner), {
    engine: "postgres" as const,
    tables,
    tx,
    readTogether: <R>(work: (store: Collections<S>) => Promise<R>) =>
      readTogether(context, (together) => work(on(together))),
    async notify(channel: string, payload: string) {
      const message = sealed(listening, channel, payload);
      await runner.read({ text: "SELECT pg_notify($1, $2)", values: [message.channel, message.sealed] });
      listening.deliver(channel, message.sealed);
    },
    listen: (channel: string, onMessage: (payload: string) => void, onReset?: () => void) =>
      listening.listen(channel, onMessage, onReset).catch((error) => {
        throw translate(error, context.constraints);
      }),
    async lead(name: string, onElected: (lost: AbortSignal) => Promise<void>) {
      const candidacy = new Candidacy({ url, name, log, everyMs: options.leadEveryMs ?? 3_000, watchdog }, onElected);
      candidacies.add(candidacy);
      return async () => {
        candidacies.delete(candidacy);
        await candidacy.stop();
      };
    },
    async check() {
      const late = new Promise<never>((_, failed) =>
        setTimeout(() => failed(new StoreUnavailable("the database did not answer in time")), CHECK_LIMIT_MS).unref(),
      );
      await Promise.race([runner.read({ text: "SELECT 1 AS one", values: [] }), late]);
    },
    stats: () => ({
      pool_size: pool.totalCount,
      pool_idle: pool.idleCount,
      pool_waiting: pool.waitingCount,
      prepared_statements: names.size,
      unreachable: watchdog.silent ? 1 : 0,
      outages: watchdog.outages,
    }),
    close() {
      closing ??= (async () => {
        await Promise.all([...candidacies].map((candidacy) => candidacy.stop()));
        listening.close();
        await pool.end();
        watchdog.close();
      })();
      return closing;
    },
    [admin]: postgresAdmin({ context, tables, layouts, layoutOf, on }),
  });
  watchdog.start();
  return store;
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

interface Message {
  readonly channel: string;
  readonly sealed: string;
}

function sealed(listening: Listening, channel: string, payload: string): Message {
  if (Buffer.byteLength(payload) > PAYLOAD_LIMIT) throw new Error(`a message can have at most ${PAYLOAD_LIMIT} bytes`);
  return { channel, sealed: listening.seal(payload) };
}

/** Postgres delivers the messages of a transaction when it commits. */
function notifying(messages: readonly Message[]): string {
  const rows = messages.map(
    ({ channel, sealed }, place) => sql`(${sql.lit(place)}, ${sql.lit(channel)}, ${sql.lit(sealed)})`,
  );
  return textOf(
    sql`SELECT pg_notify(m.channel, m.payload) FROM (VALUES ${list(rows)}) AS m(place, channel, payload) ORDER BY m.place`,
  );
}

function inTransaction<S extends Tables>(
  view: Collections<S>,
  runner: Runner,
  notify: (channel: string, payload: string) => Promise<void>,
): Tx<S> {
  const store: Tx<S> = Object.assign(view, {
    async tx<R>(work: (store: Tx<S>) => Promise<R>, { lock }: TxOptions = {}): Promise<R> {
      if (lock !== undefined)
        await runner.read({ text: `SELECT pg_advisory_xact_lock(${lockNumber(lock)})`, values: [] });
      return work(store);
    },
    readTogether: <R>(work: (store: Collections<S>) => Promise<R>) => work(store),
    notify,
  });
  return store;
}
