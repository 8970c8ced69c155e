// vitest's global setup: one Postgres for a whole test run, and databases for tests.
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server.ts";

export type { PostgresOptions, PostgresServer } from "./postgres-server.ts";
export { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // With autovacuum, it would be random whether a table is analysed.
  const server = await startPostgres({ settings: { autovacuum: "off" } });
  project.provide("postgresUrl", server.url());
  return () => server.destroy();
}

export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

async function connected<R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function urlOf(database: string): Promise<string> {
  const { inject } = await import("vitest");
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdmin<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const { inject } = await import("vitest");
  return connected(inject("postgresUrl"), work);
}

/** An empty database (or a copy of `template`) on the test run's server. */
export async function freshDatabase(template = "template0"): Promise<FreshDatabase> {
  const name = `t_${randomBytes(8).toString("hex")}`;
  // FILE_COPY needs a checkpoint on both sides; the default strategy writes a few hundred blocks to the log instead.
  await asAdmin((client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY wal_log`));
  return {
    url: await urlOf(name),
    drop: async () => void (await asAdmin((client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`))),
  };
}

/**
 * A database with the server's tables, emptied, which the tests of this process use one after the other, because
 * creating one takes long.
 */
interface UsedDatabase extends FreshDatabase {
  /** The session that empties it: a new session would have to learn all the tables each time. */
  readonly sweeper: pg.Client;
  readonly sweep: Sweep;
}
const used: UsedDatabase[] = [];

/** Bytes from which a table is truncated instead of cleaned, because there is no vacuum. */
const GROWN = 4_000_000;

/**
 * Finds the tables to be emptied, with one prepared statement: checking each table separately took longer than most
 * tests.
 */
class Sweep {
  #look = "";
  #schema = "";

  async run(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ schema: string }>(SCHEMA);
    if (rows[0]!.schema !== this.#schema) {
      this.#look = await lookingAt(client);
      this.#schema = rows[0]!.schema;
    }
    const found = await client.query<{ todo: string }>({ name: `look ${this.#schema}`, text: this.#look });
    if (found.rows.length > 0) await client.query(found.rows.map(({ todo }) => todo).join(";"));
  }
}

const OWN = `pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')
  AND relname NOT IN ('svc_meta', 'svc_migrations')`;
/** A different number for different tables. */
const SCHEMA = `SELECT sum(oid::bigint)::text AS schema FROM ${OWN}`;

async function lookingAt(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; kind: string }>(
    `SELECT quote_ident(relname) AS name, relkind AS kind FROM ${OWN}`,
  );
  return rows
    .map(({ name, kind }) => {
      if (kind === "S") return `SELECT $$SELECT setval('${name}', 1, false)$$ AS todo FROM ${name} WHERE is_called`;
      const size = `pg_relation_size('${name}')`;
      return `SELECT CASE WHEN ${size} > ${GROWN} THEN 'TRUNCATE ${name} CASCADE' ELSE 'DELETE FROM ${name}' END AS todo
        WHERE ${size} > ${GROWN} OR EXISTS (SELECT 1 FROM ${name})`;
    })
    .join(" UNION ALL ");
}

/** Copying a database takes a third of the time of creating its tables. */
const TEMPLATE = "t_tables";

/** The name of a database with the server's tables, created by the test file that needs it first. */
function templateDatabase(): Promise<string> {
  return asAdmin(async (client) => {
    // Released with the session.
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [TEMPLATE]);
    if (rowCount !== 0) return TEMPLATE;
    const unfinished = `${TEMPLATE}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS "${unfinished}"`);
    await client.query(`CREATE DATABASE "${unfinished}" TEMPLATE template0 STRATEGY wal_log`);
    const [{ create }, { tables }] = await Promise.all([
      import("../../src/server/platform/store/postgres/migrate.ts"),
      import("../../src/server/tables.ts"),
    ]);
    await connected(await urlOf(unfinished), (inside) => create(inside, tables));
    await client.query(`ALTER DATABASE "${unfinished}" RENAME TO "${TEMPLATE}"`);
    return TEMPLATE;
  });
}

/** A database without rows, and the tables of the test that used it before, if any. */
export async function emptyDatabase(): Promise<UsedDatabase> {
  const known = used.pop();
  if (known) return known;
  const database = await freshDatabase(await templateDatabase());
  const sweeper = new pg.Client({ connectionString: database.url });
  // Reported by the statement that runs on it.
  sweeper.on("error", () => undefined);
  await sweeper.connect();
  // Without the triggers of references, rows can be deleted in any order.
  await sweeper.query("SET session_replication_role = replica; SET jit = off");
  return { ...database, sweeper, sweep: new Sweep() };
}

/** Empties the database for the next test. */
export async function giveBack(database: UsedDatabase): Promise<void> {
  await database.sweep.run(database.sweeper);
  used.push(database);
}
