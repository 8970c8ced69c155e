import { grant, hostLimit, type LimitServices } from "./usage.ts";

/** Names are rows for all hosts, so a host that reports new ones each time would fill the store. */
export const SHARED_NAMES = hostLimit("shared_names", {
  what: "names that no other host has reported: releases of operating systems, device management products, issues of Munki",
  max: 2_000,
  unit: "entries",
  period: 24 * 3_600_000,
  beyond: "The host keeps what was stored before; further issues are left out.",
});

/** How many of its new names each host may add, in a function by the host's id. */
export async function admitNames(
  services: LimitServices,
  amounts: ReadonlyMap<number, number>,
): Promise<(hostId: number) => number> {
  const granted = await grant(services, SHARED_NAMES, amounts, { lock: true });
  return (hostId) => granted.get(hostId) ?? 0;
}
