// Checks the structure of a SAML response before its signature. Structures with which a signature could cover
// something other than what is read are refused here, before any library processes them.

import { utf8 } from "../../../xml/decode.ts";
import { attribute, childrenOf, everyElement, parseXml, type XmlElement, XmlProblem } from "../../../xml/xml.ts";
import { limit } from "../core/limits.ts";
import { ns } from "./names.ts";
import { refuse, SsoRefusal } from "./refusal.ts";
import { checkSignatureShape } from "./signature-shape.ts";

export interface SamlResponse {
  readonly xml: string;
  readonly root: XmlElement;
  readonly assertion: XmlElement;
  readonly isResponseSigned: boolean;
  readonly isAssertionSigned: boolean;
  readonly signatures: readonly XmlElement[];
}

/** A person in a thousand groups has a response of a tenth of a megabyte. */
export const samlResponse = limit({
  what: "response of an identity provider",
  max: 256 * 1024,
  unit: "bytes",
  beyond: "The sign-in is refused.",
});
const RESPONSE_MAX = samlResponse.max;
/** Elements and attributes: as many as a list of two thousand groups needs. */
export const samlParts = limit({
  what: "elements, attributes and references in the response of an identity provider",
  max: 5_000,
  unit: "entries",
  beyond: "The sign-in is refused.",
});
const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";

/** Parses the response in the form field. */
export function readResponse(field: string): SamlResponse {
  const xml = decode(field);
  let root: XmlElement;
  try {
    root = parseXml(utf8(xml), { most: samlParts.max, lenient: false });
  } catch (error) {
    if (error instanceof XmlProblem) throw malformed(error.message);
    throw error;
  }
  if (root.uri !== ns.protocol || root.name !== "Response") throw malformed("it is not a SAML response");
  if (attribute(root, "Version") !== "2.0") refuse("the response is not of SAML 2.0");
  checkStatus(root);
  return { xml: xml.toString("utf8"), root, ...partsOf(root) };
}

const malformed = (problem: string) => new SsoRefusal(`SAMLResponse: ${problem}`, { isMalformed: true });

function decode(field: string): Buffer {
  const base64 = field.replace(/[\r\n\t ]+/g, "");
  // Node's decoder ignores characters that are not base64.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw malformed("it is not in base64");
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > RESPONSE_MAX) throw malformed("it is larger than 256 KiB");
  return bytes;
}

function checkStatus(root: XmlElement): void {
  const [status, ...more] = childrenOf(root, ns.protocol, "Status");
  if (!status || more.length > 0) refuse("the response has no status, or several");
  const [code, ...others] = childrenOf(status, ns.protocol, "StatusCode");
  if (!code || others.length > 0) refuse("the response has no status code, or several");
  if (attribute(code, "Value") !== SUCCESS) refuse("the identity provider did not sign the user in (Status)");
}

function partsOf(root: XmlElement): Omit<SamlResponse, "xml" | "root"> {
  const all = [...everyElement(root)];
  // By local name in any namespace, so that no element can be disguised.
  const named = (name: string) => all.filter((element) => element.name === name);
  if (
    ["EncryptedAssertion", "EncryptedID", "EncryptedAttribute", "EncryptedData"].some((name) => named(name).length > 0)
  )
    refuse("it is encrypted, which is not supported: let the identity provider sign without encrypting");
  const assertions = named("Assertion");
  const [assertion] = assertions;
  if (!assertion || assertions.length > 1) refuse(`it has ${assertions.length} assertions instead of one`);
  if (assertion.uri !== ns.assertion || !root.children.includes(assertion))
    refuse("the assertion is in the wrong place");
  if (named("Response").length > 1) refuse("it has a response within the response");
  checkIds(all);
  return { assertion, ...signedParts(root, assertion, named("Signature")) };
}

const ID = /^[A-Za-z_][\w.-]{0,255}$/;

/** A signature refers to the covered element by id, so ids must be unique, under every spelling of the attribute. */
function checkIds(all: readonly XmlElement[]): void {
  const seen = new Set<string>();
  for (const element of all)
    for (const [name, value] of element.attributes) {
      if (!/^(?:\{.*\})?id$/i.test(name)) continue;
      if (!ID.test(value)) refuse("it contains an invalid ID");
      if (seen.has(value)) refuse("two elements in it have the same ID");
      seen.add(value);
    }
}

function signedParts(root: XmlElement, assertion: XmlElement, signatures: readonly XmlElement[]) {
  const ofResponse = childrenOf(root, ns.signature, "Signature");
  const ofAssertion = childrenOf(assertion, ns.signature, "Signature");
  if (ofResponse.length > 1 || ofAssertion.length > 1) refuse("it is signed twice in one place");
  if (ofResponse.length + ofAssertion.length !== signatures.length) refuse("a signature is in the wrong place");
  if (signatures.length === 0) refuse("it is not signed");
  for (const signature of ofResponse) checkSignatureShape(signature, root);
  for (const signature of ofAssertion) checkSignatureShape(signature, assertion);
  return { isResponseSigned: ofResponse.length === 1, isAssertionSigned: ofAssertion.length === 1, signatures };
}
