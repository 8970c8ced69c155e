import { teamsFor } from "../../../api/access.ts";
import { ALL_HOSTS, NO_TEAM } from "../../hosts/count-changes/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { authorize } from "../../platform/core/security/access.ts";

/** The scopes of counts whose sum the caller gets: one, or the teams of a caller who has several. */
export type Scopes = readonly [number, ...number[]];

/** Null: the caller may see no hosts. */
export async function scopesFor(ctx: Context, teamId: number | undefined): Promise<Scopes | null> {
  if (teamId !== undefined) {
    authorize(ctx, "software:list", teamId === NO_TEAM ? null : teamId);
    if (teamId !== NO_TEAM && !(await ctx.store.teams.get(teamId))) throw notFound("team", teamId);
    return [teamId];
  }
  const teams = ctx.user.kind === "user" ? teamsFor(ctx.user, "software:list") : "all";
  if (teams === "all") return [ALL_HOSTS];
  const [first, ...others] = teams;
  return first === undefined ? null : [first, ...others];
}
