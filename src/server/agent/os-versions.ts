import type { ServerStore } from "../tables.ts";
import type { OsIdentity } from "./inventory/os-version.ts";

export interface OsVersions {
  /** The ids of these systems, made where they are new. */
  ids(systems: readonly OsIdentity[]): Promise<{ of(system: OsIdentity): number }>;
  forget(): void;
}

const HELD_MAX = 10_000;

const keyOf = ({ name, version, platform }: OsIdentity): string => `${platform}\0${name}\0${version}`;

export function createOsVersions(store: ServerStore): OsVersions {
  const held = new Map<string, number>();
  return {
    async ids(systems) {
      const missing = new Map<string, OsIdentity>();
      const found = new Map<string, number>();
      for (const system of systems) {
        const key = keyOf(system);
        const id = held.get(key);
        if (id === undefined) missing.set(key, system);
        else found.set(key, id);
      }
      if (missing.size > 0) {
        const rows = await store.osVersions.upsert(
          [...missing.values()].map(({ name, version, platform }) => ({ name, version, platform })),
          { on: ["name", "version", "platform"], set: [] },
        );
        if (held.size >= HELD_MAX) held.clear();
        [...missing.keys()].forEach((key, i) => {
          held.set(key, rows[i]!.id);
          found.set(key, rows[i]!.id);
        });
      }
      return { of: (system) => found.get(keyOf(system))! };
    },
    forget: () => held.clear(),
  };
}
