// Verifies the response of an identity provider, for users and for the users of devices.
import { isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { measured, measuredAsync, proved } from "../../platform/core/http/strangers.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { type Assertion, checkResponse, type ExpectedAssertion, readAssertion } from "../../platform/saml/assertion.ts";
import { MetadataProblem } from "../../platform/saml/metadata.ts";
import { SsoRefusal } from "../../platform/saml/refusal.ts";
import { readResponse } from "../../platform/saml/response.ts";
import { loadSaml, verifiedAssertion } from "../../platform/saml/signature.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import type { ServiceProvider } from "./addresses.ts";
import { identityProvider, type ProviderSettings } from "./metadata-source.ts";

interface SignInRequest {
  readonly provider: ProviderSettings;
  /** Null: the server's URL is not set. */
  readonly here: ServiceProvider | null;
  /** The id of the request that was sent. Null for a sign-in that the identity provider started. */
  readonly requestId: string | null;
}

/** The assertion of the response, which is accepted once. Throws `SsoRefusal`. */
export async function verifiedResponse(
  ctx: Context,
  { provider: settings, here, requestId }: SignInRequest,
  field: string,
): Promise<Assertion> {
  const response = measured(ctx, () => readResponse(field));
  if (here === null) throw new SsoRefusal("server_url is not set");
  const expectedFrom = (issuer: string): ExpectedAssertion => ({ ...here, issuer, requestId, now: ctx.clock.now() });
  // Before the metadata may have to be fetched.
  if (settings.issuer_uri !== "") checkResponse(response.root, expectedFrom(settings.issuer_uri));
  const provider = await identityProvider(ctx, settings).catch((error: unknown) => {
    if (error instanceof MetadataProblem) throw new SsoRefusal(error.message);
    throw error;
  });
  const expected = expectedFrom(provider.entityId);
  checkResponse(response.root, expected);
  await loadSaml();
  const assertion = readAssertion(
    await measuredAsync(ctx, () => verifiedAssertion(response, provider.certificates)),
    expected,
  );
  await keepFromReplay(ctx, provider.entityId, assertion);
  proved(ctx);
  return assertion;
}

/** Prevents replay: an assertion is accepted once. Its id is kept until the assertion expires. */
async function keepFromReplay({ store }: Context, issuer: string, { id, until }: Assertion): Promise<void> {
  try {
    await store.ssoAssertions.insert({ assertion_id: tokenHash(`${issuer}\n${id}`), expires_at: isoAt(until) });
  } catch (error) {
    if (error instanceof UniqueViolation) throw new SsoRefusal("the assertion was used before");
    throw error;
  }
}
