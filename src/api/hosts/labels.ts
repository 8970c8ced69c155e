import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, paging, QueryFlag, unchanged } from "../fields.ts";
import { nullishSchemasOf } from "../plain-fields.ts";
import { Label, labelFields } from "./label.ts";

/** Host attributes that criteria can test for equality. */
export const labelVitals = ["end_user_idp_group", "end_user_idp_department"] as const;
export type LabelVital = (typeof labelVitals)[number];

/** Names a custom host vital by its id. */
export const CUSTOM_VITAL = "custom_host_vital";

/** Criteria by a vital of the host, or by an expression as in `where` of host lists. */
export const LabelCriteria = z.union([
  z.object({ vital: z.enum(labelVitals), value: z.string() }),
  z.object({ vital: z.literal(CUSTOM_VITAL), custom_host_vital_id: Id, value: z.string() }),
  z.object({ where: z.string() }),
]);
export type LabelCriteria = z.infer<typeof LabelCriteria>;

export const LabelItem = Label.extend({
  author_id: Id.nullable(),
  criteria: LabelCriteria.optional().meta({ description: "host_vitals only" }),
  team_id: Id.nullable(),
  host_count: z.int().optional().meta({ description: "absent if 0" }),
  display_text: z.string(),
  count: z.int(),
  error_host_count: z.int().min(0).meta({ description: "hosts whose agent could not run the query" }),
  error_message: z.string().nullable().meta({ description: "what one of these agents reported; null: none" }),
  host_ids: z.array(Id).optional().meta({ description: "only for one manual label; absent if empty" }),
});
export type LabelItem = z.infer<typeof LabelItem>;

const HOSTS_MAX = 200_000;
export const NAME_MAX = 255;
const Query = z.string().max(100_000);
const Platform = z.string().max(64);
const HostIds = z.array(Id).max(HOSTS_MAX);
const Hosts = z.array(z.string().max(255)).max(HOSTS_MAX).meta({
  description:
    "serial numbers, uuids, hostnames or node keys; unknown ones are ignored, those of several hosts refused",
});
/** The server checks which keys may be combined. */
const CriteriaInput = z
  .strictObject({
    vital: z.string().max(255).optional(),
    custom_host_vital_id: Id.optional(),
    value: z.string().max(255).optional(),
    where: z.string().max(4096).optional(),
  })
  .meta({ description: "{vital, value}, with custom_host_vital_id for custom_host_vital, or {where} with a selector" });
export type CriteriaInput = z.output<typeof CriteriaInput>;

export const LabelBody = z.object({
  name: z.string().max(4 * NAME_MAX),
  ...nullishSchemasOf(labelFields),
  query: Query.nullish().meta({ description: "SQL; members are the hosts for which it returns a row" }),
  criteria: CriteriaInput.nullish(),
  hosts: Hosts.nullish(),
  host_ids: HostIds.nullish(),
  platform: Platform.nullish().meta({ description: "only hosts of this platform run the query; empty: all" }),
});
export type LabelBody = z.output<typeof LabelBody>;

const LabelChanges = z.object({
  name: z
    .string()
    .max(4 * NAME_MAX)
    .nullish(),
  ...nullishSchemasOf(labelFields),
  hosts: Hosts.nullish(),
  host_ids: HostIds.nullish(),
});

export const LabelSpec = z.object({
  ...Label.omit({ created_at: true, updated_at: true }).shape,
  id: Id.optional(),
  hosts: z.array(z.union([z.string(), Id])).optional(),
  criteria: LabelCriteria.optional(),
});
export type LabelSpec = z.infer<typeof LabelSpec>;

export const LabelSpecInput = z.object({
  name: z.string().max(4 * NAME_MAX),
  ...nullishSchemasOf(labelFields),
  query: Query.nullish(),
  platform: Platform.nullish(),
  label_type: z.enum(["builtin", "regular"]).nullish(),
  label_membership_type: z.enum(["dynamic", "manual", "host_vitals"]).nullish(),
  hosts: z
    .array(z.union([z.string().max(255), Id]))
    .max(HOSTS_MAX)
    .nullish()
    .meta({ description: "ids, or names as for hosts of POST /labels; absent: an existing label keeps its members" }),
  criteria: CriteriaInput.nullish(),
});
export type LabelSpecInput = z.output<typeof LabelSpecInput>;

const refused = (name: string) =>
  z
    .string()
    .refine(() => false, { error: `${name} is not supported here` })
    .optional()
    .meta({ type: "string", description: "refused" });

const params = z.object({ id: IdParam });
const byName = z.object({ name: z.string().max(4 * NAME_MAX) });
const read = { action: "labels:list", scope: "team" } as const;
const write = { action: "labels:write", scope: "team" } as const;
const label = z.object({ label: LabelItem });
const hostLabels = z.object({
  labels: z
    .array(z.string().max(4 * NAME_MAX))
    .max(1000)
    .nullish(),
});

export const labelsApi = {
  create: endpoint({
    method: "POST",
    path: "/labels",
    summary: "Create a label: by query, by criteria, or of given hosts.",
    access: write,
    body: LabelBody,
    response: label,
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/labels/:id",
    summary: "Change a label's name, description or, of a manual label, its hosts.",
    access: write,
    params,
    body: LabelChanges.extend({
      team_id: unchanged(z.int().nullable()),
      label_type: unchanged(z.enum(["builtin", "regular"])),
    }),
    response: label,
  }),
  get: endpoint({
    method: "GET",
    path: "/labels/:id",
    summary: "Get a label.",
    access: read,
    params,
    response: label,
  }),
  list: endpoint({
    method: "GET",
    path: "/labels",
    summary: "List labels.",
    access: read,
    query: paging(
      "id",
      "name",
      "created_at",
      "updated_at",
      "description",
      "platform",
      "label_type",
      "label_membership_type",
      "author_id",
    ).extend({
      include_host_counts: QueryFlag.default(true),
      query: refused("query"),
      after: refused("after"),
    }),
    response: z.object({ labels: z.array(LabelItem) }),
  }),
  summary: endpoint({
    method: "GET",
    path: "/labels/summary",
    summary: "List labels in a short form.",
    access: read,
    response: z.object({
      labels: z.array(
        Label.pick({ id: true, name: true, description: true, label_type: true }).extend({ team_id: Id.nullable() }),
      ),
    }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/labels/:name",
    summary: "Delete a label by its name.",
    access: write,
    params: byName,
    response: Empty,
  }),
  deleteById: endpoint({
    method: "DELETE",
    path: "/labels/id/:id",
    summary: "Delete a label.",
    access: write,
    params,
    response: Empty,
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/labels",
    summary: "Create or change labels by name in one transaction.",
    access: write,
    body: z.object({ specs: z.array(LabelSpecInput).max(10_000) }),
    response: Empty,
  }),
  specs: endpoint({
    method: "GET",
    path: "/spec/labels",
    summary: "Get labels in the format of POST /spec/labels.",
    access: read,
    response: z.object({ specs: z.array(LabelSpec) }),
  }),
  spec: endpoint({
    method: "GET",
    path: "/spec/labels/:name",
    summary: "Get a label in the format of POST /spec/labels.",
    access: read,
    params: byName,
    response: z.object({ specs: LabelSpec }),
  }),
  addToHost: endpoint({
    method: "POST",
    path: "/hosts/:id/labels",
    summary: "Add a host to manual labels.",
    access: { action: "hosts:label", scope: "team" },
    params,
    body: hostLabels,
    response: Empty,
  }),
  removeFromHost: endpoint({
    method: "DELETE",
    path: "/hosts/:id/labels",
    summary: "Remove a host from manual labels.",
    access: { action: "hosts:label", scope: "team" },
    params,
    body: hostLabels,
    response: Empty,
  }),
};
