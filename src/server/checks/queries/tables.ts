import { queryFields } from "../../../api/checks/queries.ts";
import { plainColumns } from "../../platform/store/plain-columns.ts";
import { bool, id, int, json, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly queries: typeof queries;
    readonly queryLabels: typeof queryLabels;
    readonly queryResults: typeof queryResults;
  }
}

/** Execution times of a scheduled query over all hosts, in milliseconds; null if no host has run it yet. */
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
    query: text(),
    ...plainColumns(queryFields),
    /** Comma-separated; empty: all platforms. */
    platform: text().default(""),
    min_qengine_version: text().default(""),
    logging: text<"snapshot" | "differential" | "differential_ignore_removals">().default("snapshot"),
    /** Percentage of hosts that run the query; null: all. Set only by the deprecated schedule. */
    shard: int().nullable(),
    author_id: ref("users").nullable(),
    stats: json<QueryStats>().nullable(),
  },
  { unique: [["team_id", "name"]] },
);

/**
 * Labels that restrict a scheduled query to hosts with any of them, or with all of them. Without labels it runs on all
 * hosts.
 */
export const queryLabels = table(
  "query_labels",
  {
    id: id(),
    query_id: ref("queries"),
    label_id: ref("labels").onDelete("restrict"),
    requires_all: bool().default(false),
  },
  { unique: [["query_id", "label_id"]] },
);

/** The last result rows of one scheduled query on one host. */
export const queryResults = table(
  "query_results",
  {
    id: id(),
    query_id: ref("queries"),
    host_id: ref("hosts"),
    last_fetched: time(),
    /** 0: the query ran and returned no rows. */
    row_count: int(),
    rows: packed<readonly Record<string, string>[]>(),
  },
  { unique: [["query_id", "host_id"]] },
);
