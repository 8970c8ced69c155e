// Certificate requests (PKCS #10, RFC 2986) with RSA keys, or elliptic ones of the curves P-256 and P-384. Requests with
// other keys, which only the certificate authorities of admins accept, are left to @peculiar/x509.
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { type AlternativeName, encodeAlternativeNames } from "./alternative-names.ts";
import {
  at,
  BadDer,
  directoryString,
  type Element,
  integer,
  octets,
  octetsOf,
  oid,
  oidOf,
  readDer,
  sequence,
  setOf,
  stringOf,
  tagged,
  tags,
} from "./der.ts";
import { encodeName, type NameField } from "./names.ts";
import { curveOf, signedByHost, spkiOf } from "./x509.ts";

const CHALLENGE_PASSWORD = "1.2.840.113549.1.9.7";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ALTERNATIVE_NAMES = "2.5.29.17";

/** A certificate request in DER, optionally with a challenge password and alternative names. */
export function makeRequest(
  subject: readonly NameField[],
  key: KeyObject,
  challenge?: string,
  alternativeNames: readonly AlternativeName[] = [],
): Buffer {
  const attributes =
    challenge === undefined ? [] : [sequence(oid(CHALLENGE_PASSWORD), setOf(directoryString(challenge)))];
  if (alternativeNames.length > 0) {
    const names = sequence(oid(ALTERNATIVE_NAMES), octets(encodeAlternativeNames(alternativeNames)));
    attributes.push(sequence(oid(EXTENSION_REQUEST), setOf(sequence(names))));
  }
  const set = tagged(0, ...attributes.sort(Buffer.compare));
  return signedByHost(sequence(integer(0), encodeName(subject), spkiOf(key), set), key);
}

/** A certificate request whose signature is correct. */
export interface CertificateRequest {
  readonly publicKey: KeyObject;
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Buffer;
  /** DER. */
  readonly subject: Buffer;
  readonly challenge: string | null;
  /** The alternative names that it asks for: GeneralName elements. */
  readonly names: readonly Element[];
}

/** The digests of signatures with RSA (RFC 8017, appendix A.2.4) and with elliptic keys (RFC 5758, section 3.2). */
const rsaSignatures: ReadonlyMap<string, string> = new Map([
  ["1.2.840.113549.1.1.5", "sha1"],
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
]);
const ellipticSignatures: ReadonlyMap<string, string> = new Map([
  ["1.2.840.10045.4.3.2", "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
]);

/** Throws if the bytes are not a request, or if it is not signed with its own key, of a kind that is known here. */
export function readRequest(der: Buffer): CertificateRequest {
  const whole = readDer(der);
  const content = at(whole, 0, tags.sequence);
  const algorithm = oidOf(at(at(whole, 1, tags.sequence), 0));
  const signature = at(whole, 2, tags.bits).content;
  const subject = at(content, 1, tags.sequence);
  const publicKey = createPublicKey({ key: at(content, 2, tags.sequence).raw, format: "der", type: "spki" });
  const isRsa = publicKey.asymmetricKeyType === "rsa";
  if (!isRsa && curveOf(publicKey) === null) throw new BadDer("the key is of another kind than RSA, P-256 or P-384");
  const digest = (isRsa ? rsaSignatures : ellipticSignatures).get(algorithm);
  if (digest === undefined) throw new BadDer("the signature is not of the kind of the key");
  if (signature[0] !== 0 || !verify(digest, content.raw, publicKey, signature.subarray(1)))
    throw new BadDer("the signature of the request is wrong");
  // Names of fields are checked here, so that no certificate contains one that cannot be read.
  for (const field of subject.children) for (const part of field.children) oidOf(at(part, 0));
  const attributes = attributesOf(content.children[3]);
  const challenge = attributes(CHALLENGE_PASSWORD);
  const extensions = attributes(EXTENSION_REQUEST)?.children ?? [];
  const names = extensions.find((extension) => oidOf(at(extension, 0)) === ALTERNATIVE_NAMES)?.children.at(-1);
  return {
    publicKey,
    spki: publicKey.export({ type: "spki", format: "der" }),
    subject: subject.raw,
    challenge: challenge ? stringOf(challenge) : null,
    names: names ? readDer(octetsOf(names)).children : [],
  };
}

/** The single value of an attribute, by type. */
function attributesOf(element: Element | undefined): (type: string) => Element | null {
  const all = element?.tag === 0xa0 ? element.children : [];
  return (type) => {
    const matches = all.filter((attribute) => oidOf(at(attribute, 0)) === type);
    if (matches.length > 1) throw new BadDer("an attribute occurs twice");
    return matches[0] ? at(at(matches[0], 1, tags.set), 0) : null;
  };
}
