import { bool, id, int, real, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly vulnerabilities: typeof vulnerabilities;
    readonly softwareCves: typeof softwareCves;
    readonly osCves: typeof osCves;
    readonly vulnerabilityCounts: typeof vulnerabilityCounts;
    readonly vulnerabilityCountState: typeof vulnerabilityCountState;
  }
}

/** In columns that lists are sorted by: not known. It sorts below everything that is known. */
export const UNKNOWN_SCORE = -1;
export const UNKNOWN_TIME = "";

/** CVEs that affect software or operating systems that were on hosts, with what is known about them. */
export const vulnerabilities = table(
  "vulnerabilities",
  {
    id: id(),
    /** In capitals. */
    cve: text().unique().search(),
    /** When the vulnerability was first found to affect something. */
    created_at: time().index(),
    /** Whether the columns below have been filled from vulnerability data. */
    is_described: bool().default(false),
    /** CVSS 3 base score. */
    cvss_score: real().default(UNKNOWN_SCORE),
    epss_probability: real().default(UNKNOWN_SCORE),
    cisa_known_exploit: bool().default(false),
    /** ISO 8601. */
    cve_published: text().default(UNKNOWN_TIME),
    cve_description: text().default(""),
  },
  { indexes: [["cvss_score"], ["epss_probability"], ["cve_published"]] },
);

/** Vulnerabilities of software versions. */
export const softwareCves = table(
  "software_cves",
  { id: id(), software_id: ref("software"), cve: text().index(), resolved_in_version: text().nullable() },
  { unique: [["software_id", "cve"]] },
);

/** Vulnerabilities of operating system versions. */
export const osCves = table(
  "os_cves",
  { id: id(), os_version_id: ref("os_versions"), cve: text().index(), resolved_in_version: text().nullable() },
  { unique: [["os_version_id", "cve"]] },
);

/** How many hosts of a scope (software/tables.ts) a vulnerability affects. No row: none. */
export const vulnerabilityCounts = table(
  "vulnerability_counts",
  { id: id(), vulnerability_id: ref("vulnerabilities"), scope: int(), hosts_count: int() },
  { unique: [["vulnerability_id", "scope"]], indexes: [["scope", "hosts_count"]] },
);

/** One row, or none before all hosts were counted for the first time. */
export const vulnerabilityCountState = table("vulnerability_count_state", {
  id: id(),
  counted_at: time().nullable(),
  /** When all hosts were last counted. */
  recounted_at: time().nullable(),
  /** Increased with every change of counts. */
  generation: int(),
  /** While all hosts are being counted, differences wait. */
  recount_until: time().nullable(),
  /** Whether other vulnerabilities than those in the counts have been found to affect something. */
  is_due: bool(),
});
