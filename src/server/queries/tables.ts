import { bool, id, int, json, packed, ref, table, text, time } from "../store/table.ts";

/** What agents measured of a scheduled query, over all hosts: milliseconds, null where none ran it yet. */
export interface QueryStats {
  readonly system_time_p50: number | null;
  readonly system_time_p95: number | null;
  readonly user_time_p50: number | null;
  readonly user_time_p95: number | null;
  readonly total_executions: number | null;
}

export const queries = table(
  "queries",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    /** Null: global. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    name: text().search(),
    description: text().default(""),
    query: text(),
    /** Seconds; 0: not scheduled. */
    interval: int().default(0),
    /** Comma-separated; empty: every platform. */
    platform: text().default(""),
    min_qengine_version: text().default(""),
    automations_enabled: bool().default(false),
    logging: text<"snapshot" | "differential" | "differential_ignore_removals">().default("snapshot"),
    observer_can_run: bool().default(false),
    discard_data: bool().default(false),
    /** Percent of the hosts that run it; null: all. Only the deprecated schedule sets it. */
    shard: int().nullable(),
    author_id: ref("users").nullable(),
    stats: json<QueryStats>().nullable(),
  },
  { unique: [["team_id", "name"]] },
);

/** A scheduled query runs on hosts that have any of these labels; without any, on all. */
export const queryLabels = table(
  "query_labels",
  { id: id(), query_id: ref("queries"), label_id: ref("labels").onDelete("restrict") },
  { unique: [["query_id", "label_id"]] },
);

/** The rows that one host last gave to one scheduled query. */
export const queryResults = table(
  "query_results",
  {
    id: id(),
    query_id: ref("queries"),
    host_id: ref("hosts"),
    last_fetched: time(),
    /** 0: it ran and found nothing. */
    row_count: int(),
    rows: packed<readonly Record<string, string>[]>(),
  },
  { unique: [["query_id", "host_id"]] },
);
