// Compares what Apple devices and their agents report as installed with the profiles that they should have.
import { dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import type { Context } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { applyEvents, eventsOfReport, type InstalledProfile, type ProfileDeps } from "../../profiles/host-rows.ts";
import { notifyProfiles } from "../../profiles/part.ts";

type ReportedProfiles = ReadonlyMap<number, readonly InstalledProfile[]>;

/** What would change by these reports, which are complete for each of the hosts. */
export async function reportedEvents(store: Pick<ServerTx, "hostProfiles">, reported: ReportedProfiles, now: number) {
  const where = and(
    oneOf("host_id", [...reported.keys()]),
    eq("kind", "profile"),
    eq("operation_type", "install"),
    oneOf("status", ["verifying", "verified", "failed"]),
  );
  const rows = groupBy(await store.hostProfiles.list({ where }), ({ host_id }) => host_id);
  return [...rows].flatMap(([hostId, hostRows]) => eventsOfReport(hostRows, reported.get(hostId) ?? [], now));
}

/** In the caller's transaction. */
export async function writeReported(backing: ProfileDeps, reported: ReportedProfiles, now: number): Promise<void> {
  await applyEvents(backing, await reportedEvents(backing.store, reported, now));
  await notifyProfiles(backing.store, { hostIds: [...reported.keys()] });
}

/** An iPhone or iPad has answered `ProfileList`. It does not report since when it has its profiles. */
export async function storeProfileList(ctx: Context, hostId: number, message: PlistDict): Promise<void> {
  const installed = dictsIn(message, "ProfileList").flatMap((profile): InstalledProfile[] => {
    const identifier = stringIn(profile, "PayloadIdentifier");
    return identifier === null ? [] : [{ identifier, installed_at: null }];
  });
  const reported = new Map([[hostId, installed]]);
  const now = ctx.clock.now();
  if ((await reportedEvents(ctx.store, reported, now)).length === 0) return;
  await ctx.store.tx((store) => writeReported({ store, clock: ctx.clock }, reported, now));
}
