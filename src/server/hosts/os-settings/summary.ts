// Selects hosts by the status of their settings, and counts them.
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, isNull, type Predicate } from "../../platform/store/query.ts";
import { hosts } from "../hosts/tables.ts";
import { hostSettings, type SettingStatus } from "./tables.ts";

/** Hosts whose settings have this status: the worst one of any of them. */
export const settingsAre = (status: SettingStatus): Predicate => exists(hostSettings, "id", eq("status", status));

export type SettingCounts = Record<SettingStatus, number>;

/**
 * Counts the hosts of a team (0: those without one) by the status of their settings, but those `without`. Rows that an older version wrote to
 * the embedded store have no team until their next change; there are none elsewhere.
 */
export async function countSettings(
  { hostSettings: settings }: ServerTx,
  teamId: number,
  without?: Predicate,
): Promise<SettingCounts> {
  const ofTeam = eq("team", teamId);
  const ofHosts = and(isNull("team"), exists(hosts, "id", inTeam(teamId)));
  const [groups, others] = await Promise.all(
    // The few that do not count are subtracted, so that all others are counted in the index of teams.
    [everything, ...(without ? [without] : [])].map(async (which) => {
      const all = [ofTeam, ofHosts].map((where) => settings.groupCount("status", and(where, which)));
      return (await Promise.all(all)).flat();
    }),
  );
  const counts: SettingCounts = { verified: 0, verifying: 0, failed: 0, pending: 0 };
  for (const { value, count } of groups!) if (value !== null) counts[value as SettingStatus] += count;
  for (const { value, count } of others ?? []) if (value !== null) counts[value as SettingStatus] -= count;
  return counts;
}
