import { hosts } from "../../hosts/hosts/tables.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, everything, exists, gt, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { reportRules } from "./report.ts";
import { queries } from "./tables.ts";

/** Rows per delete: few enough that no other request has to wait. */
const BATCH_SIZE = 1000;
const byId = [{ column: "id", direction: "asc" }] as const;

/**
 * Deletes results that reports must not contain: all if reports are off, results of queries that store none, results
 * of hosts that left the query's team, and rows above the cap, which concurrent servers can exceed.
 */
export const queryReports: Job = {
  name: "query_reports",
  every: minutes(10),
  async run(services, signal) {
    const { enabled, cap } = await reportRules(services);
    if (!enabled) return remove(services, everything, signal);
    const keepsNone = or(eq("discard_data", true), not(eq("logging", "snapshot")));
    await remove(services, exists(queries, "id", keepsNone, "query_id"), signal);
    await removeLeft(services, signal);
    await trim(services, cap, signal);
  },
};

async function remove({ store }: Services, where: Predicate, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const rows = await store.queryResults.pick(["id"], { where, order: byId, limit: BATCH_SIZE });
    if (rows.length > 0) await store.queryResults.delete(idsIn(rows));
    if (rows.length < BATCH_SIZE) return;
  }
}

const idsIn = (rows: readonly { id: number }[]): Predicate =>
  oneOf(
    "id",
    rows.map(({ id }) => id),
  );

/** Deletes results of hosts that are not in the query's team. */
async function removeLeft(services: Services, signal: AbortSignal): Promise<void> {
  const owned = await services.store.queries.pick(["id", "team_id"], { where: not(isNull("team_id")) });
  for (const { id, team_id } of owned) {
    if (signal.aborted) return;
    const inTeam = exists(hosts, "id", eq("team_id", team_id), "host_id");
    await remove(services, and(eq("query_id", id), not(inTeam)), signal);
  }
}

/** Shortens reports above the cap by deleting the hosts that were added last. */
async function trim({ store }: Services, cap: number, signal: AbortSignal): Promise<void> {
  for (const { value } of await store.queryResults.groupCount("query_id", gt("row_count", 0))) {
    if (signal.aborted || typeof value !== "number") return;
    const stored = await store.queryResults.pick(["id", "row_count"], {
      where: and(eq("query_id", value), gt("row_count", 0)),
      order: byId,
    });
    let rows = 0;
    const beyond = stored.filter(({ row_count }) => {
      rows += row_count;
      return rows > cap;
    });
    for (let at = 0; at < beyond.length; at += BATCH_SIZE)
      await store.queryResults.delete(idsIn(beyond.slice(at, at + BATCH_SIZE)));
  }
}
