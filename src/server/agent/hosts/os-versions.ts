import type { ServerStore } from "../../core/tables.ts";
import type { OsIdentity } from "../inventory/os-version.ts";

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
