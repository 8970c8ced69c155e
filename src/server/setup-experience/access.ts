// Who may see and change the setup of which teams' hosts.
import type { Action } from "../../api/access.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { authorize } from "../core/security/access.ts";

export interface SetupTeam {
  readonly team_id: number | null;
  readonly team_name: string | null;
}

/** 0, null and undefined: hosts without a team. */
export async function setupTeam(ctx: Context, action: Action, teamId: number | null | undefined): Promise<SetupTeam> {
  const team_id = teamId || null;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id, "team_id");
  return { team_id, team_name: team.name };
}
