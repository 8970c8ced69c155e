import type { PackStats, QueryStats } from "../../hosts/hosts/details.ts";
import type { InventorySource } from "../../hosts/hosts/inventory/source.ts";
import { toCount, toNumber, unixToIso } from "../../platform/agent-protocol/numbers.ts";
import { type AgentRow, has, text, type Warn } from "../../platform/agent-protocol/rows.ts";
import { limit } from "../../platform/core/limits.ts";

export const SCHEDULE_STATISTICS = limit({
  what: "queries in the statistics of a host's schedule",
  max: 1_000,
  unit: "entries",
  per: "host",
  beyond: "Further queries are left out.",
});

const count = (cell: unknown): number => toCount(cell) ?? 0;
const isTrue = (cell: unknown): boolean => cell === true || cell === "true" || toNumber(cell) === 1;

/** `global`, `team-<id>`, or "" for a legacy pack. */
function packType(pack: string): string {
  if (pack === "Global") return "global";
  return /^team-\d+$/.test(pack) ? pack : "";
}

function wallTime(row: AgentRow): number {
  return has(row, "wall_time_ms") ? count(row.wall_time_ms) : (toCount((toNumber(row.wall_time) ?? 0) * 1000) ?? 0);
}

/** Parses the agent's schedule statistics by pack. Queries outside packs do not come from this server. */
function packStats(rows: readonly AgentRow[], warn: Warn): PackStats[] {
  const packs = new Map<string, Map<string, QueryStats>>();
  let queries = 0;
  for (const row of rows) {
    const delimiter = text(row, "delimiter");
    const name = text(row, "name", 1024);
    if (delimiter === "" || name === "") {
      warn("schedule_stats", "a row without name or delimiter");
      continue;
    }
    const prefix = `pack${delimiter}`;
    if (!name.startsWith(prefix)) continue;
    const rest = name.slice(prefix.length);
    const at = rest.indexOf(delimiter);
    if (at <= 0 || at + delimiter.length === rest.length) {
      warn("schedule_stats", "a name without pack and query");
      continue;
    }
    const executions = count(row.executions);
    // The column was named `blacklisted` before 5.0.
    const denylisted = isTrue(has(row, "denylisted") ? row.denylisted : row.blacklisted);
    // A newly scheduled query reports zeros, which must not overwrite earlier statistics.
    if (executions === 0 && !denylisted) continue;
    if (queries++ === SCHEDULE_STATISTICS.max) break;
    const pack = rest.slice(0, at);
    const query = rest.slice(at + delimiter.length);
    const stats = packs.get(pack) ?? new Map<string, QueryStats>();
    packs.set(pack, stats);
    stats.set(query, {
      scheduled_query_name: query,
      query_name: query,
      pack_name: pack,
      average_memory: count(row.average_memory),
      denylisted,
      executions,
      interval: count(row.interval),
      last_executed: unixToIso(row.last_executed),
      output_size: count(row.output_size),
      system_time: count(row.system_time),
      user_time: count(row.user_time),
      wall_time: wallTime(row),
    });
  }
  return [...packs].map(([pack, stats]) => ({
    pack_name: pack,
    type: packType(pack),
    query_stats: [...stats.values()],
  }));
}

export const scheduleInventory: InventorySource<PackStats[]> = {
  queries: [
    {
      name: "schedule_stats",
      platforms: ["darwin", "linux", "windows"],
      sql: "SELECT s.*, f.value AS delimiter FROM osquery_schedule AS s, osquery_flags AS f WHERE f.name = 'pack_delimiter';",
    },
  ],
  read({ rows, warn }) {
    const statRows = rows("schedule_stats");
    return statRows && packStats(statRows, warn);
  },
  details: (pack_stats) => ({ pack_stats }),
};
