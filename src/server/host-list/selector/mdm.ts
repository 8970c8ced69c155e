// Device management fields: enrollment, settings, disk encryption and the bootstrap package.
import type { HostFilter } from "../../../api/host-filters.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../disk-encryption/tables.ts";
import { onPlatform } from "../../hosts/status.ts";
import { hostBootstrap, hostMdm, hostProfiles, mdmSolutions, type ProfileStatus } from "../../mdm-status/tables.ts";
import { hostMunki } from "../../munki/tables.ts";
import { and, eq, everything, exists, has, not, oneOf, or, type Predicate } from "../../store/query.ts";

type Given<K extends keyof HostFilter> = NonNullable<HostFilter[K]>;

const enrollments = {
  manual: ["On (manual)"],
  automatic: ["On (automatic)"],
  enrolled: ["On (manual)", "On (automatic)", "On (personal)"],
  pending: ["Pending"],
  unenrolled: ["Off"],
} as const;

export const enrolledAs = (status: Given<"mdm_enrollment_status">): Predicate =>
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
export const noWindowsServer: Predicate = not(exists(hostMdm, "id", eq("is_server", true)));

const apple = oneOf("platform", ["darwin", "ios", "ipados"]);

/** Disk encryption counts as one more setting. Steps that are still to be done are pending. */
const encryptionAs: Record<ProfileStatus, readonly DiskEncryptionStatus[]> = {
  verified: ["verified"],
  verifying: ["verifying"],
  pending: ["action_required", "enforcing", "removing_enforcement"],
  failed: ["failed"],
};
/** A host has the first of these statuses that any of its settings has. */
const worstFirst: readonly ProfileStatus[] = ["failed", "pending", "verifying", "verified"];

const anySetting = (statuses: readonly ProfileStatus[], profiles: Predicate): Predicate =>
  or(
    exists(hostProfiles, "host_id", and(oneOf("status", statuses), profiles)),
    exists(
      hostDiskEncryption,
      "id",
      oneOf(
        "status",
        statuses.flatMap((status) => encryptionAs[status]),
      ),
    ),
  );

function settingsAre(status: ProfileStatus, profiles: Predicate): Predicate {
  const worse = worstFirst.slice(0, worstFirst.indexOf(status));
  const are = anySetting([status], profiles);
  return worse.length === 0 ? are : and(are, not(anySetting(worse, profiles)));
}

export const osSettings = (status: ProfileStatus): Predicate => settingsAre(status, everything);
export const macosSettings = (status: ProfileStatus): Predicate =>
  and(apple, settingsAre(status, eq("platform", "darwin")));

export const diskEncryption = (status: DiskEncryptionStatus): Predicate =>
  exists(hostDiskEncryption, "id", eq("status", status));
export const macosDiskEncryption = (status: DiskEncryptionStatus): Predicate =>
  and(eq("platform", "darwin"), diskEncryption(status));

export const withProfile = (uuid: string, status: ProfileStatus): Predicate =>
  exists(hostProfiles, "host_id", and(eq("profile_uuid", uuid), eq("status", status)));

export const bootstrapPackage = (status: Given<"bootstrap_package">): Predicate =>
  exists(hostBootstrap, "id", eq("status", status));

export const withMunkiIssue = (id: number): Predicate => exists(hostMunki, "id", has("issue_ids", id));
