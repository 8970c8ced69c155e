// An EST server (RFC 7030) with the openssl program: it validates requests as the RFC requires, and signs with openssl.
import { type Fake, type OpensslCa, type Reply, startFake } from "./ca-fakes.ts";

export const EST_USER = "est-user";
export const EST_PASSWORD = "est-password-of-the-test";

export interface EstServer extends Fake {
  /** The part of its URL after the host. */
  readonly estUrl: string;
}

const PKCS7 = {
  "content-type": "application/pkcs7-mime; smime-type=certs-only",
  "content-transfer-encoding": "base64",
};
/** With the line breaks of OpenSSL and most servers. */
const wrapped = (bytes: Buffer): string => bytes.toString("base64").replace(/.{64}/g, "$&\r\n");

export async function startEst(
  ca: OpensslCa,
  {
    label = "",
    username = EST_USER,
    password = EST_PASSWORD,
  }: { label?: string; username?: string; password?: string } = {},
): Promise<EstServer> {
  const prefix = `/.well-known/est${label}`;
  const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const fake = await startFake(async ({ method, url, headers, body }): Promise<Reply> => {
    if (url.pathname === `${prefix}/cacerts` && method === "GET")
      return { headers: PKCS7, body: wrapped(await ca.bundle(await ca.certificate())) };
    if (url.pathname !== `${prefix}/simpleenroll`) return { status: 404, body: "nothing here" };
    if (method !== "POST") return { status: 405 };
    if (headers.authorization !== wanted)
      return { status: 401, headers: { "www-authenticate": 'Basic realm="est"' }, body: "not you" };
    if (headers["content-type"] !== "application/pkcs10") return { status: 415 };
    const text = body.toString("latin1");
    if (!/^[A-Za-z0-9+/=\s]+$/.test(text)) return { status: 400, body: "this is no base64" };
    try {
      const certificate = await ca.sign(Buffer.from(text, "base64"));
      return { headers: PKCS7, body: wrapped(await ca.bundle(certificate, await ca.certificate())) };
    } catch {
      return { status: 400, body: "the request cannot be signed" };
    }
  });
  return Object.assign(fake, { estUrl: `${fake.url}${prefix}` });
}
