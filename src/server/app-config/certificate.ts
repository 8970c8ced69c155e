import { readFile } from "node:fs/promises";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { certificateFile } from "../core/security/tls.ts";

/** The server's certificate chain in PEM. The file is read at each call, because it may have been renewed. */
export async function certificateChain({ settings, log }: Context): Promise<{ certificate_chain: string }> {
  const file = certificateFile(settings);
  if (file === null) throw notFound("certificate", "chain");
  try {
    return { certificate_chain: certificatesOf(await readFile(file, "utf8")) };
  } catch (error) {
    log.warn({ err: error }, "the certificate file cannot be read");
    throw notFound("certificate", "chain");
  }
}

/** Only the certificates: the file may also contain the private key. */
function certificatesOf(pem: string): string {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!found) throw new Error("no PEM certificate");
  return `${found.join("\n")}\n`;
}
