// Forgotten passwords: a link is mailed, with which the recipient can set a new password.
import { hours } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { later } from "../../platform/mail/later.ts";
import { countForgotten, countReset } from "../../platform/mail/limits.ts";
import { linkPaths, mailConfigured, notConfigured, sendMail } from "../../platform/mail/mail.ts";
import { forgottenLetter, passwordChangedLetter } from "../../platform/mail/messages.ts";
import { findToken, issueToken, takeToken } from "../../platform/mail/one-time.ts";
import { readyToSend } from "../../platform/mail/smtp.ts";
import { eq } from "../../platform/store/query.ts";
import { refused } from "../sessions/refusal.ts";
import { newHash, setPassword } from "./password.ts";

/** The API's reference allows a day. An hour limits the risk if others can read the mailbox. */
const LIFETIME = hours(1);

/** The reply is the same, and as fast, for unknown addresses: the address is looked up after the reply. */
export async function forgotPassword(ctx: Context, input: string): Promise<Record<string, never>> {
  const email = input.trim().toLowerCase();
  if (!(await mailConfigured(ctx))) throw notConfigured();
  await countForgotten(ctx, ctx.address, email);
  later(ctx, async (signal) => {
    // Loaded before the lookup, because the first load in a process is slow enough to be noticed by other requests.
    await readyToSend();
    const user = await ctx.store.users.first({ where: eq("email", email) });
    if (!user || !hasPassword(user)) return;
    const token = await issueToken(ctx, "password_reset", user.id, LIFETIME);
    await sendMail(ctx, forgottenLetter(user, await linkTo(ctx, `${linkPaths.reset}${token}`)), signal);
  });
  return {};
}

/** Users of single sign-on have no password here. */
const hasPassword = (user: UserRow): boolean => !user.sso_enabled;

interface PasswordReset {
  readonly new_password: string;
  readonly new_password_confirmation?: string | undefined;
  readonly password_reset_token: string;
}

export async function resetPassword(ctx: Context, input: PasswordReset): Promise<Record<string, never>> {
  const started = ctx.clock.now();
  await countReset(ctx, ctx.address);
  const user = await holder(ctx, input.password_reset_token);
  if (!user) throw await refused(ctx, started);
  // From here on, a refused request does not use up the token.
  const { new_password: password, new_password_confirmation: again } = input;
  if (again !== undefined && again !== password)
    throw invalid("new_password_confirmation", "is not the same as new_password");
  const hash = await newHash(user, "new_password", password);
  const isDone = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      if (!(await takeToken(inside, "password_reset", input.password_reset_token))) return false;
      await setPassword(inside, user, hash, true);
      return true;
    },
    { lock: "users" },
  );
  if (!isDone) throw await refused(ctx, started);
  if (await mailConfigured(ctx)) later(ctx, (signal) => sendMail(ctx, passwordChangedLetter(user), signal));
  return {};
}

async function holder(ctx: Context, token: string): Promise<UserRow | null> {
  const row = await findToken(ctx, "password_reset", token);
  const user = row && (await ctx.store.users.get(row.user_id));
  return user && hasPassword(user) ? user : null;
}
