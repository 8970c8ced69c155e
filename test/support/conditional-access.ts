// Conditional access from outside: the access product's signed requests, and devices that get a certificate by SCEP.
import { type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { request } from "node:https";
import { toNodeHandler } from "h3/node";
import { generate } from "selfsigned";
import { SignedXml } from "xml-crypto";
import { directoryString, element, integer, octets, oid, sequence, setOf, tagged } from "../../src/pki/der.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { encodeName, parseName } from "../../src/pki/names.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../../src/pki/scep.ts";
import { newKey, readCertificate, signed, spkiOf } from "../../src/pki/x509.ts";
import { createApp } from "../../src/server/app.ts";
import { chooseAddress, listen } from "../../src/server/platform/process/listen.ts";
import type { TestApp } from "./app.ts";
import { afterEveryTest } from "./ends.ts";
import { makeSigningKey, type SigningKey } from "./idp.ts";

export const ACS = "https://access.example.com/sso/saml2/0oa1";
export const AUDIENCE = "https://access.example.com/saml2/service-provider/sp1";
export const IDP = "https://svc.example.com/api/svc/conditional_access/idp";
const SSO = "/api/svc/conditional_access/idp/sso";
const SCEP = "/api/svc/conditional_access/scep";

/** The access product, configured. */
export async function configureProduct(t: TestApp): Promise<SigningKey> {
  const product = await makeSigningKey();
  const reply = await t.patch("/config", {
    conditional_access: {
      provider_idp_id: "0oa1",
      provider_assertion_consumer_service_url: ACS,
      provider_audience_uri: AUDIENCE,
      provider_certificate: product.cert,
    },
    integrations: { conditional_access_enabled: true },
  });
  if (reply.status !== 200) throw new Error(await reply.text());
  return product;
}

export interface SignInRequest {
  readonly id?: string;
  readonly issuer?: string;
  readonly acs?: string;
  readonly destination?: string;
  readonly subject?: string | null;
  /** Milliseconds since the present. */
  readonly at?: number;
  readonly root?: string;
}

export function authnRequest(t: TestApp, given: SignInRequest = {}): string {
  const {
    id = `_${randomBytes(12).toString("hex")}`,
    issuer = AUDIENCE,
    acs = ACS,
    destination = `${IDP}/sso`,
  } = given;
  const { subject = "ann@example.com", at = 0, root = "AuthnRequest" } = given;
  const who = subject === null ? "" : `<saml:Subject><saml:NameID>${subject}</saml:NameID></saml:Subject>`;
  return (
    `<samlp:${root} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="${id}" Version="2.0" IssueInstant="${new Date(t.clock.now() + at).toISOString()}" Destination="${destination}"` +
    ` AssertionConsumerServiceURL="${acs}"><saml:Issuer>${issuer}</saml:Issuer>${who}</samlp:${root}>`
  );
}

const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";

export function signRequest(xml: string, { key, cert }: SigningKey): string {
  const signer = new SignedXml({
    privateKey: key,
    publicCert: cert,
    signatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  signer.addReference({
    xpath: "/*",
    digestAlgorithm: "http://www.w3.org/2001/04/xmlenc#sha256",
    transforms: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", EXCLUSIVE],
  });
  signer.computeSignature(xml, { location: { reference: "/*/*[local-name(.)='Issuer']", action: "after" } });
  return signer.getSignedXml();
}

export interface Identity {
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

const URI = 0x86;
const name = parseName("/CN=svc conditional access/O=svc");
/** RSA keys take long to make, and these tests are not about them. */
const keys: Promise<KeyObject>[] = [];

function keyOf(index: number): Promise<KeyObject> {
  keys[index] ??= newKey();
  return keys[index];
}

interface Enrolling {
  readonly secret: string;
  readonly uuid?: string;
  readonly key?: number;
  /** To renew: signed with this identity. */
  readonly identity?: Identity;
}

/** The certificate that the device gets; null if it is refused. */
export async function enroll(
  t: TestApp,
  { secret, uuid, key: number = 0, identity }: Enrolling,
): Promise<Identity | null> {
  const key = await keyOf(number);
  const authority = readCertificate(Buffer.from(await (await t.raw(`${SCEP}?operation=GetCACert`)).arrayBuffer()));
  const names = element(URI, Buffer.from(`urn:device:apple:uuid:${uuid}`));
  const extension = sequence(oid("2.5.29.17"), octets(sequence(names)));
  const attributes = [
    sequence(oid("1.2.840.113549.1.9.7"), setOf(directoryString(secret))),
    ...(uuid === undefined ? [] : [sequence(oid("1.2.840.113549.1.9.14"), setOf(sequence(extension)))]),
  ];
  const content = signed(sequence(integer(0), encodeName(name), spkiOf(key), tagged(0, ...attributes)), key);
  const signer = identity ?? { certificate: selfSigned(name, key, randomBytes(8), t.clock.now()), key };
  const transaction = { id: randomBytes(8).toString("hex"), nonce: randomBytes(16) };
  const type = identity ? messageTypes.renewalReq : messageTypes.pkcsReq;
  const message = makeScepRequest({
    ...{ type, transaction, content, cipher: "aes-128-cbc", recipient: authority },
    signer: { ...signer, digest: "sha256" },
  });
  const reply = await t.raw(`${SCEP}?operation=PKIOperation`, { method: "POST", body: new Uint8Array(message) });
  const read = readScepReply(Buffer.from(await reply.arrayBuffer()), [authority], transaction, signer);
  return read.status === "success" ? { certificate: read.certificates[0]!.der, key } : null;
}

export const serialOf = ({ certificate }: Identity): string => new X509Certificate(certificate).serialNumber;

interface SentForm {
  readonly shown?: Identity | null;
  readonly headers?: Record<string, string>;
  readonly relay?: string;
}

export interface SignInAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly policy: string | undefined;
  readonly text: string;
}

const running: (() => Promise<unknown>)[] = [];
afterEveryTest(async () => {
  for (const close of running.splice(0)) await close();
});

/** The app behind a TLS listener of its own: what browsers send there. */
export async function listening(t: TestApp) {
  const names = { name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec", extensions: [names] });
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: { cert: made.cert, key: made.private } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const server = await listen(app, address);
  running.push(() => server.close({ graceMs: 0, limitMs: 0 }));
  return async (xml: string, { shown = null, headers = {}, relay = "a&b" }: SentForm = {}): Promise<SignInAnswer> => {
    const pair = shown && {
      cert: new X509Certificate(shown.certificate).toString(),
      key: shown.key.export({ type: "pkcs8", format: "pem" }),
    };
    const sent = request(`${address.url}${SSO}`, {
      method: "POST",
      ca: made.cert,
      agent: false,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      ...pair,
    });
    const form = new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString("base64"), RelayState: relay });
    sent.end(`${form}`);
    const [response] = await once(sent, "response");
    let text = "";
    for await (const part of response) text += part;
    const { location, "content-security-policy": policy } = response.headers;
    return { status: response.statusCode, location, policy, text };
  };
}
