// Records in the database which tasks and jobs were taken over from another server, and whether too early.
import pg from "pg";
import { LEASE } from "../../../src/server/platform/core/concurrency/lease.ts";

const TABLES = ["tasks", "job_runs"] as const;

/** Whoever claims a row sets the end of its own lease, so that its start is known. */
const statements = [
  "CREATE SCHEMA soak",
  "CREATE TABLE soak.takeovers (what text, id bigint, early_ms double precision)",
  `CREATE FUNCTION soak.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     INSERT INTO soak.takeovers VALUES (TG_TABLE_NAME, NEW.id,
       EXTRACT(EPOCH FROM OLD.runner_until - NEW.runner_until) * 1000 + ${LEASE});
     RETURN NULL; END $$`,
  ...TABLES.map(
    (table) =>
      `CREATE TRIGGER soak AFTER UPDATE ON ${table} FOR EACH ROW
         WHEN (OLD.runner <> '' AND NEW.runner <> '' AND OLD.runner <> NEW.runner) EXECUTE FUNCTION soak.note()`,
  ),
];

async function withClient<R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** To be called when the tables exist. */
export const recordTakeovers = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

export interface Takeovers {
  /** Tasks, and jobs, that more than one server has run. */
  readonly tasks: number;
  readonly jobs: number;
  /** Takeovers although the earlier lease had not ended. */
  readonly early: number;
}

export const takeoversOf = (url: string): Promise<Takeovers> =>
  withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT count(DISTINCT id) FILTER (WHERE what = 'tasks')::int AS tasks,
              count(DISTINCT id) FILTER (WHERE what = 'job_runs')::int AS jobs,
              count(*) FILTER (WHERE early_ms > 0)::int AS early FROM soak.takeovers`,
    );
    return rows[0] as Takeovers;
  });
