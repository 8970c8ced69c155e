// Stores what iPhones and iPads answer to the commands that ask for their details. Answers of many devices share a
// transaction, and only differences are written.
import type { PlistDict } from "../../../../plist/value.ts";
import { isoAt } from "../../../core/clock.ts";
import { createBatcher } from "../../../core/concurrency/batcher.ts";
import type { Context, Services } from "../../../core/context.ts";
import { byId } from "../../../core/maps.ts";
import { startedPart } from "../../../core/running.ts";
import type { HostRow } from "../../../hosts/access.ts";
import { writeDetails } from "../../../hosts/details.ts";
import { detailRowOf, type HostDetails } from "../../../hosts/inventory/details.ts";
import { NOTHING_TO_WRITE } from "../../../hosts/inventory/source.ts";
import { createOsVersions, type OsIdentity } from "../../../hosts/os-versions.ts";
import { writeReported } from "../../../hosts/reported.ts";
import { deviceSoftware, softwareInventory } from "../../../software/ingest.ts";
import { ReferenceViolation } from "../../../store/store.ts";
import type { AppleAnswered } from "../channel/listeners.ts";
import { applicationsOf, certificatesOf, factsOf } from "./report.ts";

interface Report {
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
  readonly os: OsIdentity | null;
  readonly details: Partial<HostDetails> | null;
  readonly applications: PlistDict | null;
}

function reportOf({ requestType, isDone, message }: AppleAnswered, row: HostRow, now: number): Report {
  const nothing: Report = { row, set: {}, os: null, details: null, applications: null };
  // A device that refuses has answered, too: it is asked again when its details are due the next time.
  if (requestType === "DeviceInformation") {
    const { set, os } = isDone ? factsOf(message, row) : { set: {}, os: null };
    return { ...nothing, set: { ...set, detail_updated_at: isoAt(now), refetch_requested: false }, os };
  }
  if (!isDone) return nothing;
  if (requestType === "CertificateList") return { ...nothing, details: { certificates: certificatesOf(message) } };
  return requestType === "InstalledApplicationList" ? { ...nothing, applications: message } : nothing;
}

export const appleDetailReports = startedPart("details of iPhones and iPads", async (services: Services) => {
  const { store, clock } = services;
  const osVersions = createOsVersions(store);
  const software = await softwareInventory.start!(services);

  async function run(answers: readonly AppleAnswered[]): Promise<null[]> {
    const now = clock.now();
    const rows = byId(await store.hosts.getMany(answers.map(({ hostId }) => hostId)));
    const reports = answers.flatMap((answer) => {
      const row = rows.get(answer.hostId);
      return row ? [reportOf(answer, row, now)] : [];
    });
    const systems = await osVersions.ids(reports.flatMap(({ os }) => os ?? []));
    const applications = reports.flatMap(({ row, applications: answer }) =>
      answer ? [{ hostId: row.id, value: deviceSoftware(row.platform, applicationsOf(answer)) }] : [],
    );
    const plan = applications.length === 0 ? NOTHING_TO_WRITE : await software.plan(applications, now);
    const detailed = reports.filter(({ details }) => details !== null);
    const known = byId(await store.hostDetails.getMany(detailed.map(({ row }) => row.id)));
    const changed = detailed.flatMap(({ row, details }) => detailRowOf(row.id, known.get(row.id), details!) ?? []);
    await store.tx(async (tx) => {
      const reported = reports.map(({ row, set, os }) => ({
        row,
        set: { ...set, ...(os && { os_version_id: systems.of(os) }), ...plan.hosts?.get(row.id) },
      }));
      await writeReported(tx, now, reported);
      await writeDetails(tx, changed);
      await plan.write?.(tx);
    });
    return answers.map(() => null);
  }

  async function guarded(answers: readonly AppleAnswered[]): Promise<null[]> {
    try {
      return await run(answers);
    } catch (error) {
      if (!(error instanceof ReferenceViolation)) throw error;
      // A host or version was deleted in the meantime.
      osVersions.forget();
      software.forget?.();
      return run(answers);
    }
  }

  const batches = createBatcher(guarded, {
    size: store.engine === "lowdb" ? 8 : 24,
    parallel: 1,
    key: ({ hostId }: AppleAnswered) => hostId,
  });
  return {
    add: (answer: AppleAnswered) => batches.add(answer),
    async stop() {
      await batches.idle();
      await software.stop?.();
    },
  };
});

export const readDetails = async (ctx: Context, answer: AppleAnswered): Promise<void> => {
  await ctx.running.of(appleDetailReports).add(answer);
};
