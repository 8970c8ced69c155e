import type { Policy } from "../../../api/checks/policies.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { type PageQuery, page, pageOfArray } from "../../platform/core/http/paging.ts";
import { and, eq, everything, or, type Predicate, search } from "../../platform/store/query.ts";
import { checkReadsGlobal, placeFor, policyFor, readsGlobal, sameTeam } from "./access.ts";
import { inPlace, placeOf } from "./applies.ts";
import { countedHosts } from "./shown-counts.ts";
import { policiesOnWire, policyOnWire } from "./wire.ts";

type ListQuery = PageQuery & { query?: string | undefined };
interface TeamQuery extends ListQuery {
  merge_inherited: boolean;
  inherited_page?: number | undefined;
  inherited_per_page?: number | undefined;
  inherited_order_key?: string | undefined;
  inherited_order_direction?: "asc" | "desc" | undefined;
}

const named = (text: string | undefined): Predicate => search(["name"], (text ?? "").normalize("NFC"));
const global = placeOf(null);

export async function listGlobal(ctx: Context, query: ListQuery): Promise<{ policies?: Policy[] }> {
  checkReadsGlobal(ctx);
  const policies = await policyPage(ctx, query, and(inPlace(global), named(query.query)));
  return policies.length === 0 ? {} : { policies };
}

export async function countGlobal(ctx: Context, query: string | undefined): Promise<{ count: number }> {
  checkReadsGlobal(ctx);
  return { count: await ctx.store.policies.count(and(inPlace(global), named(query))) };
}

export async function listOfTeam(ctx: Context, teamId: number, query: TeamQuery) {
  const place = await placeFor(ctx, "policies:list", teamId);
  const inherits = readsGlobal(ctx);
  // Global policies in a team's list are counted over the team's own hosts.
  const isOfTeam = eq("team_id", place.team_id);
  if (query.merge_inherited) {
    const both = inherits ? or(inPlace(place), inPlace(global)) : inPlace(place);
    return { policies: await policyPage(ctx, query, and(both, named(query.query)), isOfTeam) };
  }
  const inherited = {
    page: query.inherited_page,
    per_page: query.inherited_per_page,
    order_key: query.inherited_order_key,
    order_direction: query.inherited_order_direction,
  };
  return {
    policies: await policyPage(ctx, query, and(inPlace(place), named(query.query)), isOfTeam),
    inherited_policies: inherits ? await policyPage(ctx, inherited, inPlace(global), isOfTeam) : [],
  };
}

const isCount = (key: string | undefined): key is "passing_host_count" | "failing_host_count" =>
  key === "passing_host_count" || key === "failing_host_count";

/** One page, sorted by the displayed values. `own`: the hosts over which global policies are counted. */
async function policyPage(
  ctx: Context,
  query: PageQuery,
  where: Predicate,
  countedOver?: Predicate,
): Promise<Policy[]> {
  const { order_key: key, order_direction: direction } = query;
  if (!isCount(key) || countedHosts(ctx, countedOver) === everything)
    return policiesOnWire(ctx, (await page(ctx.store.policies, query, where)).rows, countedOver);

  // Sorting by the stored counts would disclose figures of hosts that the caller may not see.
  const sign = direction === "desc" ? -1 : 1;
  const shown = await policiesOnWire(ctx, await ctx.store.policies.list({ where }), countedOver);
  const ordered = shown.sort((a, b) => sign * (a[key] - b[key] || a.id - b.id));
  return pageOfArray(ordered, query).items;
}

export async function countOfTeam(
  ctx: Context,
  teamId: number,
  query: { query?: string | undefined; merge_inherited: boolean },
): Promise<{ count: number }> {
  const place = await placeFor(ctx, "policies:list", teamId);
  const where = query.merge_inherited && readsGlobal(ctx) ? or(inPlace(place), inPlace(global)) : inPlace(place);
  return { count: await ctx.store.policies.count(and(where, named(query.query))) };
}

export async function getPolicy(ctx: Context, teamId: number | null, id: number): Promise<{ policy: Policy }> {
  if (teamId === null) checkReadsGlobal(ctx);
  const place = teamId === null ? global : await placeFor(ctx, "policies:list", teamId);
  const policy = await policyFor(ctx, id);
  if (!sameTeam(policy, place)) throw notFound("policy", id);
  return { policy: await policyOnWire(ctx, policy) };
}
