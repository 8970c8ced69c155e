import type { Context } from "../../platform/core/context.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { RoleSet } from "./access.ts";
import type { users } from "./tables.ts";

type NewUser = Omit<InsertOf<typeof users>, "created_at" | "updated_at" | "global_role">;

/** Adds an account with these roles in the caller's transaction. Address and roles must have been checked. */
export async function addUser(
  { store, clock }: Pick<Context, "store" | "clock">,
  input: NewUser,
  roles: RoleSet,
): Promise<UserRow> {
  const now = clock.iso();
  const user = await store.users.insert({ created_at: now, updated_at: now, ...input, global_role: roles.global });
  if (roles.teams.size > 0)
    await store.userTeams.insertMany([...roles.teams].map(([team_id, role]) => ({ user_id: user.id, team_id, role })));
  return user;
}
