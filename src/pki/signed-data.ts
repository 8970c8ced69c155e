// Signed data with one signer, attached or detached, and bare certificates (RFC 5652, 5).
import { createHash, type KeyObject, sign, timingSafeEqual, verify } from "node:crypto";
import { BadCms, contentOf, DATA, RSA, SIGNED_DATA } from "./cms.ts";
import { at, type Element, integer, nothing, octets, octetsOf, oid, oidOf, sequence, setOf, tagged } from "./der.ts";
import { type Certificate, isNamedBy, issuerAndSerialOf, keyIdentifierOf, readCertificate } from "./x509.ts";

const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";

export type Digest = "sha1" | "sha256" | "sha384" | "sha512";
const digests: Readonly<Record<Digest, string>> = {
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
};
const digestsByOid: ReadonlyMap<string, Digest> = new Map(
  Object.entries(digests).map(([name, value]) => [value, name as Digest]),
);
/** ECDSA with each digest (RFC 5758). */
const ecdsa: Readonly<Record<Digest, string>> = {
  sha1: "1.2.840.10045.4.1",
  sha256: "1.2.840.10045.4.3.2",
  sha384: "1.2.840.10045.4.3.3",
  sha512: "1.2.840.10045.4.3.4",
};

export interface Signer {
  readonly certificate: Buffer;
  readonly key: KeyObject;
  readonly digest: Digest;
  /** Certificates that are sent besides the signer's own. */
  readonly chain?: readonly Buffer[];
}

/**
 * Signed data with these attributes (encoded values by type). It includes the signer's certificate, and the content
 * unless `detached`.
 */
export function signData(
  content: Buffer,
  signer: Signer,
  attributes: Readonly<Record<string, Buffer>> = {},
  { detached = false } = {},
): Buffer {
  const { certificate, digest, key, chain = [] } = signer;
  const attribute = (type: string, value: Buffer) => sequence(oid(type), setOf(value));
  const allAttributes = [
    attribute(CONTENT_TYPE, oid(DATA)),
    attribute(MESSAGE_DIGEST, octets(createHash(digest).update(content).digest())),
    ...Object.entries(attributes).map(([type, value]) => attribute(type, value)),
  ];
  // The signature covers the attributes encoded as a SET; they are sent under an implicit tag (RFC 5652, 5.4).
  const signed = setOf(...allAttributes);
  const algorithm = sequence(oid(digests[digest]), nothing);
  // rsaEncryption instead of an algorithm that includes the digest: strict implementations require it.
  const signature = key.asymmetricKeyType === "ec" ? sequence(oid(ecdsa[digest])) : sequence(oid(RSA), nothing);
  const info = sequence(
    integer(1),
    issuerAndSerialOf(certificate),
    algorithm,
    Buffer.concat([Buffer.from([0xa0]), signed.subarray(1)]),
    signature,
    octets(sign(digest, signed, key)),
  );
  return sequence(
    oid(SIGNED_DATA),
    tagged(
      0,
      sequence(
        integer(1),
        setOf(algorithm),
        detached ? sequence(oid(DATA)) : sequence(oid(DATA), tagged(0, octets(content))),
        tagged(0, certificate, ...chain),
        setOf(info),
      ),
    ),
  );
}

/** Signed data, not yet verified. */
export interface SignedData {
  /** Null if the signature is detached. */
  readonly content: Buffer | null;
  /** The object identifier of the content's type, encoded. */
  readonly type: Buffer;
  /** The certificates inside, in DER. */
  readonly certificates: readonly Buffer[];
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
    content: held ? octetsOf(at(held, 0)) : null,
    type: at(inner, 0, 6).raw,
    certificates: (set?.children ?? []).filter(({ tag }) => tag === 0x30).map(({ raw }) => raw),
    signerInfos: infos?.children ?? [],
  };
}

/** The certificates of a certs-only message (degenerate signed data). */
export const readCertificates = (bytes: Buffer): readonly Certificate[] =>
  readSignedData(bytes).certificates.map(readCertificate);

/** Signed data without a signer, used to transport certificates. */
export const bareCertificates = (certificates: readonly Buffer[]): Buffer =>
  sequence(
    oid(SIGNED_DATA),
    tagged(0, sequence(integer(1), setOf(), sequence(oid(DATA)), tagged(0, ...certificates), setOf())),
  );

interface VerifiedSigner {
  /** The signer's certificate, in DER. */
  readonly certificate: Buffer;
  readonly digest: Digest;
  /** The signed attributes, by type. Empty if only the content was signed. */
  readonly attributes: ReadonlyMap<string, Element>;
}

/**
 * Verifies the only signature. `keyOf` gets the signer's certificate as it is in the message, and decides whom to
 * trust: it returns the key, or null. The content is that of the message; for a detached signature, the one given.
 */
export function verifySigned(
  data: SignedData,
  keyOf: (certificate: Buffer) => KeyObject | null,
  detached?: Buffer,
): VerifiedSigner {
  const [info, another] = data.signerInfos;
  if (!info || another) throw new BadCms("one signer was expected");
  const content = detached ?? data.content;
  if (content === null) throw new BadCms("the message has no content");
  const [, sid, digestAlgorithm, ...rest] = info.children;
  if (!sid || !digestAlgorithm) throw new BadCms("the signer is incomplete");
  const signed = rest[0]?.tag === 0xa0 ? rest[0] : null;
  const signature = rest[signed ? 2 : 1];
  if (!signature) throw new BadCms("the signature is missing");
  const certificate = data.certificates.find((candidate) => isOf(candidate, sid));
  const key = certificate ? keyOf(certificate) : null;
  if (!certificate || !key) throw new BadCms("signed with a certificate that is not accepted");
  const digest = digestsByOid.get(oidOf(at(digestAlgorithm, 0)));
  if (!digest) throw new BadCms("signed with a digest that is not accepted");
  const attributes = signed ? attributesOf(signed) : new Map<string, Element>();
  // A signature over attributes must not pass for one over content that consists of the encoded attributes.
  if (!signed && content[0] === 0x31) throw new BadCms("the content could be attributes");
  let covered = content;
  if (signed) {
    if (!attributes.get(CONTENT_TYPE)?.raw.equals(data.type)) throw new BadCms("the signed type is another");
    const stated = attributes.get(MESSAGE_DIGEST);
    const computed = createHash(digest).update(content).digest();
    if (!stated || stated.content.length !== computed.length || !timingSafeEqual(stated.content, computed))
      throw new BadCms("the content is not what was signed");
    covered = Buffer.concat([Buffer.from([0x31]), signed.raw.subarray(1)]);
  }
  if (!verify(digest, covered, key, octetsOf(signature))) throw new BadCms("the signature is wrong");
  return { certificate, digest, attributes };
}

/** The certificate inside that the only signer names, or null. Nothing is verified. */
export function signerCertificate({ signerInfos, certificates }: SignedData): Buffer | null {
  const sid = signerInfos[0]?.children[1];
  return (sid && signerInfos.length === 1 && certificates.find((candidate) => isOf(candidate, sid))) || null;
}

/** Whether a signer's identifier, by issuer and serial number or by key identifier, names the certificate. */
const isOf = (certificate: Buffer, sid: Element): boolean =>
  sid.tag === 0x80
    ? keyIdentifierOf(certificate)?.equals(sid.content) === true
    : sid.tag === 0x30 && isNamedBy(certificate, sid);

function attributesOf(signed: Element): Map<string, Element> {
  const contents = new Map<string, Element>();
  for (const attribute of signed.children) {
    const type = oidOf(at(attribute, 0));
    if (contents.has(type)) throw new BadCms("an attribute occurs twice");
    contents.set(type, at(at(attribute, 1, 0x31), 0));
  }
  return contents;
}
