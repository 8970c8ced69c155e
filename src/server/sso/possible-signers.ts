// Which certificates can have made the signatures, seen from the signature values alone. To verify a large response once for each certificate
// takes seconds, and anybody may post one: a value that no key made is found out here in no time.
import { constants, publicDecrypt, X509Certificate } from "node:crypto";
import { refuse } from "./refusal.ts";
import type { SamlResponse } from "./response.ts";
import { attribute, everyElement, type XmlElement } from "./xml.ts";

export function possibleSigners({ signatures }: SamlResponse, certificates: readonly string[]): string[] {
  const keys = certificates.map((pem) => ({ pem, key: new X509Certificate(pem).publicKey }));
  const found = new Set<string>();
  for (const signature of signatures) {
    const value = Buffer.from(partOf(signature, "SignatureValue").text, "base64");
    const isPss = (attribute(partOf(signature, "SignatureMethod"), "Algorithm") ?? "").endsWith("MGF1");
    const possible = keys.filter(({ key }) => opens(key, value, isPss));
    if (possible.length === 0) refuse("no certificate of the metadata made its signature");
    for (const { pem } of possible) found.add(pem);
  }
  return [...found];
}

/** Whether the value has, under that key, the padding that each signature has (RFC 8017: 9.2 begins, 9.1.1 ends with it). */
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
