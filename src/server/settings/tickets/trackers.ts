// Requests for the two kinds of trackers, by their public REST APIs: ticketing_a is Jira-compatible, ticketing_b is
// Zendesk-compatible.
import { z } from "zod";
import type { Integrations } from "../../../api/settings/app-config.ts";
import type { OutboundRequest } from "../../platform/core/outbound/fetch.ts";

export type TicketingA = Integrations["ticketing_a"][number];
export type TicketingB = Integrations["ticketing_b"][number];
export type Tracker =
  | { readonly type: "ticketing_a"; readonly entry: TicketingA }
  | { readonly type: "ticketing_b"; readonly entry: TicketingB };

/** The content of a ticket, for any tracker. */
export interface TicketText {
  readonly summary: string;
  readonly description: string;
}

export interface Ticket {
  readonly ticket_id: string;
  readonly ticket_key?: string;
}

export interface Call {
  readonly url: string;
  readonly request: OutboundRequest;
}

const Id = z.union([z.string().min(1).max(255), z.int()]).transform(String);
const at = (base: string, path: string): string => base.replace(/\/+$/, "") + path;

const authOf = (tracker: Tracker): NonNullable<OutboundRequest["auth"]> =>
  tracker.type === "ticketing_a"
    ? { username: tracker.entry.username, password: tracker.entry.api_token }
    : { username: `${tracker.entry.email}/token`, password: tracker.entry.api_token };

export const read = (tracker: Tracker, path: string): Call => ({
  url: at(tracker.entry.url, path),
  request: { headers: { accept: "application/json" }, auth: authOf(tracker) },
});

/** Issue type of tickets in a Jira-compatible tracker; projects have it by default. */
export const ISSUE_TYPE = "Task";

/** Added to each ticket: trackers find labels and external ids exactly. */
const labelOf = (messageId: string): string => `svc-${messageId}`;

/**
 * `replaces`: id of a deleted ticket of this message. Changes the idempotency key, so that the tracker creates a new
 * one.
 */
export function creation(
  tracker: Tracker,
  { summary, description }: TicketText,
  messageId: string,
  replaces?: string,
): Call {
  const { url, request } = read(tracker, tracker.type === "ticketing_a" ? "/rest/api/2/issue" : "/api/v2/tickets.json");
  const body =
    tracker.type === "ticketing_a"
      ? {
          fields: {
            project: { key: tracker.entry.project_key },
            issuetype: { name: ISSUE_TYPE },
            summary,
            description,
            labels: [labelOf(messageId)],
          },
        }
      : {
          ticket: {
            subject: summary,
            comment: { body: description },
            group_id: tracker.entry.group_id,
            external_id: messageId,
          },
        };
  const key = replaces === undefined ? messageId : `${messageId}-${replaces}`;
  const headers = { ...request.headers, "content-type": "application/json", "idempotency-key": key };
  return { url, request: { ...request, method: "POST", headers, body: JSON.stringify(body) } };
}

const CreatedA = z.object({ id: Id, key: z.string().min(1).max(255) });
const CreatedB = z.object({ ticket: z.object({ id: Id }) });

/** The ticket in the reply to `creation`; null if the reply is not one. */
export function created({ type }: Tracker, answer: unknown): Ticket | null {
  if (type === "ticketing_a") {
    const { data } = CreatedA.safeParse(answer);
    return data ? { ticket_id: data.id, ticket_key: data.key } : null;
  }
  const { data } = CreatedB.safeParse(answer);
  return data ? { ticket_id: data.ticket.id } : null;
}

/** The request for a ticket with a known id. Does not depend on the search index. */
export const lookup = (tracker: Tracker, id: string): Call =>
  read(
    tracker,
    tracker.type === "ticketing_a"
      ? `/rest/api/2/issue/${encodeURIComponent(id)}?fields=key`
      : `/api/v2/tickets/${encodeURIComponent(id)}.json`,
  );

/**
 * Requests that search for the ticket of a message; each is a fallback if the tracker does not support the previous
 * one.
 */
export function searches(tracker: Tracker, messageId: string): Call[] {
  if (tracker.type === "ticketing_b")
    return [read(tracker, `/api/v2/tickets.json?external_id=${encodeURIComponent(messageId)}`)];
  const project = tracker.entry.project_key.replace(/["\\]/g, "");
  const jql = encodeURIComponent(`project = "${project}" AND labels = "${labelOf(messageId)}"`);
  return ["/rest/api/2/search", "/rest/api/2/search/jql"].map((path) =>
    read(tracker, `${path}?jql=${jql}&maxResults=1&fields=key`),
  );
}

const SearchReplyA = z.object({ issues: z.array(CreatedA.partial({ key: true })) });
const SearchReplyB = z.object({ tickets: z.array(z.object({ id: Id, external_id: z.string().nullish() })) });

/** The ticket in a reply to `searches`: undefined if the reply is not one, null if there is no ticket. */
export function ticketIn({ type }: Tracker, answer: unknown, messageId: string): Ticket | null | undefined {
  if (type === "ticketing_a") {
    const { data } = SearchReplyA.safeParse(answer);
    if (!data) return undefined;
    const [issue] = data.issues;
    return issue ? { ticket_id: issue.id, ...(issue.key ? { ticket_key: issue.key } : {}) } : null;
  }
  const { data } = SearchReplyB.safeParse(answer);
  if (!data) return undefined;
  const ticket = data.tickets.find(({ external_id }) => external_id === messageId);
  return ticket ? { ticket_id: ticket.id } : null;
}
