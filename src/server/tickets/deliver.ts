// One try to create a ticket. Trackers create another one for each request, so while it is not known what came of a request (`asked_at` is
// kept from before it until it is), the ticket is looked for instead. A tracker whose search lags behind is not asked for another one until its
// search must have caught up.
import { minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError, type OutboundReply } from "../core/outbound.ts";
import { delivered, notDelivered, type Outcome } from "../outbox/outcome.ts";
import type { OutboxRow } from "../outbox/service.ts";
import { eq } from "../store/query.ts";
import { trackerOf } from "./destination.ts";
import { created, creation, found, lookup, searches, type Ticket, type TicketText, type Tracker } from "./trackers.ts";

const TIMEOUT = 10_000;
/** The most that a tracker's search is believed to lag behind what was created. */
const SETTLED_AFTER = { ticketing_a: minutes(5), ticketing_b: 0 } as const;

export async function deliverTicket(services: Services, row: OutboxRow, signal: AbortSignal): Promise<Outcome> {
  const { store, config, clock } = services;
  const tracker = trackerOf((await config.current()).integrations, row.destination);
  const before = row.result;
  if (tracker === null) return { ...notDelivered("the integration is not configured any more"), result: before };
  // What an earlier try left unclear stays so until it is settled.
  let result = before;
  try {
    if (before !== null) {
      const known = await earlier(services, tracker, row, signal);
      if ("isDelivered" in known) return { ...known, result };
      if (known.ticket) return delivered(200, { ...known.ticket });
      const since = clock.now() - Date.parse(before.asked_at ?? "");
      if (since < SETTLED_AFTER[tracker.type]) return { ...notDelivered(UNCLEAR), result };
    }
    // Kept before the request: after a kill in the middle of it the next try has to look for the ticket.
    const gone = before?.ticket_id ?? before?.replaces;
    const settled = gone === undefined ? null : { replaces: gone };
    result = { ...settled, asked_at: clock.iso() };
    await store.outbox.update({ where: eq("id", row.id), set: { attempts: row.attempts + 1, result } });
    const { url, request } = creation(tracker, row.payload as unknown as TicketText, row.message_id, gone);
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status < 200 || reply.status > 299)
      return { ...refusal(reply), result: isRefused(reply) ? settled : result };
    const ticket = created(tracker, jsonOf(reply));
    if (ticket) return delivered(reply.status, { ...ticket });
    const unread = notDelivered("the tracker's answer names no ticket: is the URL that of its API?", reply.status);
    return { ...unread, result };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { ...notDelivered(error.message), result: error.wasSent ? result : before };
  }
}

const UNCLEAR =
  "an earlier try may have made the ticket: it is looked for some minutes before another one is asked for";

/** Nothing was made, for certain; of a 5xx the cause may have come after that. */
const isRefused = ({ status }: OutboundReply): boolean => status < 500 && status !== 408 && status !== 409;

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
  { message_id: messageId, result }: OutboxRow,
  signal: AbortSignal,
): Promise<{ ticket: Ticket | null } | Outcome> {
  const made = result?.ticket_id;
  if (made !== undefined) {
    const { url, request } = lookup(tracker, made);
    const reply = await fetchOutbound(services, url, { ...request, timeout: TIMEOUT, signal });
    if (reply.status === 404) return { ticket: null };
    return reply.status === 200
      ? { ticket: { ticket_id: made, ...(result?.ticket_key ? { ticket_key: result.ticket_key } : {}) } }
      : refusal(reply);
  }
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
