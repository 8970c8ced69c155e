// Certificate requests and certificates for these clients: RSA, PKCS #10 (RFC 2986), X.509 (RFC 5280).
import { createPublicKey, generateKeyPair, type KeyObject, sign, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import {
  at,
  bitString,
  directoryString,
  type Element,
  element,
  instant,
  integer,
  nothing,
  octets,
  octetsOf,
  oid,
  oidOf,
  readDer,
  sequence,
  setOf,
  tagged,
} from "./der.ts";
import { encodeName, type NameField } from "./names.ts";

const SHA256_RSA = "1.2.840.113549.1.1.11";
const CHALLENGE_PASSWORD = "1.2.840.113549.1.9.7";
const KEY_USAGE = "2.5.29.15";

const generate = promisify(generateKeyPair);

export async function newKey(bits = 2048): Promise<KeyObject> {
  const { privateKey } = await generate("rsa", { modulusLength: bits });
  return privateKey;
}

const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: "spki", format: "der" });
const sha256Rsa = sequence(oid(SHA256_RSA), nothing);
const signed = (content: Buffer, key: KeyObject): Buffer =>
  sequence(content, sha256Rsa, bitString(sign("sha256", content, key)));

/** A certificate request in DER, optionally with a challenge password. */
export function makeRequest(subject: readonly NameField[], key: KeyObject, challenge?: string): Buffer {
  const attributes =
    challenge === undefined ? [] : [sequence(oid(CHALLENGE_PASSWORD), setOf(directoryString(challenge)))];
  return signed(sequence(integer(0), encodeName(subject), spkiOf(key), tagged(0, ...attributes)), key);
}

const MINUTE = 60_000;

/**
 * The self-signed certificate that signs the first SCEP request (RFC 8894, 2.3). It is valid as long as an enrolment
 * may be pending.
 */
export function selfSigned(subject: readonly NameField[], key: KeyObject, serial: Uint8Array, now: number): Buffer {
  const name = encodeName(subject);
  const validity = sequence(instant(now - 10 * MINUTE), instant(now + 7 * 24 * 60 * MINUTE));
  const usage = sequence(oid(KEY_USAGE), Buffer.from([1, 1, 0xff]), octets(element(3, Buffer.from([5, 0b1010_0000]))));
  const content = sequence(
    tagged(0, integer(2)),
    integer(serial),
    sha256Rsa,
    name,
    validity,
    name,
    spkiOf(key),
    tagged(3, sequence(usage)),
  );
  return signed(content, key);
}

/** The parts of a certificate that these clients use. */
export interface Certificate {
  readonly der: Buffer;
  readonly parsed: X509Certificate;
  /** IssuerAndSerialNumber of CMS. */
  readonly issuerAndSerial: Buffer;
  /** DER, as in the certificate. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly isCa: boolean;
  /** Null if the certificate has no key usage. */
  readonly usage: { readonly signs: boolean; readonly enciphers: boolean } | null;
}

/** Throws if the bytes are not a certificate. */
export function readCertificate(der: Buffer): Certificate {
  const parsed = new X509Certificate(der);
  const content = at(readDer(der), 0, 0x30);
  const from = at(content, 0).tag === 0xa0 ? 1 : 0;
  const serial = at(content, from, 2);
  const issuer = at(content, from + 2, 0x30);
  const extensions = content.children.find(({ tag }) => tag === 0xa3);
  return {
    der,
    parsed,
    issuerAndSerial: sequence(issuer.raw, serial.raw),
    issuer: issuer.raw,
    subject: at(content, from + 4, 0x30).raw,
    isCa: parsed.ca,
    usage: extensions ? usageOf(at(extensions, 0)) : null,
  };
}

function usageOf(extensions: Element): Certificate["usage"] {
  const found = extensions.children.find((one) => oidOf(at(one, 0)) === KEY_USAGE);
  const value = found?.children.at(-1);
  if (!value) return null;
  const bits = readDer(octetsOf(value)).content;
  const first = bits[1] ?? 0;
  return { signs: (first & 0x80) !== 0, enciphers: (first & 0x20) !== 0 };
}

export const pem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString("base64")
    .replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
