import type { activities } from "../activities/tables.ts";
import type { Services } from "../core/context.ts";
import { checkDestination } from "../core/outbound.ts";
import { enqueueMany } from "../outbox/service.ts";
import type { RowOf } from "../store/table.ts";
import type { ServerTx } from "../tables.ts";

/** Of an entry of the feed, what its webhook tells; the service has no id and no address. */
export const activityPayload = (
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

/** One request for each entry, in the order given; none while the activities webhook is off. */
export async function queueActivities(
  tx: ServerTx,
  services: Pick<Services, "clock" | "random" | "config">,
  rows: readonly RowOf<typeof activities>[],
): Promise<void> {
  const { enable_activities_webhook: on, destination_url: url } = (await services.config.current()).webhook_settings
    .activities_webhook;
  if (!on || checkDestination(url) !== null) return;
  await enqueueMany(
    tx,
    services,
    rows.map((row) => ({
      kind: "webhook",
      event: "activities",
      destination: url,
      url,
      payload: activityPayload(row),
    })),
  );
}
