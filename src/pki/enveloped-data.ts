// Data enveloped to one RSA key (RFC 5652, 6). Written here because no library that runs on Node 20 opens the
// envelopes that SCEP clients and servers use: PKCS #1 v1.5 is missing in WebCrypto, on which the libraries build.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from "node:crypto";
import { BadCms, contentOf, DATA, ENVELOPED_DATA, RSA } from "./cms.ts";
import { at, BadDer, element, integer, nothing, octets, octetsOf, oid, oidOf, sequence, setOf, tagged } from "./der.ts";
import type { Certificate } from "./x509.ts";

export type Cipher = "aes-128-cbc" | "aes-192-cbc" | "aes-256-cbc" | "des-ede3-cbc" | "des-cbc";
const ciphers: Readonly<Record<Cipher, { oid: string; key: number; block: number }>> = {
  "aes-128-cbc": { oid: "2.16.840.1.101.3.4.1.2", key: 16, block: 16 },
  "aes-192-cbc": { oid: "2.16.840.1.101.3.4.1.22", key: 24, block: 16 },
  "aes-256-cbc": { oid: "2.16.840.1.101.3.4.1.42", key: 32, block: 16 },
  "des-ede3-cbc": { oid: "1.2.840.113549.3.7", key: 24, block: 8 },
  "des-cbc": { oid: "1.3.14.3.2.7", key: 8, block: 8 },
};

/** The message uses an algorithm that is not supported. */
export class BadAlgorithm extends BadCms {}

/** Encrypts data to the RSA key of a certificate. */
export function envelop(content: Buffer, recipient: Certificate, cipher: Cipher): Buffer {
  const { oid: algorithm, key: length, block } = ciphers[cipher];
  const key = randomBytes(length);
  const iv = randomBytes(block);
  const encryption = createCipheriv(...implementation(cipher, key), iv);
  const encrypted = Buffer.concat([encryption.update(content), encryption.final()]);
  const wrapped = publicEncrypt({ key: recipient.parsed.publicKey, padding: constants.RSA_PKCS1_PADDING }, key);
  const info = sequence(integer(0), recipient.issuerAndSerial, sequence(oid(RSA), nothing), octets(wrapped));
  const body = sequence(oid(DATA), sequence(oid(algorithm), octets(iv)), element(0x80, encrypted));
  return sequence(oid(ENVELOPED_DATA), tagged(0, sequence(integer(0), setOf(info), body)));
}

/** OpenSSL 3 has no single DES. Triple DES with the same key three times is equivalent. */
const implementation = (cipher: Cipher, key: Buffer): [name: string, key: Buffer] =>
  cipher === "des-cbc" ? ["des-ede3-cbc", Buffer.concat([key, key, key])] : [cipher, key];

interface OpenedEnvelope {
  readonly content: Buffer;
  /** A reply should use the same one. */
  readonly cipher: Cipher;
}

/**
 * Decrypts data that was enveloped to the certificate. An unknown cipher is a `BadAlgorithm`. Everything that depends
 * on the private key throws the same error.
 */
export function openEnvelope(
  bytes: Buffer,
  recipient: Pick<Certificate, "issuerAndSerial">,
  key: KeyObject,
): OpenedEnvelope {
  const data = contentOf(bytes, ENVELOPED_DATA);
  const infos = data.children.find(({ tag }) => tag === 0x31);
  const body = data.children.findLast(({ tag }) => tag === 0x30);
  const info = infos?.children.find(
    (element) => element.tag === 0x30 && element.children[1]?.raw.equals(recipient.issuerAndSerial),
  );
  if (!info || !body) throw new BadCms("not enveloped to this certificate");
  if (oidOf(at(at(info, 2, 0x30), 0)) !== RSA)
    throw new BadAlgorithm("the key of the envelope is not encrypted with RSA");
  const wrapped = octetsOf(at(info, 3));
  const algorithm = at(body, 1, 0x30);
  const encrypted = body.children[2];
  if (!encrypted) throw new BadCms("the envelope is empty");
  const name = oidOf(at(algorithm, 0));
  const cipher = (Object.keys(ciphers) as Cipher[]).find((candidate) => ciphers[candidate].oid === name);
  if (!cipher) throw new BadAlgorithm("enveloped with a cipher that is not accepted");
  const { key: length } = ciphers[cipher];
  try {
    const raw = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrapped);
    const secret = contentKey(raw, length, randomBytes(length));
    const decryption = createDecipheriv(...implementation(cipher, secret), octetsOf(at(algorithm, 1)));
    return { content: Buffer.concat([decryption.update(octetsOf(encrypted)), decryption.final()]), cipher };
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
