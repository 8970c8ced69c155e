import { id, int, json, packed, ref, table, text, time } from "../store/table.ts";

export interface CampaignTargets {
  readonly hosts: readonly number[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
  readonly where: string;
}

/** One live query over any number of hosts. */
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
  targets_count: int().default(0),
  /** Hosts that were online when it began. */
  online_count: int().default(0),
  /** Until when hosts that come online are still asked; null: only while somebody waits. */
  queue_until: time().nullable(),
  /** When it becomes complete by itself. */
  expires_at: time().index(),
  finished_at: time().nullable(),
});

/** One target of a campaign. `seq` is its place in the stream of outcomes. */
export const campaignHosts = table(
  "campaign_hosts",
  {
    id: id(),
    campaign_id: ref("campaigns"),
    host_id: ref("hosts"),
    state: text<"waiting" | "answered" | "error" | "offline" | "timed_out" | "cancelled">().default("waiting"),
    /** Set when the outcome is known: rises within the campaign. */
    seq: int().nullable(),
    error: text().nullable(),
    row_count: int().default(0),
    rows: packed<readonly Record<string, string>[]>().nullable(),
    ended_at: time().nullable(),
  },
  {
    unique: [
      ["campaign_id", "host_id"],
      ["campaign_id", "seq", "id"],
    ],
    indexes: [["host_id", "state"]],
  },
);
