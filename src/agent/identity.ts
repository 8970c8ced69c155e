// The host identity of this machine: a certificate with which the agent signs its requests. The server binds it to the
// host, so that an enroll secret, which many machines have, is not enough to take the host's place.
import { createHash, createPrivateKey, type KeyObject, randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { signRequest } from "../pki/http-signature.ts";
import { selfSigned } from "../pki/issue.ts";
import type { NameField } from "../pki/names.ts";
import { makeRequest } from "../pki/request.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../pki/scep.ts";
import { curveOf, newEllipticKey, newKey, readCertificate } from "../pki/x509.ts";
import type { Connection } from "./net/connection.ts";
import type { IdentityKey, Log } from "./options.ts";
import { readObject, replaceFile } from "./state/files.ts";

const SCEP = "/api/v1/svc/agent/host_identity/scep";
const REPLY_MAX = 64 * 1024;
const DAY = 86_400_000;
/** An identity is renewed when less of its time is left. */
const RENEWED_BEFORE = 30 * DAY;
/** A renewal that fails is tried again after this time. */
const RETRY_AFTER = 60 * 60_000;

interface Identity {
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

interface Parts {
  readonly connection: Pick<Connection, "bytes" | "postBytes">;
  readonly stateDir: string;
  readonly serverUrl: string;
  readonly hardwareUuid: string;
  readonly enrollSecret: string;
  readonly log: Log;
  /** The key of identities that the agent gets from now on. */
  readonly identityKey: IdentityKey;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export class HostIdentity {
  readonly #parts: Parts;
  #identity: Identity | null;
  #getting: Promise<Identity> | null = null;
  #notBefore = 0;

  private constructor(parts: Parts, identity: Identity | null) {
    this.#parts = parts;
    this.#identity = identity;
  }

  /** An identity for another server, or of the machine that this one was cloned from, is forgotten. */
  static async open(parts: Parts): Promise<HostIdentity> {
    const stored = await readObject(fileOf(parts));
    const isSame = stored?.server_url === parts.serverUrl && stored.hardware_uuid === parts.hardwareUuid;
    return new HostIdentity(parts, isSame ? identityIn(stored) : null);
  }

  /** The machine left its host, to which the identity is bound: it gets another one. */
  async forget(): Promise<void> {
    this.#identity = null;
    await rm(fileOf(this.#parts), { force: true });
  }

  /** The headers that sign the request. */
  async headersFor(method: string, target: string, body: string | null): Promise<Record<string, string>> {
    return signedWith(await this.#current(), method, target, body);
  }

  async #current(): Promise<Identity> {
    const identity = this.#identity;
    if (identity === null) return this.#get(null);
    const left = Date.parse(readCertificate(identity.certificate).parsed.validTo) - Date.now();
    if (left <= 0) return this.#get(null);
    if (left > RENEWED_BEFORE || Date.now() < this.#notBefore) return identity;
    try {
      return await this.#get(identity);
    } catch (error) {
      this.#notBefore = Date.now() + RETRY_AFTER;
      this.#parts.log("warn", `the host identity was not renewed: ${(error as Error).message}`);
      return identity;
    }
  }

  #get(renewed: Identity | null): Promise<Identity> {
    this.#getting ??= this.#ask(renewed).finally(() => {
      this.#getting = null;
    });
    return this.#getting;
  }

  async #ask(renewed: Identity | null): Promise<Identity> {
    const { connection, enrollSecret, hardwareUuid, serverUrl, identityKey, log } = this.#parts;
    const authority = readCertificate(Buffer.from(await connection.bytes(`${SCEP}?operation=GetCACert`, REPLY_MAX)));
    const key = await (identityKey === "rsa" ? newKey() : newEllipticKey(identityKey));
    const name: NameField[] = [{ key: "CN", value: hardwareUuid }];
    // The reply is encrypted to the signer of the message, for which SCEP knows only RSA (RFC 8894, 3.1).
    const isRsa = (candidate: KeyObject): boolean => curveOf(candidate) === null;
    const signer =
      renewed && isRsa(renewed.key) ? renewed : await forOneMessage(name, isRsa(key) ? key : await newKey());
    const transaction = { id: randomBytes(16).toString("hex"), nonce: randomBytes(16) };
    const message = makeScepRequest({
      type: renewed ? messageTypes.renewalReq : messageTypes.pkcsReq,
      content: makeRequest(name, key, renewed ? undefined : enrollSecret),
      cipher: "aes-128-cbc",
      recipient: authority,
      transaction,
      signer: { ...signer, digest: "sha256" },
    });
    const target = `${SCEP}?operation=PKIOperation`;
    // An identity that cannot sign the message signs the request.
    const proof = renewed && signer !== renewed ? signedWith(renewed, "POST", target, message) : {};
    const reply = await connection.postBytes(target, message, REPLY_MAX, proof);
    const read = readScepReply(Buffer.from(reply), [authority], transaction, signer);
    if (read.status !== "success") throw new Error("the server refused a host identity: check the enroll secret");
    const certificate = read.certificates[0]!.der;
    this.#identity = { certificate, key };
    const stored = {
      server_url: serverUrl,
      hardware_uuid: hardwareUuid,
      certificate: certificate.toString("base64"),
      key: key.export({ type: "pkcs8", format: "pem" }),
    };
    await replaceFile(fileOf(this.#parts), `${JSON.stringify(stored, null, 2)}\n`);
    log("info", renewed ? "renewed the host identity" : "got a host identity");
    return this.#identity;
  }
}

const forOneMessage = async (name: NameField[], key: KeyObject): Promise<Identity> => ({
  certificate: selfSigned(name, key, randomBytes(8), Date.now()),
  key,
});

function signedWith({ certificate, key }: Identity, method: string, target: string, body: string | Uint8Array | null) {
  const at = target.indexOf("?");
  const [path, query] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at)];
  const keyId = createHash("sha256").update(certificate).digest("hex");
  return signRequest({ method, path, query }, body, { key, keyId, created: Math.floor(Date.now() / 1000) });
}

const fileOf = ({ stateDir }: Pick<Parts, "stateDir">): string => join(stateDir, "identity.json");

function identityIn(stored: Record<string, unknown>): Identity | null {
  try {
    const certificate = Buffer.from(text(stored.certificate), "base64");
    readCertificate(certificate);
    return { certificate, key: createPrivateKey(text(stored.key)) };
  } catch {
    return null;
  }
}
