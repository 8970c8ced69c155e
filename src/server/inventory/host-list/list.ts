// Lists hosts and counts them.

import type { Action } from "../../../api/access.ts";
import type { Host } from "../../../api/hosts/host.ts";
import { selectionOf } from "../../../api/hosts/selection-digest.ts";
import { type HostFilter, type HostListQuery, hostFilters } from "../../../api/inventory/host-filters.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { hostSeen } from "../../hosts/hosts/tables.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { afterOf, cursorPage, DEFAULT_PER_PAGE, metaOf, page, windowOf } from "../../platform/core/http/paging.ts";
import { jsonWithList } from "../../platform/core/http/text-stream.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, everything, exists, gt, lt, oneOf, type Predicate } from "../../platform/store/query.ts";
import { affectsFew } from "../../software/software/vulnerabilities/few.ts";
import { type HostBatch, type HostParts, hostBatches, hostsInTurn, hostsOnWire } from "../host-details/wire.ts";
import { changedAsOf, changedSince } from "./changed.ts";
import { idsWhere } from "./chosen.ts";
import { checkLabelFilter, hostsOfQuery } from "./filters.ts";
import { limited, limitedPages, partsOf } from "./listed-fields.ts";
import { namedByFilter } from "./named.ts";
import { orderBy, type Stretch, stretchesOf } from "./order.ts";

/**
 * A longer list is read, rendered and sent in parts: it may have 100,000 hosts, each with hundreds of software
 * entries.
 */
const MAX_WHOLE_PAGE = 1000;
const BATCH_SIZE = 500;
const BATCH_SIZE_WITH_SOFTWARE = 50;

export async function listHosts(ctx: Context, query: HostListQuery) {
  checkIssues(query);
  const parts = partsOf(query);
  const asOf = changedAsOf(ctx, query);
  const where = await listed(ctx, query);
  if (query.cursor === undefined && windowOf(query).limit > MAX_WHOLE_PAGE) {
    const { ids, meta } = await idsOf(ctx, query, where);
    const rest = { meta, ...asOf, ...(await namedByFilter(ctx, query)) };
    const pages = limitedPages(hostsById(ctx, ids, where, parts), parts);
    if (ids.length > MAX_WHOLE_PAGE) return jsonWithList(ctx, "hosts", pages, rest);
    const hosts: Host[] = [];
    for await (const page of pages) hosts.push(...page);
    return { hosts, ...rest };
  }
  const { rows, meta } = await pageOf(ctx, query, where);
  const hosts = limited(await hostsOnWire(ctx, rows, parts), parts);
  return { hosts, meta, ...asOf, ...(await namedByFilter(ctx, query)) };
}

/** The ids of the listed hosts in their current order. */
async function idsOf({ store }: Context, query: HostListQuery, where: Predicate) {
  const { past, rest } = afterSeen(query);
  const { offset, limit } = windowOf(rest);
  const after = afterOf(store.hosts.table, rest, { orderBy });
  const ids: number[] = [];
  let skip = offset;
  for (const stretch of stretchesOf(rest, and(where, past, after))) {
    const rows = await store.hosts.pick(["id"], { ...stretch, offset: skip, limit: limit + 1 - ids.length });
    for (const { id } of rows) ids.push(id);
    if (rows.length > 0) skip = 0;
    else if (skip > 0) skip -= await store.hosts.count(stretch.where);
    if (ids.length > limit) break;
  }
  return { ids: ids.slice(0, limit), meta: metaOf(offset, limit, ids.length) };
}

/** Hosts that are deleted, or no longer match, while the list is being read are left out. */
const hostsById = (ctx: Context, ids: readonly number[], where: Predicate, parts: HostParts) =>
  hostsInTurn(ctx, batchesById(ctx, ids, where, parts), parts);

async function* batchesById(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  parts: HostParts,
): AsyncGenerator<HostBatch> {
  const size = parts.software ? BATCH_SIZE_WITH_SOFTWARE : BATCH_SIZE;
  for (let at = 0; at < ids.length; at += size) {
    const batchIds = ids.slice(at, at + size);
    const select = { where: and(oneOf("id", batchIds), where), limit: batchIds.length, few: true };
    for await (const batch of hostBatches(ctx, parts, select, size)) yield inOrder(batch, batchIds);
  }
}

/** The batch with its hosts in the order of these ids. */
function inOrder(batch: HostBatch, ids: readonly number[]): HostBatch {
  const places = new Map(batch.ids.map((id, place) => [id, place]));
  const presentIds = ids.filter((id) => places.has(id));
  const placeOf = (place: number) => places.get(presentIds[place]!)!;
  return { ids: presentIds, row: (place) => batch.row(placeOf(place)), sides: (place) => batch.sides(placeOf(place)) };
}

/** The total number of hosts of a list, over all its pages. */
export const totalOfList = async (ctx: Context, query: HostListQuery): Promise<number> =>
  counted(ctx, await listed(ctx, query), query);

const actionsOf = {
  delete: "hosts:delete",
  transfer: "hosts:transfer",
  lock: "hosts:lock",
  run_scripts: "scripts:run",
  refetch: "hosts:refetch",
  label: "hosts:label",
  install: "software:install",
} satisfies Record<NonNullable<HostListQuery["may"]>, Action>;

async function listed(ctx: Context, query: HostListQuery): Promise<Predicate> {
  const where = and(await hostsOfQuery(ctx, query, "hosts:list"), changedSince(query, ctx.clock.now()));
  return query.may === undefined ? where : and(where, visible(ctx, actionsOf[query.may]));
}

async function pageOf(ctx: Context, query: HostListQuery, where: Predicate) {
  if (query.cursor !== undefined) {
    const per_page = Math.min(query.per_page ?? DEFAULT_PER_PAGE, MAX_WHOLE_PAGE);
    return cursorPage(ctx.store.hosts, { ...query, per_page }, where);
  }
  if (query.order_key === "issues") return pageOfStretches(ctx, query, stretchesOf(query, where));
  const { past, rest } = afterSeen(query);
  const few = query.vulnerability !== undefined && (await affectsFew(ctx.store, query.vulnerability));
  return page(ctx.store.hosts, rest, and(where, past), { orderBy, few });
}

async function pageOfStretches({ store }: Context, query: HostListQuery, stretches: readonly Stretch[]) {
  const { offset, limit } = windowOf(query);
  const hosts: HostRow[] = [];
  let skip = offset;
  for (const stretch of stretches) {
    const missing = limit + 1 - hosts.length;
    if (missing <= 0) break;
    const rows = await store.hosts.list({ ...stretch, offset: skip, limit: missing });
    hosts.push(...rows);
    if (rows.length > 0) skip = 0;
    else if (skip > 0) skip -= await store.hosts.count(stretch.where);
  }
  return { rows: hosts.slice(0, limit), meta: metaOf(offset, limit, hosts.length) };
}

/** Hosts cannot be ordered by issues if issues are disabled. The newer of the option's two names takes precedence. */
export function checkIssues(
  query: Pick<HostListQuery, "order_key" | "after" | "disable_issues" | "disable_failing_policies">,
): void {
  if (query.order_key !== "issues") return;
  if (query.disable_issues ?? query.disable_failing_policies)
    throw badRequest("Invalid order_key: issues (it cannot be used with disable_issues)", "order_key");
  if (query.after !== undefined) throw badRequest("after cannot be used with order_key issues", "after");
}

/** `after` for the order by seen_time, which is a column of another table. */
function afterSeen(query: HostListQuery): { past: Predicate; rest: HostListQuery } {
  if (query.order_key !== "seen_time" || query.after === undefined) return { past: everything, rest: query };
  const at = Date.parse(query.after);
  if (Number.isNaN(at)) throw badRequest(`Invalid after: ${query.after}`, "after");
  const compare = query.order_direction === "desc" ? lt : gt;
  const past = exists(hostSeen, "id", compare("seen_time", new Date(at).toISOString()));
  return { past, rest: { ...query, after: undefined } };
}

export const filterNames = Object.keys(hostFilters) as (keyof HostFilter)[];

export async function countHosts(ctx: Context, query: HostListQuery): Promise<number> {
  checkIssues(query);
  checkLabelFilter(query, filterNames);
  return totalOfList(ctx, query);
}

/** The number of hosts in the list, and the digest of their ids. */
export async function digestHosts(ctx: Context, query: HostListQuery) {
  checkIssues(query);
  checkLabelFilter(query, filterNames);
  const where = await listed(ctx, query);
  return ctx.running.of(sharing).run(keyOf("digest", ctx, query), async () => selectionOf(await idsWhere(ctx, where)));
}

/** Concurrent requests for the same count share one query. */
const counted = (ctx: Context, where: Predicate, query: HostListQuery): Promise<number> =>
  ctx.running.of(sharing).run(keyOf("count", ctx, query), () => ctx.store.hosts.count(where));

function keyOf(what: string, ctx: Context, query: HostListQuery): string {
  const filter = Object.fromEntries(filterNames.map((name) => [name, query[name]]));
  const may = query.may === undefined ? null : visible(ctx, actionsOf[query.may]);
  return JSON.stringify([what, visible(ctx, "hosts:list"), may, filter, query.changed_since]);
}
