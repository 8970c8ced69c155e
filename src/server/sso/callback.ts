// The end of a sign-in: the identity provider's response, as the browser brings it.
import type { SsoSettings } from "../../api/app-config.ts";
import { recordActivity } from "../activities/record.ts";
import { isoAt } from "../core/clock.ts";
import { type Context, nobody, within } from "../core/context.ts";
import { ApiError, badRequest } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import { mayAddPremium } from "../core/tier.ts";
import { signedIn } from "../sessions/login.ts";
import { UniqueViolation } from "../store/store.ts";
import { addSsoUser, followSsoRoles, type SsoPerson, userOfEmail } from "../users/sso.ts";
import { serviceProvider } from "./addresses.ts";
import { type Assertion, checkResponse, type Expected, readAssertion } from "./assertion.ts";
import { ssoLimits } from "./limits.ts";
import { MetadataProblem } from "./metadata.ts";
import { identityProvider } from "./metadata-source.ts";
import { personOf } from "./person.ts";
import { SsoRefusal, type SsoStatus } from "./refusal.ts";
import { readResponse } from "./response.ts";
import { sentCookie, takeSession } from "./session.ts";
import { verifiedAssertion } from "./signature.ts";

export type SsoOutcome =
  | { readonly token: string; readonly relayUrl: string; readonly status?: never }
  | { readonly status: SsoStatus };

/** Signs in whom the response vouches for. Refusals are logged with their reason and recorded; what is no SAML response at all is 400. */
export async function finishSso(ctx: Context, field: string): Promise<SsoOutcome> {
  ssoLimits(ctx).count("callback", ctx.address);
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
  // Before anything else: good or bad, this was the one callback of this sign-in.
  const session = cookie === null ? null : await takeSession(ctx, cookie);
  const { sso_settings: sso } = await ctx.config.current();
  if (!sso.enable_sso) throw new SsoRefusal("single sign-on is not turned on", { status: "org_disabled" });
  if (cookie !== null && session === null)
    throw new SsoRefusal("the browser's sign-in is over, was used before, or is none");
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

/** None signs in twice: kept until it would be refused for its age. */
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

/** Opens the session of the person's account, which is made or brought up to date first where that is turned on. */
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
          throw invalid("nobody here has this email address, and accounts are not made at sign-in");
        if (known && !known.sso_enabled) throw invalid("the user does not sign in by single sign-on");
        if (known?.api_only) throw invalid("the user works by the API alone");
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
