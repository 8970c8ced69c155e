import type { Action } from "../../api/access.ts";
import { authorize, may } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { forbidden, notFound } from "../core/errors.ts";
import { authorizeTeam } from "../teams/access.ts";
import { type Place, type PolicyRow, placeOf } from "./applies.ts";

/**
 * The scope of a `team_id` in a path (null: global, 0: hosts without a team), where the caller may do this. 404 for a team that is not
 * there, or that the caller may not know of.
 */
export async function placeFor(ctx: Context, action: Action, teamId: number | null): Promise<Place> {
  const place = placeOf(teamId);
  if (place.team_id === null) authorize(ctx, action, null);
  else {
    authorizeTeam(ctx, action, place.team_id);
    if (!(await ctx.store.teams.get(place.team_id))) throw notFound("team", place.team_id);
  }
  return place;
}

/** Global policies are every team's too; of teams, only gitops sees nothing but its own. */
export const readsGlobal = ({ user }: Pick<Context, "user">): boolean =>
  may(user, "policies:list", null) ||
  user.teams.some(({ id, role }) => role !== "gitops" && may(user, "policies:list", id));

export function checkReadsGlobal(ctx: Context): void {
  if (!readsGlobal(ctx)) throw forbidden();
}

export const sameTeam = (a: Place, b: Place): boolean => a.scope === b.scope && a.team_id === b.team_id;

/** Whether the caller may know of the policy. */
export const knows = (ctx: Context, policy: Place): boolean =>
  policy.scope === "global" ? readsGlobal(ctx) : may(ctx.user, "policies:list", policy.team_id);

/** The policy, where the caller may know of it; 404 else. */
export async function policyFor(ctx: Context, id: number): Promise<PolicyRow> {
  const policy = await ctx.store.policies.get(id);
  if (!policy || !knows(ctx, policy)) throw notFound("policy", id);
  return policy;
}
