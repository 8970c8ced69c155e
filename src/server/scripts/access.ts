// Who may see and change which scripts.
import type { Action } from "../../api/access.ts";
import type { Context } from "../core/context.ts";
import { forbidden, notFound } from "../core/errors.ts";
import { authorize, may } from "../core/security/access.ts";
import type { RowOf } from "../store/table.ts";
import type { scripts } from "./tables.ts";

export type ScriptRow = RowOf<typeof scripts>;

export interface ScriptTeam {
  readonly team_id: number | null;
  readonly team_name: string | null;
}

/** 0, null and undefined: hosts without a team. */
export async function scriptTeam(ctx: Context, action: Action, teamId: number | null | undefined): Promise<ScriptTeam> {
  const team_id = teamId || null;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id, "team_id");
  return { team_id, team_name: team.name };
}

/** A script of a team that the caller cannot see is answered like a missing one. */
export async function scriptFor(ctx: Context, action: Action, id: number, field?: string): Promise<ScriptRow> {
  const script = await ctx.store.scripts.get(id);
  if (script && may(ctx.user, action, script.team_id)) return script;
  if (script && may(ctx.user, "scripts:read", script.team_id)) throw forbidden();
  throw notFound("script", id, field);
}
