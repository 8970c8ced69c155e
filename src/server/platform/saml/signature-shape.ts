// The only accepted form of a signature: one reference, to the enclosing element, with secure algorithms (SAML core
// 5.4; XML signature 4).

import { attribute, childrenOf, everyElement, type XmlElement } from "../../../xml/xml.ts";
import { ns } from "./names.ts";
import { refuse } from "./refusal.ts";

const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
const ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const canonicalizations = [EXCLUSIVE, `${EXCLUSIVE}WithComments`];

/** No SHA-1, and no HMAC: its key could be the certificate, which is public. */
const signatureMethods = [
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
  "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
];
const digestMethods = ["http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmlenc#sha512"];

export function checkSignatureShape(signature: XmlElement, over: XmlElement): void {
  // Objects could contain the element that the reference names. KeyInfo is ignored.
  for (const { uri, name } of signature.children)
    if (uri !== ns.signature || !["SignedInfo", "SignatureValue", "KeyInfo"].includes(name))
      refuse("its signature contains more than a signature");
  const signedInfo = only(signature, "SignedInfo");
  only(signature, "SignatureValue");
  if (childrenOf(signature, ns.signature, "KeyInfo").length > 1) refuse("its signature has KeyInfo twice");
  // The library searches these in the whole signature, so each may occur only once.
  for (const name of [
    "SignedInfo",
    "CanonicalizationMethod",
    "SignatureMethod",
    "SignatureValue",
    "Reference",
    "DigestValue",
  ])
    if ([...everyElement(signature)].filter((element) => element.name === name).length !== 1)
      refuse(`its signature must have exactly one ${name}`);
  if (!canonicalizations.includes(algorithm(only(signedInfo, "CanonicalizationMethod"))))
    refuse("its signature uses a canonicalization that is not allowed");
  if (!signatureMethods.includes(algorithm(only(signedInfo, "SignatureMethod"))))
    refuse("its signature's method is not allowed (RSA with SHA-256 or SHA-512 is)");
  checkReference(only(signedInfo, "Reference"), over);
}

function checkReference(reference: XmlElement, over: XmlElement): void {
  const id = attribute(over, "ID");
  if (!id || attribute(reference, "URI") !== `#${id}`) refuse("its signature covers another element");
  if (!digestMethods.includes(algorithm(only(reference, "DigestMethod"))))
    refuse("its signature's digest is not allowed (SHA-256 and SHA-512 are)");
  only(reference, "DigestValue");
  const transforms = childrenOf(only(reference, "Transforms"), ns.signature, "Transform").map(algorithm);
  const [first, second, ...more] = transforms;
  if (first !== ENVELOPED || (second !== undefined && !canonicalizations.includes(second)) || more.length > 0)
    refuse("its signature uses transforms that are not allowed");
  if (second === undefined) refuse("its signature names no exclusive canonicalization");
}

function only(parent: XmlElement, name: string): XmlElement {
  const [child, ...more] = childrenOf(parent, ns.signature, name);
  return child && more.length === 0 ? child : refuse(`its signature must have exactly one ${name}`);
}

const algorithm = (element: XmlElement): string => attribute(element, "Algorithm") ?? "";
