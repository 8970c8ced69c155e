// The identity that the caller's connection proves.
import type { Context } from "../../platform/core/context.ts";
import { identityBySerial, verifyIdentity } from "./identities.ts";

/** Names the serial number of the certificate, in hex. Only trusted proxies are believed. */
const SERIAL = "x-client-cert-serial";

/**
 * The valid identity whose certificate was presented to this server, or to a trusted proxy, which names its serial number.
 * Null if there is none.
 */
export async function presentedIdentity(ctx: Context) {
  const serial = ctx.proxyHeader?.(SERIAL) ?? null;
  if (serial !== null) return identityBySerial(ctx, serial);
  const presented = ctx.clientCertificate?.() ?? null;
  return presented && (await verifyIdentity(ctx, presented));
}
