import type { Host } from "../../api/host.ts";
import { visible } from "../core/access.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { and, eq, or } from "../store/query.ts";
import { type HostRow, hostFor } from "./access.ts";
import { hostsOnWire } from "./wire.ts";

export async function getHost(ctx: Context, id: number, excludeSoftware: boolean): Promise<Host> {
  return wholeHost(ctx, await hostFor(ctx, "hosts:read", id), excludeSoftware);
}

/** The host with the lowest id of those that the caller may see and that go by this name. */
export async function getHostByIdentifier(ctx: Context, name: string, excludeSoftware: boolean): Promise<Host> {
  const named = or(eq("hostname", name), eq("uuid", name), eq("hardware_serial", name), eq("identifier", name));
  const host = await ctx.store.hosts.first({ where: and(visible(ctx, "hosts:identify"), named) });
  if (!host) throw notFound("host", name);
  return wholeHost(ctx, host, excludeSoftware);
}

async function wholeHost(ctx: Context, row: HostRow, excludeSoftware: boolean): Promise<Host> {
  const [host] = await hostsOnWire(ctx, [row], { whole: true, software: excludeSoftware ? null : "details" });
  // Without an inventory the list is there, and empty.
  return excludeSoftware ? host! : { ...host!, software: host!.software ?? [] };
}

export async function refetchHost(ctx: Context, id: number): Promise<void> {
  await hostFor(ctx, "hosts:refetch", id);
  await ctx.store.tx(async (store) => {
    const changed = await store.hosts.update({ where: eq("id", id), set: { refetch_requested: true } });
    if (changed === 0) throw notFound("host", id);
    await store.notify(channels.hosts, hostsPayload([id]));
  });
}
