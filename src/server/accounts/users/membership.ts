// Adds users to teams and removes them, for the teams' endpoints.
import type { z } from "zod";
import type { TeamRole } from "../../../api/accounts/users.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, roleError } from "../../platform/core/errors.ts";
import { authorize, may, visible } from "../../platform/core/security/access.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { endSessionsOfChangedRoles } from "../sessions/service.ts";
import { checkRole, parseRole, recordRoleChanges } from "./roles.ts";

/** Gives the users their roles on the team. Users with another role there are signed out, except API-only users. */
export async function putOnTeam(
  ctx: Context,
  teamId: number,
  input: readonly z.infer<typeof TeamRole>[],
): Promise<void> {
  const { store } = ctx;
  const desired = new Map(input.map(({ id, role }) => [id, parseRole(role)]));
  if (desired.size < input.length) throw invalid("users.id", "a user is given twice");
  const rows = new Map((await reachableUsers(ctx, [...desired.keys()])).map((user) => [user.id, user]));
  const before = await rolesOn(ctx, teamId, [...desired.keys()]);
  for (const [id, role] of desired) {
    const user = rows.get(id);
    if (!user) throw invalid("users.id", `user ${id} was not found in the datastore`);
    if (user.global_role !== null)
      throw roleError(1, `user ${id} has a global role: a user has either that or team roles`);
    // Permission to add users to the team does not allow callers to raise their own role.
    if (id === ctx.user.id && before.get(id) !== role) authorize(ctx, "users:write", teamId);
    if (before.get(id) !== role) checkRole(ctx, role, { apiOnly: user.api_only, onTeam: true });
  }
  const changed = [...desired].filter(([id, role]) => before.get(id) !== role);
  await store.userTeams.upsert(
    changed.map(([user_id, role]) => ({ user_id, team_id: teamId, role })),
    { on: ["user_id", "team_id"] },
  );
  for (const [id, role] of changed)
    await recordRoleChanges(ctx, rows.get(id)!, [{ team: teamId, from: before.get(id) ?? null, to: role }]);
  await endSessionsOfChangedRoles(
    ctx,
    changed.map(([id]) => id).filter((id) => before.has(id)),
  );
}

/**
 * The users whom the caller may add to a team. Callers with team roles only can add themselves and users of their
 * teams. Other users are answered like missing ones, because adding a user reveals the name and address, and removing
 * a user ends sessions.
 */
async function reachableUsers(ctx: Context, ids: readonly number[]): Promise<UserRow[]> {
  const users = await ctx.store.users.getMany(ids);
  if (may(ctx.user, "teams:edit", null)) return users;
  const onTeams = and(oneOf("user_id", ids), visible(ctx, "teams:edit"));
  const memberships = await ctx.store.userTeams.pick(["user_id"], { where: onTeams });
  const reachable = new Set([ctx.user.id, ...memberships.map(({ user_id }) => user_id)]);
  return users.filter(({ id }) => reachable.has(id));
}

/**
 * Removes the users from the team and signs them out, except API-only users. Ids of users who are not on it are
 * ignored.
 */
export async function takeOffTeam(ctx: Context, teamId: number, userIds: readonly number[]): Promise<void> {
  const { store } = ctx;
  const before = await rolesOn(ctx, teamId, userIds);
  const gone = [...before.keys()];
  await store.userTeams.delete(and(eq("team_id", teamId), oneOf("user_id", gone)));
  for (const user of await store.users.getMany(gone))
    await recordRoleChanges(ctx, user, [{ team: teamId, from: before.get(user.id)!, to: null }]);
  await endSessionsOfChangedRoles(ctx, gone);
}

/**
 * Signs out the users with a role on a team that is being deleted, except API-only users. The roles are deleted with
 * the team.
 */
export async function usersLosingTeam(ctx: Context, teamId: number): Promise<void> {
  const rows = await ctx.store.userTeams.pick(["user_id"], { where: eq("team_id", teamId) });
  await endSessionsOfChangedRoles(
    ctx,
    rows.map(({ user_id }) => user_id),
  );
}

async function rolesOn({ store }: Context, teamId: number, userIds: readonly number[]) {
  const rows = await store.userTeams.pick(["user_id", "role"], {
    where: and(eq("team_id", teamId), oneOf("user_id", userIds)),
  });
  return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}
