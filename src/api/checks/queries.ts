import { z } from "zod";
import { StreamedBody } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import {
  Empty,
  Id,
  IdParam,
  Meta,
  nameText,
  pagingAfter,
  QueryFlag,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";
import { plainFlag, plainNumber, plainText, schemasOf } from "../plain-fields.ts";

export const queryLoggings = ["snapshot", "differential", "differential_ignore_removals"] as const;
export type QueryLogging = (typeof queryLoggings)[number];
/** Platforms that a query can be limited to. */
export const queryPlatforms = ["darwin", "linux", "windows", "chrome"] as const;
/** Agents ignore scheduled queries with a longer interval. */
export const MAX_INTERVAL = 604_800;
export const SQL_MAX = 200_000;

export const queryFields = {
  description: plainText(10_000, { summary: "Purpose of the query." }),
  interval: plainNumber(z.int().min(0).max(MAX_INTERVAL), 0, {
    summary: "Interval of scheduled runs, in seconds; 0: not scheduled.",
    description: "seconds; 0: not scheduled",
  }),
  automations_enabled: plainFlag({ summary: "Write results to the log destination." }),
  observer_can_run: plainFlag({ summary: "Allow observers to run it as a live query." }),
  discard_data: plainFlag({ summary: "Do not store results in a report." }),
};

const Milliseconds = z.number().nullable();
export const QueryStats = z.object({
  system_time_p50: Milliseconds,
  system_time_p95: Milliseconds,
  user_time_p50: Milliseconds,
  user_time_p95: Milliseconds,
  total_executions: z.number().nullable(),
});

export const Query = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: z.string(),
  query: z.string(),
  ...schemasOf(queryFields),
  team_id: Id.nullable().meta({ description: "null: global" }),
  platform: z.string().meta({ description: "comma-separated; empty: every platform" }),
  min_qengine_version: z.string(),
  logging: z.enum(queryLoggings),
  saved: z.boolean(),
  author_id: Id.nullable(),
  author_name: z.string(),
  author_email: z.string(),
  labels_include_any: z.array(z.object({ id: Id, name: z.string() })),
  labels_include_all: z.array(z.object({ id: Id, name: z.string() })).optional(),
  packs: z.array(
    z.object({
      id: Id,
      name: z.string(),
      description: z.string(),
      platform: z.string(),
      disabled: z.boolean(),
      created_at: Timestamp,
      updated_at: Timestamp,
    }),
  ),
  stats: QueryStats,
  error_host_count: z.int().min(0).meta({ description: "hosts whose agent could not run the query" }),
  error_message: z.string().nullable().meta({ description: "what one of these agents reported; null: none" }),
});
export type Query = z.infer<typeof Query>;

const LabelNames = z.array(z.string().max(255)).max(1000).meta({ description: "names of labels (premium)" });
// The values are validated together with the whole payload, because each violation has a message of its own.
const fields = {
  name: nameText().optional(),
  query: z.string().max(SQL_MAX).optional(),
  ...z.object(schemasOf(queryFields)).partial().shape,
  platform: z.string().max(255).optional().meta({ description: "comma list of darwin, linux, windows, chrome" }),
  min_qengine_version: z.string().max(64).optional(),
  logging: z
    .string()
    .max(64)
    .optional()
    .meta({ description: queryLoggings.join(", ") }),
  labels_include_any: LabelNames.nullable().optional(),
  labels_include_all: LabelNames.nullable().optional(),
};
export const QueryFields = z.object(fields);
export type QueryFields = z.output<typeof QueryFields>;

/** In bodies, 0 is equivalent to null: no team. */
const TeamInBody = z.int().min(0).nullable().optional().meta({ description: "null or 0: global (premium)" });
/** No value and 0 both mean the global queries. */
const TeamInQuery = QueryTeam.transform((id) => (id === 0 ? undefined : id))
  .optional()
  .meta({ type: "integer", minimum: 0, premium: true, description: "absent or 0: global (premium)" });

export const QuerySpec = z.object({
  name: z.string(),
  query: z.string(),
  team: z.string().meta({ description: "name of the team; empty: global" }),
  ...schemasOf(queryFields),
  platform: z.string(),
  min_qengine_version: z.string(),
  logging: z.enum(queryLoggings),
  labels_include_any: z.array(z.string()),
  labels_include_all: z.array(z.string()).optional(),
});
export type QuerySpec = z.infer<typeof QuerySpec>;
const QuerySpecInput = z.object({ ...fields, team: z.string().max(255).nullable().optional() });
export type QuerySpecInput = z.output<typeof QuerySpecInput>;

const Columns = z.record(z.string(), z.string());
export const ReportRow = z.object({
  host_id: Id,
  host_name: z.string(),
  last_fetched: Timestamp,
  columns: Columns,
});
export type ReportRow = z.infer<typeof ReportRow>;

const params = z.object({ id: IdParam });
const byName = z.object({ name: z.string().min(1).max(1024) });
const list = { action: "queries:list", scope: "team" } as const;
const write = { action: "queries:write", scope: "team" } as const;

export const queriesApi = {
  list: endpoint({
    method: "GET",
    path: "/queries",
    summary: "List queries: the global ones, or a team's.",
    access: list,
    query: pagingAfter("id", "name", "created_at", "updated_at", "interval").extend({
      query: QueryText.optional().meta({ description: "searches the name" }),
      team_id: TeamInQuery,
      merge_inherited: QueryFlag.optional().meta({
        premium: true,
        description: "include the global queries; needs team_id (premium)",
      }),
      platform: z
        .enum(["macos", "windows", "linux"])
        .optional()
        .meta({ description: "only queries that are scheduled on this platform" }),
    }),
    response: z.object({ queries: z.array(Query), count: z.int(), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/queries/:id",
    summary: "Get a query.",
    access: list,
    params,
    response: z.object({ query: Query }),
  }),
  create: endpoint({
    method: "POST",
    path: "/queries",
    summary: "Save a query.",
    access: write,
    body: z.object({ ...fields, team_id: TeamInBody }),
    response: z.object({ query: Query }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/queries/:id",
    summary: "Change a query; its report is deleted if the SQL changes.",
    access: write,
    params,
    body: QueryFields,
    response: z.object({ query: Query }),
  }),
  deleteByName: endpoint({
    method: "DELETE",
    path: "/queries/:name",
    summary: "Delete the query of this name.",
    access: write,
    params: byName,
    body: z.object({ team_id: TeamInBody }).optional(),
    response: Empty,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/queries/id/:id",
    summary: "Delete a query.",
    access: write,
    params,
    response: Empty,
  }),
  deleteMany: endpoint({
    method: "POST",
    path: "/queries/delete",
    summary: "Delete queries; if one of them is unknown, none is deleted.",
    access: write,
    body: z.object({ ids: z.array(Id).max(100_000) }),
    response: z.object({ deleted: z.int() }),
  }),
  report: endpoint({
    method: "GET",
    path: "/queries/:id/report",
    summary: "Show the latest results of a scheduled query from all hosts.",
    access: list,
    params,
    query: z.object({
      team_id: QueryTeam.optional().meta({ description: "only hosts of this team; 0: hosts without a team" }),
    }),
    response: z.object({ query_id: Id, report_clipped: z.boolean(), results: z.array(ReportRow) }),
  }),
  reportCsv: endpoint({
    method: "GET",
    path: "/queries/:id/report/csv",
    summary: "Export the report as CSV: host_id, host_name, last_fetched and the columns of the results.",
    access: list,
    params,
    query: z.object({
      team_id: QueryTeam.optional().meta({ description: "only hosts of this team; 0: hosts without a team" }),
    }),
    produces: "text/csv",
    response: StreamedBody,
  }),
  hostReport: endpoint({
    method: "GET",
    path: "/hosts/:id/queries/:query_id",
    summary: "Show the latest results of a scheduled query from one host.",
    access: list,
    params: z.object({ id: IdParam, query_id: IdParam }),
    response: z.object({
      query_id: Id,
      host_id: Id,
      host_name: z.string(),
      last_fetched: Timestamp.nullable(),
      report_clipped: z.boolean(),
      results: z.array(z.object({ columns: Columns })),
    }),
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/queries",
    summary: "Create or change queries by name and team; omitted fields get their defaults.",
    access: write,
    body: z.object({ specs: z.array(QuerySpecInput).max(10_000) }),
    response: Empty,
  }),
  specs: endpoint({
    method: "GET",
    path: "/spec/queries",
    summary: "Get queries in the format of the POST request.",
    access: list,
    query: z.object({ team_id: TeamInQuery }),
    response: z.object({ specs: z.array(QuerySpec) }),
  }),
  spec: endpoint({
    method: "GET",
    path: "/spec/queries/:name",
    summary: "Get one query in the format of the POST request.",
    access: list,
    params: byName,
    query: z.object({ team_id: TeamInQuery }),
    response: z.object({ specs: QuerySpec }),
  }),
};
