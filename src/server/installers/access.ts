// Who may see and change which packages.
import type { Action } from "../../api/access.ts";
import type { Context } from "../core/context.ts";
import { notFound, notThere } from "../core/errors.ts";
import { authorize } from "../core/security/access.ts";
import { type Installer, installerOfTitle } from "./hosts.ts";
import type { InstallerTeam } from "./service.ts";

/** 0, null and undefined: hosts without a team. */
export async function installerTeam(
  ctx: Context,
  action: Action,
  teamId: number | null | undefined,
): Promise<InstallerTeam> {
  const team_id = teamId || null;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id, "team_id");
  return { team_id, team_name: team.name };
}

/** 404 if the team offers no package of the title. */
export async function installerFor(ctx: Context, { team_id }: InstallerTeam, titleId: number): Promise<Installer> {
  const installer = await installerOfTitle(ctx.store, team_id, titleId);
  if (installer === null) throw notThere(`the team offers no package of the software title ${titleId}`);
  return installer;
}
