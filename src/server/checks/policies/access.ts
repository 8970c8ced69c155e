import type { Action } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { authorize, may, mayListGlobal } from "../../platform/core/security/access.ts";
import { authorizeTeam } from "../../settings/teams/access.ts";
import { type Place, type PolicyRow, placeOf } from "./applies.ts";

/**
 * Resolves the `team_id` of a path (null: global, 0: hosts without a team) and authorizes the action. 404 for a team
 * that does not exist or is not visible to the caller.
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

export const readsGlobal = ({ user }: Pick<Context, "user">): boolean => mayListGlobal(user, "policies:list");

export function checkReadsGlobal(ctx: Context): void {
  if (!readsGlobal(ctx)) throw forbidden();
}

export const sameTeam = (a: Place, b: Place): boolean => a.scope === b.scope && a.team_id === b.team_id;

/** Whether the policy is visible to the caller. */
export const knows = (ctx: Context, policy: Place): boolean =>
  policy.scope === "global" ? readsGlobal(ctx) : may(ctx.user, "policies:list", policy.team_id);

/** The policy; 404 if it does not exist or is not visible to the caller. */
export async function policyFor(ctx: Context, id: number): Promise<PolicyRow> {
  const policy = await ctx.store.policies.get(id);
  if (!policy || !knows(ctx, policy)) throw notFound("policy", id);
  return policy;
}
