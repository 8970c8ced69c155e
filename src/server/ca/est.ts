// A client of EST (RFC 7030): what an authority's endpoint, prefix included, is asked.
import { readCertificates } from "./cms.ts";
import { type Asking, askCa, CaError, fromBase64, mediaType } from "./upstream.ts";
import type { Certificate } from "./x509.ts";

const PKCS7 = "application/pkcs7-mime";

export interface EstCa {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

const below = (url: string, call: string): string => {
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/+$/, "")}/${call}`;
  return whole.href;
};

/** The check on save: the endpoint gives its certificates. The credentials are not tried: EST has no question that takes them and changes nothing. */
export async function checkEst(services: Asking, url: string): Promise<void> {
  const reply = await askCa(services, below(url, "cacerts"), { headers: { accept: PKCS7 } });
  if (reply.status !== 200)
    throw new CaError("answer", `cacerts was answered with status ${reply.status}`, reply.status);
  if (mediaType(reply) !== PKCS7) throw new CaError("answer", `cacerts was not answered with ${PKCS7}`);
  if (fromBase64(reply.body.toString("latin1")) === null)
    throw new CaError("answer", "cacerts was not answered with base64");
}

export interface Enrolled {
  /** The message as the authority sent it. */
  readonly pkcs7: Buffer;
  readonly certificates: readonly Certificate[];
}

/** Sends a request for signature. Throws `CaError`; its message has the status, and nothing of the authority's own words. */
export async function simpleEnroll(services: Asking, ca: EstCa, request: Buffer): Promise<Enrolled> {
  const { status, body } = await askCa(services, below(ca.url, "simpleenroll"), {
    method: "POST",
    headers: { "content-type": "application/pkcs10", accept: PKCS7, "content-transfer-encoding": "base64" },
    auth: { username: ca.username, password: ca.password },
    body: request.toString("base64"),
  });
  if (status === 202)
    throw new CaError("pending", "the authority wants to look at the request first (status 202)", 202);
  if (status === 401 || status === 403)
    throw new CaError("credentials", `the authority does not accept the credentials (status ${status})`, status);
  if (status !== 200) throw new CaError("refused", `the authority answered with status ${status}`, status);
  const pkcs7 = fromBase64(body.toString("latin1"));
  const certificates = pkcs7 === null ? [] : certificatesIn(pkcs7);
  if (pkcs7 === null || certificates.length === 0)
    throw new CaError("answer", "the authority's answer holds no certificate", status);
  return { pkcs7, certificates };
}

function certificatesIn(pkcs7: Buffer): readonly Certificate[] {
  try {
    return readCertificates(pkcs7);
  } catch {
    return [];
  }
}
