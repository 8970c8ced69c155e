// Cryptographic Message Syntax (RFC 5652) for SCEP and EST: signed data with one signer, data enveloped to one RSA
// key, bare certificates.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import {
  at,
  BadDer,
  type Element,
  element,
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
import { type Certificate, readCertificate } from "./x509.ts";

const DATA = "1.2.840.113549.1.7.1";
const SIGNED_DATA = "1.2.840.113549.1.7.2";
const ENVELOPED_DATA = "1.2.840.113549.1.7.3";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
const RSA = "1.2.840.113549.1.1.1";

export type Digest = "sha1" | "sha256" | "sha384" | "sha512";
const digests: Readonly<Record<Digest, string>> = {
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
};

export type Cipher = "aes-128-cbc" | "aes-192-cbc" | "aes-256-cbc" | "des-ede3-cbc" | "des-cbc";
const ciphers: Readonly<Record<Cipher, { oid: string; key: number; block: number }>> = {
  "aes-128-cbc": { oid: "2.16.840.1.101.3.4.1.2", key: 16, block: 16 },
  "aes-192-cbc": { oid: "2.16.840.1.101.3.4.1.22", key: 24, block: 16 },
  "aes-256-cbc": { oid: "2.16.840.1.101.3.4.1.42", key: 32, block: 16 },
  "des-ede3-cbc": { oid: "1.2.840.113549.3.7", key: 24, block: 8 },
  "des-cbc": { oid: "1.3.14.3.2.7", key: 8, block: 8 },
};

export class BadCms extends Error {}

/** The content of a ContentInfo with the expected type. */
function contentOf(bytes: Buffer, type: string): Element {
  const info = readDer(bytes);
  if (oidOf(at(info, 0)) !== type) throw new BadCms("the message has another type");
  return at(at(info, 1, 0xa0), 0, 0x30);
}

export interface Signer {
  readonly certificate: Buffer;
  readonly key: KeyObject;
  readonly digest: Digest;
}

/** Signed data with these attributes (encoded values by type). It includes the signer's certificate. */
export function signData(content: Buffer, signer: Signer, attributes: Readonly<Record<string, Buffer>>): Buffer {
  const { digest, key } = signer;
  const certificate = readCertificate(signer.certificate);
  const attribute = (type: string, value: Buffer) => sequence(oid(type), setOf(value));
  const own = [
    attribute(CONTENT_TYPE, oid(DATA)),
    attribute(MESSAGE_DIGEST, octets(createHash(digest).update(content).digest())),
    ...Object.entries(attributes).map(([type, value]) => attribute(type, value)),
  ];
  // The signature covers the attributes encoded as a SET; they are sent under an implicit tag (5.4).
  const signed = setOf(...own);
  const algorithm = sequence(oid(digests[digest]), nothing);
  const info = sequence(
    integer(1),
    certificate.issuerAndSerial,
    algorithm,
    Buffer.concat([Buffer.from([0xa0]), signed.subarray(1)]),
    // rsaEncryption instead of an algorithm that includes the digest: strict implementations require it.
    sequence(oid(RSA), nothing),
    octets(sign(digest, signed, key)),
  );
  return sequence(
    oid(SIGNED_DATA),
    tagged(
      0,
      sequence(
        integer(1),
        setOf(algorithm),
        sequence(oid(DATA), tagged(0, octets(content))),
        tagged(0, certificate.der),
        setOf(info),
      ),
    ),
  );
}

export interface SignedData {
  readonly content: Buffer;
  readonly certificates: readonly Certificate[];
  readonly signerInfos: readonly Element[];
}

export function readSignedData(bytes: Buffer): SignedData {
  const data = contentOf(bytes, SIGNED_DATA);
  const [, , inner, ...rest] = data.children;
  if (!inner) throw new BadCms("signed data without content");
  const held = inner.children[1];
  const set = rest.find(({ tag }) => tag === 0xa0);
  const infos = rest.findLast(({ tag }) => tag === 0x31);
  return {
    content: held ? octetsOf(at(held, 0)) : Buffer.alloc(0),
    certificates: (set?.children ?? []).filter(({ tag }) => tag === 0x30).map(({ raw }) => readCertificate(raw)),
    signerInfos: infos?.children ?? [],
  };
}

/** The certificates of a certs-only message (degenerate signed data). */
export const readCertificates = (bytes: Buffer): readonly Certificate[] => readSignedData(bytes).certificates;

/** Signed data without a signer, used to transport certificates. */
export const bareCertificates = (certificates: readonly Buffer[]): Buffer =>
  sequence(
    oid(SIGNED_DATA),
    tagged(0, sequence(integer(1), setOf(), sequence(oid(DATA)), tagged(0, ...certificates), setOf())),
  );

/**
 * The signed attributes, by type. Throws unless the only signature is by one of `trusted` and covers exactly this
 * content.
 */
export function verifySigned(data: SignedData, trusted: readonly Certificate[]): ReadonlyMap<string, Element> {
  const [info, another] = data.signerInfos;
  if (!info || another) throw new BadCms("one signer was expected");
  const [, sid, digestAlgorithm, attributes, , signature] = info.children;
  if (!sid || !digestAlgorithm || attributes?.tag !== 0xa0 || !signature) throw new BadCms("the signer is incomplete");
  const signer = trusted.find(({ issuerAndSerial }) => issuerAndSerial.equals(sid.raw));
  if (!signer) throw new BadCms("signed with a certificate that is not the authority's");
  const name = oidOf(at(digestAlgorithm, 0));
  const digest = (Object.keys(digests) as Digest[]).find((known) => digests[known] === name);
  if (!digest) throw new BadCms("signed with a digest that is not accepted");
  const found = new Map<string, Element>();
  for (const attribute of attributes.children) {
    const type = oidOf(at(attribute, 0));
    if (found.has(type)) throw new BadCms("an attribute occurs twice");
    found.set(type, at(at(attribute, 1, 0x31), 0));
  }
  const stated = found.get(MESSAGE_DIGEST);
  const own = createHash(digest).update(data.content).digest();
  if (!stated || stated.content.length !== own.length || !timingSafeEqual(stated.content, own))
    throw new BadCms("the content is not what was signed");
  const covered = Buffer.concat([Buffer.from([0x31]), attributes.raw.subarray(1)]);
  if (!verify(digest, covered, signer.parsed.publicKey, octetsOf(signature)))
    throw new BadCms("the signature is wrong");
  return found;
}

/** Encrypts data to the RSA key of a certificate. */
export function envelop(content: Buffer, recipient: Certificate, cipher: Exclude<Cipher, "des-cbc">): Buffer {
  const { oid: algorithm, key: length, block } = ciphers[cipher];
  const key = randomBytes(length);
  const iv = randomBytes(block);
  const encryption = createCipheriv(cipher, key, iv);
  const encrypted = Buffer.concat([encryption.update(content), encryption.final()]);
  const wrapped = publicEncrypt({ key: recipient.parsed.publicKey, padding: constants.RSA_PKCS1_PADDING }, key);
  const info = sequence(integer(0), recipient.issuerAndSerial, sequence(oid(RSA), nothing), octets(wrapped));
  const body = sequence(oid(DATA), sequence(oid(algorithm), octets(iv)), element(0x80, encrypted));
  return sequence(oid(ENVELOPED_DATA), tagged(0, sequence(integer(0), setOf(info), body)));
}

/** Decrypts data that was enveloped to the certificate. */
export function openEnvelope(bytes: Buffer, recipient: Pick<Certificate, "issuerAndSerial">, key: KeyObject): Buffer {
  const data = contentOf(bytes, ENVELOPED_DATA);
  const infos = data.children.find(({ tag }) => tag === 0x31);
  const body = data.children.findLast(({ tag }) => tag === 0x30);
  const info = infos?.children.find(
    (one) => one.tag === 0x30 && one.children[1]?.raw.equals(recipient.issuerAndSerial),
  );
  if (!info || !body) throw new BadCms("not enveloped to this certificate");
  const wrapped = octetsOf(at(info, 3));
  const algorithm = at(body, 1, 0x30);
  const encrypted = body.children[2];
  if (!encrypted) throw new BadCms("the envelope is empty");
  const name = oidOf(at(algorithm, 0));
  const cipher = (Object.keys(ciphers) as Cipher[]).find((known) => ciphers[known].oid === name);
  if (!cipher) throw new BadCms("enveloped with a cipher that is not accepted");
  const { key: length } = ciphers[cipher];
  const raw = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrapped);
  const secret = contentKey(raw, length, randomBytes(length));
  // OpenSSL 3 has no single DES. Triple DES with the same key three times is equivalent.
  const decryption =
    cipher === "des-cbc"
      ? createDecipheriv("des-ede3-cbc", Buffer.concat([secret, secret, secret]), octetsOf(at(algorithm, 1)))
      : createDecipheriv(cipher, secret, octetsOf(at(algorithm, 1)));
  try {
    return Buffer.concat([decryption.update(octetsOf(encrypted)), decryption.final()]);
  } catch {
    throw new BadCms("the envelope cannot be opened");
  }
}

/**
 * Extracts the key from a PKCS #1 v1.5 block (RFC 8017, 7.2.2), `00 02 filler 00 key`, in constant time, so that
 * timing does not reveal where a block is wrong. For a wrong block it returns the fallback key, and decryption fails
 * later. Node disabled its own padding after CVE-2023-46809.
 */
export function contentKey(block: Buffer, length: number, fallback: Buffer): Buffer {
  const end = block.length - length - 1;
  if (end < 10) throw new BadDer("the key is too small for its content");
  let bad = block[0]! | (block[1]! ^ 2) | block[end]!;
  for (let i = 2; i < end; i++) bad |= ((block[i]! - 1) >> 8) & 1;
  const mask = -(bad !== 0 ? 1 : 0) & 255;
  return Buffer.from(block.subarray(end + 1).map((byte, i) => (byte & ~mask) | (fallback[i]! & mask)));
}
