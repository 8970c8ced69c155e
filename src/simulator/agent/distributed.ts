import { versionCompare } from "../../agent-wire/version-compare.ts";
import { hashText } from "../random.ts";
import type { SqlAnswer } from "../sql/answer.ts";

type Result = { rows: string; status: number; message: string; stats: string };
/** An answer whose rows are JSON text already, and how many they are. */
export type PreparedAnswer = Omit<SqlAnswer, "rows"> & { json: string; count: number };
type Answer = (sql: string) => SqlAnswer | PreparedAnswer;

export function prepared({ rows, ...rest }: SqlAnswer): PreparedAnswer {
  return { ...rest, json: JSON.stringify(rows), count: rows.length };
}

/**
 * Results that the server has not accepted yet. New results are merged in, and every write contains all of them until
 * one is accepted.
 */
export class Results {
  readonly #unsent = new Map<string, Result>();

  get size(): number {
    return this.#unsent.size;
  }

  run(queries: [string, string][], answer: Answer, old: boolean): void {
    for (const [name, sql] of queries) {
      const result = answer(sql);
      const { status, message, json, count } = "json" in result ? result : prepared(result);
      this.#unsent.set(name, { rows: count === 0 && old ? '""' : json, status, message, stats: statsOf(sql, count) });
    }
  }

  body(nodeKey: string, agentVersion: string, old: boolean): string {
    const parts = { queries: "", statuses: "", messages: "", stats: "" };
    for (const [name, result] of this.#unsent) {
      const key = `${parts.queries === "" ? "" : ","}${JSON.stringify(name)}:`;
      parts.queries += key + result.rows;
      parts.statuses += key + (old ? `"${result.status}"` : result.status);
      parts.messages += key + JSON.stringify(result.message);
      parts.stats += key + result.stats;
    }
    const messages = versionCompare(agentVersion, "4.4.0") >= 0 ? `,"messages":{${parts.messages}}` : "";
    const stats = versionCompare(agentVersion, "5.8.0") >= 0 ? `,"stats":{${parts.stats}}` : "";
    const key = JSON.stringify(nodeKey);
    return `{"node_key":${key},"queries":{${parts.queries}},"statuses":{${parts.statuses}}${messages}${stats}}`;
  }

  accepted(): void {
    this.#unsent.clear();
  }
}

function statsOf(sql: string, rows: number): string {
  const wall = 1 + (hashText(sql) % 40) + Math.floor(rows / 20);
  return `{"wall_time_ms":${wall},"user_time":${wall >> 1},"system_time":${wall >> 2},"memory":${4096 * (1 + rows)}}`;
}
