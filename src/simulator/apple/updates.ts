// What a simulated device reports about updates of its system, if a declaration subscribes to that.
import type { ReceivedDeclaration } from "./state.ts";

export interface UpdateFacts {
  /** The name of the device in the vendor's list of updates. */
  readonly device: string;
  readonly osVersion: string;
  /** The device has tried to update its system, and failed. */
  readonly updateFails: boolean;
}

/** The subscribed status items below `softwareupdate`; an empty object if there is no subscription. */
export function updateItems(
  declarations: readonly ReceivedDeclaration[],
  { device, osVersion, updateFails }: UpdateFacts,
): { softwareupdate?: Readonly<Record<string, unknown>> } {
  const active = declarations.filter((declaration) => declaration.active);
  const subscribed = new Set(active.flatMap(({ items }) => items));
  const target = active.flatMap(({ version }) => version ?? []).find((version) => isNewer(version, osVersion)) ?? null;
  const isFailed = target !== null && updateFails;
  const all: Record<string, unknown> = {
    "device-id": device,
    "install-state": target === null || isFailed ? "none" : "downloading",
    "pending-version": target === null ? {} : { "os-version": target },
    "failure-reason": isFailed ? { count: 1, reason: "not enough free space" } : { count: 0 },
  };
  const items = Object.entries(all).filter(([name]) => subscribed.has(`softwareupdate.${name}`));
  return items.length === 0 ? {} : { softwareupdate: Object.fromEntries(items) };
}

/** Compares the numbers of two versions. */
function isNewer(version: string, other: string): boolean {
  const [a, b] = [version.split(".").map(Number), other.split(".").map(Number)];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
