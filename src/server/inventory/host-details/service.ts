import type { Host } from "../../../api/hosts/host.ts";
import { requestDetails } from "../../devices/apple/details/commands.ts";
import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { hostNamed } from "../../hosts/hosts/named.ts";
import { requestRefetches } from "../../hosts/hosts/write.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { visible } from "../../platform/core/security/access.ts";
import { hostsOnWire } from "./wire.ts";

export async function getHost(ctx: Context, id: number, excludeSoftware: boolean): Promise<Host> {
  return wholeHost(ctx, await hostFor(ctx, "hosts:read", id), excludeSoftware);
}

/** The visible host with this name; of several with this hostname, the one with the lowest id. */
export async function getHostByIdentifier(ctx: Context, name: string, excludeSoftware: boolean): Promise<Host> {
  const host = await hostNamed(ctx, name, visible(ctx, "hosts:identify"), { takesFirstHostname: true });
  if (!host) throw notFound("host", name);
  return wholeHost(ctx, host, excludeSoftware);
}

async function wholeHost(ctx: Context, row: HostRow, excludeSoftware: boolean): Promise<Host> {
  const [host] = await hostsOnWire(ctx, [row], { whole: true, software: excludeSoftware ? null : "details" });
  // A host without an inventory has an empty list, not an absent one.
  return excludeSoftware ? host! : { ...host!, software: host!.software ?? [] };
}

export async function refetchHost(ctx: Context, id: number): Promise<void> {
  const host = await hostFor(ctx, "hosts:refetch", id);
  await ctx.store.tx(async (store) => {
    if ((await refetchHosts(within(ctx, store), [host])) === 0) throw notFound("host", id);
  });
}

/** In the caller's transaction, for hosts on which the caller may do it. Returns how many of them there are. */
export async function refetchHosts(inside: Context, hosts: readonly HostRow[]): Promise<number> {
  const count = await requestRefetches(
    inside.store,
    hosts.map(({ id }) => id),
  );
  await requestDetails(inside, hosts);
  return count;
}
