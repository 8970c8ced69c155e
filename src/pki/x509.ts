// Keys, and reading certificates (RFC 5280).
import { createPublicKey, generateKeyPair, type KeyObject, sign, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import { at, bitString, type Element, nothing, octetsOf, oid, oidOf, readDer, sequence } from "./der.ts";

const SHA256_RSA = "1.2.840.113549.1.1.11";
const KEY_USAGE = "2.5.29.15";
const KEY_IDENTIFIER = "2.5.29.14";

const generate = promisify(generateKeyPair);

export async function newKey(bits = 2048): Promise<KeyObject> {
  const { privateKey } = await generate("rsa", { modulusLength: bits });
  return privateKey;
}

/** The elliptic curves of keys that identify hosts, by the names that Node has for them (RFC 5480). */
export const curves = { p256: "prime256v1", p384: "secp384r1" } as const;

export async function newEllipticKey(curve: keyof typeof curves): Promise<KeyObject> {
  const { privateKey } = await generate("ec", { namedCurve: curves[curve] });
  return privateKey;
}

/** `p256` or `p384`; null for any other key. */
export function curveOf(key: KeyObject): keyof typeof curves | null {
  const name = key.asymmetricKeyType === "ec" ? key.asymmetricKeyDetails?.namedCurve : undefined;
  return name === curves.p256 ? "p256" : name === curves.p384 ? "p384" : null;
}

export const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: "spki", format: "der" });
export const sha256Rsa = sequence(oid(SHA256_RSA), nothing);
/** Content with its signature by an RSA key, as in certificates and requests. */
export const signed = (content: Buffer, key: KeyObject): Buffer =>
  sequence(content, sha256Rsa, bitString(sign("sha256", content, key)));

/** ECDSA with SHA-256 and SHA-384 (RFC 5758, section 3.2). */
const ellipticSignatures = {
  p256: { digest: "sha256", oid: "1.2.840.10045.4.3.2" },
  p384: { digest: "sha384", oid: "1.2.840.10045.4.3.3" },
} as const;

/** Signs with a key of any kind that hosts have. */
export function signedByHost(content: Buffer, key: KeyObject): Buffer {
  const curve = curveOf(key);
  if (curve === null) return signed(content, key);
  const { digest, oid: algorithm } = ellipticSignatures[curve];
  return sequence(content, sequence(oid(algorithm)), bitString(sign(digest, content, key)));
}

/** The parts of a certificate that are used here. */
export interface Certificate {
  readonly der: Buffer;
  readonly parsed: X509Certificate;
  /** See `issuerAndSerialOf`. */
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
  const { issuer, subject, extension } = partsOf(der);
  const usage = extension(KEY_USAGE);
  return {
    der,
    parsed,
    issuerAndSerial: issuerAndSerialOf(der),
    issuer: issuer.raw,
    subject: subject.raw,
    isCa: parsed.ca,
    usage: usage && usageOf(usage),
  };
}

/** The IssuerAndSerialNumber of a certificate in DER, of which nothing else is read. */
export function issuerAndSerialOf(der: Buffer): Buffer {
  const { issuer, serial } = partsOf(der);
  return sequence(issuer.raw, serial.raw);
}

/** Whether an IssuerAndSerialNumber names the certificate, of which only these parts are read. */
export function isNamedBy(der: Buffer, issuerAndSerial: Element): boolean {
  const { issuer, serial } = partsOf(der);
  return issuer.raw.equals(at(issuerAndSerial, 0).raw) && serial.raw.equals(at(issuerAndSerial, 1).raw);
}

/** The subject's key identifier of a certificate in DER, or null. */
export function keyIdentifierOf(der: Buffer): Buffer | null {
  const value = partsOf(der).extension(KEY_IDENTIFIER);
  return value && octetsOf(readDer(value));
}

interface Parts {
  readonly serial: Element;
  readonly issuer: Element;
  readonly subject: Element;
  /** The value of an extension, or null. */
  extension(type: string): Buffer | null;
}

function partsOf(der: Buffer): Parts {
  const content = at(readDer(der), 0, 0x30);
  const from = at(content, 0).tag === 0xa0 ? 1 : 0;
  return {
    serial: at(content, from, 2),
    issuer: at(content, from + 2, 0x30),
    subject: at(content, from + 4, 0x30),
    extension(type) {
      const all = content.children.find(({ tag }) => tag === 0xa3);
      const field = all && at(all, 0).children.find((set) => oidOf(at(set, 0)) === type);
      const value = field?.children.at(-1);
      return value ? octetsOf(value) : null;
    },
  };
}

function usageOf(extension: Buffer): Certificate["usage"] {
  const bits = readDer(extension).content;
  const first = bits[1] ?? 0;
  return { signs: (first & 0x80) !== 0, enciphers: (first & 0x20) !== 0 };
}

export const isRsaOf = (key: KeyObject, least: number, most: number): boolean => {
  const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
  return bits >= least && bits <= most;
};

export const pem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString("base64")
    .replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
