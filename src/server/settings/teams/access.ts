import type { Action } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, invalid, notFound } from "../../platform/core/errors.ts";
import { authorize, may } from "../../platform/core/security/access.ts";
import { eq } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { teams } from "./tables.ts";

export type TeamRow = RowOf<typeof teams>;

/** Whether the caller may learn that the team exists. */
export const knowsTeam = (ctx: Context, id: number): boolean =>
  ctx.user.kind === "service" || ctx.user.global_role !== null || ctx.user.teams.some((team) => team.id === id);

/**
 * 403 unless the caller may do this on the team. 404, like for a missing team, if the caller may not learn that it
 * exists.
 */
export function authorizeTeam(ctx: Context, action: Action, id: number): void {
  if (may(ctx.user, action, id)) return;
  throw knowsTeam(ctx, id) ? forbidden() : notFound("team", id);
}

export async function getTeamRow(ctx: Context, action: Action, id: number): Promise<TeamRow> {
  authorizeTeam(ctx, action, id);
  const team = await ctx.store.teams.get(id);
  if (!team) throw notFound("team", id);
  return team;
}

/** The owner of objects: a team, or null for hosts without one. */
export interface TeamScope {
  readonly team_id: number | null;
  readonly team_name: string | null;
}

/** Requires that the caller may do this there. 0, null and undefined: hosts without a team. */
export async function teamScope(ctx: Context, action: Action, teamId: number | null | undefined): Promise<TeamScope> {
  const team_id = teamId || null;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id, "team_id");
  return { team_id, team_name: team.name };
}

/** The id of a team that the caller can see; any other is answered like a missing one. No name: hosts without a team. */
export async function teamIdNamed(ctx: Context, name: string | undefined): Promise<number | undefined> {
  if (name === undefined || name === "") return undefined;
  const team = await ctx.store.teams.first({ where: eq("name", name) });
  if (!team || !may(ctx.user, "teams:list", team.id)) throw notFound("team", name, "team_name");
  return team.id;
}

/** The id of the team that a request names by id or by name. Undefined: none is named. */
export async function teamIdGiven(
  ctx: Context,
  { team_id, team_name }: { team_id?: number | undefined; team_name?: string | undefined },
): Promise<number | undefined> {
  if (team_id !== undefined && team_name !== undefined)
    throw invalid("team_name", "only one of team_id and team_name can be given");
  return team_id ?? teamIdNamed(ctx, team_name);
}
