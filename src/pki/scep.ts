// The messages of SCEP (RFC 8894), of both sides. A message is signed data around enveloped data, with the type, the
// transaction and nonces in signed attributes.
import type { KeyObject } from "node:crypto";
import { BadCms } from "./cms.ts";
import { type Element, octets, octetsOf, printable, stringOf, tags } from "./der.ts";
import { type Cipher, envelop, openEnvelope } from "./enveloped-data.ts";
import {
  bareCertificates,
  type Digest,
  readCertificates,
  readSignedData,
  type Signer,
  signData,
  signerCertificate,
  verifySigned,
} from "./signed-data.ts";
import { type Certificate, isRsaOf, readCertificate } from "./x509.ts";

const attribute = (number: number): string => `2.16.840.1.113733.1.9.${number}`;
const MESSAGE_TYPE = attribute(2);
const PKI_STATUS = attribute(3);
const FAIL_INFO = attribute(4);
const SENDER_NONCE = attribute(5);
const RECIPIENT_NONCE = attribute(6);
const TRANSACTION_ID = attribute(7);

export const messageTypes = { certRep: "3", renewalReq: "17", pkcsReq: "19", certPoll: "20" } as const;
export type RequestType = Exclude<(typeof messageTypes)[keyof typeof messageTypes], "3">;
const statuses = { success: "0", failure: "2", pending: "3" } as const;
export const failures = { badAlg: "0", badMessageCheck: "1", badRequest: "2", badTime: "3", badCertId: "4" } as const;
export type Failure = keyof typeof failures;

/** The reply violates the protocol. The text says how, and contains nothing of the reply. */
export class BadScepReply extends Error {}

export interface Transaction {
  readonly id: string;
  readonly nonce: Buffer;
}

interface ScepRequest {
  readonly type: RequestType;
  readonly transaction: Transaction;
  /** A certificate request, or, to poll, the names of issuer and subject. */
  readonly content: Buffer;
  readonly signer: Signer;
  readonly recipient: Certificate;
  readonly cipher: Cipher;
}

export const makeScepRequest = ({ type, transaction, content, signer, recipient, cipher }: ScepRequest): Buffer =>
  signData(envelop(content, recipient, cipher), signer, {
    [MESSAGE_TYPE]: printable(type),
    [TRANSACTION_ID]: printable(transaction.id),
    [SENDER_NONCE]: octets(transaction.nonce),
  });

export type ScepReply =
  | { readonly status: "pending" }
  /** `reason` is null if the reply has none, or an unknown one. */
  | { readonly status: "failure"; readonly reason: Failure | null }
  | { readonly status: "success"; readonly certificates: readonly Certificate[] };

/**
 * Reads a reply that must be signed by one of the authority's certificates and belong to this request. Throws
 * `BadScepReply`, or another error if the bytes are no such message.
 */
export function readScepReply(
  bytes: Buffer,
  authority: readonly Certificate[],
  { id, nonce }: Transaction,
  local: { readonly certificate: Buffer; readonly key: KeyObject },
): ScepReply {
  const data = readSignedData(bytes);
  // Replies do not always include the certificate of their signer, so the authority's certificates are added.
  const certificates = [...data.certificates, ...authority.map(({ der }) => der)];
  const keyOf = (signer: Buffer) => authority.find(({ der }) => der.equals(signer))?.parsed.publicKey ?? null;
  const { attributes } = verifySigned({ ...data, certificates }, keyOf);
  const text = (type: string) => textOfAttribute(attributes.get(type));
  if (text(MESSAGE_TYPE) !== messageTypes.certRep) throw new BadScepReply("its reply is not a CertRep");
  if (text(TRANSACTION_ID) !== id) throw new BadScepReply("its reply belongs to another transaction");
  const echoed = attributes.get(RECIPIENT_NONCE);
  if (!echoed || !octetsOf(echoed).equals(nonce)) throw new BadScepReply("its reply belongs to another request");
  const status = text(PKI_STATUS);
  if (status === statuses.pending) return { status: "pending" };
  if (status === statuses.failure) {
    const code = text(FAIL_INFO);
    const names = Object.keys(failures) as Failure[];
    return { status: "failure", reason: names.find((name) => failures[name] === code) ?? null };
  }
  if (status !== statuses.success) throw new BadScepReply("its reply has an unknown status");
  const { content } = openEnvelope(contentIn(data.content), readCertificate(local.certificate), local.key);
  return { status: "success", certificates: readCertificates(content) };
}

const contentIn = (content: Buffer | null): Buffer => {
  if (content === null) throw new BadCms("the message has no content");
  return content;
};

const textOfAttribute = (element: Element | undefined): string | null => (element ? stringOf(element) : null);

/** A request that is signed by the certificate that it brings, whoever that is. */
export interface ReceivedRequest {
  readonly type: RequestType;
  readonly transaction: Transaction;
  readonly signer: Certificate;
  readonly digest: Digest;
  /** The enveloped data. */
  readonly envelope: Buffer;
}

const REQUEST_TYPES: readonly string[] = [messageTypes.renewalReq, messageTypes.pkcsReq, messageTypes.certPoll];
const isRequestType = (text: string | null): text is RequestType => text !== null && REQUEST_TYPES.includes(text);

/** Longest transaction identifier and nonce that are accepted; both are sent back. */
const IDENTIFIER_MAX = 256;
const NONCE_MAX = 64;
/** Signers have RSA keys, because replies are encrypted to them. Large ones would only cost time. */
const SIGNER_BITS = { least: 1024, most: 8192 } as const;

/** Throws if the bytes are no request, or if their signature is not that of the certificate inside. */
export function readScepRequest(bytes: Buffer): ReceivedRequest {
  const data = readSignedData(bytes);
  const certificate = signerCertificate(data);
  if (!certificate) throw new BadCms("the signer's certificate is missing");
  const signer = readCertificate(certificate);
  const { publicKey } = signer.parsed;
  const isAccepted = isRsaOf(publicKey, SIGNER_BITS.least, SIGNER_BITS.most);
  const { digest, attributes } = verifySigned(data, () => (isAccepted ? publicKey : null));
  const type = textOfAttribute(attributes.get(MESSAGE_TYPE));
  const transaction = transactionIn(attributes);
  if (!isRequestType(type)) throw new BadCms("the message is not a request");
  return { type, transaction, digest, signer, envelope: contentIn(data.content) };
}

function transactionIn(attributes: ReadonlyMap<string, Element>): Transaction {
  const id = textOfAttribute(attributes.get(TRANSACTION_ID));
  const nonce = attributes.get(SENDER_NONCE);
  if (id === null || id === "" || id.length > IDENTIFIER_MAX || !/^[\x20-\x7e]+$/.test(id))
    throw new BadCms("the message has no transaction");
  if (nonce?.tag !== tags.octets || nonce.content.length === 0 || nonce.content.length > NONCE_MAX)
    throw new BadCms("the message has no nonce");
  return { id, nonce: nonce.content };
}

export interface Answer {
  /** Null if the request could not be read. */
  readonly transaction: Transaction | null;
  /** A new one. */
  readonly nonce: Buffer;
  readonly signer: Signer;
}

const answered = (
  { transaction, nonce, signer }: Answer,
  content: Buffer,
  attributes: Record<string, Buffer>,
): Buffer =>
  signData(content, signer, {
    [MESSAGE_TYPE]: printable(messageTypes.certRep),
    [TRANSACTION_ID]: printable(transaction?.id ?? ""),
    [SENDER_NONCE]: octets(nonce),
    [RECIPIENT_NONCE]: octets(transaction?.nonce ?? Buffer.alloc(0)),
    ...attributes,
  });

/** A CertRep with the certificate, enveloped to the requester's key. */
export const makeSuccess = (answer: Answer, certificate: Buffer, requester: Certificate, cipher: Cipher): Buffer =>
  answered(answer, envelop(bareCertificates([certificate]), requester, cipher), {
    [PKI_STATUS]: printable(statuses.success),
  });

export const makeFailure = (answer: Answer, reason: Failure): Buffer =>
  answered(answer, Buffer.alloc(0), {
    [PKI_STATUS]: printable(statuses.failure),
    [FAIL_INFO]: printable(failures[reason]),
  });
