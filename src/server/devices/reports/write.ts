import { recordSystems, systemChanges } from "../../hosts/count-changes/vulnerabilities.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { writeDetails } from "../../hosts/hosts/details.ts";
import { detailRowOf, type HostDetails } from "../../hosts/hosts/inventory/details.ts";
import { NOTHING_TO_WRITE } from "../../hosts/hosts/inventory/source.ts";
import { createOsVersions, type OsIdentity } from "../../hosts/hosts/os-versions.ts";
import { writeReported } from "../../hosts/hosts/reported.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { type StartedPart, startedPart } from "../../platform/core/running.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { type SoftwareAnswer, softwareInventory } from "../../software/software/ingest.ts";

/** What one message says of a host. Null: nothing. */
export interface DeviceReport {
  readonly set: Partial<HostRow>;
  readonly os: OsIdentity | null;
  readonly details: Partial<HostDetails> | null;
  readonly software: SoftwareAnswer | null;
}

/** `read` is pure. */
type ReadReport<M> = (message: M, row: HostRow, now: number) => DeviceReport;

interface Inventories {
  readonly osVersions: ReturnType<typeof createOsVersions>;
  readonly software: Awaited<ReturnType<NonNullable<typeof softwareInventory.start>>>;
}

/** A part that writes the reports of a platform. */
export const deviceReports = <M extends { readonly hostId: number }>(
  name: string,
  read: ReadReport<M>,
): StartedPart<DeviceReports<M>> =>
  startedPart(name, async (services: Services) => {
    const software = await softwareInventory.start!(services);
    return new DeviceReports(services, read, { osVersions: createOsVersions(services), software });
  });

class DeviceReports<M extends { readonly hostId: number }> {
  readonly #services: Services;
  readonly #read: ReadReport<M>;
  readonly #inventories: Inventories;
  readonly #batches: Batcher<M, null>;

  constructor(services: Services, read: ReadReport<M>, inventories: Inventories) {
    this.#services = services;
    this.#read = read;
    this.#inventories = inventories;
    this.#batches = new Batcher((messages: readonly M[]) => this.#writeGuarded(messages), {
      size: services.store.engine === "lowdb" ? 8 : 24,
      parallel: 1,
      key: ({ hostId }: M) => hostId,
    });
  }

  /** Resolves when the message's report is written. Messages of hosts that were deleted are dropped. */
  add(message: M): Promise<null> {
    return this.#batches.add(message);
  }

  async stop(): Promise<void> {
    await this.#batches.idle();
    await this.#inventories.software.stop?.();
  }

  async #writeGuarded(messages: readonly M[]): Promise<null[]> {
    try {
      return await this.#write(messages);
    } catch (error) {
      if (!(error instanceof ReferenceViolation)) throw error;
      // A host or version was deleted in the meantime.
      this.#inventories.osVersions.forget();
      this.#inventories.software.forget?.();
      return this.#write(messages);
    }
  }

  async #write(messages: readonly M[]): Promise<null[]> {
    const { store, clock } = this.#services;
    const { osVersions, software } = this.#inventories;
    const now = clock.now();
    const rows = byId(await store.hosts.getMany(messages.map(({ hostId }) => hostId)));
    const reports = messages.flatMap((message) => {
      const row = rows.get(message.hostId);
      return row ? [{ row, ...this.#read(message, row, now) }] : [];
    });
    const systems = await osVersions.ids(
      reports.flatMap(({ row, os }) => (os === null ? [] : [{ hostId: row.id, system: os }])),
    );
    const answers = reports.flatMap(({ row, software: value }) => (value ? [{ hostId: row.id, value }] : []));
    const plan = answers.length === 0 ? NOTHING_TO_WRITE : await software.plan(answers, now);
    const detailed = reports.filter(({ details }) => details !== null);
    const existing = byId(await store.hostDetails.getMany(detailed.map(({ row }) => row.id)));
    const changed = detailed.flatMap(({ row, details }) => detailRowOf(row.id, existing.get(row.id), details!) ?? []);
    await store.tx(async (tx) => {
      const reported = reports.map(({ row, set, os }) => ({
        row,
        set: { ...set, ...(os && { os_version_id: systems.of(os) }), ...plan.hosts?.get(row.id) },
      }));
      await writeReported(tx, now, reported);
      await recordSystems(tx, systemChanges(reported));
      await writeDetails(tx, changed);
      await plan.write?.(tx);
    });
    return messages.map(() => null);
  }
}
