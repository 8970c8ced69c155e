// Renders queries for the API. Rows of other tables are read once for all queries of a reply.

import { type Query, queryFields } from "../../../api/checks/queries.ts";
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import { labelNames } from "../../hosts/labels/scope.ts";
import { shownErrors } from "../../hosts/query-errors/errors.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { visible } from "../../platform/core/security/access.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { QueryRow } from "./access.ts";
import type { QueryStats } from "./tables.ts";

const plainNames = fieldNames(queryFields);

export const noStats: QueryStats = {
  system_time_p50: null,
  system_time_p95: null,
  user_time_p50: null,
  user_time_p95: null,
  total_executions: null,
};

export async function queriesOnWire(ctx: Pick<Context, "store" | "user">, rows: readonly QueryRow[]): Promise<Query[]> {
  const { store } = ctx;
  const ids = rows.map(({ id }) => id);
  const errorsOf = await shownErrors(store, "query_id", ids, visible(ctx, "hosts:list"));
  const authorIds = [...new Set(rows.map((row) => row.author_id).filter((id) => id !== null))];
  const [authors, labels, packs] = await Promise.all([
    authorIds.length > 0 ? store.users.pick(["id", "name", "email"], { where: oneOf("id", authorIds) }) : [],
    labelsOfQueries(store, ids),
    packsOfQueries(store, ids),
  ]);
  const authorsById = byId(authors);
  return rows.map((row) => {
    const author = row.author_id === null ? undefined : authorsById.get(row.author_id);
    return {
      id: row.id,
      created_at: row.created_at,
      updated_at: row.updated_at,
      name: row.name,
      query: row.query,
      ...pick(row, plainNames),
      team_id: row.team_id,
      platform: row.platform,
      min_qengine_version: row.min_qengine_version,
      logging: row.logging,
      saved: true,
      author_id: row.author_id,
      author_name: author?.name ?? "",
      author_email: author?.email ?? "",
      labels_include_any: labels.get(row.id)?.any ?? [],
      ...(labels.get(row.id)?.all.length ? { labels_include_all: labels.get(row.id)!.all } : {}),
      packs: packs.get(row.id) ?? [],
      stats: row.stats ?? noStats,
      ...errorsOf(row.id),
    };
  });
}

export const queryOnWire = async (ctx: Pick<Context, "store" | "user">, row: QueryRow): Promise<Query> =>
  (await queriesOnWire(ctx, [row]))[0]!;

type ShownLabels = Record<"any" | "all", { id: number; name: string }[]>;

/** The names of the labels that restrict each query. */
export async function labelsOfQueries(
  store: Context["store"],
  ids: readonly number[],
): Promise<ReadonlyMap<number, ShownLabels>> {
  const shown = new Map<number, ShownLabels>();
  if (ids.length === 0) return shown;
  const pairs = await store.queryLabels.list({ where: oneOf("query_id", ids) });
  const names = await labelNames(
    store,
    pairs.map(({ label_id }) => label_id),
  );
  for (const { query_id, label_id, requires_all } of pairs) {
    const label = names.get(label_id);
    if (!label) continue;
    const lists = shown.get(query_id) ?? { any: [], all: [] };
    shown.set(query_id, lists);
    lists[requires_all ? "all" : "any"].push({ id: label.id, name: label.name });
  }
  return shown;
}

async function packsOfQueries(
  store: Context["store"],
  ids: readonly number[],
): Promise<ReadonlyMap<number, Query["packs"]>> {
  const packsByQuery = new Map<number, Query["packs"]>();
  if (ids.length === 0) return packsByQuery;
  const pairs = await store.scheduledQueries.pick(["query_id", "pack_id"], { where: oneOf("query_id", ids) });
  if (pairs.length === 0) return packsByQuery;
  const packs = new Map(
    (await store.packs.getMany([...new Set(pairs.map(({ pack_id }) => pack_id))])).map((pack) => [pack.id, pack]),
  );
  for (const { query_id, pack_id } of pairs) {
    const pack = packs.get(pack_id);
    const queryPacks = packsByQuery.get(query_id) ?? [];
    if (!pack || queryPacks.some(({ id }) => id === pack_id)) continue;
    const { id, name, description, platform, disabled, created_at, updated_at } = pack;
    packsByQuery.set(query_id, [...queryPacks, { id, name, description, platform, disabled, created_at, updated_at }]);
  }
  return packsByQuery;
}
