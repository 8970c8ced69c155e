// Stores the software that hosts report: titles and versions once for all hosts, and one row per host, which is
// written only if the host's inventory has changed.

import { isDeepStrictEqual } from "node:util";
import {
  type Answers,
  type InventorySource,
  NOTHING_TO_WRITE,
  type ReportedValue,
  type SourcePlan,
  type SourceWriter,
} from "../../hosts/hosts/inventory/source.ts";
import type { AgentRow } from "../../platform/agent-protocol/rows.ts";
import { channels } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { admitEntries, ENTRIES, PathRoom } from "./additions.ts";
import { type HostSoftwareRow, writeHostSoftware } from "./host-rows.ts";
import { HomeFolders, isUsual, usualPathOf } from "./installed-paths.ts";
import { type SoftwareChanges, softwareChanges, softwareFingerprint, softwareKey, titleKey } from "./inventory.ts";
import { deviceSources, softwareQueries } from "./queries.ts";
import {
  type ReportedVersion,
  type SoftwareEntry,
  SoftwareRows,
  type SoftwareVersion,
  type StoredVersion,
} from "./rows.ts";
import type { hostSoftware, InstalledDetails, software } from "./tables.ts";
import { keyOfVersion } from "./version-keys-job.ts";

/** All results, because unchanged ones are recognized without reading their rows. */
export type SoftwareAnswer = Pick<Answers, "platform" | "platformLike" | "results">;

/** Whether both rows have the same software, in any order. */
function isSame(row: HostSoftwareRow, old: RowOf<typeof hostSoftware> | undefined): boolean {
  if (!old) return false;
  const had = new Set(old.software_ids);
  return (
    new Set(row.software_ids).size === had.size &&
    row.software_ids.every((id) => had.has(id)) &&
    row.home === old.home &&
    isDeepStrictEqual(row.details, old.details)
  );
}

/** The first entries, which do not depend on the order of the rows. */
function firstOf({ entries, stored }: Pick<SoftwareChanges, "entries" | "stored">) {
  const places = entries.map((_, place) => place);
  const identity = (place: number) => entries[place]!.version.identity;
  const first = places.sort((a, b) => (identity(a) < identity(b) ? -1 : 1)).slice(0, ENTRIES.max);
  return { entries: first.map((place) => entries[place]!), stored: first.map((place) => stored[place]) };
}

const HELD_MAX = 150_000;

const storedVersion = (
  row: Pick<RowOf<typeof software>, "id" | "title_id" | "name" | "source" | "usual_path">,
): StoredVersion => ({
  id: row.id,
  titleId: row.title_id,
  name: row.name,
  source: row.source,
  usualPath: row.usual_path,
  isKnown: false,
  markedBy: null,
  place: 0,
});

async function startSoftware(services: Services): Promise<SourceWriter<SoftwareAnswer>> {
  const { store, log } = services;
  const byIdentity = new Map<string, StoredVersion>();
  const byId = new Map<number, StoredVersion>();
  const knownRows = new SoftwareRows();
  let forgotten = 0;

  function forget(): void {
    forgotten++;
    for (const version of byIdentity.values()) version.isKnown = false;
    byIdentity.clear();
    byId.clear();
  }

  /** Never replaces a version, so that there is one object for each identity. */
  function hold(identity: string, version: StoredVersion): void {
    if (byIdentity.size >= HELD_MAX) forget();
    if (byIdentity.has(identity)) return;
    version.isKnown = true;
    byIdentity.set(identity, version);
    byId.set(version.id, version);
  }

  function storedOf(version: ReportedVersion): StoredVersion | undefined {
    if (version.stored?.isKnown) return version.stored;
    const held = byIdentity.get(version.identity);
    version.stored = held ?? null;
    return held;
  }

  /**
   * Titles and versions are written before the hosts' rows and in a transaction of their own: a version without hosts
   * does no harm.
   */
  async function versionsOf(entries: ReadonlyMap<string, SoftwareEntry>): Promise<ReadonlyMap<string, StoredVersion>> {
    const versions = new Map<string, StoredVersion>();
    const missing = [...entries];
    if (missing.length === 0) return versions;

    const before = forgotten;
    const titles = new Map<string, SoftwareVersion>();
    const titleKeys = missing.map(([, { version }]) => titleKey(version.software));
    missing.forEach(([, { version }], i) => void titles.set(titleKeys[i]!, version.software));
    const titleRows = await store.softwareTitles.upsert(
      [...titles].map(([key, { name, source, extension_for, bundle_identifier }]) => ({
        key,
        name,
        source,
        extension_for,
        bundle_identifier,
        named_by: "hosts" as const,
      })),
      { on: ["key"], set: [], returning: ["id", "key"] },
    );
    const titleIds = new Map(titleRows.map(({ key, id }) => [key, id]));
    const rows = await store.software.upsert(
      missing.map(([, { version, installed_paths }], i) => ({
        ...version.software,
        version_key: keyOfVersion(version.software),
        key: softwareKey(version.software),
        title_id: titleIds.get(titleKeys[i]!)!,
        usual_path: usualPathOf(installed_paths[0]),
      })),
      { on: ["key"], set: [], returning: ["id", "title_id", "usual_path"] },
    );
    missing.forEach(([identity, { version }], i) => {
      const { name, source } = version.software;
      const stored = storedVersion({ ...rows[i]!, name, source });
      versions.set(identity, stored);
      // Not cached if the cache was cleared in the meantime, because the version may have been deleted.
      if (before === forgotten) hold(identity, stored);
    });
    return versions;
  }

  async function versionsById(ids: readonly number[]): Promise<Map<number, StoredVersion>> {
    const versions = new Map<number, StoredVersion>();
    const missing: number[] = [];
    for (const id of ids) {
      const held = byId.get(id);
      if (held) versions.set(id, held);
      else missing.push(id);
    }
    if (missing.length > 0)
      for (const row of await store.software.pick(["id", "title_id", "name", "source", "usual_path"], {
        where: oneOf("id", missing),
      }))
        versions.set(row.id, storedVersion(row));
    return versions;
  }

  /** Stores new titles and versions, and plans the writes of the others. */
  async function plan(answers: readonly ReportedValue<SoftwareAnswer>[], now: number): Promise<SourcePlan> {
    const printed = answers
      .map(({ hostId, value }) => ({
        ...value,
        hostId,
        fingerprint: softwareFingerprint(value.results, value.platform),
      }))
      .filter(({ fingerprint }) => fingerprint !== "");
    if (printed.length === 0) return NOTHING_TO_WRITE;
    const prints = await store.hostSoftware.pick(["id", "fingerprint"], {
      where: oneOf(
        "id",
        printed.map(({ hostId }) => hostId),
      ),
    });
    const printOf = new Map(prints.map(({ id, fingerprint }) => [id, fingerprint]));
    const changed = printed.filter(({ hostId, fingerprint }) => printOf.get(hostId) !== fingerprint);
    if (changed.length === 0) return NOTHING_TO_WRITE;

    const oldRows = await store.hostSoftware.getMany(
      changed.map(({ hostId }) => hostId).filter((id) => printOf.has(id)),
    );
    const oldOf = new Map(oldRows.map((row) => [row.id, row]));
    const oldVersions = await versionsById([...new Set(oldRows.flatMap((row) => row.software_ids))]);

    const reported = changed.map((answer) => {
      const old = oldOf.get(answer.hostId);
      const had = (old?.software_ids ?? []).flatMap((id) => oldVersions.get(id) ?? []);
      const changes = softwareChanges(answer.results, {
        platform: answer.platform,
        platformLike: answer.platformLike,
        knownDebNames: new Set(had.filter(({ source }) => source === "deb_packages").map(({ name }) => name)),
        rows: knownRows,
        storedOf,
      });
      const { length } = changes.entries;
      if (length > ENTRIES.max)
        log.warn({ host_id: answer.hostId, entries: length }, "software beyond the limit is left out");
      const { entries, stored } = length > ENTRIES.max ? firstOf(changes) : changes;
      const kept = had.filter(({ source }) => !changes.replaced.includes(source));
      return { answer, hostId: answer.hostId, old, had: new Set(old?.software_ids), entries, stored, kept };
    });
    const admitted = await admitEntries(services, reported);
    const plans = reported.map((host, i) => ({ ...host, ...admitted[i]! }));
    const unknown = new Map<string, SoftwareEntry>();
    for (const { entries, stored } of plans)
      for (let i = 0; i < entries.length; i++)
        if (stored[i] === undefined) unknown.set(entries[i]!.version.identity, entries[i]!);
    const added = await versionsOf(unknown);

    const rows = plans.map(({ answer, old, entries, stored, kept, isPartial }) => {
      const details: InstalledDetails = {};
      const paths = new PathRoom();
      // Repeated ids are dropped by the store.
      const titleIds: number[] = [];
      const softwareIds: number[] = [];
      for (const { id, titleId } of kept) {
        softwareIds.push(id);
        titleIds.push(titleId);
        const detail = old?.details[id];
        if (detail) details[id] = detail;
      }
      const versions = entries.map(({ version }, i) => stored[i] ?? added.get(version.identity)!);
      const homes = new HomeFolders();
      for (let i = 0; i < entries.length; i++) homes.note(entries[i]!.installed_paths[0], versions[i]!.usualPath);
      // Paths that stay were stored with the former home.
      const home = kept.length > 0 && old !== undefined ? old.home : homes.chosen(old?.home ?? "");
      for (let i = 0; i < entries.length; i++) {
        const { installed_paths, last_opened_at } = entries[i]!;
        const { id, titleId, usualPath } = versions[i]!;
        softwareIds.push(id);
        titleIds.push(titleId);
        if (!isUsual(installed_paths, usualPath, home)) details[id] = [last_opened_at, paths.fit(installed_paths)];
        else if (last_opened_at !== null) details[id] = [last_opened_at];
      }
      return {
        id: answer.hostId,
        software_ids: softwareIds,
        title_ids: titleIds,
        details,
        home,
        // What was left out is stored by a later report, even if that is the same.
        fingerprint: isPartial ? "" : answer.fingerprint,
      };
    });
    const isDifferent = (row: HostSoftwareRow, i: number) => !isSame(row, plans[i]!.old);
    const differing = rows.filter(isDifferent);
    const same = rows.filter((row, i) => !isDifferent(row, i));
    return {
      write: async (tx) => {
        await tx.hostSoftware.updateEach(same.map(({ id, fingerprint }) => ({ id, fingerprint: fingerprint ?? "" })));
        await writeHostSoftware(tx, differing);
      },
      hosts: new Map(differing.map(({ id }) => [id, { software_updated_at: isoAt(now) }])),
    };
  }

  const stop = await store.listen(channels.software, forget, forget);
  return { plan, forget, stop };
}

/** What device management reports of a host that has no agent. */
export function deviceSoftware(platform: string, rows: readonly AgentRow[]): SoftwareAnswer {
  const source = deviceSources.find((query) => query.platform === platform);
  return { platform, platformLike: "", results: new Map(source ? [[source.name, { ok: true, rows }]] : []) };
}

export const softwareInventory: InventorySource<SoftwareAnswer> = {
  queries: softwareQueries,
  read: ({ platform, platformLike, results }) => ({ platform, platformLike, results }),
  start: startSoftware,
};
