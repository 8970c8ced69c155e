// Operating system releases: one row each, with the number of its hosts.
import type { Services } from "../../platform/core/context.ts";
import { asCounts, countOf, without, writeCounts } from "../../platform/core/counts.ts";
import { admitNames } from "../../platform/host-limits/shared-names.ts";
import { removeUnused } from "../../platform/shared-rows/unused.ts";
import { and, exists, isNull, not, oneOf } from "../../platform/store/query.ts";
import { systemVersionKey } from "../../platform/versions/ordering.ts";
import { hosts } from "./tables.ts";

/** An operating system release, as used to group and filter hosts. */
export interface OsIdentity {
  readonly name: string;
  readonly version: string;
  readonly platform: string;
}

/** The release that a host reports; without an id for a host that is not stored yet. */
interface ReportedOs {
  readonly hostId: number | null;
  readonly system: OsIdentity;
}

export interface OsVersions {
  /**
   * The ids of these releases; missing ones are created. Undefined for a release that was not created, because its host
   * has added too many.
   */
  ids(reported: readonly ReportedOs[]): Promise<{ of(system: OsIdentity): number | undefined }>;
  forget(): void;
}

const CACHED_MAX = 10_000;

const keyOf = ({ name, version, platform }: OsIdentity): string => `${platform}\0${name}\0${version}`;

export function createOsVersions(services: Pick<Services, "store" | "clock" | "log" | "metrics">): OsVersions {
  const { store } = services;
  const cached = new Map<string, number>();

  async function admitted(missing: readonly ReportedOs[]): Promise<Map<string, OsIdentity>> {
    const amounts = new Map(missing.flatMap(({ hostId }) => (hostId === null ? [] : [[hostId, 1] as const])));
    const roomOf = await admitNames(services, amounts);
    const allowed = missing.filter(({ hostId }) => hostId === null || roomOf(hostId) > 0);
    return new Map(allowed.map(({ system }) => [keyOf(system), system]));
  }

  return {
    async ids(reported) {
      const ids = new Map<string, number>();
      const missing: ReportedOs[] = [];
      for (const os of reported) {
        const key = keyOf(os.system);
        const id = cached.get(key);
        if (id === undefined) missing.push(os);
        else ids.set(key, id);
      }
      if (missing.length > 0) {
        const systems = await admitted(missing);
        const rows = await store.osVersions.upsert(
          [...systems.values()].map(({ name, version, platform }) => ({
            name,
            version,
            version_key: systemVersionKey(version),
            platform,
          })),
          { on: ["name", "version", "platform"], set: [] },
        );
        if (cached.size >= CACHED_MAX) cached.clear();
        [...systems.keys()].forEach((key, i) => {
          cached.set(key, rows[i]!.id);
          ids.set(key, rows[i]!.id);
        });
      }
      return { of: (system) => ids.get(keyOf(system)) };
    },
    forget: () => cached.clear(),
  };
}

/** Fills in the keys that a migration has cleared. */
export async function fillSystemVersionKeys({ store }: Pick<Services, "store">): Promise<void> {
  const rows = await store.osVersions.pick(["id", "version"], { where: isNull("version_key") });
  await store.osVersions.updateEach(rows.map(({ id, version }) => ({ id, version_key: systemVersionKey(version) })));
}

/** Corrects the host counts of all releases, and deletes releases that no host has any more. */
export async function countOsVersions(services: Services): Promise<void> {
  const { store } = services;
  const counts = asCounts(await store.hosts.groupCount("os_version_id"));
  const ids = await writeCounts(
    store.osVersions,
    ["hosts_count"],
    (id) => ({ hosts_count: countOf(counts, id) }),
    (changes) => store.osVersions.updateEach(changes),
  );
  await removeUnused(services, "os_versions", without(ids, counts), (batch) =>
    store.osVersions.delete(and(oneOf("id", batch), not(exists(hosts, "os_version_id")))),
  );
}
