// Live queries whose caller waits for the results: until all online targets have reported, or the configured period
// ends.
import type { z } from "zod";
import type { HostAnswer, liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { hostNamed } from "../../hosts/hosts/named.ts";
import { online } from "../../hosts/hosts/status.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, badRequest, forbidden } from "../../platform/core/errors.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import { and, eq, gt, lt, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { runnableOn, selectionOf, targetsFor } from "../targets/select.ts";
import { endCampaign } from "./ending.ts";
import { liveQueries } from "./hub.ts";
import { assertEnabled, type Runnable, savedQuery, startCampaign } from "./service.ts";
import { type CampaignRow, placeOf } from "./tables.ts";

type Ran = z.output<(typeof liveQueriesApi)["runSaved"]["response"]>;
type RanMany = z.output<(typeof liveQueriesApi)["runMany"]["response"]>;

const TIMED_OUT = "timeout waiting for results";
/** Interval of checking the store, since the notification of the end may be lost. */
const LOOK_EVERY_MS = 5_000;
/** Maximum number of saved queries per request; each becomes a live query of its own. */
const QUERIES_MAX = 20;

/** Waits until the query has ended; ends it when the period is over. */
async function awaitEnd(ctx: Context, id: number): Promise<CampaignRow | null> {
  const live = ctx.running.of(liveQueries);
  const until = performance.now() + ctx.settings.live_query_rest_period;
  let wake = () => {};
  let looking = true;
  const look = () => {
    looking = true;
    wake();
  };
  const forget = [
    live.onChange(id, (change) => {
      if (change === "end" || change === "reset") look();
    }),
    live.onStopping(look),
  ];
  const detach = await live.attach(id);
  try {
    for (;;) {
      looking = false;
      const row = await ctx.store.campaigns.get(id);
      if (!row || row.status === 2) return row;
      const left = until - performance.now();
      if (left <= 0 || live.isStopping()) return await endCampaign(ctx, id, "time");
      if (looking) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, LOOK_EVERY_MS));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    for (const end of forget) end();
    detach();
  }
}

/** Maximum size of the rows in one reply, which is built in memory. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024;
const TOO_MUCH = "the reply has no room for this host's rows; run the query as POST /queries/live, and read its stream";

/** The results in order of arrival. */
async function answersTo({ store }: Context, id: number) {
  const targets = await store.campaignHosts.pick(["id", "host_id", "error", "bytes"], {
    where: and(gt("place", placeOf(id, 0)), lt("place", placeOf(id + 1, 0))),
    order: [{ column: "place", direction: "asc" }],
  });
  let bytes = 0;
  const fitting = new Set<number>();
  for (const target of targets) {
    bytes += target.bytes;
    if (target.bytes > 0 && bytes <= REPLY_BYTES_MAX) fitting.add(target.id);
  }
  const rows = await store.campaignHosts.pick(["id", "rows"], { where: oneOf("id", [...fitting]) });
  const rowsOf = new Map(rows.map((target) => [target.id, target.rows]));
  return targets.map((target) => ({
    host_id: target.host_id,
    rows: [...(rowsOf.get(target.id) ?? [])],
    error: target.bytes > 0 && !fitting.has(target.id) ? TOO_MUCH : target.error,
  }));
}

const sqlOf = (text: string | undefined): string => {
  const sql = text?.trim() ?? "";
  if (sql === "") throw badRequest("query is required", "query");
  const problem = sqlProblem(sql);
  if (problem !== null) throw badRequest(problem, "query");
  return sql;
};

const unknownHost = (name: string | number) => badRequest(`host not found: ${name}`);

export async function queryHost(ctx: Context, id: number, text: string | undefined): Promise<HostAnswer> {
  await assertEnabled(ctx);
  const sql = sqlOf(text);
  const host = await ctx.store.hosts.get(id);
  if (!host) throw unknownHost(id);
  if (!may(ctx.user, "queries:run_new", host.team_id)) {
    // 403 only if the host is visible to the caller; otherwise report it as unknown.
    if (may(ctx.user, "hosts:read", host.team_id) || may(ctx.user, "hosts:identify", host.team_id)) throw forbidden();
    throw unknownHost(id);
  }
  return askHost(ctx, host, sql);
}

export async function queryHostByIdentifier(ctx: Context, name: string, text: string | undefined): Promise<HostAnswer> {
  await assertEnabled(ctx);
  const sql = sqlOf(text);
  const seen = or(visible(ctx, "queries:run_new"), visible(ctx, "hosts:read"), visible(ctx, "hosts:identify"));
  const host = await hostNamed(ctx, name, seen, { hasKeys: true });
  if (!host) throw unknownHost(name);
  if (!may(ctx.user, "queries:run_new", host.team_id)) throw forbidden();
  return askHost(ctx, host, sql);
}

async function askHost(ctx: Context, { id }: HostRow, sql: string): Promise<HostAnswer> {
  const answer = { host_id: id, query: sql, rows: null, error: null };
  const up = await ctx.store.hosts.first({ where: and(eq("id", id), online(ctx.clock.now())) });
  if (!up) return { ...answer, status: "offline" };
  const { id: campaignId } = await startCampaign(ctx, {
    sql,
    query: null,
    selection: selectionOf({ hosts: [id] }),
    targets: eq("id", id),
  });
  await awaitEnd(ctx, campaignId);
  const [result] = await answersTo(ctx, campaignId);
  return result
    ? { ...answer, status: "online", rows: result.rows, error: result.error }
    : { ...answer, status: "online", error: TIMED_OUT };
}

async function runOn(ctx: Context, { sql, query }: Runnable, hostIds: readonly number[]) {
  const selection = selectionOf({ hosts: hostIds });
  const targets = await targetsFor(ctx, selection, query, { strict: true });
  const row = await startCampaign(ctx, { sql, query, selection, targets });
  await awaitEnd(ctx, row.id);
  return { targeted: row.targets_count, results: await answersTo(ctx, row.id) };
}

export async function runSavedQuery(ctx: Context, id: number, hostIds: readonly number[] | undefined): Promise<Ran> {
  await assertEnabled(ctx);
  const what = await savedQuery(ctx, id);
  if (!hostIds || hostIds.length === 0) throw badRequest("host_ids is required", "host_ids");
  const { targeted, results } = await runOn(ctx, what, hostIds);
  return { query_id: id, targeted_host_count: targeted, responded_host_count: results.length, results };
}

export async function runSavedQueries(
  ctx: Context,
  queryIds: readonly number[] | undefined,
  hostIds: readonly number[] | undefined,
): Promise<RanMany> {
  await assertEnabled(ctx);
  const ids = [...new Set(queryIds ?? [])];
  if (ids.length === 0 || !hostIds || hostIds.length === 0) throw badRequest("query_ids and host_ids are required");
  if (ids.length > QUERIES_MAX) throw badRequest(`at most ${QUERIES_MAX} queries can be run at once`, "query_ids");
  const refused: unknown[] = [];
  /** The hosts on which the caller may run any of them. */
  const runnable: Predicate[] = [];
  const hosts = new Set<number>();
  const live_query_results = await Promise.all(
    ids.map(async (query_id) => {
      try {
        const what = await savedQuery(ctx, query_id);
        runnable.push(runnableOn(ctx, what.query));
        const { results } = await runOn(ctx, what, hostIds);
        for (const { host_id } of results) hosts.add(host_id);
        return { query_id, results };
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        if (error.status === 403) refused.push(error);
        return { query_id, error: error.errors[0]?.reason ?? error.message };
      }
    }),
  );
  if (refused.length === ids.length) throw forbidden();
  const where = and(or(...runnable), oneOf("id", [...new Set(hostIds)]));
  return {
    summary: { targeted_host_count: await ctx.store.hosts.count(where), responded_host_count: hosts.size },
    live_query_results,
  };
}
