// Who may see and change which profiles.
import type { Action } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, forbidden, notFound } from "../../platform/core/errors.ts";
import { authorize, may } from "../../platform/core/security/access.ts";
import { eq } from "../../platform/store/query.ts";
import type { ProfileRow, TeamName } from "./platform.ts";

/** A profile of a team that the caller cannot see is answered like a missing one. */
export async function profileFor(ctx: Context, action: Action, uuid: string): Promise<ProfileRow> {
  const profile = await ctx.store.configurationProfiles.first({ where: eq("uuid", uuid) });
  if (!profile) throw notFound("configuration profile", uuid);
  if (profile.is_own && action === "profiles:write")
    throw badRequest("this profile is the server's own: it follows the settings of its team", "profile_uuid");
  if (may(ctx.user, action, profile.team_id)) return profile;
  throw may(ctx.user, "profiles:read", profile.team_id) || may(ctx.user, "hosts:read", profile.team_id)
    ? forbidden()
    : notFound("configuration profile", uuid);
}

/** 0 and undefined: hosts without a team. */
export async function teamFor(ctx: Context, action: Action, teamId: number | undefined): Promise<TeamName> {
  const team_id = teamId === undefined || teamId === 0 ? null : teamId;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id);
  return { team_id, team_name: team.name };
}

export async function teamOf(
  { store }: Pick<Context, "store">,
  { team_id }: Pick<ProfileRow, "team_id">,
): Promise<TeamName> {
  const team = team_id === null ? null : await store.teams.get(team_id);
  return { team_id, team_name: team?.name ?? null };
}
