import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";

/** Bundles of the operating system's trusted certificates. On other systems Node's own list is used. */
const bundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Trusts Node's certificates (including NODE_EXTRA_CA_CERTS) and those in the first of these files that exists. */
export async function trusting(files: readonly string[] = bundles): Promise<SecureContext> {
  const context = createSecureContext({ minVersion: "TLSv1.2" });
  for (const file of files) {
    const pem = await readFile(file, "utf8").catch(() => "");
    if (pem === "") continue;
    // Added one by one: the option `ca` would disable NODE_EXTRA_CA_CERTS.
    for (const [certificate] of pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g))
      (context.context as { addCACert(pem: string): void }).addCACert(certificate);
    break;
  }
  return context;
}

let cached: Promise<SecureContext> | undefined;

/** Loaded once; newly trusted certificates take effect after a restart. */
export function systemTrust(): Promise<SecureContext> {
  cached ??= trusting();
  return cached;
}
