import { isOneLine, NOT_ONE_LINE } from "../../../api/fields.ts";
import { cleanEmail } from "../../accounts/users/rules.ts";
import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { setAgentEmail, setCustomEmail } from "../../hosts/hosts/emails.ts";
import { clearEndUser, setEndUser } from "../../hosts/scim/links.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { invalid, premiumRequired } from "../../platform/core/errors.ts";
import { deviceMapping, emailsOfHosts } from "./parts.ts";

export async function mappingOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read", id);
  return mappingNow(ctx, host.id);
}

interface MappingInput {
  readonly email: string;
  readonly source: "custom" | "idp";
}

/** Sets the one entry that users set by hand, of its source. A new entry replaces the old one. */
export async function setMapping(ctx: Context, id: number, input: MappingInput) {
  const host = await hostFor(ctx, "hosts:device_mapping", id);
  if (input.source === "idp") return setAccount(ctx, host, input.email);
  const email = cleanEmail(input.email);
  await ctx.store.tx(
    (store) => setCustomEmail(store, host.id, email),
    // Without the lock two concurrent requests would not see each other's entry.
    { lock: `device mapping ${host.id}` },
  );
  return mappingNow(ctx, host.id);
}

/** The user whom the host's agent names. Kept apart from what users enter, because a host may name anybody. */
export async function setAgentMapping(ctx: Context, hostId: number, address: string): Promise<void> {
  const email = cleanEmail(address);
  await ctx.store.tx((store) => setAgentEmail(store, hostId, email), { lock: `device mapping ${hostId}` });
}

/** User names of identity providers need not be email addresses. */
async function setAccount(ctx: Context, identified: HostRow, account: string) {
  if (!isPremium(ctx)) throw premiumRequired();
  const host = await hostFor(ctx, "hosts:idp_user", identified.id);
  const name = account.trim();
  if (name === "" || name.length > 255) throw invalid("email", "must have 1 to 255 characters");
  if (!isOneLine(name)) throw invalid("email", NOT_ONE_LINE);
  await ctx.store.tx(
    async (store) => {
      await setEndUser(store, host.id, name);
      await recordActivity(within(ctx, store), "edited_host_idp_data", about(host, name), { hostId: host.id });
    },
    { lock: `device mapping ${host.id}` },
  );
  return mappingNow(ctx, host.id);
}

const about = (host: HostRow, name: string) => ({
  host_id: host.id,
  host_display_name: host.display_name,
  host_idp_username: name,
});

export async function removeIdpMapping(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "hosts:idp_user", id);
  await ctx.store.tx(
    async (store) => {
      if (!(await clearEndUser(store, host.id))) return;
      await recordActivity(within(ctx, store), "edited_host_idp_data", about(host, ""), { hostId: host.id });
    },
    { lock: `device mapping ${host.id}` },
  );
  return {};
}

async function mappingNow(ctx: Context, id: number) {
  return { host_id: id, device_mapping: deviceMapping((await emailsOfHosts(ctx, [id])).get(id) ?? []) };
}
