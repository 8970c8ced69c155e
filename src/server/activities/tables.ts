import { bool, id, int, json, table, text, time } from "../store/table.ts";

/**
 * Nothing of an entry changes once it is there: its hash covers every column but the chain's own. So nothing here is a reference, which
 * would become null when its target goes.
 */
export const activities = table(
  "activities",
  {
    id: id(),
    created_at: time().index(),
    actor_id: int().nullable().index(),
    actor_full_name: text().nullable().search(),
    actor_email: text().nullable().search(),
    actor_gravatar: text().nullable(),
    actor_api_only: bool().nullable(),
    /** Where the call came from; null for the service. */
    actor_address: text().nullable(),
    /** The name of the API token that called. */
    actor_token: text().nullable(),
    type: text().index(),
    svc_initiated: bool().default(false),
    details: json<Record<string, unknown>>().nullable(),
    /** Set for what shows in a host's own list. Not a reference: the entry outlives the host. */
    host_id: int().nullable().index(),
    /** The place in the chain, from 1 without a gap; null until the entry is sealed, soon after its commit. */
    chain_position: int().nullable().unique(),
    /** SHA-256 over the entry and the hash before it, hex. */
    chain_hash: text().nullable(),
  },
  // A rare type, the newest first, together with a search.
  { indexes: [["type", "created_at"]] },
);

/**
 * What the chain is held by: its newest end (head), where entries that expired ended (checkpoint), and where it was found damaged and
 * began anew (break).
 */
export const activityChain = table("activity_chain", {
  id: id(),
  kind: text<"head" | "checkpoint" | "break">().index(),
  created_at: time(),
  /** The chain's hash at this position, and after a break what the next entry goes on from. Nothing before a checkpoint is kept. */
  position: int().index(),
  hash: text(),
  /** HMAC-SHA256 with the servers' key over kind, position and hash, hex. */
  signature: text(),
});
