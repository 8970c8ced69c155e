// The end of a sign-in: the browser posts the identity provider's response.
import type { SsoSettings } from "../../../api/settings/app-config.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, nobody, within } from "../../platform/core/context.ts";
import { ApiError, badRequest } from "../../platform/core/errors.ts";
import { mayAddPremium } from "../../platform/core/http/tier.ts";
import { SsoRefusal, type SsoStatus } from "../../platform/saml/refusal.ts";
import { signedIn } from "../sign-in/login.ts";
import { addSsoUser, followSsoRoles, type SsoPerson, userOfEmail } from "./account.ts";
import { serviceProvider } from "./addresses.ts";
import { countSsoStep } from "./limits.ts";
import { personOf } from "./person.ts";
import { sentCookie, takeSession } from "./session.ts";
import { verifiedResponse } from "./verify.ts";

type SsoOutcome =
  | { readonly token: string; readonly relayUrl: string; readonly status?: never }
  | { readonly status: SsoStatus };

/**
 * Signs in the user named by the response. Refusals are logged with their reason and recorded. Input that is not a
 * SAML response is a 400.
 */
export async function finishSso(ctx: Context, field: string): Promise<SsoOutcome> {
  await countSsoStep(ctx, "callback", ctx.address);
  try {
    return await finish(ctx, field);
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    const { message: reason, status, email } = error;
    ctx.log.warn({ reason, status, address: ctx.address, uuid: ctx.requestId }, "single sign-on refused");
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email, public_ip: ctx.address });
    if (error.isMalformed) throw badRequest(reason, "SAMLResponse");
    return { status };
  }
}

async function finish(ctx: Context, field: string): Promise<SsoOutcome> {
  const cookie = sentCookie(ctx.headers?.get("cookie") ?? null);
  // Must be first: a sign-in allows only one callback, whether it succeeds or not.
  const session = cookie === null ? null : await takeSession(ctx, cookie);
  const { sso_settings: sso } = await ctx.config.current();
  if (!sso.enable_sso) throw new SsoRefusal("single sign-on is not turned on", { status: "org_disabled" });
  if (cookie !== null && session === null)
    throw new SsoRefusal("the browser's sign-in has expired, was used before, or never existed");
  if (cookie === null && !sso.enable_sso_idp_login)
    throw new SsoRefusal(
      "no sign-in began in this browser, and the identity provider may not begin one (enable_sso_idp_login)",
    );
  const here = await serviceProvider(ctx, sso);
  const assertion = await verifiedResponse(ctx, { provider: sso, here, requestId: session?.request_id ?? null }, field);
  const token = await signIn(ctx, sso, personOf(assertion));
  return { token, relayUrl: session?.relay_url ?? "/" };
}

/** Opens a session for the person's account. The account is first created or updated if provisioning is turned on. */
async function signIn(ctx: Context, sso: SsoSettings, person: SsoPerson): Promise<string> {
  const provisioning = sso.enable_jit_provisioning && mayAddPremium(ctx);
  const { email } = person;
  const invalid = (reason: string) => new SsoRefusal(reason, { status: "account_invalid", email });
  try {
    return await ctx.store.tx(
      async (store) => {
        const inside = within(ctx, store);
        const existing = await userOfEmail(inside, email);
        if (!existing && !provisioning)
          throw invalid("no user has this email address, and accounts are not created at sign-in");
        if (existing && !existing.sso_enabled) throw invalid("the user does not sign in by single sign-on");
        if (existing?.api_only) throw invalid("the user is API-only");
        if (existing && provisioning && person.roles !== null) await followSsoRoles(inside, existing.id, person.roles);
        const user = existing ? (await store.users.get(existing.id))! : await addSsoUser(inside, person);
        return (await signedIn(inside, user, "sso")).token;
      },
      { lock: "users" },
    );
  } catch (error) {
    if (error instanceof ApiError && error.status < 500)
      throw new SsoRefusal(error.errors[0]?.reason ?? error.message, { email });
    throw error;
  }
}
