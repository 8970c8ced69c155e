import { id, int, json, packed, table, text, time } from "../store/table.ts";

/** What has to reach another server, written in the transaction of what it tells of. Kept for a while after it was delivered. */
export const outbox = table(
  "outbox",
  {
    id: id(),
    created_at: time().index(),
    /** Which sender takes it. */
    kind: text<"webhook" | "ticket">(),
    /** Rows with the same destination go out one after the other, in id order. */
    destination: text(),
    /** What it tells of: `activities`, `host_status`, `failing_policies`, `vulnerabilities`, `test`. */
    event: text().index(),
    /** The same at every try: receivers tell duplicates by it. */
    message_id: text().unique(),
    url: text(),
    payload: packed<Record<string, unknown>>(),
    state: text<"pending" | "delivered" | "dead">().default("pending").index(),
    attempts: int().default(0),
    next_attempt_at: time().index(),
    last_attempt_at: time().nullable(),
    /** After this a failed try is the last one. */
    give_up_at: time(),
    /** The HTTP status of the last try; null where there was no answer. */
    last_status: int().nullable(),
    last_error: text().nullable(),
    delivered_at: time().nullable(),
    /** What the sender keeps of the answer (a ticket's key), or of a try of which it is not known what came of it. */
    result: json<Record<string, string>>().nullable(),
    /** The policy that it is about; not a reference: deliveries outlive policies. */
    policy_id: int().nullable().index(),
    team_id: int().nullable(),
  },
  { indexes: [["destination", "state", "id"]] },
);
