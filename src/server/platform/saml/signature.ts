// Verifies signatures with @node-saml/node-saml. Only one result of the library is used: the signed assertion.
import type { CacheProvider } from "@node-saml/node-saml";
import { attribute, parseXml, type XmlElement, XmlProblem } from "../../../xml/xml.ts";
import { ns } from "./names.ts";
import { possibleSigners } from "./possible-signers.ts";
import { refuse } from "./refusal.ts";
import type { SamlResponse } from "./response.ts";

/** Requests are kept in the store. This cache does nothing, so that the library starts no timer. */
export const nothingKept: CacheProvider = {
  saveAsync: async () => null,
  getAsync: async () => null,
  removeAsync: async () => null,
};

/** Loaded when it is first needed, which takes a while: nobody pays for that from a budget of processor time. */
export const loadSaml = () => import("@node-saml/node-saml");

const MAX_ELEMENTS = 20_000;

/** The assertion, canonicalized as it was verified. All data of a sign-in is read from this and from nothing else. */
export async function verifiedAssertion(response: SamlResponse, certificates: readonly string[]): Promise<XmlElement> {
  const { SAML } = await loadSaml();
  /**
   * Stops after the signature: the library's other checks use the system clock or are missing, so assertion.ts does
   * them.
   */
  class Verifier extends SAML {
    signed: string | null = null;

    protected override async processValidlySignedAssertionAsync(xml: string) {
      this.signed = xml;
      return { profile: { issuer: "", nameID: "", nameIDFormat: "" }, loggedOut: false };
    }
  }
  const verifier = new Verifier({
    idpCert: possibleSigners(response, certificates),
    // Every signature that is present must be valid.
    wantAuthnResponseSigned: response.isResponseSigned,
    wantAssertionsSigned: response.isAssertionSigned,
    cacheProvider: nothingKept,
    issuer: "unused",
    callbackUrl: "https://unused.invalid/",
  });
  const encoded = Buffer.from(response.xml, "utf8").toString("base64");
  await verifier
    .validatePostResponseAsync({ SAMLResponse: encoded })
    .catch((): never => refuse("no certificate of the metadata made its signature, or it was changed after signing"));
  return readSigned(verifier.signed ?? refuse("its signature covers no assertion"), response);
}

async function readSigned(xml: string, response: SamlResponse): Promise<XmlElement> {
  let assertion: XmlElement;
  try {
    assertion = parseXml(xml, { most: MAX_ELEMENTS, lenient: false });
  } catch (error) {
    if (error instanceof XmlProblem) refuse(`what was signed cannot be read: ${error.message}`);
    throw error;
  }
  if (assertion.uri !== ns.assertion || assertion.name !== "Assertion") refuse("its signature covers no assertion");
  // Two parsers read the response. If their results differ, the response was crafted to confuse them.
  if (attribute(assertion, "ID") !== attribute(response.assertion, "ID"))
    refuse("its signature covers another assertion");
  return assertion;
}
