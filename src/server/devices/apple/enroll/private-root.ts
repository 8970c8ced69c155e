import { X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import type { Context } from "../../../platform/core/context.ts";
import { ownCertificates } from "../../../settings/app-config/certificate.ts";

let publicRoots: ReadonlySet<string> | undefined;

/** Parsed once, at the first enrollment: there are more than a hundred. */
function isPublic(root: X509Certificate): boolean {
  publicRoots ??= new Set(rootCertificates.map((pem) => new X509Certificate(pem).fingerprint256));
  return publicRoots.has(root.fingerprint256);
}

/**
 * The root of the server's own certificate, in DER, if devices do not trust it by themselves. Null for a root that is
 * publicly known or not in the file (`tls_cert`), and if the server itself does not use TLS.
 */
export async function privateRoot(ctx: Pick<Context, "settings" | "log">): Promise<Buffer | null> {
  const pem = (await ownCertificates(ctx)) ?? "";
  const chain = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (block) => new X509Certificate(block),
  );
  const root = chain.find((candidate) => candidate.checkIssued(candidate));
  return root && !isPublic(root) ? Buffer.from(root.raw) : null;
}
