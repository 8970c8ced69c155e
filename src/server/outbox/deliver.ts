import type { Services } from "../core/context.ts";
import { deliverTicket } from "../tickets/deliver.ts";
import { deliverWebhook } from "../webhooks/deliver.ts";
import { notDelivered, type Outcome } from "./outcome.ts";
import type { OutboxRow } from "./service.ts";

/** Makes one delivery attempt. Throws only if the store is unavailable. */
export async function deliver(services: Services, row: OutboxRow, signal: AbortSignal): Promise<Outcome> {
  switch (row.kind) {
    case "webhook":
      return deliverWebhook(services, row, signal);
    case "ticket":
      return deliverTicket(services, row, signal);
    default:
      return notDelivered("this server version cannot send this kind of delivery");
  }
}
