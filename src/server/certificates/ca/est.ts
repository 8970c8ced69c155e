// A client for EST (RFC 7030). URLs include the endpoint's prefix.
import { readCertificates } from "../../../pki/signed-data.ts";
import type { Certificate } from "../../../pki/x509.ts";
import { bytesOfPaddedBase64 } from "../../../text/base64.ts";
import { type Asking, askCa, CaError, mediaType } from "./upstream.ts";

const PKCS7 = "application/pkcs7-mime";

interface EstCa {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

const below = (url: string, call: string): string => {
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/+$/, "")}/${call}`;
  return whole.href;
};

/**
 * Checks that the endpoint returns its CA certificates. The credentials are not tested: EST has no authenticated
 * request without side effects.
 */
export async function checkEst(services: Asking, url: string): Promise<void> {
  const reply = await askCa(services, below(url, "cacerts"), { headers: { accept: PKCS7 } });
  if (reply.status !== 200) throw new CaError("answer", `cacerts returned status ${reply.status}`, reply.status);
  if (mediaType(reply) !== PKCS7) throw new CaError("answer", `cacerts did not return ${PKCS7}`);
  if (bytesOfPaddedBase64(reply.body.toString("latin1")) === null)
    throw new CaError("answer", "cacerts did not return base64");
}

export interface EnrolledCertificates {
  /** The message as sent by the authority. */
  readonly pkcs7: Buffer;
  readonly certificates: readonly Certificate[];
}

/** Sends a certificate signing request. Throws `CaError` with the status, but without any text from the authority. */
export async function simpleEnroll(services: Asking, ca: EstCa, request: Buffer): Promise<EnrolledCertificates> {
  const { status, body } = await askCa(services, below(ca.url, "simpleenroll"), {
    method: "POST",
    headers: { "content-type": "application/pkcs10", accept: PKCS7, "content-transfer-encoding": "base64" },
    auth: { username: ca.username, password: ca.password },
    body: request.toString("base64"),
  });
  if (status === 202) throw new CaError("pending", "the authority must approve the request first (status 202)", 202);
  if (status === 401 || status === 403)
    throw new CaError("credentials", `the authority does not accept the credentials (status ${status})`, status);
  if (status !== 200) throw new CaError("refused", `the authority returned status ${status}`, status);
  const pkcs7 = bytesOfPaddedBase64(body.toString("latin1"));
  const certificates = pkcs7 === null ? [] : certificatesIn(pkcs7);
  if (pkcs7 === null || certificates.length === 0)
    throw new CaError("answer", "the authority's reply contains no certificate", status);
  return { pkcs7, certificates };
}

function certificatesIn(pkcs7: Buffer): readonly Certificate[] {
  try {
    return readCertificates(pkcs7);
  } catch {
    return [];
  }
}
