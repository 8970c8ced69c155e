import type { Invite } from "../../../api/accounts/invites.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RoleSet } from "../users/access.ts";
import type { InviteRow } from "./rules.ts";

/** Renders invites with their teams. Needs three reads for any number of invites. */
export async function viewInvites({ store }: Pick<Context, "store">, rows: readonly InviteRow[]): Promise<Invite[]> {
  const memberships = await store.inviteTeams.list({
    where: oneOf(
      "invite_id",
      rows.map(({ id }) => id),
    ),
  });
  const teams = new Map(
    (await store.teams.getMany([...new Set(memberships.map(({ team_id }) => team_id))])).map((team) => [team.id, team]),
  );
  return rows.map((row) => ({
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    invited_by: row.invited_by,
    email: row.email,
    name: row.name,
    position: row.position,
    sso_enabled: row.sso_enabled,
    mfa_enabled: row.mfa_enabled,
    global_role: row.global_role,
    teams: memberships.flatMap(({ invite_id, team_id, role }) => {
      const team = invite_id === row.id ? teams.get(team_id) : undefined;
      if (!team) return [];
      const { id, created_at, name, description } = team;
      return [{ id, created_at, name, description, role }];
    }),
  }));
}

export const viewInvite = async (ctx: Pick<Context, "store">, row: InviteRow): Promise<Invite> =>
  (await viewInvites(ctx, [row]))[0]!;

/** The roles that the invite offers. */
export async function rolesOf({ store }: Pick<Context, "store">, row: InviteRow): Promise<RoleSet> {
  const memberships = await store.inviteTeams.list({ where: eq("invite_id", row.id) });
  return { global: row.global_role, teams: new Map(memberships.map(({ team_id, role }) => [team_id, role])) };
}
