import type { Context } from "../../platform/core/context.ts";
import { badRequest, conflict, invalid } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { mailConfigured } from "../../platform/mail/mail.ts";

/** Throws if multi-factor authentication cannot be turned on for an account. */
export async function checkMfa(ctx: Context, account: { readonly sso: boolean; readonly apiOnly: boolean }) {
  if (account.sso) throw conflict("single sign-on and multi-factor authentication cannot be used together");
  needPremium(ctx);
  if (!(await mailConfigured(ctx)))
    throw badRequest("multi-factor authentication needs outgoing email, which is not configured", "mfa_enabled");
  if (account.apiOnly) throw invalid("mfa_enabled", "API-only users sign in by their token alone");
}
