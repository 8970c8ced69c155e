import { id, int, packed, table } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly softwareCountChanges: typeof softwareCountChanges;
    readonly vulnerabilityCountChanges: typeof vulnerabilityCountChanges;
  }
}

/** The scope of counts: a team's id, or one of these. */
export const ALL_HOSTS = -1;
export const NO_TEAM = 0;

/** Differences that are still to be added to the counts of one team's hosts (`NO_TEAM`: hosts without a team). */
export const softwareCountChanges = table("software_count_changes", {
  id: id(),
  team: int(),
  /** [id, difference, id, difference ...] */
  versions: packed<readonly number[]>(),
  titles: packed<readonly number[]>(),
});

/**
 * Differences that are still to be added to the counts of one team's hosts: [CVE, difference] pairs. `hosts` have other
 * vulnerabilities than before.
 */
export const vulnerabilityCountChanges = table("vulnerability_count_changes", {
  id: id(),
  team: int(),
  cves: packed<readonly (readonly [cve: string, difference: number])[]>(),
  hosts: packed<readonly number[]>().default([]),
});
