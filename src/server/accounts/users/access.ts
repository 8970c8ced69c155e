// The users whom the caller may see and manage. Team admins see the users of their teams, but not those users' roles on
// other teams.
import type { Role } from "../../../api/access.ts";
import type { Context, Viewer } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { may, maySomewhere } from "../../platform/core/security/access.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";

export interface RoleSet {
  readonly global: Role | null;
  readonly teams: ReadonlyMap<number, Role>;
}

export interface Account {
  readonly user: UserRow;
  readonly roles: RoleSet;
}

async function load(store: ServerTx, id: number): Promise<Account | null> {
  const user = await store.users.get(id);
  if (!user) return null;
  const rows = await store.userTeams.pick(["team_id", "role"], { where: eq("user_id", id) });
  return {
    user,
    roles: { global: user.global_role, teams: new Map(rows.map(({ team_id, role }) => [team_id, role])) },
  };
}

/**
 * The caller's own account, or one that the caller may see. Otherwise 403 if the caller may see no users at all, 404
 * if it may see some.
 */
export async function visibleAccount(ctx: Context, id: number): Promise<Account> {
  const isSelf = ctx.user.kind === "user" && ctx.user.id === id;
  if (!isSelf && !maySomewhere(ctx.user, "users:list")) throw forbidden();
  const account = await load(ctx.store, id);
  if (!account) throw notFound("user", id);
  const isVisible =
    isSelf ||
    may(ctx.user, "users:list", null) ||
    (account.roles.global === null &&
      [...account.roles.teams.keys()].some((team) => may(ctx.user, "users:list", team)));
  if (!isVisible) throw notFound("user", id);
  return account;
}

/**
 * Whether the viewer may see this user's role on the team: its own roles, and those on teams whose users it manages.
 */
export const seesRole = (viewer: Viewer, userId: number, teamId: number): boolean =>
  viewer.kind !== "user" || viewer.id === userId || may(viewer, "users:list", teamId);

/**
 * 403 if roles are given for a team whose users the caller may not see. Without it, a role that is accepted because it
 * is unchanged would reveal the user's role on that team.
 */
export function checkListedTeams(ctx: Context, userId: number, teamIds: readonly number[]): void {
  if (!teamIds.every((id) => seesRole(ctx.user, userId, id))) throw forbidden();
}

/**
 * Whether the caller may change the whole account. A team admin may only if all of the user's roles are on teams that
 * it manages.
 */
export function manages(ctx: Context, { roles }: Account): boolean {
  if (may(ctx.user, "users:write", null)) return true;
  if (roles.global !== null || roles.teams.size === 0) return false;
  return [...roles.teams.keys()].every((team) => may(ctx.user, "users:write", team));
}

export async function managedAccount(ctx: Context, id: number): Promise<Account> {
  const account = await visibleAccount(ctx, id);
  if (!manages(ctx, account)) throw forbidden();
  return account;
}
