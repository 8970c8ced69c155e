// Public keys as they are written in settings.
import { createPublicKey, type KeyObject } from "node:crypto";

/**
 * Reads a public key in PEM form. In environment files a value is one line: either its line breaks are written as \n, or
 * it is only the base64 of the key. Throws if it is no key.
 */
export function readPublicKey(text: string): KeyObject {
  return createPublicKey(
    text.includes("-----BEGIN")
      ? text.replaceAll("\\n", "\n")
      : `-----BEGIN PUBLIC KEY-----\n${text.trim()}\n-----END PUBLIC KEY-----`,
  );
}
