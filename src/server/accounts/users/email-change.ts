// Changes of email addresses. A new address takes effect when its owner has confirmed it.
import { days } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { later } from "../../platform/mail/later.ts";
import { linkPaths, sendMail } from "../../platform/mail/mail.ts";
import { confirmEmailLetter, emailChangingLetter } from "../../platform/mail/messages.ts";
import { endTokens, issueToken, takeToken } from "../../platform/mail/one-time.ts";
import { eq } from "../../platform/store/query.ts";
import { recordEdit } from "./edits.ts";
import { checkEmailFree } from "./service.ts";

const LIFETIME = days(1);

/**
 * Mails the confirmation link to the new address. It is sent before anything is written, so that a failed mail
 * changes nothing.
 */
export const mailEmailChange = async (ctx: Context, user: UserRow, email: string, token: string): Promise<void> =>
  sendMail(ctx, confirmEmailLetter(user, email, await linkTo(ctx, `${linkPaths.email}${token}`)));

/** Makes the mailed link valid. Call it in the transaction of the change. */
export const awaitEmailChange = (ctx: Context, user: UserRow, email: string, token: string): Promise<string> =>
  issueToken(ctx, "email_change", user.id, LIFETIME, { email }, token);

/** Notifies the old address. */
export const mailOldAddress = (ctx: Context, user: UserRow, email: string): void =>
  later(ctx, (signal) => sendMail(ctx, emailChangingLetter(user, email), signal));

/** Only the signed-in user can confirm, so that the link alone is useless to others. */
export async function confirmEmail(ctx: Context, token: string): Promise<{ new_email: string }> {
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const taken = await takeToken(inside, "email_change", token);
      const email = taken?.data?.email;
      const user = taken && (await store.users.get(taken.user_id));
      // Thrown inside the transaction, so that another user's link stays valid.
      if (!user || email === undefined || user.id !== ctx.user.id) throw notFound("email change", "of this link");
      await checkEmailFree(inside, email, user.id);
      await store.users.update({ where: eq("id", user.id), set: { email, updated_at: ctx.clock.iso() } });
      await recordEdit(inside, user);
      // Links that were mailed to the old address become invalid.
      await endTokens(inside, user.id, ["password_reset", "mfa"]);
      return { new_email: email };
    },
    { lock: "users" },
  );
}
