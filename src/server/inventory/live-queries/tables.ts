import { bool, id, int, json, packed, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly campaigns: typeof campaigns;
    readonly campaignHosts: typeof campaignHosts;
  }
}

/** The requested targets; the resulting hosts are in `campaign_hosts`. */
interface CampaignTargets {
  readonly hosts: readonly number[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
  readonly where: string;
}

/**
 * Why a live query ended: all reachable targets answered, its time ran out, a user cancelled it, or it had no reader.
 */
export type EndedBy = "answered" | "time" | "cancelled" | "unread";

/** A live query. Counters change only under the lock of the campaign (`lockOf`). */
export const campaigns = table("campaigns", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  user_id: ref("users").nullable(),
  query_id: ref("queries").nullable(),
  query: text(),
  /** 0 pending (no reader yet), 1 running, 2 complete. */
  status: int().default(0).index(),
  targets: json<CampaignTargets>(),
  /** 0 until all targets are written; hosts get the query only after that. */
  targets_count: int().default(0),
  /** Hosts that were online at the start. */
  online_count: int().default(0),
  answered_count: int().default(0),
  /** Answered hosts whose result has rows. */
  with_rows_count: int().default(0),
  error_count: int().default(0),
  /** Number of the last outcome, counted from 1. */
  last_seq: int().default(0),
  /** Size of the stored rows in bytes. */
  bytes: int().default(0),
  /** Targets without an outcome that were online at the start or have got the query since. */
  expected_count: int().default(0),
  offline_count: int().default(0),
  timed_out_count: int().default(0),
  cancelled_count: int().default(0),
  /** Until when hosts that come online get the query; null: only while it has a reader. */
  queue_until: time().nullable(),
  /** When the query ends at the latest. */
  expires_at: time(),
  /** Extended while it has a reader. After this time the query is cancelled, unless it is queued for offline hosts. */
  reader_until: time(),
  /**
   * Until this time the query stays open for hosts that come online, even if all online hosts have reported. A lease
   * that is renewed while a websocket reads. Null: no websocket reads.
   */
  socket_until: time().nullable(),
  finished_at: time().nullable().index(),
  ended_by: text<EndedBy>().nullable(),
});

export type CampaignRow = RowOf<typeof campaigns>;

/** A target of a campaign. */
export const campaignHosts = table(
  "campaign_hosts",
  {
    id: id(),
    campaign_id: ref("campaigns"),
    host_id: ref("hosts"),
    state: text<"waiting" | "answered" | "error" | "offline" | "timed_out" | "cancelled">().default("waiting"),
    /** The host was online at the start or has got the query since. */
    reached: bool().default(false),
    /** Campaign id and number of the outcome combined (`placeOf`), so that one index serves range queries. */
    place: int().nullable().unique(),
    error: text().nullable(),
    row_count: int().default(0),
    /** Size of the rows as JSON. */
    bytes: int().default(0),
    rows: packed<readonly Record<string, string>[]>().nullable(),
    stats: json<Record<string, number>>().nullable(),
    ended_at: time().nullable(),
  },
  { unique: [["campaign_id", "host_id"]], indexes: [["campaign_id", "state"]] },
);

/** Maximum number of outcomes, and so of targets, of one campaign. */
export const PLACES = 2 ** 22;

/** Increases within a campaign; a campaign's places are between `placeOf(id, 0)` and `placeOf(id + 1, 0)`. */
export const placeOf = (campaignId: number, seq: number): number => campaignId * PLACES + seq;
export const seqOf = (place: number): number => place % PLACES;

/** Lock that serializes writers of a campaign, so that outcomes are stored in order of their numbers. */
export const lockOf = (campaignId: number) => `campaign ${campaignId}` as const;
