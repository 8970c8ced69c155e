import { and, eq, exists, has, hasOf, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { InstallStatus } from "./tables.ts";
import { hostSoftware, softwareInstalls } from "./tables.ts";
import { osCves, softwareCves } from "./vulnerabilities/tables.ts";

export const withSoftware = (versionId: number): Predicate =>
  exists(hostSoftware, "id", has("software_ids", versionId));
export const withTitle = (titleId: number): Predicate => exists(hostSoftware, "id", has("title_ids", titleId));

/** Vulnerable by their software or by their operating system. CVE identifiers are stored in capitals. */
export const vulnerableWhere = (cves: Predicate): Predicate =>
  or(
    exists(hostSoftware, "id", hasOf("software_ids", softwareCves, cves, "software_id")),
    exists(osCves, "os_version_id", cves, "os_version_id"),
  );
export const vulnerable = (cve: string): Predicate => vulnerableWhere(eq("cve", cve.toUpperCase()));

const installs: Record<"pending" | "failed", readonly InstallStatus[]> = {
  pending: ["pending_install", "pending_uninstall"],
  failed: ["failed_install", "failed_uninstall"],
};

/** Hosts on which this server's last install or uninstall of the title has the given status. */
export const withInstall = (titleId: number, status: InstallStatus | "pending" | "failed"): Predicate =>
  exists(
    softwareInstalls,
    "host_id",
    and(
      eq("title_id", titleId),
      oneOf("status", status === "pending" || status === "failed" ? installs[status] : [status]),
    ),
  );
