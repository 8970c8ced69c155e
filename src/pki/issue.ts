// Making certificates: of a certificate authority, of its clients, and self-signed ones (RFC 5280).
import { createHash, type KeyObject } from "node:crypto";
import { at, element, instant, integer, octets, oid, oidOf, readDer, sequence, tagged } from "./der.ts";
import { encodeName, type NameField } from "./names.ts";
import { type Certificate, keyIdentifierOf, sha256Rsa, signed, spkiOf } from "./x509.ts";

const KEY_IDENTIFIER = "2.5.29.14";
const KEY_USAGE = "2.5.29.15";
const ALTERNATIVE_NAMES = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const yes = Buffer.from([1, 1, 0xff]);
const extension = (type: string, value: Buffer): Buffer => sequence(oid(type), octets(value));
const critical = (type: string, value: Buffer): Buffer => sequence(oid(type), yes, octets(value));
/** Bits of KeyUsage, from the left: digitalSignature, nonRepudiation, keyEncipherment ... keyCertSign, cRLSign. */
const usage = (bits: number, unused: number): Buffer => critical(KEY_USAGE, element(3, Buffer.from([unused, bits])));
const SIGN_AND_ENCIPHER = usage(0b1010_0000, 5);
/** Elliptic keys encipher no keys (RFC 5480, section 3). */
const SIGN = usage(0b1000_0000, 7);
const ELLIPTIC = "1.2.840.10045.2.1";
const CA_USES = usage(0b1010_0110, 1);

interface Content {
  readonly serial: Uint8Array;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly spki: Buffer;
  readonly from: number;
  readonly until: number;
  readonly extensions: readonly Buffer[];
}

const toBeSigned = ({ serial, issuer, subject, spki, from, until, extensions }: Content): Buffer =>
  sequence(
    tagged(0, integer(2)),
    integer(serial),
    sha256Rsa,
    issuer,
    sequence(instant(from), instant(until)),
    subject,
    spki,
    tagged(3, sequence(...extensions)),
  );

/**
 * The self-signed certificate that signs the first SCEP request (RFC 8894, 2.3). It is valid as long as an enrolment
 * may be pending.
 */
export function selfSigned(subject: readonly NameField[], key: KeyObject, serial: Uint8Array, now: number): Buffer {
  const name = encodeName(subject);
  const times = { from: now - 10 * MINUTE, until: now + 7 * DAY };
  const content = { serial, issuer: name, subject: name, spki: spkiOf(key), ...times, extensions: [SIGN_AND_ENCIPHER] };
  return signed(toBeSigned(content), key);
}

/** A certificate authority's own certificate, which may sign certificates, SCEP replies, and open envelopes. */
export function makeCa(
  subject: readonly NameField[],
  key: KeyObject,
  serial: Uint8Array,
  times: { readonly from: number; readonly until: number },
): Buffer {
  const name = encodeName(subject);
  const spki = spkiOf(key);
  const extensions = [
    critical(BASIC_CONSTRAINTS, sequence(yes)),
    CA_USES,
    extension(KEY_IDENTIFIER, octets(identifierOf(spki))),
  ];
  return signed(toBeSigned({ serial, issuer: name, subject: name, spki, ...times, extensions }), key);
}

/** SHA-1 of the key itself (RFC 5280, 4.2.1.2). */
const identifierOf = (spki: Buffer): Buffer =>
  createHash("sha1").update(readDer(spki).children[1]!.content.subarray(1)).digest();

interface Leaf {
  readonly serial: Uint8Array;
  /** DER. */
  readonly subject: Buffer;
  readonly spki: Buffer;
  /** GeneralName elements. */
  readonly names: readonly Buffer[];
  readonly from: number;
  readonly until: number;
}

/** A client's certificate: it may sign, decipher keys and sign in to servers, and nothing else. */
export function issueLeaf(leaf: Leaf, ca: { readonly certificate: Certificate; readonly key: KeyObject }): Buffer {
  const issuerKey = keyIdentifierOf(ca.certificate.der);
  const extensions = [
    critical(BASIC_CONSTRAINTS, sequence()),
    oidOf(at(at(readDer(leaf.spki), 0), 0)) === ELLIPTIC ? SIGN : SIGN_AND_ENCIPHER,
    extension(EXTENDED_KEY_USAGE, sequence(oid(CLIENT_AUTH))),
    extension(KEY_IDENTIFIER, octets(identifierOf(leaf.spki))),
    ...(issuerKey ? [extension(AUTHORITY_KEY_IDENTIFIER, sequence(element(0x80, issuerKey)))] : []),
    ...(leaf.names.length > 0 ? [extension(ALTERNATIVE_NAMES, sequence(...leaf.names))] : []),
  ];
  return signed(toBeSigned({ ...leaf, issuer: ca.certificate.subject, extensions }), ca.key);
}
