import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, nameText, paging, QueryFlag, QueryText, Timestamp, unchanged } from "../fields.ts";

export const policyPlatforms = ["darwin", "windows", "linux", "chrome"] as const;
export const policyTypes = ["dynamic", "patch"] as const;

const LabelRef = z.object({ id: Id, name: z.string() });

export const Policy = z.object({
  id: Id,
  name: z.string(),
  query: z.string(),
  description: z.string(),
  critical: z.boolean(),
  author_id: Id.nullable().meta({ description: "null if the author was deleted" }),
  author_name: z.string(),
  author_email: z.string(),
  team_id: z.int().min(0).nullable().meta({ description: "null = global, 0 = hosts without a team" }),
  resolution: z.string(),
  platform: z.string().meta({ description: "comma-separated; empty = all" }),
  labels_include_any: z.array(LabelRef).optional(),
  labels_include_all: z.array(LabelRef).optional(),
  labels_exclude_any: z.array(LabelRef).optional(),
  calendar_events_enabled: z.boolean(),
  conditional_access_enabled: z.boolean(),
  continuous_automations_enabled: z
    .boolean()
    .meta({ description: "automations run at each failing answer, not only when a host begins to fail" }),
  type: z.enum(policyTypes).meta({ description: "patch: the query follows the version of a maintained app" }),
  svc_maintained_app_slug: z.string().optional().meta({ description: "patch policies: the app" }),
  patch_when_closed: z.boolean().optional().meta({ description: "patch policies: only while the app is closed" }),
  notify_before_patching: z.boolean().optional().meta({ description: "patch policies: users are notified before" }),
  created_at: Timestamp,
  updated_at: Timestamp,
  passing_host_count: z.int(),
  failing_host_count: z.int(),
  unanswered_host_count: z
    .int()
    .min(0)
    .meta({ description: "hosts in the policy's scope without a result for its current query" }),
  error_host_count: z.int().min(0).meta({ description: "hosts whose agent could not run the query" }),
  error_message: z.string().nullable().meta({ description: "what one of these agents reported; null: none" }),
  host_count_updated_at: Timestamp.nullable(),
  install_software: z.object({ software_title_id: Id, name: z.string(), display_name: z.string() }).optional(),
  run_script: z.object({ id: Id, name: z.string() }).optional(),
  resend_configuration_profile: z.object({ profile_uuid: z.string(), name: z.string() }).optional(),
});
export type Policy = z.infer<typeof Policy>;

/** A team in a path; 0 means hosts without a team. */
const TeamParam = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((text) => /^\d{1,15}$/.test(text), { error: "must be 0 or a positive integer" })
  .transform(Number)
  .meta({ type: "integer", minimum: 0, description: "0 = hosts without a team" });

const LabelNames = z.array(z.string().max(255)).max(100);
/** Null and 0 remove the automation. */
const Automation = z.int().min(0).nullable();
const fields = {
  name: nameText(),
  query: z.string().max(65_536),
  description: z.string().max(65_536),
  resolution: z.string().max(65_536),
  platform: z.string().max(255).meta({ description: "comma list of darwin, windows, linux, chrome; empty = all" }),
  critical: z.boolean().meta({ description: "premium" }),
  labels_include_any: LabelNames.nullable().meta({ description: "label names (premium)" }),
  labels_include_all: LabelNames.nullable().meta({ description: "label names (premium)" }),
  labels_exclude_any: LabelNames.nullable().meta({ description: "label names (premium)" }),
  calendar_events_enabled: z.boolean(),
  conditional_access_enabled: z.boolean(),
  software_title_id: Automation.meta({ description: "installed on hosts that fail (teams only)" }),
  script_id: Automation.meta({ description: "run on hosts that fail (teams only)" }),
  resend_profile_uuid: z.string().max(64).nullable().meta({
    description: "the configuration profile that failing hosts get again (teams only); null or empty removes it",
  }),
  continuous_automations_enabled: z
    .boolean()
    .meta({ description: "automations run at each failing answer, not only when a host begins to fail" }),
  type: z
    .enum(policyTypes)
    .meta({ description: "patch: the query follows the version of a maintained app (teams only)" }),
  svc_maintained_app_slug: z
    .string()
    .max(255)
    .meta({ description: "patch policies: a maintained app that the team offers, such as firefox/darwin" }),
  install_software: z.boolean().meta({ description: "patch policies: install the app's package on hosts that fail" }),
  patch_when_closed: z.boolean().meta({
    description: "patch policies: install it only while the app is closed, at each failing answer until then",
  }),
  notify_before_patching: z
    .boolean()
    .meta({ description: "patch policies: show users a message five minutes before it is installed" }),
};
const Changes = z.object(fields).partial();
const Created = Changes.extend({
  query_id: Id.optional().meta({ description: "deprecated: take name, query and description from this saved query" }),
});
const PolicyChange = Changes.extend({ team_id: unchanged(z.int().nullable()) });
export type PolicyChange = z.infer<typeof PolicyChange>;
export type PolicyChanges = z.infer<typeof Changes>;
export type PolicyCreated = z.infer<typeof Created>;

export const PolicySpec = z
  .object(fields)
  .partial()
  .extend({
    team: z
      .string()
      .max(255)
      .nullable()
      .optional()
      .meta({ description: "name; 'No team' = hosts without a team; absent = global" }),
  });
export type PolicySpec = z.infer<typeof PolicySpec>;

const orderKeys = [
  "id",
  "name",
  "created_at",
  "updated_at",
  "platform",
  "critical",
  "passing_host_count",
  "failing_host_count",
  "host_count_updated_at",
] as const;
const list = paging(...orderKeys).extend({ query: QueryText.optional().meta({ description: "searches the name" }) });
const mergeInherited = QueryFlag.default(false).meta({ description: "include the global policies in the list" });
const count = z.object({ count: z.int() });
const one = z.object({ policy: Policy });
const read = { action: "policies:list", scope: "team" } as const;
const write = { action: "policies:write", scope: "team" } as const;
const writeGlobal = { action: "policies:write", scope: "global" } as const;
const byId = z.object({ id: IdParam });
const ofTeam = z.object({ id: TeamParam });
const inTeam = z.object({ team_id: TeamParam });
const byBoth = z.object({ team_id: TeamParam, policy_id: IdParam });
const Deletion = z.object({ ids: z.array(Id).max(100_000) });
const deleted = z.object({ deleted: z.array(Id).optional() });

export const policiesApi = {
  listGlobal: endpoint({
    method: "GET",
    path: "/global/policies",
    aliases: ["/policies"],
    summary: "List global policies.",
    access: read,
    query: list,
    response: z.object({ policies: z.array(Policy).optional() }),
  }),
  countGlobal: endpoint({
    method: "GET",
    path: "/policies/count",
    aliases: ["/global/policies/count"],
    summary: "Count global policies.",
    access: read,
    query: z.object({ query: QueryText.optional() }),
    response: count,
  }),
  getGlobal: endpoint({
    method: "GET",
    path: "/global/policies/:id",
    aliases: ["/policies/:id"],
    summary: "Get a global policy.",
    access: read,
    params: byId,
    response: one,
  }),
  createGlobal: endpoint({
    method: "POST",
    path: "/global/policies",
    aliases: ["/policies"],
    summary: "Create a global policy.",
    access: writeGlobal,
    body: Created,
    response: one,
  }),
  modifyGlobal: endpoint({
    method: "PATCH",
    path: "/global/policies/:id",
    aliases: ["/policies/:id"],
    summary: "Change a global policy.",
    access: writeGlobal,
    params: byId,
    body: PolicyChange,
    response: one,
  }),
  deleteGlobal: endpoint({
    method: "POST",
    path: "/global/policies/delete",
    aliases: ["/policies/delete"],
    summary: "Delete global policies.",
    access: writeGlobal,
    body: Deletion,
    response: deleted,
  }),
  listTeam: endpoint({
    method: "GET",
    path: "/teams/:id/policies",
    aliases: ["/team/:id/policies"],
    summary: "List a team's policies, and the global ones that it inherits.",
    access: read,
    params: ofTeam,
    query: list.extend({
      merge_inherited: mergeInherited,
      inherited_page: list.shape.page.meta({ type: "integer", minimum: 0, deprecated: true }),
      inherited_per_page: list.shape.per_page.meta({ type: "integer", minimum: 1, deprecated: true }),
      inherited_order_key: list.shape.order_key.meta({ deprecated: true }),
      inherited_order_direction: list.shape.order_direction.meta({
        type: "string",
        enum: ["asc", "desc"],
        deprecated: true,
      }),
    }),
    response: z.object({ policies: z.array(Policy), inherited_policies: z.array(Policy).optional() }),
  }),
  countTeam: endpoint({
    method: "GET",
    path: "/teams/:team_id/policies/count",
    aliases: ["/team/:team_id/policies/count"],
    summary: "Count a team's policies.",
    access: read,
    params: inTeam,
    query: z.object({ query: QueryText.optional(), merge_inherited: mergeInherited }),
    response: count,
  }),
  getTeam: endpoint({
    method: "GET",
    path: "/teams/:team_id/policies/:policy_id",
    aliases: ["/team/:team_id/policies/:policy_id"],
    summary: "Get a team's policy.",
    access: read,
    params: byBoth,
    response: one,
  }),
  createTeam: endpoint({
    method: "POST",
    path: "/teams/:id/policies",
    aliases: ["/team/:id/policies"],
    summary: "Create a team's policy.",
    access: write,
    params: ofTeam,
    body: Created,
    response: one,
  }),
  modifyTeam: endpoint({
    method: "PATCH",
    path: "/teams/:team_id/policies/:policy_id",
    summary: "Change a team's policy.",
    access: write,
    params: byBoth,
    body: PolicyChange,
    response: one,
  }),
  deleteTeam: endpoint({
    method: "POST",
    path: "/teams/:team_id/policies/delete",
    aliases: ["/team/:team_id/policies/delete"],
    summary: "Delete policies of a team.",
    access: write,
    params: inTeam,
    body: Deletion,
    response: deleted,
  }),
  resetAutomations: endpoint({
    method: "POST",
    path: "/automations/reset",
    summary: "Treat hosts that fail these policies as newly failing.",
    access: { action: "policies:automations", scope: "team" },
    body: z.object({
      policy_ids: z.array(Id).max(10_000).nullish(),
      team_ids: z
        .array(z.int().min(0))
        .max(10_000)
        .nullish()
        .meta({ description: "all policies of these teams (premium)" }),
    }),
    response: Empty,
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/policies",
    summary: "Create or change policies by name.",
    access: write,
    body: z.object({ specs: z.array(PolicySpec).max(2000) }),
    response: Empty,
  }),
  autofill: endpoint({
    method: "POST",
    path: "/autofill/policy",
    summary: "Have the text service describe a policy's query (setting text_service_url).",
    access: write,
    body: z.object({ sql: z.string().max(65_536).optional() }),
    response: z.object({ description: z.string(), resolution: z.string() }),
  }),
};
