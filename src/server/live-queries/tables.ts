import { bool, id, int, json, packed, ref, table, text, time } from "../store/table.ts";

/** What was asked for, as it was asked; the hosts picked are in `campaign_hosts`. */
export interface CampaignTargets {
  readonly hosts: readonly number[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
  readonly where: string;
}

/** Why a live query is over: no target that could answer is left, its time is over, somebody ended it, or nobody read it. */
export type EndedBy = "answered" | "time" | "cancelled" | "unread";

/** One live query over any number of hosts. Counters change under the lock of the campaign (`lockOf`). */
export const campaigns = table("campaigns", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  user_id: ref("users").nullable(),
  query_id: ref("queries").nullable(),
  query: text(),
  /** 0 waiting (no reader yet), 1 running, 2 complete. */
  status: int().default(0).index(),
  targets: json<CampaignTargets>(),
  /** 0 until all targets are written: before that no host is asked. */
  targets_count: int().default(0),
  /** Hosts that were online when it began. */
  online_count: int().default(0),
  answered_count: int().default(0),
  /** Of those, hosts whose answer had rows. */
  with_rows_count: int().default(0),
  error_count: int().default(0),
  /** The last place given: outcomes are numbered from 1. */
  last_seq: int().default(0),
  /** Bytes of rows that are kept. */
  bytes: int().default(0),
  /** Targets that were online or asked since, and whose outcome is not known. */
  expected_count: int().default(0),
  offline_count: int().default(0),
  timed_out_count: int().default(0),
  cancelled_count: int().default(0),
  /** Until when hosts that come online are still asked; null: only while somebody waits. */
  queue_until: time().nullable(),
  /** When it becomes complete by itself. */
  expires_at: time(),
  /** Moved on while somebody reads; past it the query is cancelled, unless it is kept for hosts to come. */
  reader_until: time(),
  finished_at: time().nullable().index(),
  ended_by: text<EndedBy>().nullable(),
});

/** One target of a campaign. */
export const campaignHosts = table(
  "campaign_hosts",
  {
    id: id(),
    campaign_id: ref("campaigns"),
    host_id: ref("hosts"),
    state: text<"waiting" | "answered" | "error" | "offline" | "timed_out" | "cancelled">().default("waiting"),
    /** It was online when the query began, or was asked since. */
    reached: bool().default(false),
    /** The outcome's number in the stream, behind the campaign's id (`placeOf`): one column, so that one index finds a range. */
    place: int().nullable().unique(),
    error: text().nullable(),
    row_count: int().default(0),
    /** Of the rows, as JSON. */
    bytes: int().default(0),
    rows: packed<readonly Record<string, string>[]>().nullable(),
    stats: json<Record<string, number>>().nullable(),
    ended_at: time().nullable(),
  },
  { unique: [["campaign_id", "host_id"]], indexes: [["campaign_id", "state"]] },
);

/** Outcomes of one campaign at most, and so targets. */
export const PLACES = 2 ** 22;

/** Rises within a campaign; a campaign's places are those between `placeOf(id, 0)` and `placeOf(id + 1, 0)`. */
export const placeOf = (campaignId: number, seq: number): number => campaignId * PLACES + seq;
export const seqOf = (place: number): number => place % PLACES;

/** Writers of one campaign follow each other: outcomes are kept in the order of their numbers. */
export const lockOf = (campaignId: number): string => `campaign ${campaignId}`;
