// Selects the certificates that can have made the signatures, from the signature values alone. Verifying a large
// response once per certificate takes seconds, and anybody may post one. This check rejects a value that none of the
// keys made at very low cost.
import { constants, publicDecrypt, X509Certificate } from "node:crypto";
import { attribute, everyElement, type XmlElement } from "../../../xml/xml.ts";
import { refuse } from "./refusal.ts";
import type { SamlResponse } from "./response.ts";

export function possibleSigners({ signatures }: SamlResponse, certificates: readonly string[]): string[] {
  const keys = certificates.map((pem) => ({ pem, key: new X509Certificate(pem).publicKey }));
  const signers = new Set<string>();
  for (const signature of signatures) {
    const value = Buffer.from(partOf(signature, "SignatureValue").text, "base64");
    const isPss = (attribute(partOf(signature, "SignatureMethod"), "Algorithm") ?? "").endsWith("MGF1");
    const possible = keys.filter(({ key }) => opens(key, value, isPss));
    if (possible.length === 0) refuse("no certificate of the metadata made its signature");
    for (const { pem } of possible) signers.add(pem);
  }
  return [...signers];
}

/**
 * Whether the value, decrypted with that key, has the padding that every signature has (RFC 8017: the start in 9.2,
 * the end in 9.1.1).
 */
function opens(key: X509Certificate["publicKey"], value: Buffer, isPss: boolean): boolean {
  try {
    const padding = isPss ? constants.RSA_NO_PADDING : constants.RSA_PKCS1_PADDING;
    const opened = publicDecrypt({ key, padding }, value);
    return !isPss || opened.at(-1) === 0xbc;
  } catch {
    return false;
  }
}

const partOf = (signature: XmlElement, name: string): XmlElement =>
  [...everyElement(signature)].find((element) => element.name === name) ?? refuse(`its signature has no ${name}`);
