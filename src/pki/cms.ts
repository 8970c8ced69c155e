// What all messages of the Cryptographic Message Syntax (RFC 5652) share.
import { at, type Element, oidOf, readDer } from "./der.ts";

export const DATA = "1.2.840.113549.1.7.1";
export const SIGNED_DATA = "1.2.840.113549.1.7.2";
export const ENVELOPED_DATA = "1.2.840.113549.1.7.3";
/** rsaEncryption. */
export const RSA = "1.2.840.113549.1.1.1";

export class BadCms extends Error {}

/** The content of a ContentInfo with the expected type. */
export function contentOf(bytes: Buffer, type: string): Element {
  const info = readDer(bytes);
  if (oidOf(at(info, 0)) !== type) throw new BadCms("the message has another type");
  return at(at(info, 1, 0xa0), 0, 0x30);
}
