import { hashText } from "../random.ts";
import type { SqlAnswer } from "../sql/answer.ts";
import { versionCompare } from "../sql/values.ts";

export type Work = {
  queries: [name: string, sql: string][];
  discovery: [name: string, sql: string][];
  accelerate: number;
};
type Result = { rows: string; status: number; message: string; stats: string };
type Answer = (sql: string) => SqlAnswer;

/**
 * Parses a reply in the way the agent does: it stops at the first value that is not a non-empty text, and ignores
 * everything after it.
 */
export function readWork(json: Record<string, unknown> | null): Work {
  const work: Work = { queries: [], discovery: [], accelerate: 0 };
  if (!json) return work;
  if (!collect(json.discovery, work.discovery) || !collect(json.queries, work.queries)) return work;
  if (Number.isInteger(json.accelerate)) work.accelerate = json.accelerate as number;
  return work;
}

function collect(value: unknown, into: [string, string][]): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const [name, sql] of Object.entries(value)) {
    if (name === "" || typeof sql !== "string" || sql === "") return false;
    into.push([name, sql]);
  }
  return true;
}

/** The queries to run, in order. Empty if a discovery query has an SQL error. */
export function discover(work: Work, agentVersion: string, answer: Answer): [string, string][] {
  const matched = new Set<string>();
  for (const [name, sql] of work.discovery) {
    const result = answer(sql);
    if (result.status !== 0) return [];
    if (result.rows.length > 0) matched.add(name);
  }
  const entries = new Set(work.discovery.map(([name]) => name));
  // Before 5.8, if any discovery query matched, names without one were skipped; if none matched, every query ran.
  const strict = versionCompare(agentVersion, "5.8.0") < 0;
  const runs = (name: string) =>
    strict ? matched.size === 0 || matched.has(name) : !entries.has(name) || matched.has(name);
  return work.queries.filter(([name]) => runs(name)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/**
 * Results that the server has not accepted yet. New results are merged in, and every write contains all of them until
 * one is accepted.
 */
export class Results {
  private readonly unsent = new Map<string, Result>();

  get size(): number {
    return this.unsent.size;
  }

  run(queries: [string, string][], answer: Answer, old: boolean): void {
    for (const [name, sql] of queries) {
      const { status, message, rows } = answer(sql);
      const text = rows.length === 0 && old ? '""' : JSON.stringify(rows);
      this.unsent.set(name, { rows: text, status, message, stats: statsOf(sql, rows.length) });
    }
  }

  body(nodeKey: string, agentVersion: string, old: boolean): string {
    const parts = { queries: "", statuses: "", messages: "", stats: "" };
    for (const [name, result] of this.unsent) {
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
    this.unsent.clear();
  }
}

function statsOf(sql: string, rows: number): string {
  const wall = 1 + (hashText(sql) % 40) + Math.floor(rows / 20);
  return `{"wall_time_ms":${wall},"user_time":${wall >> 1},"system_time":${wall >> 2},"memory":${4096 * (1 + rows)}}`;
}
