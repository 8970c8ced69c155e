// What the answers of iPhones and iPads mean for their hosts.

import type { HostRow } from "../../../hosts/hosts/access.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { deviceSoftware } from "../../../software/software/ingest.ts";
import { type DeviceReport, deviceReports } from "../../reports/write.ts";
import type { AppleAnswered, AppleDeviceListener } from "../channel/listeners.ts";
import { storeProfileList } from "../profiles/reported.ts";
import { appleDetails, PROFILE_LIST } from "./commands.ts";
import { applicationsOf, certificatesOf, factsOf } from "./report.ts";

function reportOf({ requestType, isDone, message }: AppleAnswered, row: HostRow, now: number): DeviceReport {
  const nothing: DeviceReport = { set: {}, os: null, details: null, software: null };
  // A device that refuses has answered, too: it is asked again when its details are due the next time.
  if (requestType === "DeviceInformation") {
    const { set, os } = isDone ? factsOf(message, row) : { set: {}, os: null };
    return { ...nothing, set: { ...set, detail_updated_at: isoAt(now), refetch_requested: false }, os };
  }
  if (!isDone) return nothing;
  if (requestType === "CertificateList") return { ...nothing, details: { certificates: certificatesOf(message) } };
  return requestType === "InstalledApplicationList"
    ? { ...nothing, software: deviceSoftware(row.platform, applicationsOf(message)) }
    : nothing;
}

export const appleDetailReports = deviceReports("details of iPhones and iPads", reportOf);

const readDetails = async (ctx: Context, answer: AppleAnswered): Promise<void> => {
  if (answer.requestType !== PROFILE_LIST) await ctx.running.of(appleDetailReports).add(answer);
  else if (answer.isDone) await storeProfileList(ctx, answer.hostId, answer.message);
};

export const appleDetailsReader: AppleDeviceListener = { readers: { [appleDetails.name]: readDetails } };
