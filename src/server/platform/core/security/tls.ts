import { X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Settings } from "../settings/settings.ts";

export interface TlsFiles {
  /** PEM: the certificate, followed by its intermediates. */
  readonly cert: string;
  readonly key: string;
}

/** An invalid setting; the message names it. */
export class BadSetting extends Error {}

type TlsSettings = Pick<Settings, "tls_cert" | "tls_key" | "tls_self_signed" | "data_dir" | "host" | "server_url">;

/** The path of the certificate that the server uses, or null if TLS is off. */
export function certificateFile(settings: Pick<Settings, "tls_cert" | "tls_self_signed" | "data_dir">): string | null {
  if (settings.tls_cert !== undefined) return settings.tls_cert;
  return settings.tls_self_signed ? join(settings.data_dir, "tls", "cert.pem") : null;
}

/** The certificate and key of the server; a self-signed one is created at the first start. Null if TLS is off. */
export async function loadTls(settings: TlsSettings): Promise<TlsFiles | null> {
  if ((settings.tls_cert === undefined) !== (settings.tls_key === undefined))
    throw new BadSetting("tls_cert and tls_key: both must be set");
  if (settings.tls_cert !== undefined) return readPair(settings.tls_cert, settings.tls_key!);
  if (!settings.tls_self_signed) return null;
  const dir = join(settings.data_dir, "tls");
  const pair = await readPair(join(dir, "cert.pem"), join(dir, "key.pem")).catch(() => null);
  return pair ?? makeSelfSigned(settings, dir);
}

async function readPair(certFile: string, keyFile: string): Promise<TlsFiles> {
  const read = (name: string, file: string) =>
    readFile(file, "utf8").catch((error: Error) => {
      throw new BadSetting(`${name}: ${error.message}`);
    });
  const cert = await read("tls_cert", certFile);
  const key = await read("tls_key", keyFile);
  try {
    new X509Certificate(cert);
  } catch {
    throw new BadSetting(`tls_cert: ${certFile} contains no PEM certificate`);
  }
  return { cert, key };
}

/**
 * ECDSA P-256, valid for ten years, for every name that agents on this network may use. Elliptic-curve keys keep
 * handshakes cheap.
 */
async function makeSelfSigned(settings: TlsSettings, dir: string): Promise<TlsFiles> {
  const names = new Set(["localhost", hostname(), settings.host]);
  if (settings.server_url !== undefined) names.add(new URL(settings.server_url).hostname);
  const dns = [...names].filter((name) => !isAddress(name)).map((value) => ({ type: 2 as const, value }));
  const ips = ["127.0.0.1", "::1", ...names].filter(isAddress).filter((ip) => ip !== "0.0.0.0" && ip !== "::");
  // Hosts whose clocks are behind can connect too.
  const notBeforeDate = new Date(Date.now() - 2 * 86_400_000);
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + 10);
  // Imported on use: the package consists of two hundred files that most servers do not need.
  const { generate } = await import("selfsigned");
  const generated = await generate([{ name: "commonName", value: "svc" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notBeforeDate,
    notAfterDate,
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: [...dns, ...[...new Set(ips)].map((ip) => ({ type: 7 as const, ip }))] },
    ],
  });
  await mkdir(dir, { recursive: true });
  await writeWhole(join(dir, "key.pem"), generated.private, 0o600);
  await writeWhole(join(dir, "cert.pem"), generated.cert, 0o644);
  return { cert: generated.cert, key: generated.private };
}

/** Writes atomically, so that no incomplete file is left after a crash. */
async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  await writeFile(`${path}.new`, text, { mode });
  await chmod(`${path}.new`, mode);
  await rename(`${path}.new`, path);
}

const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(":");
