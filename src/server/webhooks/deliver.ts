import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError } from "../core/outbound.ts";
import { delivered, notDelivered, type Outcome } from "../outbox/outcome.ts";
import type { OutboxRow } from "../outbox/service.ts";
import type { ServerTx } from "../tables.ts";
import { destinationOf, headersOf } from "./destinations.ts";
import { signatureHeaders } from "./signing.ts";

/** Milliseconds that a receiver has to answer. */
const TIMEOUT = 10_000;

/** Posts the payload, signed. Any 2xx takes it; what the answer says beside its status does not count. */
export async function deliverWebhook(
  services: Pick<Services, "settings" | "clock" | "random"> & { readonly store: ServerTx },
  row: Pick<OutboxRow, "url" | "message_id" | "payload">,
  signal?: AbortSignal,
): Promise<Outcome> {
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
