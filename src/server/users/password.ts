import type { User } from "../../api/users.ts";
import { recordActivity } from "../activities/record.ts";
import { type Context, within } from "../core/context.ts";
import { conflict, invalid, notFound, permissionDenied } from "../core/errors.ts";
import { checkPassword, hashPassword, verifyPassword } from "../core/passwords.ts";
import { loginLimits } from "../core/rate-limit.ts";
import { isToken, notByToken } from "../core/token-scope.ts";
import { endTokens } from "../mail/one-time.ts";
import { endSessions } from "../sessions/service.ts";
import { eq } from "../store/query.ts";
import { viewUser } from "./view.ts";
import { aboutUser, type UserRow } from "./viewer.ts";

/** Whether this is the caller's password; wrong answers are limited as wrong sign-ins are. */
export const showsPassword = (ctx: Context, user: UserRow, password: string): Promise<boolean> =>
  loginLimits(ctx).showingPassword(user.id, () => verifyPassword(user.password_hash, password));

/** The hash of a new password that keeps the rules; 422 on `field` for one that does not, or is the current one. */
export async function newHash(user: UserRow, field: string, password: string): Promise<string> {
  checkPassword(field, password);
  if (await verifyPassword(user.password_hash, password)) throw invalid(field, "must not be the current password");
  return hashPassword(password);
}

/** In a transaction: sets the password, tells of it, and ends what was mailed to the user and its sessions, but the one that calls. */
export async function setPassword(ctx: Context, user: UserRow, hash: string, resetDone: boolean): Promise<void> {
  const now = await ctx.store.users.get(user.id);
  if (!now) throw notFound("user", user.id);
  if (now.password_hash !== user.password_hash) throw conflict("the password was changed meanwhile");
  await ctx.store.users.update({
    where: eq("id", user.id),
    set: {
      password_hash: hash,
      updated_at: ctx.clock.iso(),
      ...(resetDone ? { force_password_reset: false } : {}),
    },
  });
  const by = ctx.user.kind === "nobody" ? "link" : ctx.user.id === user.id ? "user" : "manager";
  await recordActivity(ctx, "changed_user_password", { ...aboutUser(user), by });
  await endTokens(ctx, user.id);
  await endSessions(ctx, [user.id], ctx.user.session_id);
}

async function caller(ctx: Context): Promise<UserRow> {
  const user = await ctx.store.users.get(ctx.user.id);
  if (!user) throw notFound("user", ctx.user.id);
  if (isToken(ctx.user)) throw notByToken();
  return user;
}

export async function changePassword(
  ctx: Context,
  given: { old_password: string; new_password: string },
): Promise<Record<string, never>> {
  const user = await caller(ctx);
  if (!(await showsPassword(ctx, user, given.old_password)))
    throw invalid("old_password", "old password does not match");
  const hash = await newHash(user, "new_password", given.new_password);
  await ctx.store.tx((store) => setPassword(within(ctx, store), user, hash, false), { lock: "users" });
  return {};
}

export async function performRequiredReset(ctx: Context, password: string): Promise<{ user: User }> {
  const user = await caller(ctx);
  if (!user.force_password_reset) throw permissionDenied();
  const hash = await newHash(user, "new_password", password);
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      await setPassword(inside, user, hash, true);
      return { user: await viewUser(inside, await caller(inside)) };
    },
    { lock: "users" },
  );
}
