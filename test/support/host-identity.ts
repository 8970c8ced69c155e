// Managed agents that sign their requests: they get a certificate by SCEP, and sign as RFC 9421 says.
import { createHash, type KeyObject, randomBytes } from "node:crypto";
import { signRequest } from "../../src/pki/http-signature.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../../src/pki/scep.ts";
import { newEllipticKey, newKey, readCertificate } from "../../src/pki/x509.ts";
import type { TestApp } from "./app.ts";

export const SCEP = "/api/svc/orbit/host_identity/scep";

export interface HostIdentity {
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** RSA keys take long to make, and these tests are not about them. */
const keys: Promise<KeyObject>[] = [];

function keyOf(index: number): Promise<KeyObject> {
  keys[index] ??= newKey();
  return keys[index];
}

interface Asking {
  readonly secret?: string;
  readonly subject: string;
  readonly key?: number;
  /** To renew: signed with this identity. */
  readonly identity?: HostIdentity;
  /** The curve of the new key; without it, an RSA key. */
  readonly curve?: "p256" | "p384";
  /** Whether an elliptic identity signs the HTTP request that renews it. */
  readonly proves?: boolean;
}

/** The identity that the machine gets; null if it is refused. */
export async function askForIdentity(
  t: TestApp,
  { secret, subject, key: number = 0, identity, curve, proves = true }: Asking,
): Promise<HostIdentity | null> {
  const transport = await keyOf(number);
  const key = curve === undefined ? transport : await newEllipticKey(curve);
  const name = parseName(subject);
  const authority = readCertificate(Buffer.from(await (await t.raw(`${SCEP}?operation=GetCACert`)).arrayBuffer()));
  const isRsa = identity?.key.asymmetricKeyType === "rsa";
  const once = { certificate: selfSigned(name, transport, randomBytes(8), t.clock.now()), key: transport };
  const signer = identity && isRsa ? identity : once;
  const transaction = { id: randomBytes(8).toString("hex"), nonce: randomBytes(16) };
  const message = makeScepRequest({
    type: identity ? messageTypes.renewalReq : messageTypes.pkcsReq,
    content: makeRequest(name, key, secret),
    cipher: "aes-128-cbc",
    recipient: authority,
    transaction,
    signer: { ...signer, digest: "sha256" },
  });
  const request = { method: "POST", path: SCEP, query: "?operation=PKIOperation" };
  const created = Math.floor(t.clock.now() / 1000);
  const headers =
    identity && !isRsa && proves
      ? signRequest(request, message, { key: identity.key, keyId: fingerprintOf(identity), created })
      : {};
  const reply = await t.raw(`${SCEP}${request.query}`, { method: "POST", headers, body: new Uint8Array(message) });
  if (reply.status !== 200) return null;
  const read = readScepReply(Buffer.from(await reply.arrayBuffer()), [authority], transaction, signer);
  return read.status === "success" ? { certificate: read.certificates[0]!.der, key } : null;
}

export const fingerprintOf = ({ certificate }: HostIdentity): string =>
  createHash("sha256").update(certificate).digest("hex");

export interface Sending {
  /** Seconds since the present. */
  readonly at?: number;
  readonly keyId?: string;
  /** What is sent instead of the signed body. */
  readonly sent?: string;
  /** Changes the headers of the signature. */
  readonly changed?: (headers: Record<string, string>) => Record<string, string>;
  readonly prefix?: string;
  readonly nonce?: string;
  readonly method?: string;
  readonly authorization?: string;
}

/** A call of the agents' protocol that is signed with the identity. */
export async function signedCall(
  t: TestApp,
  identity: HostIdentity,
  path: string,
  body: object,
  {
    at = 0,
    keyId,
    sent,
    changed = (headers) => headers,
    prefix = "/api/v1/svc/agent",
    nonce,
    method = "POST",
    authorization,
  }: Sending = {},
) {
  const text = method === "GET" ? "" : JSON.stringify(body);
  const [name = "", query] = path.split("?");
  const request = { method, path: `${prefix}${name}`, query: query === undefined ? "" : `?${query}` };
  const created = Math.floor(t.clock.now() / 1000) + at;
  const signature = signRequest(request, text, {
    key: identity.key,
    keyId: keyId ?? fingerprintOf(identity),
    created,
    ...(nonce === undefined ? {} : { nonce }),
  });
  const response = await t.raw(`${request.path}${request.query}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(authorization === undefined ? {} : { authorization }),
      ...changed(signature),
    },
    ...(method === "GET" ? {} : { body: sent ?? text }),
  });
  const reply = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, json: isJson ? JSON.parse(reply) : undefined };
}
