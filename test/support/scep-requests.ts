// A client for SCEP (RFC 8894): requests an authority's capabilities, and a certificate.
import { createHash, type KeyObject, randomBytes } from "node:crypto";
import { sequence } from "../../src/pki/der.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import type { NameField } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import {
  BadScepReply,
  type Failure,
  makeScepRequest,
  messageTypes,
  type RequestType,
  readScepReply,
  type ScepReply,
} from "../../src/pki/scep.ts";
import type { Digest } from "../../src/pki/signed-data.ts";
import { type Certificate, newKey, readCertificate } from "../../src/pki/x509.ts";
import { fetchCertificates, operation } from "../../src/server/certificates/ca/scep.ts";
import { type Asking, askCa, CaError } from "../../src/server/certificates/ca/upstream.ts";

const reasons: Readonly<Record<Failure, string>> = {
  badAlg: "badAlg: it does not support the algorithms of the request",
  badMessageCheck: "badMessageCheck: it could not verify the request",
  badRequest: "badRequest: it does not permit the request (a wrong challenge, for one)",
  badTime: "badTime: its clock and this server's differ too much",
  badCertId: "badCertId: it does not know the certificate",
};

interface ScepCa {
  readonly url: string;
  readonly capabilities: ReadonlySet<string>;
  /** The authority's certificates: its own and those of its registration authority. */
  readonly certificates: readonly Certificate[];
}

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

interface Enrolling {
  readonly subject: readonly NameField[];
  readonly challenge: string;
  /** The key to certify. A new one is generated if absent. */
  readonly key?: KeyObject;
  readonly now: number;
}

/** The state for polling a pending enrolment. */
interface Pending {
  readonly status: "pending";
  readonly key: KeyObject;
  readonly transactionId: string;
  readonly subject: readonly NameField[];
  readonly signer: Buffer;
}
interface IssuedCertificate {
  readonly status: "issued";
  readonly key: KeyObject;
  /** The certificate for the key, and the other certificates in the reply. */
  readonly certificate: Certificate;
  readonly others: readonly Certificate[];
}

/** PKCSReq. Throws `CaError`: `refused` with the authority's reason, or `answer` if the reply cannot be verified. */
export async function enroll(services: Asking, ca: ScepCa, given: Enrolling): Promise<IssuedCertificate | Pending> {
  const key = given.key ?? (await newKey());
  const signer = selfSigned(given.subject, key, randomBytes(16), given.now);
  // A random part makes a second request for the same key a transaction of its own (RFC 8894, 3.2.1.1).
  const transactionId = createHash("sha256").update(signer.subarray(-64)).update(randomBytes(16)).digest("hex");
  const request = makeRequest(given.subject, key, given.challenge);
  return exchange(services, ca, { status: "pending", key, transactionId, subject: given.subject, signer }, request);
}

/** CertPoll: requests the status of a pending enrolment. */
export function poll(services: Asking, ca: ScepCa, pending: Pending): Promise<IssuedCertificate | Pending> {
  const issuer = ca.certificates.find(({ isCa }) => isCa) ?? ca.certificates[0]!;
  const own = readCertificate(pending.signer);
  return exchange(services, ca, pending, sequence(issuer.subject, own.subject), messageTypes.certPoll);
}

async function exchange(
  services: Asking,
  ca: ScepCa,
  pending: Pending,
  content: Buffer,
  type: RequestType = messageTypes.pkcsReq,
): Promise<IssuedCertificate | Pending> {
  const { key, signer } = pending;
  const transaction = { id: pending.transactionId, nonce: randomBytes(16) };
  const can = (word: string) => ca.capabilities.has(word);
  const isStandard = can("scepstandard");
  const digest: Digest = isStandard || can("sha-256") ? "sha256" : can("sha-512") ? "sha512" : "sha1";
  const message = makeScepRequest({
    type,
    transaction,
    content,
    signer: { certificate: signer, key, digest },
    recipient: recipientOf(ca),
    cipher: isStandard || can("aes") ? "aes-128-cbc" : "des-ede3-cbc",
  });
  const bytes = await send(services, ca, message, isStandard || can("postpkioperation"));
  let reply: ScepReply;
  try {
    reply = readScepReply(bytes, ca.certificates, transaction, { certificate: signer, key });
  } catch (error) {
    const text = error instanceof BadScepReply ? error.message : "its reply to the request is not a valid CertRep";
    throw new CaError("answer", text);
  }
  return issuedOf(reply, pending);
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

function issuedOf(reply: ScepReply, pending: Pending): IssuedCertificate | Pending {
  if (reply.status === "pending") return pending;
  if (reply.status === "failure") {
    const reason = reply.reason ? reasons[reply.reason] : "without a reason";
    throw new CaError("refused", `the authority refused the request: ${reason}`);
  }
  const { key } = pending;
  const own = reply.certificates.find(({ parsed }) => parsed.checkPrivateKey(key));
  if (!own) throw new CaError("answer", "the certificate that it returned is for another key");
  return { status: "issued", key, certificate: own, others: reply.certificates.filter((one) => one !== own) };
}
