// Requests the certificates of a SCEP server (RFC 8894).
import { readCertificates } from "../../../pki/signed-data.ts";
import { type Certificate, readCertificate } from "../../../pki/x509.ts";
import { type Asking, askCa, CaError } from "./upstream.ts";

export const operation = (url: string, name: string, message?: string): string => {
  const whole = new URL(url);
  whole.searchParams.set("operation", name);
  if (message !== undefined) whole.searchParams.set("message", message);
  return whole.href;
};

/** Requests the certificates. Used as the check before settings are stored. */
export async function fetchCertificates(services: Asking, url: string): Promise<readonly Certificate[]> {
  const { status, body } = await askCa(services, operation(url, "GetCACert"));
  if (status !== 200) throw new CaError("answer", `GetCACert returned status ${status}`, status);
  const certificates = certificatesIn(body);
  if (certificates.length === 0) throw new CaError("answer", "GetCACert returned no certificate");
  return certificates;
}

/** Accepts a single certificate or a message with several, because servers send wrong content types. */
function certificatesIn(body: Buffer): readonly Certificate[] {
  for (const read of [(bytes: Buffer) => [readCertificate(bytes)], readCertificates])
    try {
      return read(body);
    } catch {}
  return [];
}
