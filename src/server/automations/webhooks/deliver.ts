import type { Services } from "../../platform/core/context.ts";
import { fetchOutbound, OutboundError } from "../../platform/core/outbound/fetch.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { type DeliveryOutcome, delivered, notDelivered } from "../../platform/outbox/outcome.ts";
import type { OutboxRow } from "../../platform/outbox/service.ts";
import { destinationOf, headersOf } from "./destinations.ts";
import { signatureHeaders } from "./signing.ts";

/** Timeout for the receiver's reply, in ms. */
const TIMEOUT = 10_000;

/** Sends the signed payload. Any 2xx status counts as delivered; the rest of the reply is ignored. */
export async function deliverWebhook(
  services: Pick<Services, "running" | "clock" | "random" | "dryRun"> & { readonly store: ServerTx },
  row: Pick<OutboxRow, "url" | "message_id" | "payload">,
  signal?: AbortSignal,
): Promise<DeliveryOutcome> {
  const destination = await destinationOf(services, row.url);
  const body = JSON.stringify(row.payload);
  try {
    const { status, headers } = await fetchOutbound(services, row.url, {
      method: "POST",
      headers: {
        ...headersOf(destination),
        ...signatureHeaders(destination.signing_secret, row.message_id, services.clock.now(), body),
        "content-type": "application/json",
      },
      body,
      timeout: TIMEOUT,
      maxBytes: 1_024,
      isBodyOptional: true,
      ...(signal ? { signal } : {}),
    });
    return status >= 200 && status < 300
      ? delivered(status)
      : notDelivered(`the destination answered ${status}`, status, headers.get("retry-after"));
  } catch (error) {
    if (error instanceof OutboundError) return notDelivered(error.message);
    throw error;
  }
}
