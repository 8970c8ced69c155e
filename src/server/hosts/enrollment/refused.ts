// Reports refused enrollments of known hosts: to the agent, the log, the metrics and the activity feed.
import { recordActivity } from "../../platform/activities/record.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import { type Context, service } from "../../platform/core/context.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import type { HostRow } from "../hosts/access.ts";
import type { EnrollingAgent } from "./move.ts";

/** The error for the agent. Names no team, since holders of a secret must not learn where other hosts are. */
export const ENROLLED_ELSEWHERE =
  "a host with this identifier belongs to another team than the enroll secret: an administrator has to transfer it to the secret's team, or delete it, before it can enroll again";

/** Agents retry forever, so only one activity per host and reason is recorded within this time. */
const REPEATED_AFTER = hours(24);

interface RefusedEnrollment {
  readonly host: Pick<HostRow, "id" | "display_name" | "hardware_serial" | "uuid" | "platform" | "team_id">;
  readonly agent: EnrollingAgent;
  readonly address: string;
  /** For administrators. */
  readonly because: string;
}

/** Teams are given by id: viewers of the host may not be allowed to see the other team's name. */
export const secretOfOtherTeam = (secretTeam: number | null, hostTeam: number | null): string => {
  const secret = secretTeam === null ? "a global enroll secret" : `an enroll secret of team ${secretTeam}`;
  return `${secret} was used, but the host is in ${hostTeam === null ? "no team" : `team ${hostTeam}`}`;
};

export async function recordRefused(
  { store, clock, log, metrics }: Pick<Context, "store" | "clock" | "log" | "metrics">,
  { host, agent, address, because: reason }: RefusedEnrollment,
): Promise<void> {
  metrics.enrollmentsRefused.inc({ agent });
  log.warn(
    { host_id: host.id, host_team_id: host.team_id, agent, address, reason },
    "refused to enroll a known host; if this is wanted, transfer the host to the secret's team or delete it",
  );
  const type = "host_enrollment_rejected";
  await store.tx(
    async (tx) => {
      const since = isoAt(clock.now() - REPEATED_AFTER);
      const recent = await tx.activities.pick(["details"], {
        where: and(eq("host_id", host.id), eq("type", type), gt("created_at", since)),
      });
      if (recent.some(({ details }) => details?.reason === reason && details.enrollment_plane === agent)) return;
      await recordActivity(
        { store: tx, clock, user: service, address },
        type,
        {
          host_id: host.id,
          host_display_name: host.display_name,
          host_serial: host.hardware_serial,
          host_uuid: host.uuid,
          platform: host.platform,
          enrollment_plane: agent,
          reason,
        },
        { hostId: host.id },
      );
    },
    { lock: `refused enrollment of ${host.id}` },
  );
}
