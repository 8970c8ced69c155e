// Multi-factor authentication: a mailed link in addition to the password.
import { minutes } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { authenticationFailed, badRequest } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { linkPaths, mailConfigured, notConfigured, sendMail } from "../../platform/mail/mail.ts";
import { signInLetter } from "../../platform/mail/messages.ts";
import { issueToken } from "../../platform/mail/one-time.ts";

const LIFETIME = minutes(15);

/** Continues the sign-in of a user whose password was right. */
export async function mailSignInLink(ctx: Context, user: UserRow, isSupported: boolean): Promise<{ message: string }> {
  if (!isSupported)
    throw badRequest(
      "this account signs in with a link that is mailed, and supports_email_verification is false: use the web page or the command line",
      "supports_email_verification",
    );
  if (!(await mailConfigured(ctx))) throw notConfigured();
  const token = await ctx.store.tx(
    async (store) => {
      // A password change invalidates existing links, so no link may be created for the old password afterwards.
      const still = await store.users.get(user.id);
      if (still?.password_hash !== user.password_hash) throw authenticationFailed();
      return issueToken(within(ctx, store), "mfa", user.id, LIFETIME);
    },
    { lock: "users" },
  );
  await sendMail(ctx, signInLetter(user, await linkTo(ctx, `${linkPaths.mfa}${token}`)));
  return { message: "a link to finish signing in was mailed; it works once, for 15 minutes" };
}
