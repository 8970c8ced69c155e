// What new hosts must know to trust a server whose certificate no system trusts.
import { createHash, X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import type { Context } from "../../platform/core/context.ts";
import { ownCertificates } from "../../settings/app-config/certificate.ts";

interface PrivateCertificate {
  /** The authority, in PEM. A self-signed certificate is its own. */
  readonly authority: string;
  /** SHA-256 of the public key of the server's certificate, in base64, as curl takes it. */
  readonly keyPin: string;
}

/**
 * Null: the server has no TLS, or systems trust its certificate, or the file lacks the authority. Null also behind a
 * proxy, because new hosts see the proxy's certificate.
 */
export async function privateCertificate(ctx: Pick<Context, "settings" | "log">): Promise<PrivateCertificate | null> {
  if (ctx.settings.trusted_proxies.length > 0) return null;
  const pem = await ownCertificates(ctx);
  const texts = pem?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (texts.length === 0) return null;
  const [leaf, last] = [new X509Certificate(texts[0]!), new X509Certificate(texts.at(-1)!)];
  const isAuthority = last.subject === last.issuer && last.verify(last.publicKey);
  if (!isAuthority || knownRoots().has(last.fingerprint256)) return null;
  const key = leaf.publicKey.export({ type: "spki", format: "der" });
  return { authority: `${texts.at(-1)}\n`, keyPin: createHash("sha256").update(key).digest("base64") };
}

const knownRoots = (): Set<string> => new Set(rootCertificates.map((pem) => new X509Certificate(pem).fingerprint256));
