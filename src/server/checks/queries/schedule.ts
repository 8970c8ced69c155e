// The deprecated schedules. An entry is a scheduled query; creating one copies the query that it names.

import type { QueryLogging } from "../../../api/checks/queries.ts";
import type { ScheduleChange, ScheduledEntry } from "../../../api/checks/schedule.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { authorizeTeam, getTeamRow } from "../../settings/teams/access.ts";
import { mayRead, type QueryRow, queryFor, readable } from "./access.ts";
import { checkedPlatform, wholeFields } from "./rules.ts";
import { changingQueries, deleteQuery, insertQuery, refuseTwins, teamOf, updateQuery } from "./service.ts";
import { noStats } from "./wire.ts";
import { NO_LABELS } from "./write.ts";

type EntryInput = ScheduleChange & { query_id: number; interval: number };

export async function listEntries(ctx: Context, teamId: number | null, query: PageQuery): Promise<ScheduledEntry[]> {
  if (teamId !== null) await getTeamRow(ctx, "queries:list", teamId);
  const where = and(readable(ctx), eq("team_id", teamId), gt("interval", 0));
  return (await page(ctx.store.queries, query, where)).rows.map(entryOf);
}

export async function createEntry(ctx: Context, teamId: number | null, input: EntryInput): Promise<ScheduledEntry> {
  if (teamId === null) authorize(ctx, "queries:write", null);
  else authorizeTeam(ctx, "queries:write", teamId);
  const scheduling = changingQueries(ctx, async (inside) => {
    const team = await teamOf(inside, teamId);
    const original = await inside.store.queries.get(input.query_id);
    // Any caller with write access may copy a global query: it runs on these hosts anyway.
    if (!original || (original.team_id !== null && !mayRead(inside.user, original.team_id)))
      throw notFound("query", input.query_id);
    if (original.team_id !== null)
      throw badRequest(`query ${input.query_id} belongs to a team: it cannot be scheduled here`, "query_id");
    const columns = wholeFields({
      name: `Copy of ${original.name} (${Math.floor(ctx.clock.now() / 1000)})`,
      query: original.query,
      description: original.description,
      observer_can_run: original.observer_can_run,
      interval: input.interval,
      platform: input.platform ?? original.platform,
      min_qengine_version: input.version ?? original.min_qengine_version,
      automations_enabled: true,
      logging: loggingOf(input, "snapshot"),
    });
    const row = await insertQuery(inside, { ...columns, team_id: teamId, shard: input.shard ?? null }, NO_LABELS);
    await recordActivity(inside, "created_saved_query", { query_id: row.id, query_name: row.name, ...team });
    return entryOf(row);
  });
  return refuseTwins(scheduling, "the copy");
}

export async function modifyEntry(
  ctx: Context,
  teamId: number | null,
  id: number,
  change: ScheduleChange,
): Promise<ScheduledEntry> {
  return changingQueries(ctx, async (inside) => {
    const before = await entryRow(inside, teamId, id);
    const { name, query_id, query_name, query, pack_id } = entryOf(before);
    checkUnchanged(change, { name, query_id, query_name, query, pack_id });
    const after = await updateQuery(
      inside,
      before,
      {
        ...(change.interval === undefined ? {} : { interval: change.interval }),
        ...(change.platform == null ? {} : { platform: checkedPlatform(change.platform) }),
        ...(change.version == null ? {} : { min_qengine_version: change.version }),
        ...(change.shard === undefined ? {} : { shard: change.shard }),
        logging: loggingOf({ ...flagsOf(before.logging), ...change }, before.logging),
      },
      undefined,
    );
    const team = await teamOf(inside, after.team_id);
    await recordActivity(inside, "edited_saved_query", { query_id: id, query_name: after.name, ...team });
    return entryOf(after);
  });
}

export async function deleteEntry(ctx: Context, teamId: number | null, id: number): Promise<void> {
  await entryRow(ctx, teamId, id);
  await deleteQuery(ctx, id);
}

/** The query; 404 if it does not belong to that schedule. */
async function entryRow(ctx: Context, teamId: number | null, id: number): Promise<QueryRow> {
  if (teamId !== null) authorizeTeam(ctx, "queries:write", teamId);
  const row = await ctx.store.queries.get(id);
  if (!row || row.team_id !== teamId || row.interval === 0) throw notFound("scheduled query", id);
  return queryFor(ctx, "queries:write", id);
}

const flagsOf = (logging: QueryLogging) => ({
  snapshot: logging === "snapshot",
  removed: logging === "differential",
});

function loggingOf(change: ScheduleChange, fallback: QueryLogging): QueryLogging {
  const { snapshot, removed } = change;
  if (snapshot == null && removed == null) return fallback;
  if (snapshot === true) return "snapshot";
  return removed === false ? "differential_ignore_removals" : "differential";
}

const entryOf = (row: QueryRow): ScheduledEntry => ({
  id: row.id,
  pack_id: null,
  name: row.name,
  query_id: row.id,
  query_name: row.name,
  query: row.query,
  description: row.description,
  interval: row.interval,
  ...flagsOf(row.logging),
  platform: row.platform,
  version: row.min_qengine_version,
  shard: row.shard,
  denylist: true,
  stats: row.stats ?? noStats,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
