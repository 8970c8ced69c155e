// The signature itself, by @node-saml/node-saml. Of what it says only one thing is used: the assertion as it was signed.
import type { CacheProvider } from "@node-saml/node-saml";
import { possibleSigners } from "./possible-signers.ts";
import { refuse } from "./refusal.ts";
import type { SamlResponse } from "./response.ts";
import { attribute, ns, parseXml, type XmlElement, XmlProblem } from "./xml.ts";

/** Requests are remembered in the store: the library has nothing to keep, and starts no timer for it. */
const nothingKept: CacheProvider = {
  saveAsync: async () => null,
  getAsync: async () => null,
  removeAsync: async () => null,
};

const PARTS_MAX = 20_000;

/** The assertion as canonicalized for the signature that was verified: what is read of a sign-in is read of this, and of nothing else. */
export async function verifiedAssertion(response: SamlResponse, certificates: readonly string[]): Promise<XmlElement> {
  const { SAML } = await import("@node-saml/node-saml");
  /** Goes no further than the signature: what it would check of the rest, it checks by the system's clock, or not at all. */
  class Verifier extends SAML {
    signed: string | null = null;

    protected override async processValidlySignedAssertionAsync(xml: string) {
      this.signed = xml;
      return { profile: { issuer: "", nameID: "", nameIDFormat: "" }, loggedOut: false };
    }
  }
  const verifier = new Verifier({
    idpCert: possibleSigners(response, certificates),
    // Every signature that is there has to hold.
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
    assertion = parseXml(xml, { most: PARTS_MAX, lenient: false });
  } catch (error) {
    if (error instanceof XmlProblem) refuse(`what was signed cannot be read: ${error.message}`);
    throw error;
  }
  if (assertion.uri !== ns.assertion || assertion.name !== "Assertion") refuse("its signature covers no assertion");
  // Two parsers read the response: where they do not see the same, somebody played them against each other.
  if (attribute(assertion, "ID") !== attribute(response.assertion, "ID"))
    refuse("its signature is of another assertion");
  return assertion;
}
