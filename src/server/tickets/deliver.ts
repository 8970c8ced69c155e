// One try to create a ticket. Trackers create another one for each request, so where a try before this one may have come through, the
// ticket is looked for first.
import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError, type OutboundReply } from "../core/outbound.ts";
import { delivered, notDelivered, type Outcome } from "../outbox/outcome.ts";
import type { OutboxRow } from "../outbox/service.ts";
import { eq } from "../store/query.ts";
import { trackerOf } from "./destination.ts";
import { created, creation, found, searches, type Ticket, type TicketText, type Tracker } from "./trackers.ts";

const TIMEOUT = 10_000;

export async function deliverTicket(services: Services, row: OutboxRow, signal: AbortSignal): Promise<Outcome> {
  const tracker = trackerOf((await services.config.current()).integrations, row.destination);
  if (tracker === null) return notDelivered("the integration is not configured any more");
  try {
    if (row.attempts > 0) {
      const known = await earlier(services, tracker, row.message_id, signal);
      if ("isDelivered" in known) return known;
      if (known.ticket) return delivered(200, { ...known.ticket });
    }
    // Kept before the request: after a kill in the middle of it the next try has to look for the ticket.
    await services.store.outbox.update({ where: eq("id", row.id), set: { attempts: row.attempts + 1 } });
    const { url, request } = creation(tracker, row.payload as unknown as TicketText, row.message_id);
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status < 200 || reply.status > 299) return refusal(reply);
    const ticket = created(tracker, jsonOf(reply));
    return ticket
      ? delivered(reply.status, { ...ticket })
      : notDelivered("the tracker's answer names no ticket: is the URL that of its API?", reply.status);
  } catch (error) {
    if (error instanceof OutboundError) return notDelivered(error.message);
    throw error;
  }
}

const refusal = ({ status, headers }: OutboundReply): Outcome =>
  notDelivered(`the tracker answered ${status}${hints[status] ?? ""}`, status, headers.get("retry-after"));

export const hints: Readonly<Record<number, string>> = {
  400: ": it does not accept the ticket (does the project have the issue type Task, and labels on its screen?)",
  401: ": user and token are not accepted",
  403: ": the user may not do this",
  404: ": there is nothing at this URL, or the user may not see it",
  422: ": it does not accept the ticket (does the group exist?)",
};

/** The ticket of an earlier try, if there is one; an outcome where that cannot be told. */
async function earlier(
  services: Services,
  tracker: Tracker,
  messageId: string,
  signal: AbortSignal,
): Promise<{ ticket: Ticket | null } | Outcome> {
  let outcome = notDelivered("the tracker does not tell whether an earlier try came through");
  for (const { url, request } of searches(tracker, messageId)) {
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status === 200) {
      const ticket = found(tracker, jsonOf(reply), messageId);
      if (ticket !== undefined) return { ticket };
    } else outcome = refusal(reply);
    // Another path may be the one that this release of the product knows.
    if (![200, 404, 405, 410].includes(reply.status)) break;
  }
  return outcome;
}

export function jsonOf({ body }: OutboundReply): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
