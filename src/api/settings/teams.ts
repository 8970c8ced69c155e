import { z } from "zod";
import { RoleName, TeamRole, User } from "../accounts/users.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, paging, QueryFlag, QueryText, Timestamp } from "../fields.ts";
import {
  AgentOptions,
  CustomSettings,
  FailingPoliciesMail,
  FailingPoliciesWebhook,
  HostActivitiesWebhook,
  HostExpiry,
  HostStatusWebhook,
  MacosSetup,
  TeamFeatures,
} from "./app-config.ts";
import { EnrollSecret, SecretList } from "./enroll-secrets.ts";
import { NO_TEAM_NAME } from "./no-team.ts";
import { AppleUpdates, osSettingChanges, osSettingSchemas } from "./os-settings.ts";

const short = z.string().max(255);
const url = z.string().max(2048);
const path = z.string().max(4096);

/** Trackers and help desks of the global configuration that the team uses, identified by url and project or group. */
const ticketing = {
  ticketing_a: z
    .array(z.object({ url, project_key: short, enable_failing_policies: z.boolean().default(false) }))
    .max(100),
  ticketing_b: z
    .array(z.object({ url, group_id: z.int().min(0), enable_failing_policies: z.boolean().default(false) }))
    .max(100),
};
const Calendar = z.object({ enable_calendar_events: z.boolean(), webhook_url: url });
export const TeamIntegrations = z.object({
  ...ticketing,
  calendar: Calendar,
  conditional_access_enabled: z.boolean(),
});
export type TeamIntegrations = z.infer<typeof TeamIntegrations>;

export const TeamWebhooks = z.object({
  host_status_webhook: HostStatusWebhook.nullable(),
  failing_policies_webhook: FailingPoliciesWebhook,
  failing_policies_mail: FailingPoliciesMail,
  host_activities_webhook: HostActivitiesWebhook.nullable().meta({ description: "null: never set" }),
});
export type TeamWebhooks = z.infer<typeof TeamWebhooks>;

const TeamSetup = MacosSetup.extend({
  script: path,
  software: z.array(z.record(z.string().max(255), z.json())).max(1000),
});
const teamMdm = {
  ...osSettingSchemas,
  macos_settings: CustomSettings,
  windows_settings: CustomSettings,
  android_settings: CustomSettings,
};
export const TeamMdm = z.object({ ...teamMdm, macos_setup: TeamSetup });
export type TeamMdm = z.infer<typeof TeamMdm>;

export const Team = z.object({
  id: Id,
  created_at: Timestamp,
  name: z.string(),
  description: z.string(),
  agent_options: AgentOptions.nullable(),
  host_expiry_settings: HostExpiry,
  webhook_settings: TeamWebhooks,
  integrations: TeamIntegrations,
  mdm: TeamMdm,
  features: TeamFeatures,
  scripts: z.array(path).meta({ description: "applied through configuration as code only" }),
  software: z
    .record(z.string(), z.json())
    .nullable()
    .meta({ description: "applied through configuration as code only" }),
  user_count: z.int(),
  host_count: z.int(),
  users: z.array(User.extend({ role: RoleName })).optional(),
  secrets: z.array(EnrollSecret).optional().meta({ description: "masked for roles without secret access" }),
});
export type Team = z.infer<typeof Team>;

/** The team settings that hosts without a team have. */
export const NoTeam = z.object({
  id: z.literal(0),
  name: z.string(),
  webhook_settings: TeamWebhooks.omit({ host_status_webhook: true }),
  integrations: TeamIntegrations.pick({ ticketing_a: true, ticketing_b: true }),
});
export type NoTeam = z.infer<typeof NoTeam>;

const failingPolicies = FailingPoliciesWebhook.partial().optional();
const failingPoliciesMail = FailingPoliciesMail.partial().optional();
const hostActivities = HostActivitiesWebhook.partial().nullable().optional();
const CalendarChange = Calendar.partial().optional();
/** Changes of settings: omitted fields keep their value; lists are replaced as a whole. */
export const TeamSettingsChange = z.object({
  features: TeamFeatures.partial()
    .extend({ historical_data: TeamFeatures.shape.historical_data.partial().optional() })
    .optional(),
  host_expiry_settings: HostExpiry.partial().optional(),
  webhook_settings: z
    .object({
      host_status_webhook: HostStatusWebhook.partial().nullable().optional(),
      failing_policies_webhook: failingPolicies,
      failing_policies_mail: failingPoliciesMail,
      host_activities_webhook: hostActivities,
    })
    .optional(),
  integrations: TeamIntegrations.partial().extend({ calendar: CalendarChange }).optional(),
  mdm: z
    .object({
      ...osSettingChanges,
      macos_updates: AppleUpdates.partial().extend({ update_new_hosts: z.boolean().nullable().optional() }),
      macos_settings: CustomSettings.partial().extend({ enable_disk_encryption: z.boolean().optional() }),
      windows_settings: CustomSettings.partial(),
      android_settings: CustomSettings.partial(),
      macos_setup: TeamSetup.partial(),
    })
    .partial()
    .optional(),
});
export type TeamSettingsChange = z.output<typeof TeamSettingsChange>;
const SETTINGS_ONLY = "cannot be changed: hosts without a team have settings only";
const NoTeamChange = z.object({
  id: z.literal(0, { error: SETTINGS_ONLY }).optional().meta({ description: "as it was returned" }),
  name: z.literal(NO_TEAM_NAME, { error: SETTINGS_ONLY }).optional().meta({ description: "as it was returned" }),
  webhook_settings: z
    .object({
      failing_policies_webhook: failingPolicies,
      failing_policies_mail: failingPoliciesMail,
      host_activities_webhook: hostActivities,
    })
    .nullable()
    .optional(),
  integrations: z.object(ticketing).partial().optional(),
});
export type NoTeamChange = z.output<typeof NoTeamChange>;

/** A team as in configuration files, identified by name. Omitted fields keep their value. */
export const TeamSpec = z.object({
  name: z.string().max(255),
  gitops_filename: z.string().max(4096).nullish().meta({ description: "not stored" }),
  agent_options: z.unknown().optional().meta({ description: "null: the organization's options apply" }),
  secrets: SecretList.optional(),
  ...TeamSettingsChange.shape,
  scripts: z
    .array(path)
    .max(10_000)
    .nullish()
    .meta({ description: "must be empty: POST /scripts/batch takes scripts" }),
  software: z.record(z.string(), z.json()).nullish().meta({
    description: "must be empty: POST /software/batch and POST /software/app_store_apps/batch take software",
  }),
});
export type TeamSpec = z.output<typeof TeamSpec>;

const teamFields = {
  description: z.string().max(4096).optional(),
  secrets: SecretList.optional(),
  ...TeamSettingsChange.shape,
};
const name = z.string().max(255);
const params = z.object({ id: IdParam });
const usersReply = z.object({ team: Team });

export const teamsApi = {
  list: endpoint({
    method: "GET",
    path: "/teams",
    summary: "List teams.",
    tier: "premium",
    access: { action: "teams:list", scope: "team" },
    query: paging("id", "name", "created_at").extend({ query: QueryText.optional() }),
    response: z.object({ teams: z.array(Team), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/teams/:id",
    summary: "Get a team.",
    tier: "premium",
    access: { action: "teams:list", scope: "team" },
    params,
    response: z.object({ team: Team }),
  }),
  create: endpoint({
    method: "POST",
    path: "/teams",
    summary: "Create a team.",
    tier: "premium",
    access: { action: "teams:create", scope: "global" },
    body: z.object({ name, ...teamFields }),
    response: z.object({ team: Team }),
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/teams",
    summary: "Create or change teams by name in one transaction; omitted fields keep their value.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    query: z.object({
      force: QueryFlag.default(false).meta({
        description: "skip the checks of agent options, and ignore unknown keys",
      }),
      dry_run: QueryFlag.default(false),
    }),
    // The service checks the keys, because unknown ones have their own message or are ignored.
    body: z.object({
      specs: z.array(z.record(z.string(), z.json())).max(2000),
      dry_run_assumptions: z.record(z.string(), z.json()).nullish(),
    }),
    strict: true,
    response: z.object({
      team_ids_by_name: z.record(z.string(), Id).meta({ description: "on a dry run, only existing teams" }),
    }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/teams/:id",
    summary: "Change a team.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ name: name.optional(), ...teamFields }),
    response: z.object({ team: Team }),
  }),
  noTeam: endpoint({
    method: "GET",
    path: "/teams/0",
    summary: "Get the settings of hosts without a team.",
    tier: "premium",
    access: { action: "teams:list", scope: "global" },
    response: z.object({ team: NoTeam }),
  }),
  modifyNoTeam: endpoint({
    method: "PATCH",
    path: "/teams/0",
    summary: "Change the settings of hosts without a team.",
    tier: "premium",
    access: { action: "teams:edit", scope: "global" },
    body: NoTeamChange,
    response: z.object({ team: NoTeam }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/teams/:id",
    summary: "Delete a team. Its hosts are kept, without a team.",
    tier: "premium",
    access: { action: "teams:delete", scope: "global" },
    params,
    response: Empty,
  }),
  users: endpoint({
    method: "GET",
    path: "/teams/:id/users",
    summary: "List a team's users.",
    tier: "premium",
    access: { action: "users:list", scope: "team" },
    params,
    query: paging("id", "name", "email", "created_at", "updated_at").extend({ query: QueryText.optional() }),
    response: z.object({ users: z.array(User), meta: Meta }),
  }),
  addUsers: endpoint({
    method: "PATCH",
    path: "/teams/:id/users",
    summary: "Add users to a team, or change their role on it.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ users: z.array(TeamRole).max(1000) }),
    response: usersReply,
  }),
  removeUsers: endpoint({
    method: "DELETE",
    path: "/teams/:id/users",
    summary: "Remove users from a team.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ users: z.array(z.object({ id: Id })).max(1000) }),
    response: usersReply,
  }),
  agentOptions: endpoint({
    method: "POST",
    path: "/teams/:id/agent_options",
    summary: "Replace a team's agent options.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    query: z.object({ force: QueryFlag.default(false), dry_run: QueryFlag.default(false) }),
    body: z.unknown(),
    strict: true,
    response: z.object({ team: Team }),
  }),
};
