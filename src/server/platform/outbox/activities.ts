// Seals entries of the activity feed, and sends them to the webhook that was set when they were recorded.

import { sealEntries } from "../activities/sealer.ts";
import type { activities } from "../activities/tables.ts";
import { channels } from "../core/channels.ts";
import { startTriggeredTask } from "../core/concurrency/triggered-task.ts";
import type { Services } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import type { RowOf } from "../store/table.ts";
import { enqueueMany } from "./service.ts";

/** The webhook payload of an entry; entries by the service itself have neither actor id nor email. */
const activityPayload = (
  row: Pick<
    RowOf<typeof activities>,
    "created_at" | "actor_full_name" | "actor_id" | "actor_email" | "type" | "details"
  >,
): Record<string, unknown> => ({
  timestamp: row.created_at,
  actor_full_name: row.actor_full_name,
  actor_id: row.actor_id,
  actor_email: row.actor_email,
  type: row.type,
  details: row.details,
});

/** Queues one request per entry that was recorded while the webhook was enabled, in the given order. */
async function queueActivities(
  tx: ServerTx,
  services: Pick<Services, "clock" | "random">,
  rows: readonly RowOf<typeof activities>[],
): Promise<void> {
  await enqueueMany(
    tx,
    services,
    rows.flatMap((row) =>
      row.webhook_url === null
        ? []
        : {
            kind: "webhook",
            event: "activities",
            destination: row.webhook_url,
            url: row.webhook_url,
            payload: activityPayload(row),
          },
    ),
  );
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
