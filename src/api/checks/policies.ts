import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, nameText, paging, QueryFlag, QueryText, Timestamp, unchanged } from "../fields.ts";
import { plainChoice, plainFlag, plainText, schemasOf } from "../plain-fields.ts";

export const policyPlatforms = ["darwin", "windows", "linux", "chrome"] as const;
export const policyTypes = ["dynamic", "patch"] as const;

export const policyFields = {
  description: plainText(65_536, { summary: "What the policy checks." }),
  resolution: plainText(65_536, { summary: "What the user of a failing host can do about it." }),
  critical: plainFlag({ premium: true, summary: "Mark the policy as critical (premium)." }),
  calendar_events_enabled: plainFlag({ summary: "Create calendar events for the users of failing hosts." }),
  conditional_access_enabled: plainFlag({ summary: "Block access for failing hosts." }),
  continuous_automations_enabled: plainFlag({
    summary: "Run automations at each failing answer, not only when a host begins to fail.",
    description: "automations run at each failing answer, not only when a host begins to fail",
  }),
  type: plainChoice(policyTypes, "dynamic", {
    summary: "patch: hosts pass if a maintained app is missing or up to date (teams only).",
    description: "patch: hosts pass if a maintained app is missing or up to date (teams only)",
  }),
};

/** Only for policies of the type patch: replies contain them for these policies. */
export const patchFields = {
  patch_when_closed: plainFlag({
    summary: "With --type patch: install the app only while it is closed; try again at each failing answer.",
    description: "for the type patch: the app is installed only while it is closed, at each failing answer until then",
  }),
  notify_before_patching: plainFlag({
    summary: "With --type patch: notify users five minutes before.",
    description: "for the type patch: users are notified five minutes before",
  }),
};

export const allPolicyFields = { ...policyFields, ...patchFields };

const LabelRef = z.object({ id: Id, name: z.string() });

export const Policy = z.object({
  id: Id,
  name: z.string(),
  query: z.string(),
  ...schemasOf(policyFields),
  author_id: Id.nullable().meta({ description: "null if the author was deleted" }),
  author_name: z.string(),
  author_email: z.string(),
  team_id: z.int().min(0).nullable().meta({ description: "null = global, 0 = hosts without a team" }),
  platform: z.string().meta({ description: "comma-separated; empty = all" }),
  labels_include_any: z.array(LabelRef).optional(),
  labels_include_all: z.array(LabelRef).optional(),
  labels_exclude_any: z.array(LabelRef).optional(),
  svc_maintained_app_slug: z.string().optional().meta({ description: "patch policies: the app" }),
  ...z.object(schemasOf(patchFields)).partial().shape,
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
  platform: z.string().max(255).meta({ description: "comma list of darwin, windows, linux, chrome; empty = all" }),
  ...schemasOf(allPolicyFields),
  labels_include_any: LabelNames.nullable().meta({ description: "label names (premium)" }),
  labels_include_all: LabelNames.nullable().meta({ description: "label names (premium)" }),
  labels_exclude_any: LabelNames.nullable().meta({ description: "label names (premium)" }),
  software_title_id: Automation.meta({ description: "installed on hosts that fail (teams only)" }),
  script_id: Automation.meta({ description: "run on hosts that fail (teams only)" }),
  resend_profile_uuid: z.string().max(64).nullable().meta({
    description: "the configuration profile that failing hosts get again (teams only); null or empty removes it",
  }),
  svc_maintained_app_slug: z
    .string()
    .max(255)
    .meta({ description: "patch policies: a maintained app that the team offers, such as firefox/darwin" }),
  install_software: z.boolean().meta({ description: "patch policies: install the app's package on hosts that fail" }),
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
const policyReply = z.object({ policy: Policy });
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
    response: policyReply,
  }),
  createGlobal: endpoint({
    method: "POST",
    path: "/global/policies",
    aliases: ["/policies"],
    summary: "Create a global policy.",
    access: writeGlobal,
    body: Created,
    response: policyReply,
  }),
  modifyGlobal: endpoint({
    method: "PATCH",
    path: "/global/policies/:id",
    aliases: ["/policies/:id"],
    summary: "Change a global policy.",
    access: writeGlobal,
    params: byId,
    body: PolicyChange,
    response: policyReply,
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
    response: policyReply,
  }),
  createTeam: endpoint({
    method: "POST",
    path: "/teams/:id/policies",
    aliases: ["/team/:id/policies"],
    summary: "Create a team's policy.",
    access: write,
    params: ofTeam,
    body: Created,
    response: policyReply,
  }),
  modifyTeam: endpoint({
    method: "PATCH",
    path: "/teams/:team_id/policies/:policy_id",
    summary: "Change a team's policy.",
    access: write,
    params: byBoth,
    body: PolicyChange,
    response: policyReply,
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
  reset: endpoint({
    method: "POST",
    path: "/policies/:id/reset",
    summary: "Delete all results of a policy, so that hosts that still fail are newly failing at their next answer.",
    access: write,
    params: byId,
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
