import { z } from "zod";
import { StreamedBody } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, paging, Timestamp } from "../fields.ts";

const SQL_MAX = 200_000;
/** Maximum number of hosts that one request may name. */
export const HOSTS_MAX = 200_000;

const Sql = z.string().max(SQL_MAX).meta({ description: "SQL" });
const Row = z.record(z.string(), z.string()).meta({ description: "every cell is text" });
const Ids = z.array(Id).max(HOSTS_MAX);
const TeamIds = z.array(z.int().min(0)).max(10_000).meta({ description: "0 = no team" });

/**
 * Explicitly named hosts are always included. Labels of one kind are combined by OR, and so are teams; the kinds are
 * combined by AND.
 */
export const SelectedTargets = z.object({
  hosts: Ids.optional(),
  labels: Ids.optional(),
  teams: TeamIds.optional(),
});
export type SelectedTargets = z.output<typeof SelectedTargets>;

/** Blank ones name nothing: other command lines send one where none was given. */
const names = (longest: number, most: number) =>
  z
    .array(z.string().max(longest))
    .max(most)
    .overwrite((entries) => entries.filter((name) => name.trim() !== ""))
    .optional();

const SelectedNames = z.object({
  hosts: names(255, HOSTS_MAX).meta({ description: "hostnames, uuids, serial numbers" }),
  labels: names(1024, 10_000).meta({ description: "names" }),
});

export const HostAnswer = z.object({
  host_id: Id,
  query: z.string(),
  status: z.enum(["online", "offline"]),
  rows: z.array(Row).nullable(),
  error: z.string().nullable(),
});
export type HostAnswer = z.infer<typeof HostAnswer>;

const Result = z.object({ host_id: Id, rows: z.array(Row), error: z.string().nullable() });

export const Campaign = z.object({
  id: Id,
  query_id: Id.nullable().meta({ description: "null: SQL that is not saved" }),
  user_id: Id.nullable(),
  status: z.int().meta({ description: "0 waiting, 1 running, 2 complete" }),
  created_at: Timestamp,
  updated_at: Timestamp,
  Metrics: z.object({
    TotalHosts: z.int(),
    OnlineHosts: z.int(),
    OfflineHosts: z.int(),
    MissingInActionHosts: z.int(),
    NewHosts: z.int(),
  }),
});

/** How many targets ended in each state. */
export const Accounting = z.object({
  targets: z.int(),
  waiting: z.int(),
  answered: z.int(),
  error: z.int(),
  offline: z.int(),
  timed_out: z.int(),
  cancelled: z.int(),
});
export type Accounting = z.infer<typeof Accounting>;

export const LiveQuery = z.object({
  id: Id,
  query_id: Id.nullable(),
  query: z.string(),
  status: z.enum(["waiting", "running", "complete"]),
  ended_by: z
    .enum(["answered", "time", "cancelled", "unread"])
    .nullable()
    .meta({ description: "answered: no target that could answer is left; unread: nobody read it for a minute" }),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
  expires_at: Timestamp.meta({ description: "when it ends by itself" }),
  queue_until: Timestamp.nullable().meta({ description: "hosts that come online before this time receive the query" }),
  online_count: z.int().meta({ description: "targets that were online when it began" }),
  counts: Accounting,
});
export type LiveQuery = z.infer<typeof LiveQuery>;

/** Data of stream events and of websocket messages. */
export const LiveTotals = z.object({
  count: z.int(),
  online: z.int(),
  offline: z.int(),
  missing_in_action: z.int(),
});
export type LiveTotals = z.infer<typeof LiveTotals>;
export const LiveStatus = z.object({
  expected_results: z.int(),
  actual_results: z.int(),
  count_of_hosts_with_results: z.int(),
  count_of_hosts_with_no_results: z.int(),
  status: z.enum(["pending", "finished"]),
  /** Targets that are online or have received the query, and have not returned results. */
  expected_left: z.int(),
  counts: Accounting,
});
export type LiveStatus = z.infer<typeof LiveStatus>;
export const LiveResult = z.object({
  distributed_query_execution_id: Id,
  host: z.object({ id: Id, hostname: z.string(), display_name: z.string() }),
  rows: z.array(Row).meta({ description: "each gains host_hostname and host_display_name" }),
  error: z.string().nullable(),
  stats: z.record(z.string(), z.number()).nullable(),
});
export type LiveResult = z.infer<typeof LiveResult>;

const byId = z.object({ id: IdParam });
const run = { action: "queries:run", scope: "team" } as const;
const runNew = { action: "queries:run_new", scope: "team" } as const;
const hostQuery = z.object({ query: Sql.optional() });
const started = z.object({ campaign: Campaign });
const live = z.object({ live_query: LiveQuery });
const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A duration, parsed to milliseconds. */
const Duration = z
  .union([z.string().max(32), z.number()])
  .transform((input, context) => {
    const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(String(input)) ?? [];
    if (amount !== undefined) return Number(amount) * units[unit ?? "s"]!;
    context.issues.push({ code: "custom", message: "must be a duration such as 30s, 10m or 24h", input });
    return z.NEVER;
  })
  .meta({ description: "30s, 10m, 24h; a number is seconds" });
const idList = (name: string) =>
  z
    .string()
    .max(2_000_000)
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .refine((parts) => parts.every((part) => /^\d{1,15}$/.test(part) && Number(part) > 0), { error: `Invalid ${name}` })
    .transform((parts) => parts.map(Number))
    .optional()
    .meta({ type: "string", description: "ids, separated by commas" });

export const liveQueriesApi = {
  onHost: endpoint({
    method: "POST",
    path: "/hosts/:id/query",
    dryRun: "its reply contains the host's results",
    isSlow: true,
    summary: "Run SQL on one host and wait for its results.",
    access: runNew,
    params: byId,
    body: hostQuery,
    response: HostAnswer,
  }),
  onHostByIdentifier: endpoint({
    method: "POST",
    path: "/hosts/identifier/:identifier/query",
    dryRun: "its reply contains the host's results",
    isSlow: true,
    summary: "Run SQL on one host, found by one of its identifiers, and wait for its results.",
    access: runNew,
    params: z.object({ identifier: z.string().min(1).max(255) }),
    body: hostQuery,
    response: HostAnswer,
  }),
  runSaved: endpoint({
    method: "POST",
    path: "/queries/:id/run",
    dryRun: "its reply contains the hosts' results",
    isSlow: true,
    summary: "Run a saved query on hosts and wait for their results.",
    access: run,
    params: byId,
    body: z.object({ host_ids: Ids.optional() }),
    response: z.object({
      query_id: Id,
      targeted_host_count: z.int(),
      responded_host_count: z.int(),
      results: z.array(Result),
    }),
  }),
  runMany: endpoint({
    method: "GET",
    path: "/queries/run",
    dryRun: "its reply contains the hosts' results",
    isSlow: true,
    summary: "Run saved queries on hosts and wait for their results.",
    stability: "deprecated",
    access: run,
    query: z.object({ query_ids: idList("query_ids"), host_ids: idList("host_ids") }),
    response: z.object({
      summary: z.object({ targeted_host_count: z.int(), responded_host_count: z.int() }),
      live_query_results: z.array(
        z.object({ query_id: Id, error: z.string().optional(), results: z.array(Result).optional() }),
      ),
    }),
  }),
  start: endpoint({
    method: "POST",
    path: "/queries/run",
    summary: "Start a live query that a websocket reads; hosts that come online receive it until the websocket closes.",
    access: run,
    body: z.object({ query: Sql.nullish(), query_id: Id.nullish(), selected: SelectedTargets }),
    response: started,
  }),
  startByNames: endpoint({
    method: "POST",
    path: "/queries/run_by_identifiers",
    aliases: ["/queries/run_by_names"],
    summary: "Start a live query on hosts and labels given by name.",
    access: run,
    body: z.object({ query: Sql.nullish(), query_id: Id.nullish(), selected: SelectedNames }),
    response: started,
  }),
  create: endpoint({
    method: "POST",
    path: "/queries/live",
    summary: "Start a live query whose results are streamed.",
    access: run,
    body: z.object({
      query: Sql.nullish(),
      query_id: Id.nullish(),
      selected: SelectedTargets.nullish(),
      where: z
        .string()
        .max(10_000)
        .nullish()
        .meta({ description: "a selector, instead of or in addition to selected" }),
      timeout: Duration.nullish().meta({ description: "how long hosts may take; default 24h" }),
      queue_until: Duration.nullish().meta({
        description: "how long hosts that come online later still receive the query; at most 7d",
      }),
    }),
    response: live,
  }),
  list: endpoint({
    method: "GET",
    path: "/queries/live",
    summary: "List your live queries.",
    access: run,
    query: paging("id", "created_at"),
    response: z.object({ live_queries: z.array(LiveQuery), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/queries/live/:id",
    summary: "Get one of your live queries.",
    access: run,
    params: byId,
    response: live,
  }),
  stream: endpoint({
    method: "GET",
    path: "/queries/live/:id/stream",
    summary: "Stream results as server-sent events totals, status, result and error; Last-Event-ID resumes.",
    access: run,
    params: byId,
    produces: "text/event-stream",
    response: StreamedBody,
  }),
  cancel: endpoint({
    method: "POST",
    path: "/queries/live/:id/cancel",
    summary: "End one of your live queries; hosts that have not answered no longer receive it.",
    access: run,
    params: byId,
    response: live,
  }),
  socketInfo: endpoint({
    method: "GET",
    path: "/results/info",
    summary: "Information that SockJS clients request before they open a websocket.",
    access: "none",
    response: z.object({
      websocket: z.literal(true),
      origins: z.array(z.string()),
      cookie_needed: z.literal(false),
      entropy: z.int(),
    }),
  }),
  status: endpoint({
    method: "GET",
    path: "/status/live_query",
    summary: "Check whether live queries can be run.",
    access: "user",
    response: Empty,
  }),
  resultStore: endpoint({
    method: "GET",
    path: "/status/result_store",
    summary: "Check whether results of live queries can be stored.",
    access: "user",
    response: Empty,
  }),
};
