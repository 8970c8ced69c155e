// Seals entries of the activity feed, and sends them to the webhooks that were set when they were recorded.

import type { ActivityRow } from "../activities/chain.ts";
import { sealEntries } from "../activities/sealer.ts";
import { channels } from "../core/channels.ts";
import { startTriggeredTask } from "../core/concurrency/triggered-task.ts";
import type { Services } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { enqueueMany, type Outgoing } from "./service.ts";

/** The webhook payload of an entry; entries by the service itself have neither actor id nor email. */
const activityPayload = (
  row: Pick<ActivityRow, "created_at" | "actor_full_name" | "actor_id" | "actor_email" | "type" | "details">,
  details: Record<string, unknown> | null,
): Record<string, unknown> => ({
  timestamp: row.created_at,
  actor_full_name: row.actor_full_name,
  actor_id: row.actor_id,
  actor_email: row.actor_email,
  type: row.type,
  details,
});

/** The details with these hosts only. Null: the entry is about one host. */
function detailsOf({ details }: Pick<ActivityRow, "details">, hostIds: readonly number[] | null) {
  if (hostIds === null) return details;
  const { host_ids: all, host_display_names: names } = details ?? {};
  const shown = new Set<unknown>(hostIds);
  const hasNames = Array.isArray(all) && Array.isArray(names);
  return {
    ...details,
    ...(hasNames ? { host_display_names: names.filter((_, i) => shown.has(all[i])) } : {}),
    host_ids: hostIds,
  };
}

function requestsOf(row: ActivityRow): Outgoing[] {
  const toHostWebhooks = (row.host_requests ?? []).map(({ url, team_id, host_ids }) => ({
    kind: "webhook" as const,
    event: "host_activities" as const,
    destination: url,
    url,
    payload: activityPayload(row, detailsOf(row, host_ids)),
    // Team 0 is no row of the teams.
    team_id: team_id || null,
  }));
  if (row.webhook_url === null) return toHostWebhooks;
  const payload = activityPayload(row, row.details);
  const url = row.webhook_url;
  return [{ kind: "webhook", event: "activities", destination: url, url, payload }, ...toHostWebhooks];
}

/** Queues the requests of entries that were recorded while a webhook was enabled, in the given order. */
async function queueActivities(
  tx: ServerTx,
  services: Pick<Services, "clock" | "random">,
  rows: readonly ActivityRow[],
): Promise<void> {
  await enqueueMany(tx, services, rows.flatMap(requestsOf));
}

/** Seals all pending entries, oldest first, and returns their number. Safe to call on any server at any time. */
export const sealAll = (services: Services): Promise<number> => sealEntries(services, queueActivities);

/** Interval of checking for unsealed entries, in ms, in case a notification was lost. */
const LOOK_EVERY = 30_000;

interface Sealer {
  stop(): Promise<void>;
}

export async function startSealer(services: Services): Promise<Sealer> {
  const options = {
    channel: channels.activities,
    least: 50,
    more: 100,
    // A run has a fixed cost, and enrollments record entries all the time.
    apart: 300,
    failure: "activities could not be sealed; retrying",
  };
  // Runs at startup, too, for entries from before the chain existed.
  const sealing = await startTriggeredTask(services, options, () => sealAll(services));
  const looks = setInterval(sealing.plan, LOOK_EVERY);
  looks.unref();
  return {
    async stop() {
      clearInterval(looks);
      await sealing.stop();
    },
  };
}
