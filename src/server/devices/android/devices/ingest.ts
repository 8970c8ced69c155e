// Writes what devices report to their hosts.

import { seenRow, updateSeen } from "../../../hosts/hosts/seen.ts";
import { writeCheckIns } from "../../../hosts/mdm-status/managed.ts";
import type { Context } from "../../../platform/core/context.ts";
import { deviceReports } from "../../reports/write.ts";
import { reporting } from "./enroll.ts";
import { reportOf } from "./report.ts";

export const androidReports = deviceReports("reports of Android devices", reportOf);

export async function markSeen({ store, clock }: Context, hostId: number): Promise<void> {
  const now = clock.now();
  await writeCheckIns(store, new Map([[hostId, now]]));
  await updateSeen(store, [seenRow({ id: hostId, ...reporting }, now)], () => true);
}
