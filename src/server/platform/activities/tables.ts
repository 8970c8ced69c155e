import { bool, id, ids, int, json, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly activities: typeof activities;
    readonly activityChain: typeof activityChain;
  }
}

/** An entry that is to be sent to a webhook of host activities. */
export interface HostActivitiesRequest {
  readonly url: string;
  /** The team that has the webhook: 0 stands for hosts without a team, null for all hosts. */
  readonly team_id: number | null;
  /** The hosts of this webhook that an entry about several hosts concerns; null for an entry about one host. */
  readonly host_ids: readonly number[] | null;
}

/**
 * Entries never change: their hash covers every column except `host_only`, what entries are found by, those of webhooks and the chain's own. So there are no
 * foreign keys, which would be set to null when their target is deleted.
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
    /** IP address of the caller; null for the service itself. */
    actor_address: text().nullable(),
    /** The name of the API token that called. */
    actor_token: text().nullable(),
    type: text().index(),
    svc_initiated: bool().default(false),
    details: json<Record<string, unknown>>().nullable(),
    /** Set for entries listed under a host. No foreign key: the entry outlives the host. */
    host_id: int().nullable().index(),
    /** Listed under its host, and not in the feed of all. Not covered by the hash. */
    host_only: bool().default(false),
    /**
     * The teams that it concerns; 0 stands for hosts without a team. Like the next column, derived by search.ts and not
     * covered by the hash. Null: recorded by an earlier version, until search-job.ts has filled it in.
     */
    team_ids: ids("teams").nullable(),
    details_text: text().nullable().search(),
    /** The activities webhook configured at the time of recording; null if it was disabled, and after sealing. */
    webhook_url: text().nullable(),
    /** Requests to webhooks of host activities that were enabled at the time of recording; null after sealing. */
    host_requests: json<HostActivitiesRequest[]>().nullable(),
    /** Position in the chain, contiguous from 1; null until sealed, shortly after the commit. */
    chain_position: int().nullable().unique(),
    /** SHA-256 of the entry and the previous hash, hexadecimal. */
    chain_hash: text().nullable(),
  },
  // For searches within a rare type, newest first.
  { indexes: [["type", "created_at"]] },
);

/**
 * Signed points of the chain: the newest end (head), the end of the expired entries (checkpoint), and points where
 * damage was found and a new chain started (break).
 */
export const activityChain = table("activity_chain", {
  id: id(),
  kind: text<"head" | "checkpoint" | "break">().index(),
  created_at: time(),
  /** Hash of the chain at this position; after a break, the hash from which the next entry continues. */
  position: int().index(),
  hash: text(),
  /** HMAC-SHA256 of kind, position and hash with the servers' key, hexadecimal. */
  signature: text(),
});
