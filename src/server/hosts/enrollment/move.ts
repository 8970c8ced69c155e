// Transfers hosts that enroll with another team's secret. The new team gets the enrolled machine, but nothing that was
// entrusted to the previous team.

import { hostsToRecord } from "../../platform/activities/by-host.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, service } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import { moveSoftwareCounts } from "../count-changes/software.ts";
import { endAllPending } from "../host-actions/states.ts";
import { moveEnrolling } from "../hosts/enrolled.ts";
import { endAgentKeys } from "../managed-agents/rows.ts";
import { moveSettings } from "../os-settings/statuses.ts";

/** Drops something that was entrusted to the previous team of hosts, in the transaction that moves them. */
export type DropEntrusted = (inside: Pick<Context, "store" | "clock">, hostIds: readonly number[]) => Promise<void>;

export const dropEntrusted = extensionPoint<DropEntrusted>("what was entrusted to a team");

/** The enrolling agent. Only its new key remains valid; all other keys of the host are deleted. */
export type EnrollingAgent = "query_engine" | "managed_agent" | "apple_device" | "windows_device" | "android_device";

interface MovedHost {
  readonly id: number;
  readonly display_name: string;
  /** The team that it leaves. */
  readonly team_id: number | null;
}

/** Runs in the transaction of the enrollment, after the host rows and before a new managed agent's key are written. */
export async function moveEnrolledHosts(
  {
    store,
    clock,
    log,
    metrics,
    extensions,
    agent,
  }: Pick<Context, "store" | "clock" | "log" | "metrics" | "extensions"> & { agent: EnrollingAgent },
  hosts: readonly MovedHost[],
  teamId: number | null,
): Promise<void> {
  const ids = hosts.map(({ id }) => id);
  await moveSoftwareCounts(store, ids, teamId);
  await moveSettings(store, ids, teamId);
  await moveEnrolling(store, ids, { teamId, keepsNodeKey: agent === "query_engine" });
  if (agent !== "managed_agent") await endAgentKeys(store, ids);
  for (const drop of extensions.of(dropEntrusted)) await drop({ store, clock }, ids);
  await endAllPending({ store, clock }, ids);
  const team = teamId === null ? null : await store.teams.get(teamId);
  const type = "transferred_hosts";
  const listed = await hostsToRecord({ store, clock, log, metrics }, ids, type);
  const recorded = hosts.filter(({ id }) => listed.has(id));
  if (recorded.length === 0) return;
  const details = {
    team_id: teamId,
    team_name: team?.name ?? null,
    host_ids: recorded.map(({ id }) => id),
    host_display_names: recorded.map(({ display_name }) => display_name),
  };
  const formerTeams = new Map(recorded.map(({ id, team_id }) => [id, team_id]));
  await recordActivity({ store, clock, user: service }, type, details, { formerTeams });
}
