// The certificate that a client presents: to this server's own TLS listener, or to a trusted proxy.
import { X509Certificate } from "node:crypto";
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
  try {
    return new X509Certificate(der === undefined ? decodeURIComponent(text) : Buffer.from(der, "base64")).raw;
  } catch {
    return null;
  }
}
