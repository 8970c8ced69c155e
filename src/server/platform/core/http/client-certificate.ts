// The certificate that a client presents: to this server's own TLS listener, or to a trusted proxy.
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Settings } from "../settings/settings.ts";
import { isTrustedProxy } from "./proxies.ts";

interface Headers {
  get(name: string): string | null;
}

/** In DER; null: there is none. Nothing of it is verified. */
export function clientCertificate(
  settings: Pick<Settings, "trusted_proxies" | "mdm_identity_header">,
  socket: Socket | undefined,
  headers: Headers,
): Buffer | null {
  if (socket === undefined) return null;
  const { mdm_identity_header: name } = settings;
  if (name !== undefined && isTrustedProxy(settings, socket.remoteAddress ?? "")) {
    const text = headers.get(name);
    return text === null ? null : certificateIn(text);
  }
  if (!(socket instanceof TLSSocket)) return null;
  // Without a certificate, it is an object without members.
  return (socket.getPeerCertificate() as { raw?: Buffer } | null)?.raw ?? null;
}

/** `:base64 of DER:` (RFC 9440), or PEM with URL escapes. */
export function certificateIn(text: string): Buffer | null {
  const [, der] = /^\s*:([A-Za-z0-9+/=]+):\s*$/.exec(text) ?? [];
  const bytes = der === undefined ? fromPem(text) : Buffer.from(der, "base64");
  return bytes !== null && isSequence(bytes) ? bytes : null;
}

function fromPem(text: string): Buffer | null {
  try {
    const pem = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/.exec(decodeURIComponent(text));
    return pem && Buffer.from(pem[1]!, "base64");
  } catch {
    return null;
  }
}

/** The form of every certificate: whether it is one that this server has issued, its digest decides. */
const isSequence = (bytes: Buffer): boolean =>
  bytes.length > 4 && bytes[0] === 0x30 && bytes[1] === 0x82 && bytes.readUInt16BE(2) === bytes.length - 4;
