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
