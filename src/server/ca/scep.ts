// A client for SCEP (RFC 8894): requests an authority's capabilities, its certificates, and a certificate for this
// server's key.
import { createHash, type KeyObject, randomBytes } from "node:crypto";
import {
  type Digest,
  envelop,
  openEnvelope,
  readCertificates,
  readSignedData,
  signData,
  verifySigned,
} from "../../pki/cms.ts";
import { type Element, octets, octetsOf, printable, sequence, textOf } from "../../pki/der.ts";
import type { NameField } from "../../pki/names.ts";
import { type Certificate, makeRequest, newKey, readCertificate, selfSigned } from "../../pki/x509.ts";
import { type Asking, askCa, CaError } from "./upstream.ts";

const attribute = (number: number): string => `2.16.840.1.113733.1.9.${number}`;
const MESSAGE_TYPE = attribute(2);
const PKI_STATUS = attribute(3);
const FAIL_INFO = attribute(4);
const SENDER_NONCE = attribute(5);
const RECIPIENT_NONCE = attribute(6);
const TRANSACTION_ID = attribute(7);

const messageTypes = { certRep: "3", pkcsReq: "19", certPoll: "20" } as const;
const failures: Readonly<Record<string, string>> = {
  "0": "badAlg: it does not support the algorithms of the request",
  "1": "badMessageCheck: it could not verify the request",
  "2": "badRequest: it does not permit the request (a wrong challenge, for one)",
  "3": "badTime: its clock and this server's differ too much",
  "4": "badCertId: it does not know the certificate",
};

export interface ScepCa {
  readonly url: string;
  readonly capabilities: ReadonlySet<string>;
  /** The authority's certificates: its own and those of its registration authority. */
  readonly certificates: readonly Certificate[];
}

const operation = (url: string, name: string, message?: string): string => {
  const whole = new URL(url);
  whole.searchParams.set("operation", name);
  if (message !== undefined) whole.searchParams.set("message", message);
  return whole.href;
};

/** Requests capabilities and certificates. Throws `CaError` if the URL is not a SCEP server. */
export async function openScep(services: Asking, url: string): Promise<ScepCa> {
  const certificates = await fetchCertificates(services, url);
  return { url, certificates, capabilities: await fetchCapabilities(services, url) };
}

/** A server that does not support GetCACaps has only the minimal capabilities (RFC 8894, 3.5.1). */
async function fetchCapabilities(services: Asking, url: string): Promise<ReadonlySet<string>> {
  const { status, body } = await askCa(services, operation(url, "GetCACaps"), { maxBytes: 65_536 });
  const words = status === 200 ? body.toString("latin1").split(/\s+/) : [];
  return new Set(words.filter((word) => word !== "").map((word) => word.toLowerCase()));
}

/** Requests the certificates. Used as the check before settings are stored. */
export async function fetchCertificates(services: Asking, url: string): Promise<readonly Certificate[]> {
  const { status, body } = await askCa(services, operation(url, "GetCACert"));
  if (status !== 200) throw new CaError("answer", `GetCACert returned status ${status}`, status);
  const found = certificatesIn(body);
  if (found.length === 0) throw new CaError("answer", "GetCACert returned no certificate");
  return found;
}

/** Accepts a single certificate or a message with several, because servers send wrong content types. */
function certificatesIn(body: Buffer): readonly Certificate[] {
  for (const read of [(bytes: Buffer) => [readCertificate(bytes)], readCertificates])
    try {
      return read(body);
    } catch {}
  return [];
}

/**
 * The certificate to encrypt to: a registration authority's if it permits encryption, otherwise the authority's own.
 */
export function recipientOf({ certificates }: Pick<ScepCa, "certificates">): Certificate {
  const found =
    certificates.find(({ isCa, usage }) => !isCa && usage?.enciphers === true) ??
    certificates.find(({ isCa, usage }) => !isCa && usage === null) ??
    certificates.find(({ usage }) => usage === null || usage.enciphers) ??
    certificates[0]!;
  if (found.parsed.publicKey.asymmetricKeyType !== "rsa")
    throw new CaError("answer", "the authority's key is not RSA, which SCEP needs");
  return found;
}

export interface Enrolling {
  readonly subject: readonly NameField[];
  readonly challenge: string;
  /** The key to certify. A new one is generated if absent. */
  readonly key?: KeyObject;
  readonly now: number;
}

/** The state for polling a pending enrolment. */
export interface Pending {
  readonly status: "pending";
  readonly key: KeyObject;
  readonly transactionId: string;
  readonly subject: readonly NameField[];
  readonly signer: Buffer;
}
export interface Issued {
  readonly status: "issued";
  readonly key: KeyObject;
  /** The certificate for the key, and the other certificates in the reply. */
  readonly certificate: Certificate;
  readonly others: readonly Certificate[];
}

/** PKCSReq. Throws `CaError`: `refused` with the authority's reason, or `answer` if the reply cannot be verified. */
export async function enroll(services: Asking, ca: ScepCa, given: Enrolling): Promise<Issued | Pending> {
  const key = given.key ?? (await newKey());
  const signer = selfSigned(given.subject, key, randomBytes(16), given.now);
  // A random part makes a second request for the same key a transaction of its own (RFC 8894, 3.2.1.1).
  const transactionId = createHash("sha256").update(signer.subarray(-64)).update(randomBytes(16)).digest("hex");
  const request = makeRequest(given.subject, key, given.challenge);
  return exchange(services, ca, { status: "pending", key, transactionId, subject: given.subject, signer }, request);
}

/** CertPoll: requests the status of a pending enrolment. */
export function poll(services: Asking, ca: ScepCa, pending: Pending): Promise<Issued | Pending> {
  const issuer = ca.certificates.find(({ isCa }) => isCa) ?? ca.certificates[0]!;
  const own = readCertificate(pending.signer);
  return exchange(services, ca, pending, sequence(issuer.subject, own.subject), messageTypes.certPoll);
}

async function exchange(
  services: Asking,
  ca: ScepCa,
  pending: Pending,
  content: Buffer,
  messageType: string = messageTypes.pkcsReq,
): Promise<Issued | Pending> {
  const { key, transactionId, signer } = pending;
  const nonce = randomBytes(16);
  const can = (word: string) => ca.capabilities.has(word);
  const isStandard = can("scepstandard");
  const digest: Digest = isStandard || can("sha-256") ? "sha256" : can("sha-512") ? "sha512" : "sha1";
  const enveloped = envelop(content, recipientOf(ca), isStandard || can("aes") ? "aes-128-cbc" : "des-ede3-cbc");
  const message = signData(
    enveloped,
    { certificate: signer, key, digest },
    {
      [MESSAGE_TYPE]: printable(messageType),
      [TRANSACTION_ID]: printable(transactionId),
      [SENDER_NONCE]: octets(nonce),
    },
  );
  const reply = await send(services, ca, message, isStandard || can("postpkioperation"));
  try {
    return readReply(reply, ca, pending, nonce);
  } catch (error) {
    if (error instanceof CaError) throw error;
    throw new CaError("answer", "its reply to the request is not a valid CertRep");
  }
}

async function send(services: Asking, { url }: ScepCa, message: Buffer, byPost: boolean): Promise<Buffer> {
  const { status, body } = byPost
    ? await askCa(services, operation(url, "PKIOperation"), {
        method: "POST",
        headers: { "content-type": "application/x-pki-message" },
        body: message,
      })
    : await askCa(services, operation(url, "PKIOperation", message.toString("base64")));
  if (status !== 200) throw new CaError("answer", `the request returned status ${status}`, status);
  return body;
}

function readReply(bytes: Buffer, ca: ScepCa, pending: Pending, nonce: Buffer): Issued | Pending {
  const data = readSignedData(bytes);
  const attributes = verifySigned(data, ca.certificates);
  const text = (type: string) => textOfAttribute(attributes.get(type));
  if (text(MESSAGE_TYPE) !== messageTypes.certRep) throw new CaError("answer", "its reply is not a CertRep");
  if (text(TRANSACTION_ID) !== pending.transactionId)
    throw new CaError("answer", "its reply belongs to another transaction");
  const echoed = attributes.get(RECIPIENT_NONCE);
  if (!echoed || !octetsOf(echoed).equals(nonce)) throw new CaError("answer", "its reply belongs to another request");
  const status = text(PKI_STATUS);
  if (status === "3") return pending;
  if (status === "2") {
    const reason = failures[text(FAIL_INFO) ?? ""] ?? "without a reason";
    throw new CaError("refused", `the authority refused the request: ${reason}`);
  }
  if (status !== "0") throw new CaError("answer", "its reply has an unknown status");
  const { key, signer } = pending;
  const certificates = readCertificates(openEnvelope(data.content, readCertificate(signer), key));
  const own = certificates.find(({ parsed }) => parsed.checkPrivateKey(key));
  if (!own) throw new CaError("answer", "the certificate that it returned is for another key");
  return { status: "issued", key, certificate: own, others: certificates.filter((one) => one !== own) };
}

const textOfAttribute = (element: Element | undefined): string | null => (element ? textOf(element) : null);
