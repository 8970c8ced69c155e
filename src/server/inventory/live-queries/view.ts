import type { Accounting, LiveQuery, LiveStatus, LiveTotals } from "../../../api/inventory/live-queries.ts";
import { missing } from "../../hosts/host-contact/contact.ts";
import { isNew, online } from "../../hosts/hosts/status.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, exists, type Predicate } from "../../platform/store/query.ts";
import { type CampaignRow, campaignHosts } from "./tables.ts";

const words = ["waiting", "running", "complete"] as const;

function accountingOf(row: CampaignRow): Accounting {
  const { targets_count: targets, answered_count: answered, error_count: error } = row;
  return {
    targets,
    waiting: row.status === 2 ? 0 : Math.max(0, targets - answered - error),
    answered,
    error,
    offline: row.offline_count,
    timed_out: row.timed_out_count,
    cancelled: row.cancelled_count,
  };
}

export const liveQueryOf = (row: CampaignRow): LiveQuery => ({
  id: row.id,
  query_id: row.query_id,
  query: row.query,
  status: words[row.status] ?? "complete",
  ended_by: row.ended_by,
  created_at: row.created_at,
  finished_at: row.finished_at,
  expires_at: row.expires_at,
  queue_until: row.queue_until,
  online_count: row.online_count,
  counts: accountingOf(row),
});

export const resultsOf = (row: CampaignRow): number => row.answered_count + row.error_count;

/**
 * The status of a query for readers. `expectedLeft`: the number of online targets without a result, for readers that
 * keep the query open; at 0 the status is finished until another target comes online.
 */
export function statusOf(row: CampaignRow, expectedLeft?: number): LiveStatus {
  const actual = resultsOf(row);
  const over = row.status === 2;
  const left = expectedLeft ?? Math.max(0, row.expected_count);
  return {
    expected_results: actual + (over ? row.timed_out_count : left),
    actual_results: actual,
    count_of_hosts_with_results: row.with_rows_count,
    count_of_hosts_with_no_results: row.answered_count - row.with_rows_count,
    status: over || expectedLeft === 0 ? "finished" : "pending",
    expected_left: over ? 0 : left,
    counts: accountingOf(row),
  };
}

const targetsOf = (id: number): Predicate => exists(campaignHosts, "host_id", eq("campaign_id", id));

/** The current number of targets in each state. */
export async function totalsOf(
  { store, clock }: Pick<Context, "store" | "clock">,
  row: CampaignRow,
): Promise<LiveTotals> {
  const targets = targetsOf(row.id);
  const now = clock.now();
  const [up, gone] = await Promise.all([
    store.hosts.count(and(targets, online(now))),
    store.hosts.count(and(targets, missing(now))),
  ]);
  const count = row.targets_count;
  return { count, online: up, offline: Math.max(0, count - up), missing_in_action: gone };
}

export const newTargets = ({ store, clock }: Pick<Context, "store" | "clock">, row: CampaignRow): Promise<number> =>
  store.hosts.count(and(targetsOf(row.id), isNew(clock.now())));
