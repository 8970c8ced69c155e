import type { Context } from "../core/context.ts";
import { hostFor } from "../hosts/access.ts";
import { setCustomEmail } from "../hosts/emails.ts";
import { cleanEmail } from "../users/rules.ts";
import { deviceMapping, emailsOfHosts } from "./parts.ts";

export async function mappingOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read", id);
  return mappingNow(ctx, host.id);
}

/** Sets the one entry that users set by hand. A new entry replaces the old one. */
export async function setMapping(ctx: Context, id: number, given: string) {
  const host = await hostFor(ctx, "hosts:device_mapping", id);
  const email = cleanEmail(given);
  await ctx.store.tx(
    (store) => setCustomEmail(store, host.id, email),
    // Without the lock two concurrent requests would not see each other's entry.
    { lock: `device mapping ${host.id}` },
  );
  return mappingNow(ctx, host.id);
}

async function mappingNow(ctx: Context, id: number) {
  return { host_id: id, device_mapping: deviceMapping((await emailsOfHosts(ctx, [id])).get(id) ?? []) };
}
