// The distributions on which packages of Debian, Ubuntu and Alpine are installed: a package's version does not name its own.
import { setImmediate as breathe } from "node:timers/promises";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, has, oneOf, type Predicate } from "../../../platform/store/query.ts";

/** Hosts whose lists are in memory at the same time. */
const BATCH_SIZE = 200;
/** Reads of hosts for the versions of one batch; each finds at least one more version. */
const READS_MAX = 40;

export interface Releases {
  of(softwareId: number): readonly string[];
  /** Whether any host was found that has the version. */
  isInstalled(softwareId: number): boolean;
}

/** The ecosystem of OSV, such as `Ubuntu:22.04` or `Debian:12`; null: it has no advisories for this system. */
function releaseOf(system: { readonly name: string; readonly version: string; readonly platform: string }) {
  if (system.platform === "ubuntu") {
    const number = /^\s*(\d+\.\d+)/.exec(system.version)?.[1];
    return number === undefined ? null : `Ubuntu:${number}`;
  }
  if (system.platform === "debian") {
    const number = /^\s*(\d+)/.exec(system.version)?.[1];
    return number === undefined ? null : `Debian:${number}`;
  }
  if (system.platform === "alpine") {
    const number = /^\s*(\d+\.\d+)/.exec(system.version)?.[1];
    return number === undefined ? null : `Alpine:v${number}`;
  }
  return null;
}

async function releasesBySystem(store: ServerTx): Promise<Map<number, string>> {
  const releases = new Map<number, string>();
  for (const row of await store.osVersions.list({ where: oneOf("platform", ["ubuntu", "debian", "alpine"]) })) {
    const release = releaseOf(row);
    if (release !== null) releases.set(row.id, release);
  }
  return releases;
}

/** Sets of releases by version; equal sets are the same list, because there are few. */
class CollectedReleases implements Releases {
  readonly #installed = new Set<number>();
  readonly #sets = new Map<number, readonly string[]>();
  readonly #shared = new Map<string, readonly string[]>();

  of(softwareId: number): readonly string[] {
    return this.#sets.get(softwareId) ?? [];
  }

  isInstalled(softwareId: number): boolean {
    return this.#installed.has(softwareId) || this.#sets.has(softwareId);
  }

  /** On a system without advisories. */
  addInstalled(softwareId: number): void {
    this.#installed.add(softwareId);
  }

  add(softwareId: number, release: string): void {
    const old = this.#sets.get(softwareId);
    if (old?.includes(release)) return;
    const next = [...(old ?? []), release].sort();
    const key = next.join(" ");
    const shared = this.#shared.get(key) ?? next;
    this.#shared.set(key, shared);
    this.#sets.set(softwareId, shared);
  }
}

async function addHosts(
  store: ServerTx,
  rows: readonly { readonly id: number; readonly software_ids: readonly number[] }[],
  systems: ReadonlyMap<number, string>,
  add: (softwareId: number, release: string) => void,
): Promise<void> {
  const where = and(
    oneOf(
      "id",
      rows.map(({ id }) => id),
    ),
    isOn(systems),
  );
  const hosts = await store.hosts.pick(["id", "os_version_id"], { where });
  const systemOf = new Map(hosts.map(({ id, os_version_id }) => [id, os_version_id]));
  for (const { id, software_ids } of rows) {
    const release = systems.get(systemOf.get(id) ?? 0);
    if (release !== undefined) for (const softwareId of software_ids) add(softwareId, release);
  }
}

const isOn = (systems: ReadonlyMap<number, string>): Predicate => oneOf("os_version_id", [...systems.keys()]);

/** The releases of all versions, from the lists of all hosts with these distributions. */
export async function allReleases(store: ServerTx, signal: AbortSignal): Promise<Releases> {
  const releases = new CollectedReleases();
  const systems = await releasesBySystem(store);
  if (systems.size === 0) return releases;
  for await (const hosts of store.hosts.pages({ where: isOn(systems) }, BATCH_SIZE, ["id", "os_version_id"])) {
    if (signal.aborted) break;
    const systemOf = new Map(hosts.map(({ id, os_version_id }) => [id, os_version_id]));
    const lists = await store.hostSoftware.pick(["id", "software_ids"], { where: oneOf("id", [...systemOf.keys()]) });
    for (const { id, software_ids } of lists) {
      const release = systems.get(systemOf.get(id) ?? 0);
      if (release !== undefined) for (const softwareId of software_ids) releases.add(softwareId, release);
    }
    await breathe();
  }
  return releases;
}

/** The releases of new versions, from some of the hosts that have them. */
export async function releasesOf(store: ServerTx, ids: readonly number[]): Promise<Releases> {
  const releases = new CollectedReleases();
  const systems = await releasesBySystem(store);
  const missing = new Set(ids);
  const readHosts = new Set<number>();
  for (let read = 0; read < READS_MAX && missing.size > 0; read++) {
    const rows = await store.hostSoftware.pick(["id", "software_ids"], {
      where: has("software_ids", ...missing),
      limit: 20,
    });
    const fresh = rows.filter(({ id }) => !readHosts.has(id));
    await addHosts(store, fresh, systems, (id, release) => missing.has(id) && releases.add(id, release));
    for (const { id, software_ids } of rows) {
      readHosts.add(id);
      for (const softwareId of software_ids) if (missing.delete(softwareId)) releases.addInstalled(softwareId);
    }
    if (fresh.length === 0) break;
  }
  return releases;
}
