// vitest's global set-up: one Postgres for a whole test run, and databases of their own for tests.
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
  // Whether a table is analysed would be a matter of luck.
  const server = await startPostgres({ settings: { autovacuum: "off" } });
  project.provide("postgresUrl", server.url());
  await connected(server.url(), (client) => client.query("CREATE TABLE svc_left (name text PRIMARY KEY)"));
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

async function asAdmin<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const { inject } = await import("vitest");
  return connected(inject("postgresUrl"), work);
}

/** An empty database (or a copy of `template`) on the test run's server. */
export async function freshDatabase(template = "template0"): Promise<FreshDatabase> {
  const name = `t_${randomBytes(8).toString("hex")}`;
  // FILE_COPY needs a checkpoint on both sides; the default strategy writes a few hundred blocks to the log instead.
  await asAdmin((client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY wal_log`));
  return databaseNamed(name);
}

async function databaseNamed(name: string): Promise<FreshDatabase> {
  const { inject } = await import("vitest");
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await asAdmin((client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`))),
  };
}

/** A database with the server's tables in it, emptied, which one test after the other uses, in whatever file: to make it takes longest. */
interface UsedDatabase extends FreshDatabase {
  /** What empties it: a new session would have to learn of all the tables each time. */
  readonly sweeper: pg.Client;
}
const used: UsedDatabase[] = [];

/** Nobody vacuums: what has grown is cut, not swept. */
const EMPTY = `SET session_replication_role = replica;
DO $$ DECLARE it record; has_rows bool; BEGIN
  FOR it IN SELECT oid, relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    AND relname NOT IN ('svc_meta', 'svc_migrations') LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', it.relname) INTO has_rows;
    IF pg_relation_size(it.oid) > 4000000 THEN EXECUTE format('TRUNCATE %I CASCADE', it.relname);
    ELSIF has_rows THEN EXECUTE format('DELETE FROM %I', it.relname); END IF;
  END LOOP;
  FOR it IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', it.sequencename);
  END LOOP;
END $$`;

/** A database that has no rows, and the tables of the test that had it before, if any. */
export async function emptyDatabase(): Promise<UsedDatabase> {
  const known = used.pop();
  if (known) return known;
  const database = (await leftByAnother()) ?? (await freshDatabase());
  const sweeper = new pg.Client({ connectionString: database.url });
  // Told by the statement that runs on it.
  sweeper.on("error", () => undefined);
  await sweeper.connect();
  return { ...database, sweeper };
}

async function leftByAnother(): Promise<FreshDatabase | null> {
  const one = "SELECT name FROM svc_left LIMIT 1 FOR UPDATE SKIP LOCKED";
  const { rows } = await asAdmin((client) =>
    client.query<{ name: string }>(`DELETE FROM svc_left WHERE name = (${one}) RETURNING name`),
  );
  return rows[0] ? databaseNamed(rows[0].name) : null;
}

/** Empties the database for the next test. */
export async function giveBack(database: UsedDatabase): Promise<void> {
  await database.sweeper.query(EMPTY);
  used.push(database);
}

/** After the last test of a file: the next file takes them. */
export async function leaveUsed(): Promise<void> {
  if (used.length === 0) return;
  const left = used.splice(0);
  for (const { sweeper } of left) await sweeper.end();
  const names = left.map(({ url }) => new URL(url).pathname.slice(1));
  await asAdmin((client) => client.query("INSERT INTO svc_left SELECT unnest($1::text[])", [names]));
}
