// Operating system releases: one row each, with the number of its hosts.
import type { Services } from "../core/context.ts";
import { asCounts, countOf, without, writeCounts } from "../core/counts.ts";
import type { ServerStore } from "../core/tables.ts";
import { and, exists, not, oneOf } from "../store/query.ts";
import { removeUnused } from "../unused-rows/remove.ts";
import { hosts } from "./tables.ts";

/** An operating system release, as used to group and filter hosts. */
export interface OsIdentity {
  readonly name: string;
  readonly version: string;
  readonly platform: string;
}

export interface OsVersions {
  /** The ids of these OS versions; missing ones are created. */
  ids(systems: readonly OsIdentity[]): Promise<{ of(system: OsIdentity): number }>;
  forget(): void;
}

const CACHED_MAX = 10_000;

const keyOf = ({ name, version, platform }: OsIdentity): string => `${platform}\0${name}\0${version}`;

export function createOsVersions(store: ServerStore): OsVersions {
  const cached = new Map<string, number>();
  return {
    async ids(systems) {
      const missing = new Map<string, OsIdentity>();
      const found = new Map<string, number>();
      for (const system of systems) {
        const key = keyOf(system);
        const id = cached.get(key);
        if (id === undefined) missing.set(key, system);
        else found.set(key, id);
      }
      if (missing.size > 0) {
        const rows = await store.osVersions.upsert(
          [...missing.values()].map(({ name, version, platform }) => ({ name, version, platform })),
          { on: ["name", "version", "platform"], set: [] },
        );
        if (cached.size >= CACHED_MAX) cached.clear();
        [...missing.keys()].forEach((key, i) => {
          cached.set(key, rows[i]!.id);
          found.set(key, rows[i]!.id);
        });
      }
      return { of: (system) => found.get(keyOf(system))! };
    },
    forget: () => cached.clear(),
  };
}

/** Corrects the host counts of all releases, and deletes releases that no host has any more. */
export async function countOsVersions(services: Services): Promise<void> {
  const { store } = services;
  const found = asCounts(await store.hosts.groupCount("os_version_id"));
  const ids = await writeCounts(
    store.osVersions,
    ["hosts_count"],
    (id) => ({ hosts_count: countOf(found, id) }),
    (changes) => store.osVersions.updateEach(changes),
  );
  await removeUnused(services, "os_versions", without(ids, found), (some) =>
    store.osVersions.delete(and(oneOf("id", some), not(exists(hosts, "os_version_id")))),
  );
}
