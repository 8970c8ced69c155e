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
  const server = await startPostgres();
  project.provide("postgresUrl", server.url());
  return () => server.destroy();
}

export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

async function asAdmin(work: (client: pg.Client) => Promise<unknown>): Promise<string> {
  const { inject } = await import("vitest");
  const url = inject("postgresUrl");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
  return url;
}

/** An empty database (or a copy of `template`) on the test run's server. */
export async function freshDatabase(template = "template0"): Promise<FreshDatabase> {
  const name = `t_${randomBytes(8).toString("hex")}`;
  // FILE_COPY needs a checkpoint on both sides; the default strategy writes a few hundred blocks to the log instead.
  const server = await asAdmin((client) =>
    client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY wal_log`),
  );
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await asAdmin((client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`))),
  };
}

/** Databases with the server's tables in them, emptied, which one test after the other uses: to make them takes longest. */
const used: FreshDatabase[] = [];

const EMPTY = `SET session_replication_role = replica;
DO $$ DECLARE it record; has_rows bool; BEGIN
  FOR it IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    AND relname NOT IN ('svc_meta', 'svc_migrations') LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', it.relname) INTO has_rows;
    IF has_rows THEN EXECUTE format('DELETE FROM %I', it.relname); END IF;
  END LOOP;
  FOR it IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', it.sequencename);
  END LOOP;
END $$`;

/** A database that has no rows, and the tables of the test that had it before, if any. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return used.pop() ?? freshDatabase();
}

/** Empties the database for the next test of the file. */
export async function giveBack(database: FreshDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(EMPTY);
  } finally {
    await client.end();
  }
  used.push(database);
}

/** After the last test of a file. */
export async function dropUsed(): Promise<void> {
  for (const database of used.splice(0)) await database.drop();
}
