// iPhones and iPads have no agent that sets a token: their page has the hardware UUID in its place, and their identity
// certificate proves that it is the device itself.

import { presentedIdentity } from "../../certificates/device-ca/presented.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, not } from "../../platform/store/query.ts";

const platforms: ReadonlySet<string> = new Set(["ios", "ipados"]);
const UUID = /^[0-9a-f-]{20,64}$/i;

/** The device with this hardware UUID, if its current identity was presented. */
export async function provenPhone(ctx: Context, uuid: string): Promise<HostRow | null> {
  if (!UUID.test(uuid)) return null;
  const identity = await presentedIdentity(ctx);
  if (!identity || identity.host_id === null) return null;
  const host = await ctx.store.hosts.get(identity.host_id);
  if (!host || !platforms.has(host.platform) || host.uuid.toLowerCase() !== uuid.toLowerCase()) return null;
  const where = and(eq("host_id", host.id), eq("identity_id", identity.id), not(eq("state", "removed")));
  return (await ctx.store.appleEnrollments.first({ where })) === null ? null : host;
}
