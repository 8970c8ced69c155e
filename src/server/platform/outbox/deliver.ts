import type { Services } from "../core/context.ts";
import { extensionPoint } from "../core/extensions.ts";
import { type DeliveryOutcome, notDelivered } from "./outcome.ts";
import type { OutboxRow } from "./service.ts";

export interface Delivery {
  readonly name: OutboxRow["kind"];
  readonly deliver: Deliver;
}

export const deliveries = extensionPoint<Delivery>("deliveries of the outbox");

/** Makes one delivery attempt. Throws only if the store is unavailable. */
export type Deliver = (services: Services, row: OutboxRow, signal: AbortSignal) => Promise<DeliveryOutcome>;

export const deliver: Deliver = async (services, row, signal) => {
  // A newer server may have added the row.
  const delivery = services.extensions.named(deliveries, row.kind);
  return delivery
    ? delivery.deliver(services, row, signal)
    : notDelivered("this server version cannot send this kind of delivery");
};
