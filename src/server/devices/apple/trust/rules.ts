// What a push certificate must be (docs/protocols/apple.md, Trust). Pure functions.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/** The text says what is wrong with the upload, in words for admins. */
export class BadPushCertificate extends Error {
  readonly field: "certificate" | "private_key";

  constructor(field: "certificate" | "private_key", reason: string) {
    super(reason);
    this.field = field;
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const TOPIC_PREFIX = "com.apple.mgmt.";

export interface PushCertificateFile {
  readonly parsed: X509Certificate;
  /** PEM: the certificate and those that follow it. */
  readonly pem: string;
  readonly topic: string;
  readonly commonName: string;
  readonly issuer: string;
  /** In decimal. */
  readonly serialNumber: string;
}

/** Throws `BadPushCertificate` unless the file is a push certificate that is valid now. */
export function readPushCertificate(file: string, now: number): PushCertificateFile {
  const bad = (reason: string) => new BadPushCertificate("certificate", reason);
  const blocks = file.match(BLOCK) ?? [];
  if (blocks.length === 0) throw bad("contains no certificate in PEM format");
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(blocks[0]!);
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw bad("contains a certificate that cannot be read");
  }
  const topic = fieldOf(parsed.subject, "UID");
  if (topic === "")
    throw bad("has no UID in its subject, so it is not a push certificate for device management from Apple's portal");
  if (!topic.startsWith(TOPIC_PREFIX))
    throw bad(`is for the topic ${topic}: topics of device management start with ${TOPIC_PREFIX}`);
  if (Date.parse(parsed.validTo) <= now) throw bad(`expired on ${dayOf(parsed.validTo)}`);
  if (Date.parse(parsed.validFrom) > now) throw bad(`is valid only from ${dayOf(parsed.validFrom)}`);
  return {
    parsed,
    pem: `${blocks.join("\n")}\n`,
    topic,
    commonName: fieldOf(parsed.subject, "CN"),
    issuer: fieldOf(parsed.issuer, "CN") || parsed.issuer.replaceAll("\n", ", "),
    serialNumber: BigInt(`0x${parsed.serialNumber}`).toString(),
  };
}

const dayOf = (text: string): string => new Date(text).toISOString().slice(0, 10);

/** The first field of this type in a name as Node writes it: one field on each line. */
const fieldOf = (name: string | undefined, key: string): string =>
  (name ?? "")
    .split("\n")
    .find((line) => line.startsWith(`${key}=`))
    ?.slice(key.length + 1) ?? "";

/** Throws `BadPushCertificate` unless the file is an unencrypted private key. */
export function readPrivateKey(file: string): KeyObject {
  const bad = (reason: string) => new BadPushCertificate("private_key", reason);
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(file))
    throw bad("is encrypted: remove its passphrase, for example with `openssl rsa -in FILE -out NEW_FILE`");
  try {
    return createPrivateKey(file);
  } catch {
    throw bad("contains no private key in PEM format");
  }
}
