// Lists of hosts and their counts.
import { type HostFilter, type HostListQuery, hostFilters } from "../../api/hosts.ts";
import { visible } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { cursorPage, metaOf, page, windowOf } from "../core/paging.ts";
import { sharing } from "../core/sharing.ts";
import { and, everything, exists, gt, lt, type Predicate } from "../store/query.ts";
import type { HostRow } from "./access.ts";
import { checkLabelFilter, hostsWhere } from "./filters.ts";
import { namedByFilter } from "./named.ts";
import { orderBy, type Stretch, stretchesOf } from "./order.ts";
import { hostSeen } from "./tables.ts";
import { type HostParts, hostsOnWire } from "./wire.ts";

export async function listHosts(ctx: Context, query: HostListQuery) {
  checkIssues(query);
  const where = hostsWhere(ctx, query, "hosts:list");
  const { rows, meta } = await pageOf(ctx, query, where);
  return { hosts: await hostsOnWire(ctx, rows, partsOf(query)), meta, ...(await namedByFilter(ctx, query)) };
}

/** How many hosts a list has in all. */
export const totalOfList = (ctx: Context, query: HostListQuery): Promise<number> =>
  counted(ctx, hostsWhere(ctx, query, "hosts:list"), query);

async function pageOf(ctx: Context, query: HostListQuery, where: Predicate) {
  if (query.cursor !== undefined) return cursorPage(ctx.store.hosts, query, where);
  if (query.order_key === "issues") return pageOfStretches(ctx, query, stretchesOf(query, where));
  const { past, rest } = afterSeen(query);
  return page(ctx.store.hosts, rest, and(where, past), { orderBy });
}

async function pageOfStretches({ store }: Context, query: HostListQuery, stretches: readonly Stretch[]) {
  const { offset, limit } = windowOf(query);
  const found: HostRow[] = [];
  let skip = offset;
  for (const stretch of stretches) {
    const wanted = limit + 1 - found.length;
    if (wanted <= 0) break;
    const rows = await store.hosts.list({ ...stretch, offset: skip, limit: wanted });
    found.push(...rows);
    if (rows.length > 0) skip = 0;
    else if (skip > 0) skip -= await store.hosts.count(stretch.where);
  }
  return { rows: found.slice(0, limit), meta: metaOf(offset, limit, found.length) };
}

/** Issues that are not counted cannot be ordered by; of the flag's two names the newer wins. */
export function checkIssues(
  query: Pick<HostListQuery, "order_key" | "after" | "disable_issues" | "disable_failing_policies">,
): void {
  if (query.order_key !== "issues") return;
  if (query.disable_issues ?? query.disable_failing_policies)
    throw badRequest("Invalid order_key: issues (it cannot be used with disable_issues)", "order_key");
  if (query.after !== undefined) throw badRequest("after cannot be used with order_key issues", "after");
}

/** `after` in the order of seen_time: it is another table's column. */
function afterSeen(query: HostListQuery): { past: Predicate; rest: HostListQuery } {
  if (query.order_key !== "seen_time" || query.after === undefined) return { past: everything, rest: query };
  const at = Date.parse(query.after);
  if (Number.isNaN(at)) throw badRequest(`Invalid after: ${query.after}`, "after");
  const compare = query.order_direction === "desc" ? lt : gt;
  const past = exists(hostSeen, "id", compare("seen_time", new Date(at).toISOString()));
  return { past, rest: { ...query, after: undefined } };
}

const partsOf = (query: HostListQuery): HostParts => ({
  software: query.populate_software,
  users: query.populate_users,
  labels: query.populate_labels,
  policies: query.populate_policies,
  noIssues: query.disable_issues ?? query.disable_failing_policies,
  deviceMapping: query.device_mapping,
  additional: (query.additional_info_filters ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean),
});

export const filterNames = Object.keys(hostFilters) as (keyof HostFilter)[];

export function countHosts(ctx: Context, query: HostListQuery): Promise<number> {
  checkIssues(query);
  checkLabelFilter(query, filterNames);
  return counted(ctx, hostsWhere(ctx, query, "hosts:list"), query);
}

/** What many ask for at once is counted once. */
function counted(ctx: Context, where: Predicate, filter: HostFilter): Promise<number> {
  const own = Object.fromEntries(filterNames.map((name) => [name, filter[name]]));
  const key = JSON.stringify(["count", visible(ctx, "hosts:list"), own]);
  return sharing(ctx).run(key, () => ctx.store.hosts.count(where));
}
