import type { Context } from "../core/context.ts";
import { hostFor } from "../hosts/access.ts";
import { and, eq, not } from "../store/query.ts";
import { cleanEmail } from "../users/rules.ts";
import { deviceMapping, emailsOfHosts } from "./parts.ts";

const CUSTOM = "custom";

export async function mappingOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read", id);
  return mappingNow(ctx, host.id);
}

/** Sets the one entry that users set by hand. A new entry replaces the old one. */
export async function setMapping(ctx: Context, id: number, given: string) {
  const host = await hostFor(ctx, "hosts:device_mapping", id);
  const email = cleanEmail(given);
  await ctx.store.tx(
    async (store) => {
      const own = and(eq("host_id", host.id), eq("source", CUSTOM));
      await store.hostEmails.delete(and(own, not(eq("email", email))));
      await store.hostEmails.upsert([{ host_id: host.id, email, source: CUSTOM }], {
        on: ["host_id", "email", "source"],
        set: [],
        returning: [],
      });
    },
    // Without the lock two concurrent requests would not see each other's entry.
    { lock: `device mapping ${host.id}` },
  );
  return mappingNow(ctx, host.id);
}

async function mappingNow(ctx: Context, id: number) {
  return { host_id: id, device_mapping: deviceMapping((await emailsOfHosts(ctx, [id])).get(id) ?? []) };
}
