// Packs (legacy): sets of scheduled queries for single hosts, labels and teams.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, nameText, pagingAfter, Timestamp, unchanged } from "../fields.ts";
import { MAX_INTERVAL } from "./queries.ts";
import { Interval, ScheduledEntry, scheduleFields } from "./schedule.ts";

const Target = z.object({ id: Id, display_text: z.string() });
export const Pack = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: z.string(),
  description: z.string(),
  platform: z.string(),
  disabled: z.boolean(),
  type: z.string().nullable().meta({ description: "null: made by a user" }),
  query_count: z.int(),
  total_hosts_count: z.int(),
  host_ids: z.array(Id),
  label_ids: z.array(Id),
  team_ids: z.array(Id),
  hosts: z.array(Target),
  labels: z.array(Target),
  teams: z.array(Target),
});
export type Pack = z.infer<typeof Pack>;

const Ids = z.array(Id).max(100_000).nullable().optional();
const packFields = {
  name: nameText().optional(),
  description: z.string().max(10_000).optional(),
  platform: z.string().max(255).optional(),
  disabled: z.boolean().optional(),
  host_ids: Ids,
  label_ids: Ids,
  team_ids: Ids.meta({ description: "premium" }),
};
export const PackFields = z.object(packFields);
export type PackFields = z.output<typeof PackFields>;

const entryFields = {
  ...scheduleFields,
  name: nameText().optional(),
  description: z.string().max(10_000).optional(),
  denylist: z.boolean().nullable().optional(),
};
export const EntryFields = z.object({ ...entryFields, interval: Interval.optional() });
export type EntryFields = z.output<typeof EntryFields>;
const EntryChange = EntryFields.extend({
  pack_id: unchanged(Id),
  query_id: unchanged(Id),
  query_name: unchanged(z.string()),
  query: unchanged(z.string()),
});
export type EntryChange = z.output<typeof EntryChange>;

const Names = z.array(z.string().max(255)).max(10_000).nullable().optional();
export const PackQueryInput = z.object({
  query: z.string().max(255).meta({ description: "name of a global query" }),
  name: nameText().nullable().optional(),
  description: z.string().max(10_000).nullable().optional(),
  interval: z.int().min(0).max(MAX_INTERVAL).nullable().optional(),
  denylist: z.boolean().nullable().optional(),
  ...scheduleFields,
});
export const PackInput = z.object({
  id: z.int().min(0).nullable().optional(),
  name: nameText().optional(),
  description: z.string().max(10_000).nullable().optional(),
  platform: z.string().max(255).nullable().optional(),
  disabled: z.boolean().nullable().optional(),
  targets: z.object({ labels: Names, teams: Names }).nullable().optional(),
  queries: z.array(PackQueryInput).max(10_000).nullable().optional(),
});
export type PackInput = z.output<typeof PackInput>;
export const PackSpec = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  platform: z.string(),
  disabled: z.boolean(),
  targets: z.object({ labels: z.array(z.string()), teams: z.array(z.string()) }),
  queries: z.array(
    z.object({
      query: z.string(),
      name: z.string(),
      description: z.string(),
      interval: z.int(),
      snapshot: z.boolean(),
      removed: z.boolean(),
      shard: z.int().nullable(),
      platform: z.string(),
      version: z.string(),
      denylist: z.boolean(),
    }),
  ),
});
export type PackSpec = z.infer<typeof PackSpec>;

const params = z.object({ id: IdParam });
const byName = z.object({ name: z.string().min(1).max(1024) });
const access = { action: "packs:write", scope: "global" } as const;
const onePack = z.object({ pack: Pack });
const scheduled = z.object({ scheduled: ScheduledEntry });
const common = { access, stability: "deprecated" } as const;

export const packsApi = {
  list: endpoint({
    ...common,
    method: "GET",
    path: "/packs",
    summary: "List packs.",
    query: pagingAfter("id", "name", "created_at", "updated_at"),
    response: z.object({ packs: z.array(Pack) }),
  }),
  get: endpoint({ ...common, method: "GET", path: "/packs/:id", summary: "Get a pack.", params, response: onePack }),
  create: endpoint({
    ...common,
    method: "POST",
    path: "/packs",
    summary: "Create a pack.",
    body: PackFields,
    response: onePack,
  }),
  modify: endpoint({
    ...common,
    method: "PATCH",
    path: "/packs/:id",
    summary: "Change a pack; lists of targets are replaced completely.",
    params,
    body: PackFields,
    response: onePack,
  }),
  deleteByName: endpoint({
    ...common,
    method: "DELETE",
    path: "/packs/:name",
    summary: "Delete the pack of this name.",
    params: byName,
    response: Empty,
  }),
  delete: endpoint({
    ...common,
    method: "DELETE",
    path: "/packs/id/:id",
    summary: "Delete a pack.",
    params,
    response: Empty,
  }),
  scheduled: endpoint({
    ...common,
    method: "GET",
    path: "/packs/:id/scheduled",
    summary: "List a pack's scheduled queries.",
    params,
    response: z.object({ scheduled: z.array(ScheduledEntry) }),
  }),
  schedule: endpoint({
    ...common,
    method: "POST",
    path: "/schedule",
    aliases: ["/packs/schedule"],
    summary: "Schedule a query in a pack.",
    body: z.object({
      ...entryFields,
      pack_id: Id,
      query_id: Id,
      interval: Interval,
      snapshot: z.boolean(),
      removed: z.boolean(),
    }),
    response: scheduled,
  }),
  getScheduled: endpoint({
    ...common,
    method: "GET",
    path: "/schedule/:id",
    aliases: ["/packs/schedule/:id"],
    summary: "Get a scheduled query of a pack.",
    params,
    response: scheduled,
  }),
  modifyScheduled: endpoint({
    ...common,
    method: "PATCH",
    path: "/schedule/:id",
    aliases: ["/packs/schedule/:id"],
    summary: "Change a scheduled query of a pack.",
    params,
    body: EntryChange,
    response: scheduled,
  }),
  deleteScheduled: endpoint({
    ...common,
    method: "DELETE",
    path: "/schedule/:id",
    aliases: ["/packs/schedule/:id"],
    summary: "Remove a scheduled query from its pack.",
    params,
    response: Empty,
  }),
  applySpecs: endpoint({
    ...common,
    method: "POST",
    path: "/spec/packs",
    summary: "Create or change packs by name, with their targets and queries.",
    body: z.object({ specs: z.array(PackInput).max(1000) }),
    response: Empty,
  }),
  specs: endpoint({
    ...common,
    method: "GET",
    path: "/spec/packs",
    summary: "Get packs in the format of the POST request.",
    response: z.object({ specs: z.array(PackSpec) }),
  }),
  spec: endpoint({
    ...common,
    method: "GET",
    path: "/spec/packs/:name",
    summary: "Get one pack in the format of the POST request.",
    params: byName,
    response: z.object({ specs: PackSpec }),
  }),
};
