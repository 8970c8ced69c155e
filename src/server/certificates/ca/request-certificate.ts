// POST /certificate_authorities/:id/request_certificate: an EST authority signs a key that the caller generated.
import { z } from "zod";
import type { CertificateRequest } from "../../../api/certificates/ca.ts";
import type { Integrations } from "../../../api/settings/app-config.ts";
import { BadDer } from "../../../pki/der.ts";
import { pem } from "../../../pki/x509.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, badRequest } from "../../platform/core/errors.ts";
import { type EnrolledCertificates, simpleEnroll } from "./est.ts";
import { checkHostRequest, namesOfHost } from "./host-names.ts";
import { type CaRow, getCaRow, textIn } from "./rules.ts";
import { BadRequestPem, readSigningRequest, type SigningRequest } from "./signing-request.ts";
import { checkUnshared } from "./unshared.ts";
import { askCa, CaError } from "./upstream.ts";

// One message per class of errors: details could help to find a valid token or request by trial and error.
const invalidRequest = () => badRequest("Invalid certificate request", "csr");
const invalidToken = () => badRequest("Invalid token", "idp_token");

export async function requestCertificate(
  ctx: Context,
  id: number,
  input: CertificateRequest,
): Promise<{ certificate: string }> {
  const request = await readRequest(input.csr);
  const ca = await getCaRow(ctx, id);
  const [username, password] = credentialsOf(ca);
  const idp = introspectionOf(input);
  const { integrations } = await ctx.config.current();
  if (idp) checkProvider(idp, integrations, ctx.host !== undefined);
  const isUnbound = integrations.certificates_disable_host_end_user_binding;
  if (ctx.host && !isUnbound) await checkHost(ctx, ca, ctx.host.id, request, null);
  const person = idp && (await checkIdentity(ctx, request, idp));
  if (ctx.host && isUnbound) await checkHost(ctx, ca, ctx.host.id, request, person === null ? [] : [person]);
  const enrolled = await enroll(ctx, { url: textIn(ca.settings, "url"), username, password }, request);
  if (input.return_pem_certificate !== true) return { certificate: pem("PKCS7", enrolled.pkcs7) };
  const leaf = enrolled.certificates.find(({ parsed }) =>
    parsed.publicKey.export({ type: "spki", format: "der" }).equals(request.publicKey),
  );
  if (!leaf) throw badRequest("the authority's reply contains no certificate for the requested key");
  return { certificate: pem("CERTIFICATE", leaf.der) };
}

const readRequest = (text: string): Promise<SigningRequest> => readable(() => readSigningRequest(text));

async function readable<R>(read: () => R | Promise<R>): Promise<R> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BadRequestPem || error instanceof BadDer) throw invalidRequest();
    throw error;
  }
}

function credentialsOf({ type, settings, secret }: CaRow): [string, string] {
  if (type !== "hosted_est_ca" && type !== "custom_est_proxy")
    throw badRequest(
      `certificates can be requested only from hosted_est_ca and custom_est_proxy, not from ${type}`,
      "id",
    );
  if (secret === "") throw badRequest("the certificate authority has no secret", "id");
  return [textIn(settings, type === "hosted_est_ca" ? "client_id" : "username"), secret];
}

interface Introspection {
  readonly url: string;
  readonly token: string;
  readonly clientId: string;
}

/** Requires all three fields or none. */
function introspectionOf(input: CertificateRequest): Introspection | null {
  const { idp_oauth_url: url = "", idp_token: token = "", idp_client_id: clientId = "" } = input;
  if (url === "" && token === "" && clientId === "") return null;
  const missing = Object.entries({ idp_oauth_url: url, idp_token: token, idp_client_id: clientId }).find(
    ([, value]) => value === "",
  );
  if (missing) throw badRequest("idp_oauth_url, idp_token and idp_client_id are needed together", missing[0]);
  if (!/^https:\/\//i.test(url) || !URL.canParse(url)) throw badRequest("must be an https URL", "idp_oauth_url");
  return { url, token, clientId };
}

type Rules = Pick<Integrations, "certificates_idp_introspection_urls" | "certificates_idp_client_ids">;

/**
 * Whoever chooses the provider chooses what it answers. A host therefore uses only one that the settings name, and users
 * too as soon as they name one.
 */
function checkProvider({ url, clientId }: Introspection, rules: Rules, isHost: boolean): void {
  const { certificates_idp_introspection_urls: urls, certificates_idp_client_ids: clients } = rules;
  const setting = (name: string) => `integrations.${name} of the configuration`;
  if ((isHost || urls.length > 0) && !urls.includes(url))
    throw refused("idp_oauth_url", `is not one of ${setting("certificates_idp_introspection_urls")}`);
  if (clients.length > 0 && !clients.includes(clientId))
    throw refused("idp_client_id", `is not one of ${setting("certificates_idp_client_ids")}`);
}

const refused = (name: string, reason: string) => new ApiError(403, "forbidden", [{ name, reason }]);

/** Checks that the request is for the person to whom the token belongs. Returns the person's mail address. */
async function checkIdentity(ctx: Context, request: SigningRequest, idp: Introspection): Promise<string> {
  const [email, another] = request.emails;
  const [principal] = request.userPrincipalNames;
  if (!email || another !== undefined || !principal) throw invalidRequest();
  const username = await introspect(ctx, idp);
  if (!email.startsWith(principal)) throw invalidRequest();
  if (email !== username) throw invalidToken();
  return email;
}

/** A host that has signed the request proves only itself. `people` replaces its users, where a token proves them. */
async function checkHost(
  ctx: Context,
  ca: CaRow,
  hostId: number,
  request: SigningRequest,
  people: readonly string[] | null,
): Promise<void> {
  const names = await namesOfHost(ctx, hostId, { allowsHostname: ca.settings.allow_hostname === true, people });
  const requested = await readable(() => checkHostRequest(request.contents(), names));
  await checkUnshared(ctx, hostId, names, requested);
}

const Introspected = z.object({ active: z.literal(true), username: z.string().min(1) });

/** The user name of an active token (RFC 7662). */
async function introspect(ctx: Context, { url, token, clientId }: Introspection): Promise<string> {
  const answer = await askCa(ctx, url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ client_id: clientId, token }).toString(),
    maxBytes: 65_536,
  }).catch((error: unknown) => {
    if (!(error instanceof CaError)) throw error;
    throw badRequest(`the token could not be checked: ${error.message}`, "idp_oauth_url");
  });
  if (answer.status !== 200)
    throw badRequest(`the token could not be checked: status ${answer.status}`, "idp_oauth_url");
  const reply = Introspected.safeParse(jsonIn(answer.body));
  if (!reply.success) throw invalidToken();
  return reply.data.username;
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

/**
 * Failures of the authority are reported as a client error, because some authorities answer a bad request with 5xx.
 */
async function enroll(
  ctx: Context,
  ca: { url: string; username: string; password: string },
  request: SigningRequest,
): Promise<EnrolledCertificates> {
  try {
    return await simpleEnroll(ctx, ca, request.der);
  } catch (error) {
    if (!(error instanceof CaError)) throw error;
    throw badRequest(`the certificate could not be issued: ${error.message}`);
  }
}
