// How a device gets its identity: a certificate by SCEP (RFC 8894).
import { createHash, createPublicKey, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import type { AlternativeName } from "../pki/alternative-names.ts";
import { selfSigned } from "../pki/issue.ts";
import { type NameField, parseName } from "../pki/names.ts";
import { makeRequest } from "../pki/request.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../pki/scep.ts";
import { readCertificates, signData } from "../pki/signed-data.ts";
import { type Certificate, readCertificate } from "../pki/x509.ts";
import type { Web } from "./web.ts";

export interface DeviceIdentity {
  /** DER. */
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** A SCEP server, and what is requested there. */
export interface ScepAccess {
  readonly url: string;
  /** Name of the authority, for servers that have several. */
  readonly name: string;
  readonly challenge: string;
  readonly subject: readonly NameField[];
  readonly alternativeNames?: readonly AlternativeName[];
  /** Digest of the authority's certificate, by the algorithm that its length names. Null: any authority is accepted. */
  readonly fingerprint: Buffer | null;
}

interface Authority {
  readonly certificates: readonly Certificate[];
  readonly capabilities: readonly string[];
}

/** What the devices of a fleet know of their SCEP servers: each is asked once. */
export class Authorities {
  readonly #authorities = new Map<string, Promise<Authority>>();
  readonly #signers = new Map<KeyObject, { readonly name: string; readonly certificate: Buffer }>();
  readonly #web: Web;

  constructor(web: Web) {
    this.#web = web;
  }

  of({ url, name }: ScepAccess): Promise<Authority> {
    const authority = this.#authorities.get(url) ?? this.#ask(url, name);
    this.#authorities.set(url, authority);
    authority.catch(() => this.#authorities.delete(url));
    return authority;
  }

  /** The certificate with which a request is signed. Devices that share a key share it too. */
  signerOf(subject: readonly NameField[], key: KeyObject): DeviceIdentity {
    const name = JSON.stringify(subject);
    const signer = this.#signers.get(key);
    if (signer?.name === name) return { certificate: signer.certificate, key };
    const certificate = selfSigned(subject, key, randomBytes(8), Date.now());
    this.#signers.set(key, { name, certificate });
    return { certificate, key };
  }

  async #ask(url: string, name: string): Promise<Authority> {
    const get = async (operation: string) => {
      const reply = await this.#web.call({
        method: "GET",
        url: `${url}?operation=${operation}&message=${encodeURIComponent(name)}`,
      });
      if (reply.status !== 200) throw new Error(`SCEP ${operation}: status ${reply.status}`);
      return reply;
    };
    const [ca, capabilities] = await Promise.all([get("GetCACert"), get("GetCACaps")]);
    // A server with several certificates sends them as signed data.
    const several = ca.type.startsWith("application/x-x509-ca-ra-cert");
    return {
      certificates: several ? readCertificates(ca.body) : [readCertificate(ca.body)],
      capabilities: capabilities.body.toString("latin1").split(/\s+/),
    };
  }
}

const digests: Readonly<Record<number, string>> = { 16: "md5", 20: "sha1", 32: "sha256", 64: "sha512" };

/** Throws if the server refuses, or is not the one that the profile names. */
export async function requestIdentity(
  web: Web,
  authorities: Authorities,
  scep: ScepAccess,
  key: KeyObject,
): Promise<DeviceIdentity> {
  const { certificates, capabilities } = await authorities.of(scep);
  const recipient = certificates[0]!;
  if (scep.fingerprint !== null) {
    const digest = digests[scep.fingerprint.length];
    const isNamed = ({ der }: Certificate) =>
      digest !== undefined && createHash(digest).update(der).digest().equals(scep.fingerprint!);
    if (!certificates.some(isNamed)) throw new Error("the SCEP server has another certificate than the profile names");
  }
  const name = scep.subject.length > 0 ? scep.subject : parseName("/CN=device");
  const isModern = capabilities.includes("SCEPStandard");
  const has = (capability: string) => isModern || capabilities.includes(capability);
  const signer = authorities.signerOf(name, key);
  const transaction = { id: randomUUID(), nonce: randomBytes(16) };
  const message = makeScepRequest({
    type: messageTypes.pkcsReq,
    transaction,
    content: makeRequest(name, key, scep.challenge, scep.alternativeNames),
    signer: { ...signer, digest: has("SHA-256") ? "sha256" : "sha1" },
    recipient,
    cipher: has("AES") ? "aes-128-cbc" : "des-ede3-cbc",
  });
  const operation = `${scep.url}?operation=PKIOperation`;
  const reply = await web.call(
    has("POSTPKIOperation")
      ? { method: "POST", url: operation, headers: { "content-type": "application/x-pki-message" }, body: message }
      : { method: "GET", url: `${operation}&message=${encodeURIComponent(message.toString("base64"))}` },
  );
  if (reply.status !== 200) throw new Error(`SCEP PKIOperation: status ${reply.status}`);
  const read = readScepReply(reply.body, certificates, transaction, signer);
  if (read.status === "failure") throw new Error(`SCEP: the request was refused (${read.reason ?? "no reason given"})`);
  if (read.status === "pending") throw new Error("SCEP: the request waits for somebody to approve it");
  const publicKey = createPublicKey(key);
  const certificate = read.certificates.find(({ parsed }) => parsed.publicKey.equals(publicKey));
  if (!certificate) throw new Error("SCEP: the reply has no certificate for the device's key");
  return { certificate: certificate.der, key };
}

/** The detached signature of a message, as the header `Mdm-Signature` has it. */
export const messageSignature = (body: Buffer, identity: DeviceIdentity): string =>
  signData(body, { ...identity, digest: "sha256" }, {}, { detached: true }).toString("base64");
