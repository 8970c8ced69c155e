// Selects hosts by the status of their settings, and counts them.
import { inTeam } from "../core/security/access.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq, exists, type Predicate } from "../store/query.ts";
import { hostSettings, type SettingStatus } from "./tables.ts";

/** Hosts whose settings have this status: the worst one of any of them. */
export const settingsAre = (status: SettingStatus): Predicate => exists(hostSettings, "id", eq("status", status));

export type SettingCounts = Record<SettingStatus, number>;

/**
 * Counts the hosts of a team (0: those without one) by the status of their settings. Each status is counted by itself:
 * most hosts are verified, and Postgres finds the few others by their index. The counts may be some milliseconds apart.
 */
export async function countSettings(store: ServerTx, teamId: number): Promise<SettingCounts> {
  const count = (status: SettingStatus) => store.hosts.count(and(inTeam(teamId), settingsAre(status)));
  const [verified, verifying, failed, pending] = await Promise.all([
    count("verified"),
    count("verifying"),
    count("failed"),
    count("pending"),
  ]);
  return { verified, verifying, failed, pending };
}
