// The fields of host selectors (`where=`), for completion and documentation. The server defines their meaning.
import { hostOrderKeys, hostStatuses } from "./host-filters.ts";

export const selectorFields: readonly string[] = [
  ...hostOrderKeys.filter((key) => !key.includes(".") && !["team_name", "issues"].includes(key)),
  ...[
    "serial",
    "seen",
    "status",
    "online",
    "issues",
    "critical_vulnerabilities",
    "team",
    "label",
    "policy.passing",
    "policy.failing",
  ],
  ...["software.name", "software.version", "software.source", "software.vendor", "software.bundle_identifier", "cve"],
  ...["os.name", "os.version", "email", "user.email", "mdm.name", "mdm.server_url", "mdm.enrollment_status"],
  ...["mdm.connected_to_svc", "mdm.os_settings", "mdm.disk_encryption", "mdm.bootstrap_package", "mdm.profile"],
  ...["munki.version", "munki.issue", "locked"],
];

/** Fields that take conditions on one related row in parentheses, and the fields of these conditions. */
export const selectorGroups: Readonly<Record<string, readonly string[]>> = {
  software: ["name", "version", "source", "vendor", "bundle_identifier", "cve"],
};

/** The possible values of fields that have only a few. */
export const selectorValues: Readonly<Record<string, readonly string[]>> = {
  status: hostStatuses,
  platform: ["darwin", "windows", "linux", "chrome", "ios", "ipados", "android"],
  online: ["true", "false"],
  locked: ["true", "false"],
};
