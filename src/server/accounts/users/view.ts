import type { z } from "zod";
import type { AvailableTeam, User } from "../../../api/accounts/users.ts";
import type { Context } from "../../platform/core/context.ts";
import { isPremium, type Viewer } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { everything, oneOf } from "../../platform/store/query.ts";
import { seesRole } from "./access.ts";

/** Renders users with their teams. Needs three reads for any number of users. */
export async function viewUsers({ store, user: viewer }: Context, rows: readonly UserRow[]): Promise<User[]> {
  const memberships = await store.userTeams.list({
    where: oneOf(
      "user_id",
      rows.map(({ id }) => id),
    ),
  });
  const teams = await store.teams.getMany([...new Set(memberships.map(({ team_id }) => team_id))]);
  const teamOf = byId(teams);
  const teamsOf = new Map<number, User["teams"]>();
  for (const { user_id, team_id, role } of memberships) {
    const team = teamOf.get(team_id);
    if (!team || !seesRole(viewer, user_id, team_id)) continue;
    const list = teamsOf.get(user_id) ?? [];
    list.push({ id: team.id, created_at: team.created_at, name: team.name, description: team.description, role });
    teamsOf.set(user_id, list);
  }
  return rows.map((row) => ({
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    name: row.name,
    email: row.email,
    enabled: true,
    force_password_reset: row.force_password_reset,
    gravatar_url: row.gravatar_url,
    sso_enabled: row.sso_enabled,
    mfa_enabled: row.mfa_enabled,
    api_only: row.api_only,
    ...(row.position === "" ? {} : { position: row.position }),
    global_role: row.global_role,
    teams: row.global_role === null ? (teamsOf.get(row.id) ?? []) : [],
  }));
}

export const viewUser = async (ctx: Context, row: UserRow): Promise<User> => (await viewUsers(ctx, [row]))[0]!;

/** The teams that the user can select, limited to those that the caller may see. None on the free tier. */
export async function availableTeams(ctx: Context, user: Viewer): Promise<z.infer<typeof AvailableTeam>[]> {
  if (!isPremium(ctx)) return [];
  const ids = user.teams.map(({ id }) => id).filter((id) => seesRole(ctx.user, user.id, id));
  const where = user.global_role === null ? oneOf("id", ids) : everything;
  const rows = await ctx.store.teams.pick(["id", "name", "description"], {
    where,
    order: [{ column: "name", direction: "asc" }],
  });
  return rows.map(({ id, name, description }) => ({ id, name, description }));
}
