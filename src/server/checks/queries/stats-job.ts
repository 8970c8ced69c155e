import type { PackStats } from "../../hosts/hosts/details.ts";
import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import type { Random } from "../../platform/core/random.ts";
import type { ServerStore } from "../../platform/core/tables.ts";
import { gt } from "../../platform/store/query.ts";
import { splitResultName } from "./names.ts";
import { loadPlan } from "./plan.ts";
import type { QueryStats } from "./tables.ts";

/** Hosts per read. */
const BATCH_SIZE = 500;
/** For queries that run on more hosts, a random sample of this size is used. */
const SAMPLES = 10_000;

/** Computes the cost of each scheduled query on hosts from the statistics that agents report. */
export const queryStats: Job = {
  name: "query_stats",
  every: hours(1),
  async run(services, signal) {
    const { store, random } = services;
    const plan = await loadPlan(services);
    const costs = new Map<number, Cost>();
    for (let last = 0; !signal.aborted; ) {
      const hosts = await store.hostDetails.pick(["id", "pack_stats"], {
        where: gt("id", last),
        order: [{ column: "id", direction: "asc" }],
        limit: BATCH_SIZE,
      });
      for (const { pack_stats } of hosts)
        for (const stats of ours(pack_stats)) note(costs, plan.named(stats.name), stats, random);
      if (hosts.length < BATCH_SIZE) break;
      last = hosts.at(-1)!.id;
    }
    if (!signal.aborted) await write(store, costs);
  },
};

interface Cost {
  hosts: number;
  executions: number;
  readonly system: number[];
  readonly user: number[];
}

interface Ran {
  /** In the form of a result name, with this server's own delimiter. */
  readonly name: string;
  readonly executions: number;
  readonly system_time: number;
  readonly user_time: number;
}

function* ours(storedStats: unknown): Generator<Ran> {
  for (const { pack_name, query_stats } of (Array.isArray(storedStats) ? storedStats : []) as readonly PackStats[])
    for (const { scheduled_query_name, executions, system_time, user_time } of query_stats) {
      const name = `pack/${pack_name}/${scheduled_query_name}`;
      if (executions > 0 && !splitResultName(name).next().done) yield { name, executions, system_time, user_time };
    }
}

function note(costs: Map<number, Cost>, query: { readonly id: number } | null, ran: Ran, random: Random): void {
  if (!query) return;
  const cost = costs.get(query.id) ?? { hosts: 0, executions: 0, system: [], user: [] };
  costs.set(query.id, cost);
  cost.hosts++;
  cost.executions += ran.executions;
  // Reservoir sampling: every host has the same probability of being in the sample.
  const at = cost.system.length < SAMPLES ? cost.system.length : random.int(cost.hosts);
  if (at >= SAMPLES) return;
  cost.system[at] = ran.system_time / ran.executions;
  cost.user[at] = ran.user_time / ran.executions;
}

async function write(store: ServerStore, costs: ReadonlyMap<number, Cost>): Promise<void> {
  const rows = await store.queries.pick(["id", "stats"]);
  const changes = rows.flatMap(({ id, stats }) => {
    const now = statsOf(costs.get(id));
    return JSON.stringify(now) === JSON.stringify(stats) ? [] : [{ id, stats: now }];
  });
  for (let at = 0; at < changes.length; at += BATCH_SIZE)
    await store.queries.updateEach(changes.slice(at, at + BATCH_SIZE));
}

function statsOf(cost: Cost | undefined): QueryStats | null {
  if (!cost) return null;
  return {
    system_time_p50: percentile(cost.system, 50),
    system_time_p95: percentile(cost.system, 95),
    user_time_p50: percentile(cost.user, 50),
    user_time_p95: percentile(cost.user, 95),
    total_executions: cost.executions,
  };
}

/** The percentile: the smallest value that at least this percentage of the values does not exceed. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
