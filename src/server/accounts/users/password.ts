import type { User } from "../../../api/accounts/users.ts";
import { PROVES } from "../../../api/dry-run.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { cannotDryRun, hasChanged, invalid, notFound, permissionDenied } from "../../platform/core/errors.ts";
import { isToken, notByToken } from "../../platform/core/http/token-scope.ts";
import { checkPassword, hashPassword, verifyPassword } from "../../platform/core/security/passwords.ts";
import { aboutUser, type UserRow } from "../../platform/core/security/viewer.ts";
import { endTokens } from "../../platform/mail/one-time.ts";
import { showingPassword } from "../../platform/rate-limits/logins.ts";
import { eq } from "../../platform/store/query.ts";
import { endSessions } from "../sessions/service.ts";
import { viewUser } from "./view.ts";

/** Whether this is the caller's password. Failed attempts are limited like failed sign-ins. */
export async function showsPassword(ctx: Context, user: UserRow, password: string): Promise<boolean> {
  if (ctx.dryRun !== null) throw cannotDryRun(PROVES);
  return showingPassword(ctx, user.id, () => verifyPassword(user.password_hash, password));
}

/** The hash of a valid new password. 422 on `field` for an invalid one, and for the current password. */
export async function newHash(user: UserRow, field: string, password: string): Promise<string> {
  checkPassword(field, password);
  if (await verifyPassword(user.password_hash, password)) throw invalid(field, "must not be the current password");
  return hashPassword(password);
}

/**
 * Sets the password, records it, and ends mailed links and all sessions of the user except the calling one. Call it
 * in a transaction.
 */
export async function setPassword(ctx: Context, user: UserRow, hash: string, resetDone: boolean): Promise<void> {
  const now = await ctx.store.users.get(user.id);
  if (!now) throw notFound("user", user.id);
  if (now.password_hash !== user.password_hash) throw hasChanged("the password was changed meanwhile");
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
  input: { old_password: string; new_password: string },
): Promise<Record<string, never>> {
  const user = await caller(ctx);
  if (!(await showsPassword(ctx, user, input.old_password)))
    throw invalid("old_password", "old password does not match");
  const hash = await newHash(user, "new_password", input.new_password);
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
