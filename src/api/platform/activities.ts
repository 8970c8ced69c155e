import { z } from "zod";
import { StreamedBody } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import {
  CursorMeta,
  cursorQuery,
  Id,
  pagingUpTo,
  QueryFlag,
  QueryId,
  QueryInt,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";

/** Maximum number of entries in one reply, also if no page is requested. */
export const ACTIVITIES_MAX = 10_000;

/** A list searches the details of so many entries: those before `end_created_at`, or the newest ones. */
export const SEARCHED_MAX = 1_000_000;

export const Activity = z.object({
  id: Id,
  created_at: Timestamp,
  actor_full_name: z.string().optional(),
  actor_id: Id.optional(),
  actor_email: z.string().optional(),
  actor_gravatar: z.string().optional(),
  actor_api_only: z.boolean().optional(),
  actor_address: z.string().optional().meta({ description: "address of the caller" }),
  actor_token: z.string().optional().meta({ description: "name of the API token that called" }),
  type: z.string(),
  svc_initiated: z.boolean(),
  details: z.record(z.string(), z.json()).nullable(),
});
export type Activity = z.infer<typeof Activity>;

/** Filters that all lists of activities accept. */
const filters = {
  query: QueryText.optional().meta({ description: "searches actor_full_name and actor_email" }),
  activity_type: z.string().max(4096).optional().meta({ description: "one type, or several joined by commas" }),
  actor_id: QueryId.optional().meta({ description: "only activities of this user" }),
  host_id: QueryId.optional().meta({ description: "only activities in this host's own list" }),
  team_id: QueryTeam.optional().meta({
    premium: true,
    description: "only activities that concern this team, or a host that was in it at that time; 0 = no team (premium)",
  }),
  details: QueryText.optional().meta({
    description: `searches the texts and numbers in details; a list searches the newest ${SEARCHED_MAX.toLocaleString("en")} entries before end_created_at`,
  }),
};
const times = {
  start_created_at: z.string().max(64).optional().meta({ description: "only activities after this time" }),
  end_created_at: z.string().max(64).optional().meta({ description: "only activities before this time" }),
};

export const ActivityFilters = z.object({ ...filters, ...times });
export type ActivityFilters = z.output<typeof ActivityFilters>;

const problemKinds = [
  "edited",
  "missing",
  "swapped",
  "inserted",
  "truncated",
  "rewritten",
  "bad_signature",
  "no_head",
  "no_checkpoint",
  "broken",
] as const;

export const ChainProblem = z.object({
  kind: z.enum(problemKinds),
  position: z.int().nullable().meta({ description: "place in the chain" }),
  id: Id.nullable().meta({ description: "id of the activity" }),
  detail: z.string(),
});
export type ChainProblem = z.infer<typeof ChainProblem>;

export const Verification = z.object({
  ok: z.boolean(),
  entries: z.int().meta({ description: "number of activities in the chain" }),
  unsealed: z.int().meta({ description: "number of activities not yet in the chain" }),
  first_position: z.int().nullable(),
  last_position: z.int().nullable(),
  checked: z.int().meta({ description: "number of entries checked by this call" }),
  next: z.int().nullable().meta({ description: "with limit: position to continue from; null: complete" }),
  head: z
    .object({ position: z.int(), hash: z.string() })
    .nullable()
    .meta({ description: "the chain's end; record it elsewhere to pass it as known in a later check" }),
  problem: ChainProblem.nullable().meta({ description: "the first problem found" }),
});
export type Verification = z.infer<typeof Verification>;

const access = { action: "activities:list", scope: "global" } as const;

export const activitiesApi = {
  list: endpoint({
    method: "GET",
    path: "/activities",
    summary: "List activities: who did what.",
    access,
    query: pagingUpTo(
      ACTIVITIES_MAX,
      "id",
      "created_at",
      "type",
      "actor_id",
      "actor_full_name",
      "actor_email",
      "actor_gravatar",
      "actor_api_only",
      "svc_initiated",
    ).extend({ ...filters, ...times, ...cursorQuery }),
    response: z.object({ activities: z.array(Activity), meta: CursorMeta }),
  }),
  export: endpoint({
    method: "GET",
    path: "/activities/export",
    summary: "Export activities, the oldest first.",
    access,
    query: ActivityFilters.extend({ format: z.enum(["ndjson", "csv"]).default("ndjson") }),
    response: StreamedBody,
    produces: "application/x-ndjson",
  }),
  stream: endpoint({
    method: "GET",
    path: "/activities/stream",
    summary: "Follow activities as server-sent events, resumable by Last-Event-ID.",
    access,
    query: z.object({
      ...filters,
      last: QueryInt.pipe(z.int().min(0).max(1000)).optional().meta({
        type: "integer",
        minimum: 0,
        maximum: 1000,
        description: "number of existing activities to send first",
      }),
      once: QueryFlag.default(false).meta({ description: "end after sending the existing activities" }),
    }),
    response: StreamedBody,
    produces: "text/event-stream",
  }),
  verify: endpoint({
    method: "GET",
    path: "/audit/verify",
    summary: "Check that no activity was changed, removed or moved.",
    access: { action: "activities:verify", scope: "global" },
    query: z.object({
      from: QueryId.optional().meta({ description: "start after this position, where an earlier call stopped" }),
      limit: QueryId.optional().meta({ description: "maximum number of entries to check" }),
      known: z
        .string()
        .regex(/^\d{1,15}:[0-9a-f]{64}$/)
        .optional()
        .meta({ description: "position and hash of a chain end that was recorded earlier, for example 7:9f86..." }),
    }),
    response: Verification,
  }),
};
