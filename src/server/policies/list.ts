import type { Policy } from "../../api/policies.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { type PageQuery, page } from "../core/paging.ts";
import { sharing } from "../core/sharing.ts";
import { hosts } from "../hosts/tables.ts";
import { and, eq, exists, or, type Predicate, search } from "../store/query.ts";
import { checkReadsGlobal, placeFor, policyFor, readsGlobal, sameTeam } from "./access.ts";
import { inPlace, type PolicyRow, placeOf } from "./applies.ts";
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
  const { rows } = await page(ctx.store.policies, query, and(inPlace(global), named(query.query)));
  return rows.length === 0 ? {} : { policies: await policiesOnWire(ctx, rows) };
}

export async function countGlobal(ctx: Context, query: string | undefined): Promise<{ count: number }> {
  checkReadsGlobal(ctx);
  return { count: await ctx.store.policies.count(and(inPlace(global), named(query))) };
}

export async function listOfTeam(ctx: Context, teamId: number, query: TeamQuery) {
  const place = await placeFor(ctx, "policies:list", teamId);
  const { policies: store } = ctx.store;
  const inherits = readsGlobal(ctx);
  if (query.merge_inherited) {
    const both = inherits ? or(inPlace(place), inPlace(global)) : inPlace(place);
    const { rows } = await page(store, query, and(both, named(query.query)));
    return { policies: await ofTeam(ctx, place.team_id, rows) };
  }
  const { rows } = await page(store, query, and(inPlace(place), named(query.query)));
  const inherited = inherits
    ? await page(
        store,
        {
          page: query.inherited_page,
          per_page: query.inherited_per_page,
          order_key: query.inherited_order_key,
          order_direction: query.inherited_order_direction,
        },
        inPlace(global),
      )
    : { rows: [] };
  return {
    policies: await policiesOnWire(ctx, rows),
    inherited_policies: await ofTeam(ctx, place.team_id, inherited.rows),
  };
}

/** Of a global policy a team sees how many of its own hosts pass and fail. */
async function ofTeam(ctx: Context, teamId: number | null, rows: readonly PolicyRow[]): Promise<Policy[]> {
  const shown = await policiesOnWire(ctx, rows);
  if (!rows.some(({ scope }) => scope === "global")) return shown;
  const { passing, failing } = await sharing(ctx).run(`policies of team ${teamId}`, async () => {
    const own = exists(hosts, "id", eq("team_id", teamId));
    const counted = async (column: "passing" | "failing") =>
      new Map((await ctx.store.hostPolicies.groupCount(column, own)).map(({ value, count }) => [value, count]));
    return { passing: await counted("passing"), failing: await counted("failing") };
  });
  return shown.map((policy, i) => {
    const { scope, result_id } = rows[i]!;
    if (scope !== "global") return policy;
    return {
      ...policy,
      passing_host_count: passing.get(result_id) ?? 0,
      failing_host_count: failing.get(result_id) ?? 0,
    };
  });
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
