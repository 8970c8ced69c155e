// Reads and checks a sign-in request of the access product (SAML core 3.4; HTTP-POST binding, 3.5).
import { utf8 } from "../../../xml/decode.ts";
import { attribute, childrenOf, everyElement, parseXml, type XmlElement, XmlProblem } from "../../../xml/xml.ts";
import { minutes } from "../core/clock.ts";
import { instant, ns } from "./names.ts";
import { refuse } from "./refusal.ts";
import { loadSaml, nothingKept } from "./signature.ts";
import { checkSignatureShape } from "./signature-shape.ts";

interface ExpectedRequest {
  /** The entity id of the access product. */
  readonly issuer: string;
  readonly acs: string;
  /** The sign-on URL of this identity provider. */
  readonly destination: string;
  /** The certificate of the access product. */
  readonly certificate: string;
  /** Milliseconds. */
  readonly now: number;
}

export interface SignInRequest {
  readonly id: string;
  /** The user whom the access product wants to sign in; null: it does not say. */
  readonly nameId: string | null;
}

const MAX_ELEMENTS = 1_000;
const REQUEST_MAX = 64 * 1024;
const POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";
/** How old a request may be. Its ID is remembered for longer. */
export const REQUEST_AGE = minutes(10);
const SKEW = minutes(1);
const ID = /^[A-Za-z_][\w.-]{0,255}$/;

/** Throws an `SsoRefusal` for every request that is not exactly what the configured access product sends. */
export async function readSignInRequest(field: string, expected: ExpectedRequest): Promise<SignInRequest> {
  const xml = decode(field);
  const root = parse(xml);
  if (root.uri !== ns.protocol || root.name !== "AuthnRequest") refuse("it is not a sign-in request");
  if (attribute(root, "Version") !== "2.0") refuse("the request is not of SAML 2.0");
  await checkSigned(xml, root, expected.certificate);
  // From here on, every byte that is read is covered by the signature.
  if (elementText(root, "Issuer") !== expected.issuer) refuse("the request is from another service (Issuer)");
  if (attribute(root, "Destination") !== expected.destination)
    refuse("the request is for another address (Destination)");
  const acs = attribute(root, "AssertionConsumerServiceURL");
  if (acs !== null && acs !== expected.acs) refuse("the answer would go to another address");
  if (attribute(root, "AssertionConsumerServiceIndex") !== null) refuse("the request names an address by its index");
  const binding = attribute(root, "ProtocolBinding");
  if (binding !== null && binding !== POST) refuse("the request asks for another binding");
  checkAge(root, expected.now);
  return { id: attribute(root, "ID")!, nameId: nameIdOf(root) };
}

function decode(field: string): string {
  const base64 = field.replace(/[\r\n\t ]+/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) refuse("the request is not in base64");
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > REQUEST_MAX) refuse("the request is larger than 64 KiB");
  try {
    return utf8(bytes);
  } catch {
    return refuse("the request is not in UTF-8");
  }
}

function parse(xml: string): XmlElement {
  try {
    return parseXml(xml, { most: MAX_ELEMENTS, lenient: false });
  } catch (error) {
    if (error instanceof XmlProblem) refuse(`the request cannot be read: ${error.message}`);
    throw error;
  }
}

/** Requires exactly one signature, which covers the whole request. */
async function checkSigned(xml: string, root: XmlElement, certificate: string): Promise<void> {
  const all = [...everyElement(root)];
  // A signature refers to the covered element by id, so there may be only one, under every spelling of the attribute.
  const ids = all.flatMap((element) =>
    [...element.attributes].filter(([name]) => /^(?:\{.*\})?id$/i.test(name)).map(([, value]) => value),
  );
  const id = attribute(root, "ID");
  if (id === null || !ID.test(id) || ids.length !== 1) refuse("the request must have one ID");
  const signatures = all.filter(({ name }) => name === "Signature");
  const [signature] = childrenOf(root, ns.signature, "Signature");
  if (!signature || signatures.length !== 1) refuse("the request must have one signature");
  checkSignatureShape(signature, root);
  const { SAML } = await loadSaml();
  class Verifier extends SAML {
    isSigned = false;

    protected override async processValidlySignedPostRequestAsync() {
      this.isSigned = true;
      return { profile: { issuer: "", nameID: "", nameIDFormat: "" }, loggedOut: false };
    }
  }
  const verifier = new Verifier({
    idpCert: certificate,
    cacheProvider: nothingKept,
    issuer: "unused",
    callbackUrl: "https://unused.invalid/",
  });
  const encoded = Buffer.from(xml, "utf8").toString("base64");
  await verifier.validatePostRequestAsync({ SAMLRequest: encoded }).catch(() => {});
  if (!verifier.isSigned) refuse("the configured certificate did not make its signature");
}

function checkAge(root: XmlElement, now: number): void {
  const at = instant(attribute(root, "IssueInstant") ?? "") ?? refuse("the request has no time (IssueInstant)");
  if (at > now + SKEW) refuse("the request is from the future (IssueInstant)");
  if (at < now - REQUEST_AGE) refuse("the request is too old (IssueInstant)");
}

function nameIdOf(root: XmlElement): string | null {
  const subjects = childrenOf(root, ns.assertion, "Subject");
  if (subjects.length === 0) return null;
  if (subjects.length > 1) refuse("the request names several users");
  const name = elementText(subjects[0]!, "NameID");
  if (name === "" || name.length > 255) refuse("the request's user has no name, or one that is too long");
  return name;
}

function elementText(parent: XmlElement, name: string): string {
  const [child, ...more] = childrenOf(parent, ns.assertion, name);
  if (!child || more.length > 0 || child.children.length > 0) refuse(`the request must have exactly one ${name}`);
  return child.text.trim();
}
