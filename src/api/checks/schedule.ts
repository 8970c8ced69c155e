// Schedules (deprecated): an entry of the global or of a team's schedule is a query; an entry of a pack is a separate
// object.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, paging, Timestamp, unchanged } from "../fields.ts";
import { MAX_INTERVAL, QueryStats } from "./queries.ts";

export const ScheduledEntry = z.object({
  id: Id,
  pack_id: Id.nullable().meta({ description: "null: of the global schedule or a team's" }),
  name: z.string(),
  query_id: Id,
  query_name: z.string(),
  query: z.string(),
  description: z.string(),
  interval: z.int().meta({ description: "seconds" }),
  snapshot: z.boolean(),
  removed: z.boolean(),
  platform: z.string(),
  version: z.string().meta({ description: "minimum agent version" }),
  shard: z.int().nullable().meta({ description: "percentage of hosts; null: all" }),
  denylist: z.boolean(),
  stats: QueryStats,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type ScheduledEntry = z.infer<typeof ScheduledEntry>;

export const Interval = z.int().min(1).max(MAX_INTERVAL).meta({ description: "seconds" });
export const scheduleFields = {
  snapshot: z.boolean().nullable().optional(),
  removed: z.boolean().nullable().optional(),
  platform: z.string().max(255).nullable().optional(),
  version: z.string().max(64).nullable().optional(),
  shard: z.int().min(1).max(100).nullable().optional().meta({ description: "percentage of hosts" }),
};
const create = z.object({ query_id: Id, interval: Interval, ...scheduleFields });
const modify = z.object({
  interval: Interval.optional(),
  ...scheduleFields,
  query_id: unchanged(Id),
  pack_id: unchanged(z.null()),
  name: unchanged(z.string()),
  query_name: unchanged(z.string()),
  query: unchanged(z.string()),
});
export type ScheduleChange = z.output<typeof modify>;

const params = z.object({ id: IdParam });
const inTeam = z.object({ team_id: IdParam, scheduled_query_id: IdParam });
const read = { action: "queries:list", scope: "team" } as const;
const write = { action: "queries:write", scope: "team" } as const;
const order = paging("id", "name", "created_at", "updated_at", "interval");

export const scheduleApi = {
  list: endpoint({
    method: "GET",
    path: "/global/schedule",
    aliases: ["/schedule"],
    summary: "List the global schedule.",
    stability: "deprecated",
    access: read,
    query: order,
    response: z.object({ global_schedule: z.array(ScheduledEntry) }),
  }),
  create: endpoint({
    method: "POST",
    path: "/global/schedule",
    summary: "Schedule a copy of a query on all hosts.",
    stability: "deprecated",
    access: write,
    body: create,
    response: z.object({ scheduled: ScheduledEntry }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/global/schedule/:id",
    summary: "Change an entry of the global schedule.",
    stability: "deprecated",
    access: write,
    params,
    body: modify,
    response: z.object({ scheduled: ScheduledEntry }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/global/schedule/:id",
    summary: "Delete an entry of the global schedule, which is a query.",
    stability: "deprecated",
    access: write,
    params,
    response: Empty,
  }),
  teamList: endpoint({
    method: "GET",
    path: "/teams/:id/schedule",
    aliases: ["/team/:id/schedule"],
    summary: "List a team's schedule.",
    stability: "deprecated",
    tier: "premium",
    access: read,
    params,
    query: order,
    response: z.object({ scheduled: z.array(ScheduledEntry) }),
  }),
  teamCreate: endpoint({
    method: "POST",
    path: "/teams/:id/schedule",
    aliases: ["/team/:id/schedule"],
    summary: "Schedule a copy of a query on a team's hosts.",
    stability: "deprecated",
    tier: "premium",
    access: write,
    params,
    body: create,
    response: z.object({ scheduled: ScheduledEntry }),
  }),
  teamModify: endpoint({
    method: "PATCH",
    path: "/teams/:team_id/schedule/:scheduled_query_id",
    aliases: ["/team/:team_id/schedule/:scheduled_query_id"],
    summary: "Change an entry of a team's schedule.",
    stability: "deprecated",
    tier: "premium",
    access: write,
    params: inTeam,
    body: modify,
    response: Empty,
  }),
  teamDelete: endpoint({
    method: "DELETE",
    path: "/teams/:team_id/schedule/:scheduled_query_id",
    aliases: ["/team/:team_id/schedule/:scheduled_query_id"],
    summary: "Delete an entry of a team's schedule, which is a query.",
    stability: "deprecated",
    tier: "premium",
    access: write,
    params: inTeam,
    response: Empty,
  }),
};
