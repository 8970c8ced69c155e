// An identity provider for tests: with the independent library `samlp` for valid responses, and a signer of its own for
// invalid ones.
import { randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import samlp from "samlp";
import { generate } from "selfsigned";
import { vi } from "vitest";
import { SignedXml } from "xml-crypto";
import type { SsoSettings } from "../../src/api/settings/app-config.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { writeSection } from "../../src/server/settings/app-config/rows.ts";
import { ssoSettings as ssoSection } from "../../src/server/settings/app-config/sections/sign-on.ts";
import type { TestApp } from "./app.ts";

export const ISSUER = "https://idp.example.com/metadata";
export const ENTITY_ID = "svc-of-tests";
export const SSO_URL = "https://idp.example.com/sso";
export const ACS = "https://svc.example.com/api/v1/svc/sso/callback";
export const CALLBACK = "/api/v1/svc/sso/callback";
export const COOKIE = "__Host-SVCSSOSESSIONID";

/** The default subject of responses. */
export const SSO_USER = { name: "Ada S", email: "ada.sso@example.com" };

export interface SigningKey {
  readonly key: string;
  readonly cert: string;
}

export async function makeSigningKey(): Promise<SigningKey> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "idp.example.com" }], {
    keySize: 2048,
    algorithm: "sha256",
  });
  return { key, cert };
}

const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s+/g, "");

export interface MetadataOptions {
  readonly issuer?: string;
  readonly certs?: readonly string[];
  readonly validUntil?: string;
  readonly services?: string;
  readonly use?: string;
}

export function metadataOf(
  { cert }: SigningKey,
  { issuer = ISSUER, certs = [cert], validUntil, services, use = ' use="signing"' }: MetadataOptions = {},
): string {
  const keys = certs.map(
    (one) =>
      `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>\n${bare(one)}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?><!-- made by a test -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${issuer}"${validUntil ? ` validUntil="${validUntil}"` : ""}>
<md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
${keys.join("\n")}
${
  services ??
  `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${SSO_URL}/post"/>
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${SSO_URL}"/>`
}
</md:IDPSSODescriptor></md:EntityDescriptor>`;
}

export const ssoSettings = (key: SigningKey, more: object = {}) => ({
  enable_sso: true,
  entity_id: ENTITY_ID,
  issuer_uri: ISSUER,
  idp_name: "Test IdP",
  metadata: metadataOf(key),
  metadata_url: "",
  ...more,
});

export async function turnOnSso(t: TestApp, key: SigningKey, more: object = {}): Promise<void> {
  const response = await t.patch("/config", { sso_settings: ssoSettings(key, more) });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Stores settings that PATCH /config refuses, as an older version or another license may have left them. */
export async function storeSso(t: TestApp, settings: Partial<SsoSettings>): Promise<void> {
  const { sso_settings } = await t.services.config.current();
  await t.store.tx(async (tx) => {
    await writeSection(tx, ssoSection, { ...sso_settings, ...settings }, t.clock.iso());
    await tx.notify(channels.config, "");
  });
}

export interface StartedSignIn {
  /** The header of a browser. */
  readonly cookie: string;
  readonly requestId: string;
  readonly url: URL;
  /** The request as XML. */
  readonly request: string;
}

export async function begin(t: TestApp, relayUrl = "/hosts"): Promise<StartedSignIn> {
  const response = await t.as(null).request("POST", "/sso", { relay_url: relayUrl });
  if (response.status !== 200) throw new Error(await response.text());
  const { url } = (await response.json()) as { url: string };
  const set = response.headers.getSetCookie().find((one) => one.startsWith(`${COOKIE}=`))!;
  const parsed = new URL(url);
  const request = inflateRawSync(Buffer.from(parsed.searchParams.get("SAMLRequest")!, "base64")).toString();
  return { cookie: set.split(";")[0]!, requestId: /ID="([^"]+)"/.exec(request)![1]!, url: parsed, request };
}

/** Posts the response as the identity provider's page makes a browser do. */
export function deliver(t: TestApp, xml: string | Buffer, cookie: string | null, path = CALLBACK): Promise<Response> {
  return t.raw(path, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: "https://idp.example.com",
      referer: "https://idp.example.com/",
      ...(cookie === null ? {} : { cookie }),
    },
    body: String(new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString("base64"), RelayState: "/evil" })),
  });
}

/** The token of the session that the response creates; null if it creates none. */
export function sessionOf(response: Response): string | null {
  const set = response.headers.getSetCookie().find((one) => /^(__Host-)?svc_session=./.test(one));
  return set === undefined ? null : set.split(";")[0]!.split("=")[1]!;
}

export interface Content {
  readonly nameId?: string;
  readonly nameIdXml?: string;
  readonly id?: string;
  readonly responseId?: string;
  readonly issuer?: string;
  readonly responseIssuer?: string;
  readonly audience?: string;
  readonly audienceXml?: string;
  readonly recipient?: string;
  readonly destination?: string | null;
  /** Null: left out. */
  readonly inResponseTo?: string | null;
  readonly subjectInResponseTo?: string | null;
  /** Milliseconds from now. */
  readonly notBefore?: number;
  readonly notOnOrAfter?: number | null;
  readonly conditionsNotOnOrAfter?: number | null;
  readonly status?: string;
  readonly attributes?: Readonly<Record<string, string | readonly string[]>>;
  readonly authnStatement?: string;
  readonly subjectMethod?: string;
  readonly conditions?: string;
}

const attr = (name: string, value: string | null | undefined) => (value == null ? "" : ` ${name}="${value}"`);
const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

export interface Moment {
  /** Milliseconds. */
  readonly now: number;
  readonly requestId: string | null;
}

export function assertionXml({ now, requestId }: Moment, given: Content = {}): string {
  const at = (ms: number) => new Date(now + ms).toISOString();
  const until = (ms: number | null | undefined, fallback: number) =>
    ms === null ? "" : attr("NotOnOrAfter", at(ms ?? fallback));
  const id = given.id ?? `_${randomBytes(16).toString("hex")}`;
  const inResponseTo = given.subjectInResponseTo === undefined ? requestId : given.subjectInResponseTo;
  const attributes = Object.entries(given.attributes ?? {})
    .map(
      ([name, values]) =>
        `<saml:Attribute Name="${name}">${[values]
          .flat()
          .map((value) => `<saml:AttributeValue>${escaped(String(value))}</saml:AttributeValue>`)
          .join("")}</saml:Attribute>`,
    )
    .join("");
  const audience =
    given.audienceXml ??
    `<saml:AudienceRestriction><saml:Audience>${given.audience ?? ENTITY_ID}</saml:Audience></saml:AudienceRestriction>`;
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(0)}">` +
    `<saml:Issuer>${given.issuer ?? ISSUER}</saml:Issuer>` +
    `<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${given.nameIdXml ?? given.nameId ?? SSO_USER.email}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${given.subjectMethod ?? "urn:oasis:names:tc:SAML:2.0:cm:bearer"}">` +
    `<saml:SubjectConfirmationData${attr("InResponseTo", inResponseTo)}${attr("Recipient", given.recipient ?? ACS)}${until(given.notOnOrAfter, 300_000)}/>` +
    "</saml:SubjectConfirmation></saml:Subject>" +
    (given.conditions ??
      `<saml:Conditions NotBefore="${at(given.notBefore ?? -5000)}"${until(given.conditionsNotOnOrAfter === undefined ? given.notOnOrAfter : given.conditionsNotOnOrAfter, 300_000)}>${audience}</saml:Conditions>`) +
    (given.authnStatement ??
      `<saml:AuthnStatement AuthnInstant="${at(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`) +
    (attributes === "" ? "" : `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`) +
    "</saml:Assertion>"
  );
}

export function responseXml({ now, requestId }: Moment, inner: string, given: Content = {}): string {
  const destination = given.destination === undefined ? ACS : given.destination;
  const inResponseTo = given.inResponseTo === undefined ? requestId : given.inResponseTo;
  return (
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${given.responseId ?? `_${randomBytes(16).toString("hex")}`}" Version="2.0" IssueInstant="${new Date(now).toISOString()}"${attr("Destination", destination)}${attr("InResponseTo", inResponseTo)}>` +
    `<saml:Issuer>${given.responseIssuer ?? ISSUER}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="${given.status ?? "urn:oasis:names:tc:SAML:2.0:status:Success"}"/></samlp:Status>` +
    `${inner}</samlp:Response>`
  );
}

export interface SignOptions {
  readonly signatureAlgorithm?: string;
  readonly digestAlgorithm?: string;
  readonly transforms?: readonly string[];
  readonly canonicalization?: string;
  /** Shown in KeyInfo; by default the signer's own. */
  readonly shownCert?: string;
  readonly hmac?: boolean;
}

export const C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const sha256 = {
  signature: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
  digest: "http://www.w3.org/2001/04/xmlenc#sha256",
};

/** Signs the element of that local name, which must be the only one. */
export function sign(xml: string, local: "Assertion" | "Response", key: SigningKey, options: SignOptions = {}): string {
  const path = `//*[local-name(.)='${local}']`;
  const signer = new SignedXml({
    privateKey: key.key,
    publicCert: options.shownCert ?? key.cert,
    signatureAlgorithm: options.signatureAlgorithm ?? sha256.signature,
    canonicalizationAlgorithm: (options.canonicalization ?? C14N) as typeof C14N,
  });
  if (options.hmac) signer.enableHMAC();
  signer.addReference({
    xpath: path,
    digestAlgorithm: options.digestAlgorithm ?? sha256.digest,
    transforms: [...(options.transforms ?? [ENVELOPED, C14N])],
  });
  signer.computeSignature(xml, {
    prefix: "ds",
    location: { reference: `${path}/*[local-name(.)='Issuer']`, action: "after" },
  });
  return signer.getSignedXml();
}

/** A valid response whose assertion is signed. */
export const signedAssertion = (moment: Moment, key: SigningKey, given: Content = {}, options: SignOptions = {}) =>
  responseXml(moment, sign(assertionXml(moment, given), "Assertion", key, options), given);

/** A valid response that is signed as a whole. */
export const signedResponse = (moment: Moment, key: SigningKey, given: Content = {}, options: SignOptions = {}) =>
  sign(responseXml(moment, assertionXml(moment, given), given), "Response", key, options);

export interface SamlpOptions {
  readonly nameId?: string;
  readonly claims?: Record<string, unknown>;
  readonly signResponse?: boolean;
  readonly signAssertion?: boolean;
  readonly encryptFor?: SigningKey;
}

/** The response of `samlp`. It uses the system's clock, which is set for it. */
export function samlpResponse({ now, requestId }: Moment, key: SigningKey, given: SamlpOptions = {}): Promise<string> {
  const { nameId = SSO_USER.email, claims = {}, signResponse = false, signAssertion = true, encryptFor } = given;
  vi.useFakeTimers({ toFake: ["Date"], now });
  return new Promise<string>((resolve, reject) =>
    samlp.getSamlResponse(
      {
        issuer: ISSUER,
        audience: ENTITY_ID,
        recipient: ACS,
        destination: ACS,
        ...(requestId === null ? {} : { inResponseTo: requestId }),
        cert: key.cert,
        key: key.key,
        lifetimeInSeconds: 300,
        signResponse,
        signAssertion,
        signatureAlgorithm: "rsa-sha256",
        digestAlgorithm: "sha256",
        ...(encryptFor === undefined ? {} : { encryptionCert: encryptFor.cert, encryptionPublicKey: encryptFor.cert }),
        profileMapper: () => ({
          getClaims: () => claims,
          getNameIdentifier: () => ({
            nameIdentifier: nameId,
            nameIdentifierFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
          }),
        }),
      },
      {},
      (error, response) => (error ? reject(error) : resolve(response)),
    ),
  ).finally(() => vi.useRealTimers());
}

/** What `samlp` reads from the request that the browser brings. */
export const samlpReads = (url: URL) =>
  new Promise<{ issuer: string; assertionConsumerServiceURL: string; destination: string; id: string }>(
    (resolve, reject) =>
      samlp.parseRequest({ method: "GET", query: Object.fromEntries(url.searchParams) }, (error, parsed) =>
        error ? reject(error) : resolve(parsed),
      ),
  );
