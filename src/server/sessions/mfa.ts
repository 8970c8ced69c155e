// Multi-factor authentication: a mailed link in addition to the password.
import { minutes } from "../core/clock.ts";
import { type Context, within } from "../core/context.ts";
import { authenticationFailed, badRequest, conflict, invalid } from "../core/errors.ts";
import { linkTo } from "../core/links.ts";
import { needPremium } from "../core/tier.ts";
import { linkPaths, mailConfigured, notConfigured, sendMail } from "../mail/mail.ts";
import { signInLetter } from "../mail/messages.ts";
import { issueToken } from "../mail/one-time.ts";
import type { UserRow } from "../users/viewer.ts";

const LIFETIME = minutes(15);

/** Throws if multi-factor authentication cannot be turned on for an account. */
export async function checkMfa(ctx: Context, account: { readonly sso: boolean; readonly apiOnly: boolean }) {
  if (account.sso) throw conflict("single sign-on and multi-factor authentication cannot be used together");
  needPremium(ctx);
  if (!(await mailConfigured(ctx)))
    throw badRequest("multi-factor authentication needs outgoing email, which is not configured", "mfa_enabled");
  if (account.apiOnly) throw invalid("mfa_enabled", "API-only users sign in by their token alone");
}

/** Continues the sign-in of a user whose password was right. */
export async function mailSignInLink(ctx: Context, user: UserRow, isSupported: boolean): Promise<{ message: string }> {
  if (!isSupported)
    throw badRequest(
      "this account signs in with a link that is mailed: use the web page or the command line, or send supports_email_verification",
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
