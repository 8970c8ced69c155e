// Transfers hosts that enroll with another team's secret. The new team gets the enrolled machine, but nothing that was
// entrusted to the previous team.
import { recordActivity } from "../activities/record.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { type Context, service } from "../core/context.ts";
import { endAllPending } from "../host-actions/states.ts";
import { notifyHostsMoved } from "../hosts/changes.ts";
import { forgetForeignResults } from "../policies/results.ts";
import { oneOf } from "../store/query.ts";

/** The enrolling agent. Only its new key remains valid; all other keys of the host are deleted. */
export type EnrollingAgent = "query_engine" | "managed_agent";

export interface MovedHost {
  readonly id: number;
  readonly display_name: string;
}

/** Runs in the transaction of the enrollment, after the host rows and before a new managed agent's key are written. */
export async function moveEnrolledHosts(
  { store, clock, extensions, agent }: Pick<Context, "store" | "clock" | "extensions"> & { agent: EnrollingAgent },
  hosts: readonly MovedHost[],
  teamId: number | null,
): Promise<void> {
  const ids = hosts.map(({ id }) => id);
  const now = clock.iso();
  await store.hosts.update({
    where: oneOf("id", ids),
    // The policies of the new team have never run.
    set: { team_id: teamId, policy_updated_at: null, ...(agent === "query_engine" ? {} : { node_key_hash: null }) },
  });
  if (agent !== "managed_agent") await store.managedAgents.delete(oneOf("id", ids));
  await store.deviceTokens.delete(oneOf("id", ids));
  // A challenge fetched with the old keys could still be used to enroll a certificate.
  await store.hostCertificates.update({
    where: oneOf("host_id", ids),
    set: { challenge_hash: null, challenge_until: null, updated_at: now },
  });
  await store.hostDiskEncryption.delete(oneOf("id", ids));
  await endAllPending({ store, clock }, ids);
  await forgetForeignResults(store, ids);
  const team = teamId === null ? null : await store.teams.get(teamId);
  await recordActivity({ store, clock, extensions, user: service }, "transferred_hosts", {
    team_id: teamId,
    team_name: team?.name ?? null,
    host_ids: ids,
    host_display_names: hosts.map(({ display_name }) => display_name),
  });
  await store.notify(channels.hosts, hostsPayload(ids));
  await notifyHostsMoved(store);
}
