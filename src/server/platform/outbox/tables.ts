import { id, int, json, packed, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly outbox: typeof outbox;
  }
}

/**
 * Requests to other servers, stored in the transaction of the change that they report. Kept for some time after
 * delivery.
 */
export const outbox = table(
  "outbox",
  {
    id: id(),
    created_at: time().index(),
    /** Selects the implementation that sends the row. */
    kind: text<"webhook" | "ticket" | "mail">(),
    /** Rows with the same destination are sent one at a time, in order of their ids. */
    destination: text(),
    /** The reported event: `activities`, `host_activities`, `host_status`, `failing_policies`, `vulnerabilities`, `calendar_event`, `mdm_migration` or `test`. */
    event: text().index(),
    /** One id for every attempt, so that receivers can detect duplicates. */
    message_id: text().unique(),
    url: text(),
    payload: packed<Record<string, unknown>>(),
    state: text<"pending" | "delivered" | "dead">().default("pending").index(),
    attempts: int().default(0),
    next_attempt_at: time().index(),
    last_attempt_at: time().nullable(),
    /** A failed attempt after this time is the last one. */
    give_up_at: time(),
    /** When the destination first rejected this request. */
    refused_since: time().nullable(),
    /** The HTTP status of the last attempt; null if there was no reply. */
    last_status: int().nullable(),
    last_error: text().nullable(),
    delivered_at: time().nullable(),
    /** Data from the reply (such as a ticket's key), or from an attempt with an unknown outcome. */
    result: json<Record<string, string>>().nullable(),
    /** The policy concerned. No foreign key: deliveries outlive policies. */
    policy_id: int().nullable().index(),
    team_id: int().nullable(),
    /** The hosts that newly fail the policy. */
    host_ids: packed<readonly number[]>().nullable(),
  },
  { indexes: [["destination", "state", "id"]] },
);
