// A sign-in to another service: the browser brings its request, and the host's certificate.

import { presentedIdentity } from "../../certificates/device-ca/presented.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { IDP_SOURCE } from "../../hosts/hosts/emails.ts";
import { isoAt, minutes } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { measuredAsync } from "../../platform/core/http/strangers.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { countCall } from "../../platform/rate-limits/attempts.ts";
import { refuse, SsoRefusal } from "../../platform/saml/refusal.ts";
import { REQUEST_AGE, readSignInRequest, type SignInRequest } from "../../platform/saml/sign-in-request.ts";
import { loadSaml } from "../../platform/saml/signature.ts";
import { signedAnswer } from "../../platform/saml/signed-answer.ts";
import { and, eq } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { ERROR_PAGE, entityIdOf, REMEDIATION_PAGE, ssoUrlOf } from "./addresses.ts";
import { takeBypass } from "./bypass.ts";
import { CONDITIONAL_ACCESS, isConfirmed } from "./certificates.ts";
import { blockingPolicies } from "./policies.ts";
import { signingKey } from "./signing.ts";

type SignInOutcome =
  /** What the browser posts, and where to. */
  { readonly acs: string; readonly response: string } | { readonly redirect: string };

/** A whole office may sign in from one address. */
const CALL_LIMIT = { scope: "conditional access", most: 300, ofAll: 6_000, span: minutes(1) };

/** Refusals are logged with their reason; the browser is sent to a page that does not reveal it. */
export async function answerSignIn(ctx: Context, field: string): Promise<SignInOutcome> {
  await countCall(ctx, CALL_LIMIT, ctx.address);
  try {
    return await answer(ctx, field);
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    ctx.log.warn({ reason: error.message, address: ctx.address }, "conditional access: a sign-in was refused");
    return { redirect: ERROR_PAGE };
  }
}

async function answer(ctx: Context, field: string): Promise<SignInOutcome> {
  const { conditional_access: access } = await ctx.config.current();
  if (access.provider_idp_id === "") refuse("no access product is configured (conditional_access.provider_*)");
  // First, because it costs least.
  const hostId = await callingHost(ctx);
  const acs = access.provider_assertion_consumer_service_url;
  const audience = access.provider_audience_uri;
  const expected = {
    issuer: audience,
    acs,
    destination: await ssoUrlOf(ctx),
    certificate: access.provider_certificate,
    now: ctx.clock.now(),
  };
  await loadSaml();
  const request = await measuredAsync(ctx, () => readSignInRequest(field, expected));
  const nameId = await decide(ctx, hostId, request);
  if (nameId === null) return { redirect: REMEDIATION_PAGE };
  const assertion = {
    issuer: await entityIdOf(ctx),
    acs,
    audience,
    requestId: request.id,
    nameId,
    now: ctx.clock.now(),
  };
  const xml = await signedAnswer(ctx.random, await signingKey(ctx), assertion);
  return { acs, response: Buffer.from(xml, "utf8").toString("base64") };
}

/** The host whose certificate the connection proves: to this server, or to a trusted proxy, which names its serial number. */
async function callingHost(ctx: Context): Promise<number> {
  const identity = await presentedIdentity(ctx);
  if (!identity) refuse("the browser presented no certificate of a host, or one that is not valid");
  if (identity.purpose !== CONDITIONAL_ACCESS || identity.host_id === null)
    refuse("the certificate is for something else, or its host was deleted");
  if (!(await isConfirmed(ctx.store, identity.host_id, identity)))
    refuse("the host has not reported that it has this certificate: refetch the host, and sign in again");
  return identity.host_id;
}

/** The name to sign in; null if the host fails policies. Each request is decided once. */
async function decide(ctx: Context, hostId: number, { id, nameId }: SignInRequest): Promise<string | null> {
  const now = ctx.clock.now();
  const row = { digest: tokenHash(id), expires_at: isoAt(now + 2 * REQUEST_AGE) };
  try {
    return await ctx.store.tx(async (tx) => {
      await tx.conditionalAccessRequests.insert(row);
      const host = (await tx.hosts.get(hostId)) ?? refuse("the host was deleted");
      const blocking = await blockingPolicies(within(ctx, tx), host);
      if (blocking.length > 0) {
        const names = blocking.map(({ name }) => name);
        ctx.log.info({ host_id: hostId, policies: names }, "conditional access: the host fails policies");
        if (!(await takeBypass(tx, hostId, ctx.clock.iso()))) return null;
      }
      return nameId ?? (await accountOf(tx, host));
    });
  } catch (error) {
    if (error instanceof UniqueViolation) refuse("the request was answered before");
    throw error;
  }
}

/** The account of the identity provider with which somebody has signed in on the host. */
async function accountOf(tx: ServerTx, { id }: HostRow): Promise<string> {
  const row = await tx.hostEmails.first({ where: and(eq("host_id", id), eq("source", IDP_SOURCE)) });
  return row?.email ?? refuse("neither the request names a user, nor is one known of the host");
}
