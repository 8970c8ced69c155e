import type { z } from "zod";
import type { Query, QueryFields, queriesApi } from "../../../api/checks/queries.ts";
import { resolveLabelNames } from "../../hosts/labels/scope.ts";
import { recordActivities, recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { alreadyExists, badRequest, forbidden, notFound, premiumOption } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { authorize, may, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, gt, isNull, oneOf, or, type Predicate, search } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { admitToQuery, mayRead, type QueryRow, queryFor, readable } from "./access.ts";
import type { QueryLabels } from "./rules.ts";
import { checkedFields, platformTexts, queryName, wholeFields } from "./rules.ts";
import { queriesOnWire, queryOnWire } from "./wire.ts";
import { insertQueries, NO_LABELS, updateQueries } from "./write.ts";

type ListQuery = z.output<(typeof queriesApi)["list"]["query"]>;
type QueryInput = z.output<(typeof queriesApi)["create"]["body"]>;

const systems = { macos: "darwin", windows: "windows", linux: "linux" } as const;

export async function listQueries(ctx: Context, query: ListQuery) {
  if (query.merge_inherited && query.team_id === undefined)
    throw badRequest("Missing team_id (it must be present when merge_inherited is specified)", "team_id");
  const where = and(
    readable(ctx),
    ofTeam(query.team_id, query.merge_inherited ?? false),
    search(["name"], (query.query ?? "").normalize("NFC")),
    query.platform === undefined
      ? everything
      : and(gt("interval", 0), oneOf("platform", platformTexts(systems[query.platform]))),
  );
  const [{ rows, meta }, count] = await Promise.all([
    page(ctx.store.queries, query, where),
    ctx.store.queries.count(where),
  ]);
  return { queries: await queriesOnWire(ctx, rows), count, meta };
}

function ofTeam(teamId: number | undefined, inherited: boolean): Predicate {
  if (teamId === undefined) return isNull("team_id");
  return inherited ? or(eq("team_id", teamId), isNull("team_id")) : eq("team_id", teamId);
}

export const getQuery = async (ctx: Context, id: number): Promise<Query> =>
  queryOnWire(ctx, await queryFor(ctx, "queries:list", id));

export async function createQuery(ctx: Context, input: QueryInput): Promise<Query> {
  const teamId = input.team_id || null;
  authorize(ctx, "queries:write", teamId);
  if (teamId !== null && !isPremium(ctx)) throw premiumOption("team_id");
  const columns = wholeFields(input);
  return changingQueries(ctx, async (inside) => {
    const team = await teamOf(inside, teamId);
    const labels = await scopeOf(inside, input);
    const row = await insertQuery(inside, { ...columns, team_id: teamId }, labels ?? NO_LABELS);
    await recordActivity(inside, "created_saved_query", { query_id: row.id, query_name: row.name, ...team });
    return queryOnWire(inside, row);
  });
}

export async function modifyQuery(ctx: Context, id: number, change: QueryFields): Promise<Query> {
  const set = checkedFields(change);
  return changingQueries(ctx, async (inside) => {
    const before = await queryFor(inside, "queries:write", id);
    const labels = await scopeOf(inside, change);
    const row = await updateQuery(inside, before, set, labels);
    const team = await teamOf(inside, row.team_id);
    await recordActivity(inside, "edited_saved_query", { query_id: id, query_name: row.name, ...team });
    return queryOnWire(inside, row);
  });
}

export async function deleteQuery(ctx: Context, id: number): Promise<void> {
  await changingQueries(ctx, async (inside) => removeOne(inside, await queryFor(inside, "queries:write", id)));
}

export async function deleteQueryByName(ctx: Context, input: string, teamId: number | null): Promise<void> {
  await changingQueries(ctx, async (inside) => {
    const name = queryName(input);
    const row = await inside.store.queries.first({ where: and(eq("team_id", teamId), eq("name", name)) });
    admitToQuery(inside, "queries:write", input, row);
    await removeOne(inside, row!);
  });
}

async function removeOne(inside: Context, row: QueryRow): Promise<void> {
  const team = await teamOf(inside, row.team_id);
  await inside.store.queries.delete(eq("id", row.id));
  await recordActivity(inside, "deleted_saved_query", { query_name: row.name, ...team });
}

/** Deletes all queries or none: each is looked up first. */
export async function deleteQueries(ctx: Context, queryIds: readonly number[]): Promise<number> {
  const ids = [...new Set(queryIds)];
  return changingQueries(ctx, async (inside) => {
    const rows = new Map<number, Pick<QueryRow, "id" | "team_id">>();
    for await (const batch of parts(ids))
      for (const row of await inside.store.queries.pick(["id", "team_id"], { where: oneOf("id", batch) }))
        rows.set(row.id, row);
    for (const id of ids) {
      const row = rows.get(id);
      if (!row || !mayRead(inside.user, row.team_id)) throw notFound("query", id);
    }
    for (const row of rows.values()) if (!may(inside.user, "queries:write", row.team_id)) throw forbidden();
    await removeQueries(inside, [...rows.values()]);
    return ids.length;
  });
}

/** Records one activity per team. */
export async function removeQueries(inside: Context, rows: readonly Pick<QueryRow, "id" | "team_id">[]): Promise<void> {
  for await (const batch of parts(rows))
    await inside.store.queries.delete(
      oneOf(
        "id",
        batch.map(({ id }) => id),
      ),
    );
  const teams = new Map<number | null, number[]>();
  for (const { id, team_id } of rows) {
    const ids = teams.get(team_id) ?? [];
    teams.set(team_id, ids);
    ids.push(id);
  }
  const entries = [];
  for (const [teamId, query_ids] of teams) entries.push({ query_ids, ...(await teamOf(inside, teamId)) });
  await recordActivities(inside, "deleted_multiple_saved_query", entries);
}

/** Lock for transactions that change queries. */
export const QUERIES_LOCK = "queries";

/** Serializes changes of queries and notifies all servers. */
export function changingQueries<T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  return ctx.store.tx(
    async (store) => {
      const result = await work(within(ctx, store));
      await store.notify(channels.queries, "");
      return result;
    },
    { lock: QUERIES_LOCK },
  );
}

/** The team fields of activities: -1 without a name stands for global. */
export async function teamOf(
  { store }: Pick<Context, "store">,
  teamId: number | null,
): Promise<{ team_id: number; team_name?: string }> {
  if (teamId === null) return { team_id: -1 };
  const team = await store.teams.get(teamId);
  if (!team) throw notFound("team", teamId);
  return { team_id: teamId, team_name: team.name };
}

type LabelLists = Pick<QueryFields, "labels_include_any" | "labels_include_all">;

/** The labels in a payload; undefined if it does not mention labels. 400 for two lists, and without a premium license. */
export function labelSelection(
  ctx: Context,
  { labels_include_any: any, labels_include_all: all }: LabelLists,
): { readonly names: readonly string[]; readonly all: boolean } | undefined {
  if (any === undefined && all === undefined) return undefined;
  if (any?.length && all?.length)
    throw badRequest("only one of labels_include_any and labels_include_all may be given", "labels_include_all");
  const isAll = Boolean(all?.length);
  const names = (isAll ? all : any) ?? [];
  const field = isAll ? "labels_include_all" : "labels_include_any";
  if (names.length > 0 && !isPremium(ctx)) throw premiumOption(field);
  return { names, all: isAll };
}

/** The label ids for the names in a payload; undefined if it does not mention labels. */
export async function scopeOf(ctx: Context, lists: LabelLists): Promise<QueryLabels | undefined> {
  const scope = labelSelection(ctx, lists);
  if (scope === undefined) return undefined;
  const { names, all } = scope;
  const labels = await resolveLabelNames(ctx, names, "query", all ? "labels_include_all" : "labels_include_any");
  return { ids: labels.map(({ id }) => id), all };
}

export async function insertQuery(
  inside: Context,
  columns: ReturnType<typeof wholeFields> & { team_id: number | null; shard?: number | null },
  labels: QueryLabels,
): Promise<QueryRow> {
  await nameFree(inside, columns.team_id, columns.name);
  const [row] = await insertQueries(inside, [{ columns, labels }]);
  return row!;
}

/** Writes the changed columns. Deletes the stored report if the change invalidates it. */
export async function updateQuery(
  ctx: Context,
  before: QueryRow,
  set: ReturnType<typeof checkedFields> & { shard?: number | null },
  labels: QueryLabels | undefined,
): Promise<QueryRow> {
  if (set.name !== undefined && set.name !== before.name) await nameFree(ctx, before.team_id, set.name);
  const [row] = await updateQueries(ctx, [{ before, set, labels }]);
  return row!;
}

async function nameFree({ store }: Pick<Context, "store">, teamId: number | null, name: string): Promise<void> {
  const taken = await store.queries.first({ where: and(eq("team_id", teamId), eq("name", name)) });
  if (taken) throw nameTaken(name);
}

const nameTaken = (name: string) => alreadyExists(`a query with the name ${JSON.stringify(name)} exists`);

/** Maps a unique violation to 409: of two concurrent calls with the same name the store rejects the second. */
export async function refuseTwins<T>(work: Promise<T>, name: string | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === "queries") throw nameTaken(queryName(name ?? ""));
    throw error;
  }
}

/** The queries of a scope that are visible to the caller, sorted by name. */
export const queriesOf = (
  ctx: Context,
  teamId: number | undefined,
  more: Predicate = everything,
): Promise<QueryRow[]> =>
  ctx.store.queries.list({
    where: and(readable(ctx), ofTeam(teamId, false), more),
    order: [{ column: "name", direction: "asc" }],
  });

/** Selects the hosts whose results are visible to the caller. */
export const hostsSeen = (ctx: Context): Predicate => visible(ctx, "queries:list");
