// One attempt to create a ticket. Trackers create a new ticket for every request, so while the outcome of a request is
// unknown (`asked_at` is stored before the request and removed after it), the ticket is searched for instead. No other
// ticket is requested until the tracker's search index must include it.

import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { fetchOutbound, OutboundError, type OutboundReply } from "../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../platform/core/outbound/reply.ts";
import { type DeliveryOutcome, delivered, notDelivered } from "../../platform/outbox/outcome.ts";
import { beginAttempt, type OutboxRow } from "../../platform/outbox/service.ts";
import { trackerOf } from "./destination.ts";
import {
  created,
  creation,
  lookup,
  searches,
  type Ticket,
  type TicketText,
  type Tracker,
  ticketIn,
} from "./trackers.ts";

const TIMEOUT = 10_000;
/** Maximum delay of a tracker's search index. */
const SETTLED_AFTER = { ticketing_a: minutes(5), ticketing_b: 0 } as const;

export async function deliverTicket(services: Services, row: OutboxRow, signal: AbortSignal): Promise<DeliveryOutcome> {
  const { store, config, clock } = services;
  const tracker = trackerOf((await config.current()).integrations, row.destination);
  const before = row.result;
  if (tracker === null) return { ...notDelivered("the integration is not configured any more"), result: before };
  // An unclear outcome is kept until it has been settled.
  let result = before;
  try {
    if (before !== null) {
      const delivery = await earlier(services, tracker, row, signal);
      if ("isDelivered" in delivery) return { ...delivery, result };
      if (delivery.ticket) return delivered(200, { ...delivery.ticket });
      const since = clock.now() - Date.parse(before.asked_at ?? "");
      if (since < SETTLED_AFTER[tracker.type]) return { ...notDelivered(UNCLEAR), result };
    }
    // Stored before the request: if the server is killed during it, the next attempt searches for the ticket.
    const gone = before?.ticket_id ?? before?.replaces;
    const settled = gone === undefined ? null : { replaces: gone };
    result = { ...settled, asked_at: clock.iso() };
    await beginAttempt(store, row, result);
    const { url, request } = creation(tracker, row.payload as unknown as TicketText, row.message_id, gone);
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status < 200 || reply.status > 299)
      return { ...refusal(reply), result: isRefused(reply) ? settled : result };
    const ticket = created(tracker, jsonOf(reply));
    if (ticket) return delivered(reply.status, { ...ticket });
    const unread = notDelivered("the tracker's reply contains no ticket: is the URL that of its API?", reply.status);
    return { ...unread, result };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { ...notDelivered(error.message), result: error.wasSent ? result : before };
  }
}

const UNCLEAR =
  "an earlier attempt may have created the ticket: it is searched for during some minutes before another one is requested";

/** The tracker certainly created no ticket. A 5xx may have occurred after creation. */
const isRefused = ({ status }: OutboundReply): boolean => status < 500 && status !== 408 && status !== 409;

const refusal = ({ status, headers }: OutboundReply): DeliveryOutcome =>
  notDelivered(`the tracker answered ${status}${hints[status] ?? ""}`, status, headers.get("retry-after"));

export const hints: Readonly<Record<number, string>> = {
  400: ": it does not accept the ticket (does the project have the issue type Task, and labels on its screen?)",
  401: ": user and token are not accepted",
  403: ": the user may not do this",
  404: ": there is nothing at this URL, or the user may not see it",
  422: ": it does not accept the ticket (does the group exist?)",
};

/** The ticket created by an earlier attempt, if any; an outcome if that is unknown. */
async function earlier(
  services: Services,
  tracker: Tracker,
  { message_id: messageId, result }: OutboxRow,
  signal: AbortSignal,
): Promise<{ ticket: Ticket | null } | DeliveryOutcome> {
  const ticketId = result?.ticket_id;
  if (ticketId !== undefined) {
    const { url, request } = lookup(tracker, ticketId);
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status === 404) return { ticket: null };
    return reply.status === 200
      ? { ticket: { ticket_id: ticketId, ...(result?.ticket_key ? { ticket_key: result.ticket_key } : {}) } }
      : refusal(reply);
  }
  let outcome = notDelivered("the tracker did not report whether an earlier attempt succeeded");
  for (const { url, request } of searches(tracker, messageId)) {
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status === 200) {
      const ticket = ticketIn(tracker, jsonOf(reply), messageId);
      if (ticket !== undefined) return { ticket };
    } else outcome = refusal(reply);
    // Other releases of the product use another path.
    if (![200, 404, 405, 410].includes(reply.status)) break;
  }
  return outcome;
}
