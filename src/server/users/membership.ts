// Users on teams, as the teams' endpoints change them.
import type { z } from "zod";
import type { TeamRole } from "../../api/users.ts";
import { authorize } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { invalid, roleError } from "../core/errors.ts";
import { endSessions } from "../sessions/service.ts";
import { and, eq, oneOf } from "../store/query.ts";
import { checkRole, parseRole, recordRoleChanges } from "./roles.ts";

/** Gives the users their roles on the team. Who had another role there is signed out. */
export async function putOnTeam(
  ctx: Context,
  teamId: number,
  given: readonly z.infer<typeof TeamRole>[],
): Promise<void> {
  const { store } = ctx;
  const wanted = new Map(given.map(({ id, role }) => [id, parseRole(role)]));
  if (wanted.size < given.length) throw invalid("users.id", "a user is given twice");
  const rows = new Map((await store.users.getMany([...wanted.keys()])).map((user) => [user.id, user]));
  const before = await rolesOn(ctx, teamId, [...wanted.keys()]);
  for (const [id, role] of wanted) {
    const user = rows.get(id);
    if (!user) throw invalid("users.id", `user ${id} was not found in the datastore`);
    if (user.global_role !== null)
      throw roleError(1, `user ${id} has a global role: a user has either that or team roles`);
    // Who may only put users on the team does not raise itself.
    if (id === ctx.user.id && before.get(id) !== role) authorize(ctx, "users:write", teamId);
    if (before.get(id) !== role) checkRole(ctx, role, { apiOnly: user.api_only, onTeam: true });
  }
  const changed = [...wanted].filter(([id, role]) => before.get(id) !== role);
  await store.userTeams.upsert(
    changed.map(([user_id, role]) => ({ user_id, team_id: teamId, role })),
    { on: ["user_id", "team_id"] },
  );
  for (const [id, role] of changed)
    await recordRoleChanges(ctx, rows.get(id)!, [{ team: teamId, from: before.get(id) ?? null, to: role }]);
  await endSessions(
    ctx,
    changed.map(([id]) => id).filter((id) => before.has(id)),
    ctx.user.session_id,
  );
}

/** Takes the users off the team, and signs them out; who is not on it is passed over. */
export async function takeOffTeam(ctx: Context, teamId: number, userIds: readonly number[]): Promise<void> {
  const { store } = ctx;
  const before = await rolesOn(ctx, teamId, userIds);
  const gone = [...before.keys()];
  await store.userTeams.delete(and(eq("team_id", teamId), oneOf("user_id", gone)));
  for (const user of await store.users.getMany(gone))
    await recordRoleChanges(ctx, user, [{ team: teamId, from: before.get(user.id)!, to: null }]);
  await endSessions(ctx, gone, ctx.user.session_id);
}

/** Signs out whoever has a role on a team that is about to go; the roles go with it. */
export async function usersLosingTeam(ctx: Context, teamId: number): Promise<void> {
  const rows = await ctx.store.userTeams.pick(["user_id"], { where: eq("team_id", teamId) });
  await endSessions(
    ctx,
    rows.map(({ user_id }) => user_id),
    ctx.user.session_id,
  );
}

async function rolesOn({ store }: Context, teamId: number, userIds: readonly number[]) {
  const rows = await store.userTeams.pick(["user_id", "role"], {
    where: and(eq("team_id", teamId), oneOf("user_id", userIds)),
  });
  return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}
