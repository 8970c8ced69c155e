import { readFile } from "node:fs/promises";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { certificateFile } from "../../platform/core/security/tls.ts";

export async function certificateChain(ctx: Context): Promise<{ certificate_chain: string }> {
  const chain = await ownCertificates(ctx);
  if (chain === null) throw notFound("certificate", "chain");
  return { certificate_chain: chain };
}

/**
 * The server's certificate and its chain in PEM; null if it does not use TLS. The file is read at each call, because it
 * may have been renewed.
 */
export async function ownCertificates({ settings, log }: Pick<Context, "settings" | "log">): Promise<string | null> {
  const file = certificateFile(settings);
  if (file === null) return null;
  try {
    return certificatesOf(await readFile(file, "utf8"));
  } catch (error) {
    log.warn({ err: error }, "the certificate file cannot be read");
    return null;
  }
}

/** Only the certificates: the file may also contain the private key. */
function certificatesOf(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!blocks) throw new Error("no PEM certificate");
  return `${blocks.join("\n")}\n`;
}
