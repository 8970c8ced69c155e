// Counts what Postgres executes, as it counts it itself.
import pg from "pg";

/** The settings that a server needs for this. */
export const COUNTING = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.max": "10000" };

export interface StatementCounter {
  /** Since the counter was made; each statement of a text with several counts. */
  count(): Promise<number>;
  /** The statements, the most frequent ones first. */
  all(): Promise<string[]>;
  close(): Promise<void>;
}

/** Counts from now on. */
export async function statementsOf(connectionString: string): Promise<StatementCounter> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()");
  const others = "FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'";
  return {
    async count() {
      const { rows } = await client.query<{ calls: string }>(`SELECT sum(calls) AS calls ${others}`);
      return Number(rows[0]!.calls);
    },
    async all() {
      const shown = "calls, total_exec_time AS ms, regexp_replace(query, '\\s+', ' ', 'g') AS text";
      const { rows } = await client.query<{ calls: string; ms: number; text: string }>(
        `SELECT ${shown} ${others} ORDER BY pg_stat_statements.calls DESC LIMIT 80`,
      );
      return rows.map(
        ({ calls, ms, text }) => `${calls.padStart(7)} ${ms.toFixed(0).padStart(7)} ms  ${text.slice(0, 400)}`,
      );
    },
    close: () => client.end(),
  };
}
