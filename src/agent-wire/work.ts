import { versionCompare } from "./version-compare.ts";

export type Work = {
  queries: [name: string, sql: string][];
  discovery: [name: string, sql: string][];
  accelerate: number;
};

type Discovery = (sql: string) => { status: number; rows: readonly unknown[] };

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
export function discover(work: Work, agentVersion: string, answer: Discovery): [string, string][] {
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
