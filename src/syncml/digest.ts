// Digest authentication (`syncml:auth-md5`, OMA DM Security 1.2, 5.3).
import { createHash } from "node:crypto";

export const DIGEST = "syncml:auth-md5";

const md5 = (...parts: readonly (string | Buffer)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash("md5")).digest("base64");

/** What a client sends as its credentials, in base64. The nonce is bytes. */
export const digestOf = (name: string, secret: string, nonce: Buffer): string =>
  md5(`${md5(`${name}:${secret}`)}:`, nonce);
