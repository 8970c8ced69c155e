// Device management fields: enrollment, settings, disk encryption and the bootstrap package.
import type { HostFilter } from "../../../../api/inventory/host-filters.ts";
import { hostProfiles, type ProfileStatus } from "../../../devices/profiles/tables.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../../hosts/disk-encryption/tables.ts";
import { onPlatform } from "../../../hosts/hosts/status.ts";
import { hostBootstrap, hostMdm, mdmSolutions, windowsServers } from "../../../hosts/mdm-status/tables.ts";
import { hostMunki } from "../../../hosts/munki/tables.ts";
import { settingsAre } from "../../../hosts/os-settings/summary.ts";
import { and, eq, exists, has, isNull, not, oneOf, or, type Predicate } from "../../../platform/store/query.ts";

type FilterValue<K extends keyof HostFilter> = NonNullable<HostFilter[K]>;

const enrollments = {
  manual: ["On (manual)"],
  automatic: ["On (automatic)"],
  enrolled: ["On (manual)", "On (automatic)", "On (personal)"],
  pending: ["Pending"],
  unenrolled: ["Off"],
} as const;

export const enrolledAs = (status: FilterValue<"mdm_enrollment_status">): Predicate =>
  exists(hostMdm, "id", oneOf("enrollment_status", enrollments[status]));

export const inSolution = (id: number): Predicate => exists(hostMdm, "id", eq("solution_id", id));
export const inSolutionWhere = (solution: Predicate): Predicate =>
  exists(hostMdm, "id", exists(mdmSolutions, "id", solution, "solution_id"));

/** This server never manages Linux hosts. */
export const connectedToSvc = (yes: boolean): Predicate => {
  const connected = and(exists(hostMdm, "id", eq("connected_to_svc", true)), not(onPlatform("linux")));
  return yes ? connected : not(connected);
};

/** Filters on device management exclude Windows servers. */
export const noWindowsServer: Predicate = not(windowsServers);

const apple = oneOf("platform", ["darwin", "ios", "ipados"]);

export const osSettings = settingsAre;
export const macosSettings = (status: ProfileStatus): Predicate => and(apple, settingsAre(status));

export const diskEncryption = (status: DiskEncryptionStatus): Predicate =>
  exists(hostDiskEncryption, "id", eq("status", status));
export const macosDiskEncryption = (status: DiskEncryptionStatus): Predicate =>
  and(eq("platform", "darwin"), diskEncryption(status));

export const withProfile = (uuid: string, status: ProfileStatus): Predicate => {
  const stored = eq("status", status);
  return exists(
    hostProfiles,
    "host_id",
    and(eq("profile_uuid", uuid), status === "pending" ? or(stored, isNull("status")) : stored),
  );
};

export const bootstrapPackage = (status: FilterValue<"bootstrap_package">): Predicate =>
  exists(hostBootstrap, "id", eq("status", status));

export const withMunkiIssue = (id: number): Predicate => exists(hostMunki, "id", has("issue_ids", id));
