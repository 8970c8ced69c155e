import type { Context } from "../core/context.ts";
import { belowCost, hashPassword, verifyPassword } from "../core/passwords.ts";
import { and, eq } from "../store/query.ts";
import type { UserRow } from "../users/viewer.ts";

/**
 * The user after signing in with this password, its hash brought up to today's cost; that is no change of the password, and ends no
 * session. Null when the password was changed meanwhile.
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
  // Another sign-in of the same moment brought it up to date, or the password is another one now.
  return changed === 0 && (await verifyPassword(now.password_hash, password)) ? now : null;
}
