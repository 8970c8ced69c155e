import type { Context } from "../../platform/core/context.ts";
import { belowCost, hashPassword, verifyPassword } from "../../platform/core/security/passwords.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { and, eq } from "../../platform/store/query.ts";

/**
 * Updates the password hash to the current cost after a sign-in and returns the user. This does not count as a
 * password change and ends no sessions. Null if the password was changed in the meantime.
 */
export async function atCurrentCost(
  { store }: Pick<Context, "store">,
  user: UserRow,
  password: string,
): Promise<UserRow | null> {
  if (user.password_hash === null || !belowCost(user.password_hash)) return user;
  const password_hash = await hashPassword(password);
  const changed = await store.users.update({
    where: and(eq("id", user.id), eq("password_hash", user.password_hash)),
    set: { password_hash },
  });
  const now = await store.users.get(user.id);
  if (!now || now.password_hash === password_hash) return now;
  // Either a concurrent sign-in updated the hash, or the password was changed.
  return changed === 0 && (await verifyPassword(now.password_hash, password)) ? now : null;
}
