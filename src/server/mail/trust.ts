import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";

/** Where systems keep the certificates that they trust, as one file. Elsewhere Node's own list has to do. */
const bundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Trusts what Node does (NODE_EXTRA_CA_CERTS included) and what the first of these files has. */
export async function trusting(files: readonly string[] = bundles): Promise<SecureContext> {
  const made = createSecureContext({ minVersion: "TLSv1.2" });
  for (const file of files) {
    const pem = await readFile(file, "utf8").catch(() => "");
    if (pem === "") continue;
    // With `ca` given instead, NODE_EXTRA_CA_CERTS would count for nothing.
    for (const [certificate] of pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g))
      (made.context as { addCACert(pem: string): void }).addCACert(certificate);
    break;
  }
  return made;
}

let known: Promise<SecureContext> | undefined;

/** Read once: certificates that the system comes to trust count after the next start. */
export function systemTrust(): Promise<SecureContext> {
  known ??= trusting();
  return known;
}
