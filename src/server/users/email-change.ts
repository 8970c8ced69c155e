// A new email address: it holds once whoever reads its mail has confirmed it.
import { days } from "../core/clock.ts";
import { type Context, within } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { linkTo } from "../core/links.ts";
import { later } from "../mail/later.ts";
import { linkPaths, sendMail } from "../mail/mail.ts";
import { confirmEmailLetter, emailChangingLetter } from "../mail/messages.ts";
import { endTokens, issueToken, takeToken } from "../mail/one-time.ts";
import { eq } from "../store/query.ts";
import { checkEmailFree } from "./service.ts";
import type { UserRow } from "./viewer.ts";

const LIFETIME = days(1);

/** In the transaction of the change: what is to be mailed after it. */
export const requestEmailChange = (ctx: Context, user: UserRow, email: string): Promise<string> =>
  issueToken(ctx, "email_change", user.id, LIFETIME, { email });

/** Asks for the confirmation at the new address, and tells the old one. When the first cannot be sent, the change is off. */
export async function mailEmailChange(ctx: Context, user: UserRow, email: string, token: string): Promise<void> {
  try {
    await sendMail(ctx, confirmEmailLetter(user, email, await linkTo(ctx, `${linkPaths.email}${token}`)));
  } catch (error) {
    await endTokens(ctx, user.id, ["email_change"]);
    throw error;
  }
  later(ctx, (signal) => sendMail(ctx, emailChangingLetter(user, email), signal));
}

/** By the user itself: the link alone, in whoever's hands, changes nothing. */
export async function confirmEmail(ctx: Context, token: string): Promise<{ new_email: string }> {
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const taken = await takeToken(inside, "email_change", token);
      const email = taken?.data?.email;
      const user = taken && (await store.users.get(taken.user_id));
      // Thrown in the transaction: the link of somebody else stays usable.
      if (!user || email === undefined || user.id !== ctx.user.id) throw notFound("email change", "of this link");
      await checkEmailFree(inside, email, user.id);
      await store.users.update({ where: eq("id", user.id), set: { email, updated_at: ctx.clock.iso() } });
      // What was mailed to the old address ends with it.
      await endTokens(inside, user.id, ["password_reset", "mfa"]);
      return { new_email: email };
    },
    { lock: "users" },
  );
}
