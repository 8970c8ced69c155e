// Whom the caller may see and manage. Team admins: the users of their teams, and nothing of a user's life elsewhere.
import type { Role } from "../../api/access.ts";
import { may, maySomewhere } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { forbidden, notFound } from "../core/errors.ts";
import { eq } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import type { UserRow } from "./viewer.ts";

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

/** The caller's own account, or one of a user that the caller may see; else 403 for who sees none, 404 for who sees some. */
export async function visibleAccount(ctx: Context, id: number): Promise<Account> {
  const own = ctx.user.kind === "user" && ctx.user.id === id;
  if (!own && !maySomewhere(ctx.user, "users:list")) throw forbidden();
  const account = await load(ctx.store, id);
  if (!account) throw notFound("user", id);
  const seen =
    own ||
    may(ctx.user, "users:list", null) ||
    (account.roles.global === null &&
      [...account.roles.teams.keys()].some((team) => may(ctx.user, "users:list", team)));
  if (!seen) throw notFound("user", id);
  return account;
}

/** Whether the caller may change everything of the account: a team admin only where no role lies outside its teams. */
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
