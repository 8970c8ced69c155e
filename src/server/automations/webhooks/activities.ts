import type { activities } from "../../platform/activities/tables.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Extensions } from "../../platform/core/extensions.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { enqueueMany } from "../../platform/outbox/service.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { readSection } from "../../settings/app-config/rows.ts";
import { webhookSettings } from "../../settings/app-config/sections/webhooks.ts";

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

/** The URL of the activities webhook from the stored settings; null if it is disabled. */
async function activitiesWebhook(store: ServerTx): Promise<string | null> {
  const { activities_webhook: hook } = await readSection(store, webhookSettings);
  return hook.enable_activities_webhook && checkDestination(hook.destination_url) === null
    ? hook.destination_url
    : null;
}

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

export const activityRequests: Extensions["activityRequests"] = { url: activitiesWebhook, queue: queueActivities };
