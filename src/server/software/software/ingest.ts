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
import { HomeFolders, isUsual } from "./installed-paths.ts";
import { type SoftwareChanges, softwareChanges, softwareFingerprint } from "./inventory.ts";
import { deviceSources, softwareQueries } from "./queries.ts";
import { SoftwareRows } from "./reported-rows/cached.ts";
import type { SoftwareEntry, StoredVersion } from "./reported-rows/read.ts";
import { StoredVersions } from "./stored-versions.ts";
import type { hostSoftware, InstalledDetails } from "./tables.ts";

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

type OldRow = RowOf<typeof hostSoftware> | undefined;

/** What a host has reported, whose fingerprint differs from that of its last report. */
interface ChangedReport extends SoftwareAnswer {
  readonly hostId: number;
  readonly fingerprint: string;
  /** Whether software of the host is stored. */
  readonly hasRow: boolean;
}

interface ReadReport {
  readonly answer: ChangedReport;
  readonly hostId: number;
  readonly old: OldRow;
  /** The ids of the versions that the host has. */
  readonly had: ReadonlySet<number>;
  readonly entries: readonly SoftwareEntry[];
  readonly stored: readonly (StoredVersion | undefined)[];
  /** Versions of sources that were not reported this time. */
  readonly keptVersions: readonly StoredVersion[];
}

interface AdmittedReport extends ReadReport {
  readonly isPartial: boolean;
}

class SoftwareIngest implements SourceWriter<SoftwareAnswer> {
  readonly #services: Services;
  readonly #versions: StoredVersions;
  readonly #rows = new SoftwareRows();
  #unlisten: () => Promise<void> = async () => {};

  private constructor(services: Services) {
    this.#services = services;
    this.#versions = new StoredVersions(services.store);
  }

  static async start(services: Services): Promise<SoftwareIngest> {
    const ingest = new SoftwareIngest(services);
    const forget = () => ingest.forget();
    ingest.#unlisten = await services.store.listen(channels.software, forget, forget);
    return ingest;
  }

  forget(): void {
    this.#versions.forget();
  }

  stop(): Promise<void> {
    return this.#unlisten();
  }

  /** Stores new titles and versions, and plans the writes of the others. */
  async plan(answers: readonly ReportedValue<SoftwareAnswer>[], now: number): Promise<SourcePlan> {
    const changed = await this.#changedReports(answers);
    if (changed.length === 0) return NOTHING_TO_WRITE;
    const reports = await this.#readReports(changed);
    const admitted = await admitEntries(this.#services, reports);
    const plans = reports.map((report, i): AdmittedReport => ({ ...report, ...admitted[i]! }));
    const unknown = new Map<string, SoftwareEntry>();
    for (const { entries, stored } of plans)
      for (let i = 0; i < entries.length; i++)
        if (stored[i] === undefined) unknown.set(entries[i]!.version.identity, entries[i]!);
    const added = await this.#versions.add(unknown);

    const rows = plans.map((report) => rowOf(report, added));
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

  async #changedReports(answers: readonly ReportedValue<SoftwareAnswer>[]): Promise<ChangedReport[]> {
    const reports = answers
      .map(({ hostId, value }) => ({
        ...value,
        hostId,
        fingerprint: softwareFingerprint(value.results, value.platform),
      }))
      .filter(({ fingerprint }) => fingerprint !== "");
    if (reports.length === 0) return [];
    const rows = await this.#services.store.hostSoftware.pick(["id", "fingerprint"], {
      where: oneOf(
        "id",
        reports.map(({ hostId }) => hostId),
      ),
    });
    const fingerprints = new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]));
    return reports
      .filter(({ hostId, fingerprint }) => fingerprints.get(hostId) !== fingerprint)
      .map((report) => ({ ...report, hasRow: fingerprints.has(report.hostId) }));
  }

  async #readReports(changed: readonly ChangedReport[]): Promise<ReadReport[]> {
    const { store, log } = this.#services;
    const oldRows = await store.hostSoftware.getMany(
      changed.filter(({ hasRow }) => hasRow).map(({ hostId }) => hostId),
    );
    const oldById = new Map(oldRows.map((row) => [row.id, row]));
    const oldVersions = await this.#versions.byId([...new Set(oldRows.flatMap((row) => row.software_ids))]);
    return changed.map((answer): ReadReport => {
      const old = oldById.get(answer.hostId);
      const had = (old?.software_ids ?? []).flatMap((id) => oldVersions.get(id) ?? []);
      const changes = softwareChanges(answer.results, {
        platform: answer.platform,
        platformLike: answer.platformLike,
        knownDebNames: new Set(had.filter(({ source }) => source === "deb_packages").map(({ name }) => name)),
        rows: this.#rows,
        storedOf: this.#versions.storedOf,
      });
      const { length } = changes.entries;
      if (length > ENTRIES.max)
        log.warn({ host_id: answer.hostId, entries: length }, "software beyond the limit is left out");
      const { entries, stored } = length > ENTRIES.max ? firstOf(changes) : changes;
      const keptVersions = had.filter(({ source }) => !changes.replaced.includes(source));
      return { answer, hostId: answer.hostId, old, had: new Set(old?.software_ids), entries, stored, keptVersions };
    });
  }
}

/** The row of a host. `added`: the versions that were not stored before, by identity. */
function rowOf(
  { answer, old, entries, stored, keptVersions, isPartial }: AdmittedReport,
  added: ReadonlyMap<string, StoredVersion>,
): HostSoftwareRow {
  const details: InstalledDetails = {};
  const paths = new PathRoom();
  // Repeated ids are dropped by the store.
  const titleIds: number[] = [];
  const softwareIds: number[] = [];
  for (const { id, titleId } of keptVersions) {
    softwareIds.push(id);
    titleIds.push(titleId);
    const detail = old?.details[id];
    if (detail) details[id] = detail;
  }
  const versions = entries.map(({ version }, i) => stored[i] ?? added.get(version.identity)!);
  const homes = new HomeFolders();
  for (let i = 0; i < entries.length; i++) homes.note(entries[i]!.installed_paths[0], versions[i]!.usualPath);
  // Paths that stay were stored with the former home.
  const home = keptVersions.length > 0 && old !== undefined ? old.home : homes.chosen(old?.home ?? "");
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
}

/** What device management reports of a host that has no agent. */
export function deviceSoftware(platform: string, rows: readonly AgentRow[]): SoftwareAnswer {
  const source = deviceSources.find((query) => query.platform === platform);
  return { platform, platformLike: "", results: new Map(source ? [[source.name, { ok: true, rows }]] : []) };
}

export const softwareInventory: InventorySource<SoftwareAnswer> = {
  queries: softwareQueries,
  read: ({ platform, platformLike, results }) => ({ platform, platformLike, results }),
  start: (services) => SoftwareIngest.start(services),
};
