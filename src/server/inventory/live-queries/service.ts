import type { z } from "zod";
import type { Campaign, LiveQuery, liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import { type QueryRow, queryFor } from "../../checks/queries/access.ts";
import { hostsNamed, soleHosts } from "../../hosts/hosts/named.ts";
import { online } from "../../hosts/hosts/status.ts";
import { admitCarving } from "../../platform/agent-protocol/admit-carving.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, forbidden, invalid, notFound, permissionDenied } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { maySomewhere, visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, gt, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { checkNames } from "../host-list/selector/known-names.ts";
import { compileWhere } from "../host-list/selector/where.ts";
import { mayRunOn, runnableOn, type Selection, selectionOf, targetsFor } from "../targets/select.ts";
import { endCampaign } from "./ending.ts";
import { QUEUE_MAX, READER_LEASE, RUNNING_MAX } from "./limits.ts";
import { notifyServers } from "./messages.ts";
import { type CampaignRow, PLACES } from "./tables.ts";
import { liveQueryOf, newTargets, totalsOf } from "./view.ts";

/** 403 while live queries are disabled; checked before anything is created. */
export async function assertEnabled({ config }: Pick<Context, "config">): Promise<void> {
  if ((await config.current()).server_settings.live_query_disabled) throw permissionDenied();
}

/** What to run, and the required permission: a saved query or new SQL. */
export interface Runnable {
  readonly sql: string;
  readonly query: QueryRow | null;
}

/** A saved query that the caller may run on some host. A team's query requires a role on that team. */
export async function savedQuery(ctx: Context, id: number): Promise<Runnable & { readonly query: QueryRow }> {
  const query = await queryFor(ctx, "queries:list", id);
  const isPermitted =
    query.team_id !== null
      ? mayRunOn(ctx.user, query, query.team_id)
      : maySomewhere(ctx.user, query.observer_can_run ? "queries:run" : "queries:run_new");
  if (!isPermitted) throw forbidden();
  return { sql: query.query, query };
}

async function runnable(
  ctx: Context,
  input: { readonly query?: string | null | undefined; readonly query_id?: number | null | undefined },
): Promise<Runnable> {
  if (typeof input.query_id === "number") return savedQuery(ctx, input.query_id);
  const sql = input.query?.trim() ?? "";
  if (sql === "") throw invalid("query", "one of query or query_id must be specified");
  if (!maySomewhere(ctx.user, "queries:run_new")) throw forbidden();
  const problem = sqlProblem(sql);
  if (problem !== null) throw invalid("query", problem);
  return { sql, query: null };
}

interface Plan extends Runnable {
  readonly selection: Selection;
  /** The text of the host expression, stored with the query. */
  readonly where?: string;
  /** The targeted hosts among those on which the caller may run it. */
  readonly targets: Predicate;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  readonly queueFor?: number | undefined;
  /** A websocket will read it: hosts that come online until then are targeted too. */
  readonly forSocket?: boolean;
}

/** Rows per write. */
const BATCH_SIZE = 1_000;

/** Creates the campaign with its targets, and notifies the servers. */
export async function startCampaign(ctx: Context, plan: Plan): Promise<CampaignRow> {
  const { store, clock } = ctx;
  const now = clock.now();
  await admitCarving(ctx, plan.sql, plan.targets);
  const hosts = await idsOf(ctx, plan.targets);
  if (hosts.length === 0) throw badRequest("no hosts targeted");
  if (hosts.length >= PLACES) throw badRequest(`a live query must target fewer than ${PLACES} hosts`);
  const up = new Set(await idsOf(ctx, and(plan.targets, online(now))));
  const queueFor = plan.queueFor ?? null;
  const row = {
    created_at: isoAt(now),
    updated_at: isoAt(now),
    user_id: ctx.user.kind === "user" ? ctx.user.id : null,
    query_id: plan.query?.id ?? null,
    query: plan.sql,
    targets: { ...plan.selection, hosts: plan.selection.hosts.slice(0, BATCH_SIZE), where: plan.where ?? "" },
    queue_until: queueFor === null ? null : isoAt(now + queueFor),
    expires_at: isoAt(now + (queueFor ?? Math.min(plan.timeout ?? RUNNING_MAX, RUNNING_MAX))),
    reader_until: isoAt(now + READER_LEASE),
    socket_until: plan.forSocket ? isoAt(now + READER_LEASE) : null,
  };
  const counts = { targets_count: hosts.length, online_count: up.size, expected_count: up.size };
  const write = (tx: ServerTx, id: number, from: number) =>
    tx.campaignHosts.insertMany(
      hosts.slice(from, from + BATCH_SIZE).map((host_id) => ({ campaign_id: id, host_id, reached: up.has(host_id) })),
    );
  const ready = async (tx: ServerTx, id: number) => {
    await tx.campaigns.update({ where: eq("id", id), set: counts });
    await notifyServers(tx, { kind: "new", id });
    return (await tx.campaigns.get(id))!;
  };
  const campaign =
    hosts.length <= BATCH_SIZE
      ? await store.tx(async (tx) => {
          const { id } = await tx.campaigns.insert(row);
          await write(tx, id, 0);
          return ready(tx, id);
        })
      : await inParts(ctx, row, hosts.length, write, ready);
  // No targeted host is online.
  if (up.size === 0 && queueFor === null && !plan.forSocket)
    return (await endCampaign(ctx, campaign.id, "answered")) ?? campaign;
  return campaign;
}

const IDS_PER_QUERY = 5_000;

async function idsOf({ store }: Context, where: Predicate): Promise<number[]> {
  const ids: number[] = [];
  for (let last = 0; ; last = ids.at(-1)!) {
    const order = [{ column: "id", direction: "asc" }] as const;
    const rows = await store.hosts.pick(["id"], { where: and(where, gt("id", last)), order, limit: IDS_PER_QUERY });
    for (const { id } of rows) ids.push(id);
    if (rows.length < IDS_PER_QUERY) return ids;
  }
}

/** Writes the targets in parts so that other writers are not blocked. No host gets the query before the last part. */
async function inParts(
  { store }: Context,
  row: Parameters<ServerTx["campaigns"]["insert"]>[0],
  count: number,
  write: (tx: ServerTx, id: number, from: number) => Promise<unknown>,
  ready: (tx: ServerTx, id: number) => Promise<CampaignRow>,
): Promise<CampaignRow> {
  const { id } = await store.campaigns.insert(row);
  for (let from = 0; from < count; from += BATCH_SIZE) await write(store, id, from);
  return store.tx((tx) => ready(tx, id));
}

type CreateInput = z.output<(typeof liveQueriesApi)["create"]["body"]>;
type StartInput = z.output<(typeof liveQueriesApi)["start"]["body"]>;
type StartByNamesInput = z.output<(typeof liveQueriesApi)["startByNames"]["body"]>;

export async function createLiveQuery(ctx: Context, input: CreateInput): Promise<LiveQuery> {
  await assertEnabled(ctx);
  const what = await runnable(ctx, input);
  const where = input.where?.trim() ?? "";
  const selection = selectionOf(input.selected);
  if (!input.selected && where === "") throw invalid("selected", "one of selected or where must be specified");
  // Refused instead of silently shortened, which would miss hosts that come online later.
  if ((input.queue_until ?? 0) > QUEUE_MAX) throw invalid("queue_until", "queue_until must be at most 7d");
  await checkNames(ctx, where);
  const chosen = input.selected
    ? await targetsFor(ctx, selection, what.query, { strict: true })
    : runnableOn(ctx, what.query);
  const row = await startCampaign(ctx, {
    ...what,
    selection,
    where,
    targets: and(chosen, where === "" ? everything : compileWhere(where, ctx)),
    timeout: input.timeout ?? undefined,
    queueFor: input.queue_until ?? undefined,
  });
  return liveQueryOf(row);
}

export async function startForSocket(ctx: Context, input: StartInput): Promise<z.infer<typeof Campaign>> {
  await assertEnabled(ctx);
  const what = await runnable(ctx, input);
  const selection = selectionOf(input.selected);
  const targets = await targetsFor(ctx, selection, what.query, { strict: true });
  return campaignOf(ctx, await startCampaign(ctx, { ...what, selection, targets, forSocket: true }));
}

/** Resolves hosts and labels by name: unknown hosts are ignored, unknown labels are an error. */
export async function startByNames(ctx: Context, input: StartByNamesInput): Promise<z.infer<typeof Campaign>> {
  await assertEnabled(ctx);
  const what = await runnable(ctx, input);
  const names = [...new Set((input.selected.labels ?? []).map((name) => name.normalize("NFC").trim()))];
  const labels = await ctx.store.labels.pick(["id", "name"], { where: oneOf("name", names) });
  const unknown = names.filter((name) => !labels.some((label) => label.name === name));
  if (unknown.length > 0)
    throw badRequest(`Invalid label name(s): ${unknown.join(", ").slice(0, 1_000)}.`, "selected.labels");
  const hosts = await namedTargets(ctx, input.selected.hosts ?? []);
  const selection = selectionOf({ hosts, labels: labels.map(({ id }) => id) });
  const targets = await targetsFor(ctx, selection, what.query, { strict: true });
  return campaignOf(ctx, await startCampaign(ctx, { ...what, selection, targets, forSocket: true }));
}

/** Hosts that the caller can see decide which host a name means; the rules for targets decide whether it may run there. */
async function namedTargets(ctx: Context, names: readonly string[]): Promise<number[]> {
  const seen = or(visible(ctx, "queries:run"), visible(ctx, "hosts:read"), visible(ctx, "hosts:identify"));
  return [...new Set(soleHosts(await hostsNamed(ctx.store, names, seen), "selected.hosts").values())];
}

async function campaignOf(ctx: Context, row: CampaignRow): Promise<z.infer<typeof Campaign>> {
  const [totals, fresh] = await Promise.all([totalsOf(ctx, row), newTargets(ctx, row)]);
  return {
    id: row.id,
    query_id: row.query_id,
    user_id: row.user_id,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
    Metrics: {
      TotalHosts: totals.count,
      OnlineHosts: totals.online,
      OfflineHosts: totals.offline,
      MissingInActionHosts: totals.missing_in_action,
      NewHosts: fresh,
    },
  };
}

/** The caller's own live query; 404 for those of other users. */
export async function ownCampaign(ctx: Pick<Context, "store" | "user">, id: number): Promise<CampaignRow> {
  const row = await ctx.store.campaigns.get(id);
  if (!row || row.user_id === null || row.user_id !== ctx.user.id || ctx.user.kind !== "user")
    throw notFound("live query", id);
  return row;
}

export async function listLiveQueries(ctx: Context, query: z.output<(typeof liveQueriesApi)["list"]["query"]>) {
  const { rows, meta } = await page(ctx.store.campaigns, query, eq("user_id", ctx.user.id));
  return { live_queries: rows.map(liveQueryOf), meta };
}

export async function cancelLiveQuery(ctx: Context, id: number): Promise<LiveQuery> {
  const row = await ownCampaign(ctx, id);
  return liveQueryOf((await endCampaign(ctx, id, "cancelled")) ?? row);
}
