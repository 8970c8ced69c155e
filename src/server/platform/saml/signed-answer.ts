// The answer to a sign-in request: a response with an assertion, both signed (SAML core 3.2.2; profiles 4.1.4.2).
import type { KeyObject } from "node:crypto";
import { xmlAttribute, xmlText } from "../../../xml/write.ts";
import { isoAt, minutes } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { ns } from "./names.ts";

export interface SigningKey {
  /** PEM. */
  readonly certificate: string;
  readonly key: KeyObject;
}

interface Answer {
  readonly issuer: string;
  readonly acs: string;
  readonly audience: string;
  readonly requestId: string;
  readonly nameId: string;
  /** Milliseconds. */
  readonly now: number;
}

const LIFETIME = minutes(5);
/** For clocks that are slow. */
const LEEWAY = minutes(1);
const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";

export async function signedAnswer(random: Pick<Random, "token">, key: SigningKey, answer: Answer): Promise<string> {
  const { issuer, acs, audience, requestId, nameId, now } = answer;
  const id = () => `_${Buffer.from(random.token(20), "base64url").toString("hex")}`;
  const at = isoAt(now);
  const until = isoAt(now + LIFETIME);
  const of = `<saml:Issuer>${xmlText(issuer)}</saml:Issuer>`;
  const assertion =
    `<saml:Assertion xmlns:saml="${ns.assertion}" ID="${id()}" Version="2.0" IssueInstant="${at}">${of}` +
    '<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified">' +
    `${xmlText(nameId)}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">` +
    `<saml:SubjectConfirmationData InResponseTo="${xmlAttribute(requestId)}" NotOnOrAfter="${until}"` +
    ` Recipient="${xmlAttribute(acs)}"/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${isoAt(now - LEEWAY)}" NotOnOrAfter="${until}"><saml:AudienceRestriction>` +
    `<saml:Audience>${xmlText(audience)}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${at}"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    "urn:oasis:names:tc:SAML:2.0:ac:classes:X509</saml:AuthnContextClassRef></saml:AuthnContext>" +
    "</saml:AuthnStatement></saml:Assertion>";
  const response =
    `<samlp:Response xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}" ID="${id()}" Version="2.0"` +
    ` IssueInstant="${at}" Destination="${xmlAttribute(acs)}" InResponseTo="${xmlAttribute(requestId)}">${of}` +
    '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>' +
    `${await signed(assertion, "Assertion", key)}</samlp:Response>`;
  return signed(response, "Response", key);
}

async function signed(xml: string, root: string, { key, certificate }: SigningKey): Promise<string> {
  // Loaded when it is first needed, because servers start without it.
  const { SignedXml } = await import("xml-crypto");
  const path = `/*[local-name(.)='${root}']`;
  const signer = new SignedXml({
    privateKey: key,
    publicCert: certificate,
    signatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  signer.addReference({
    xpath: path,
    digestAlgorithm: "http://www.w3.org/2001/04/xmlenc#sha256",
    transforms: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", EXCLUSIVE],
  });
  signer.computeSignature(xml, {
    prefix: "ds",
    location: { reference: `${path}/*[local-name(.)='Issuer']`, action: "after" },
  });
  return signer.getSignedXml();
}
