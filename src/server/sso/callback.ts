// The end of a sign-in: the browser posts the identity provider's response.
import type { SsoSettings } from "../../api/app-config.ts";
import { recordActivity } from "../activities/record.ts";
import { isoAt } from "../core/clock.ts";
import { type Context, nobody, within } from "../core/context.ts";
import { ApiError, badRequest } from "../core/errors.ts";
import { mayAddPremium } from "../core/http/tier.ts";
import { tokenHash } from "../core/random.ts";
import { type Assertion, checkResponse, type Expected, readAssertion } from "../saml/assertion.ts";
import { MetadataProblem } from "../saml/metadata.ts";
import { SsoRefusal, type SsoStatus } from "../saml/refusal.ts";
import { readResponse } from "../saml/response.ts";
import { verifiedAssertion } from "../saml/signature.ts";
import { signedIn } from "../sign-in/login.ts";
import { UniqueViolation } from "../store/store.ts";
import { addSsoUser, followSsoRoles, type SsoPerson, userOfEmail } from "./account.ts";
import { serviceProvider } from "./addresses.ts";
import { countSsoStep } from "./limits.ts";
import { identityProvider } from "./metadata-source.ts";
import { personOf } from "./person.ts";
import { sentCookie, takeSession } from "./session.ts";

export type SsoOutcome =
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
  const assertion = await checked(ctx, sso, field, session?.request_id ?? null);
  await keepFromReplay(ctx, sso, assertion);
  const token = await signIn(ctx, sso, personOf(assertion));
  return { token, relayUrl: session?.relay_url ?? "/" };
}

async function checked(ctx: Context, sso: SsoSettings, field: string, requestId: string | null): Promise<Assertion> {
  const response = await readResponse(field);
  const here = await serviceProvider(ctx, sso);
  if (here === null) throw new SsoRefusal("server_url is not set");
  const expected: Expected = { ...here, issuer: sso.issuer_uri, requestId, now: ctx.clock.now() };
  checkResponse(response.root, expected);
  const provider = await identityProvider(ctx, sso).catch((error: unknown) => {
    if (error instanceof MetadataProblem) throw new SsoRefusal(error.message);
    throw error;
  });
  return readAssertion(await verifiedAssertion(response, provider.certificates), expected);
}

/** Prevents replay: an assertion is accepted once. Its id is kept until the assertion expires. */
async function keepFromReplay({ store }: Context, sso: SsoSettings, { id, until }: Assertion): Promise<void> {
  try {
    await store.ssoAssertions.insert({
      assertion_id: tokenHash(`${sso.issuer_uri}\n${id}`),
      expires_at: isoAt(until),
    });
  } catch (error) {
    if (error instanceof UniqueViolation) throw new SsoRefusal("the assertion was used before");
    throw error;
  }
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
        const known = await userOfEmail(inside, email);
        if (!known && !provisioning)
          throw invalid("no user has this email address, and accounts are not created at sign-in");
        if (known && !known.sso_enabled) throw invalid("the user does not sign in by single sign-on");
        if (known?.api_only) throw invalid("the user is API-only");
        if (known && provisioning && person.roles !== null) await followSsoRoles(inside, known.id, person.roles);
        const user = known ? (await store.users.get(known.id))! : await addSsoUser(inside, person);
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
