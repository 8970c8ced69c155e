import type { Services } from "../core/context.ts";
import { notDelivered, type Outcome } from "./outcome.ts";
import type { OutboxRow } from "./service.ts";

/** Makes one delivery attempt. Throws only if the store is unavailable. */
export type Deliver = (services: Services, row: OutboxRow, signal: AbortSignal) => Promise<Outcome>;

declare module "../core/extensions.ts" {
  interface Extensions {
    readonly deliveries: Readonly<Record<OutboxRow["kind"], Deliver>>;
  }
}

export const deliver: Deliver = async (services, row, signal) => {
  // A newer server may have added the row.
  const deliveries: Readonly<Partial<Record<string, Deliver>>> = services.extensions.deliveries;
  const send = deliveries[row.kind];
  return send ? send(services, row, signal) : notDelivered("this server version cannot send this kind of delivery");
};
