import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { QueryFlag, Timestamp } from "./fields.ts";

const url = z.string().max(2048);

export const OrgInfo = z.object({
  org_name: z.string().max(255),
  org_logo_url: url,
  org_logo_url_light_background: url,
  contact_url: url,
});
export const ServerSettings = z.object({
  server_url: url,
  enable_analytics: z.boolean(),
  live_query_disabled: z.boolean(),
  query_reports_disabled: z.boolean(),
  ai_features_disabled: z.boolean(),
  query_report_cap: z.int().min(0).max(1_000_000),
});
export const HostExpiry = z.object({ host_expiry_enabled: z.boolean(), host_expiry_window: z.int() });
export const ActivityExpiry = z.object({ activity_expiry_enabled: z.boolean(), activity_expiry_window: z.int() });
export const Features = z.object({
  enable_host_users: z.boolean(),
  enable_software_inventory: z.boolean(),
  additional_queries: z.record(z.string().max(255), z.string().max(65_536)).nullable(),
});
export type Features = z.infer<typeof Features>;

export const FailingPoliciesWebhook = z.object({
  enable_failing_policies_webhook: z.boolean(),
  destination_url: url,
  policy_ids: z.array(z.int().positive()).max(100_000),
  host_batch_size: z.int().min(0).max(1_000_000),
});
export type FailingPoliciesWebhook = z.infer<typeof FailingPoliciesWebhook>;

const JsonObject = z.record(z.string(), z.json());
/** What agents get: `config` goes to them as it is; `overrides.platforms.<platform>` replaces it for a platform. */
export const AgentOptions = z.object({
  config: JsonObject.optional(),
  overrides: z.object({ platforms: z.record(z.string(), JsonObject.nullable()).optional() }).optional(),
  command_line_flags: JsonObject.optional(),
  // What follows is for managed agents.
  extensions: JsonObject.optional().meta({ description: "by name: {platform: windows, linux or macos, channel}" }),
  script_execution_timeout: z.int().min(1).max(3600).optional().meta({ description: "seconds; 300 when left out" }),
  update_channels: JsonObject.optional().meta({ description: "of orbit, osqueryd and desktop" }),
});
export type AgentOptions = z.infer<typeof AgentOptions>;

export const License = z.object({
  tier: z.enum(["free", "premium"]),
  expiration: Timestamp,
  organization: z.string().optional(),
  device_count: z.int().optional(),
  note: z.string().optional(),
});
export type License = z.infer<typeof License>;

const LogDestination = z.object({ plugin: z.string(), config: z.record(z.string(), z.json()) });

/** The sections that can be changed. */
export const ConfigSections = z.object({
  org_info: OrgInfo,
  server_settings: ServerSettings,
  host_expiry_settings: HostExpiry,
  activity_expiry_settings: ActivityExpiry,
  features: Features,
  webhook_settings: z.object({ failing_policies_webhook: FailingPoliciesWebhook }),
  agent_options: AgentOptions,
});
export type ConfigSections = z.infer<typeof ConfigSections>;

/** The whole configuration as replied; sections that the caller may not see are left out. */
export const AppConfig = ConfigSections.extend({
  agent_options: AgentOptions.optional().meta({ description: "global admin and gitops only" }),
  license: License,
  logging: z.object({ debug: z.boolean(), json: z.boolean(), result: LogDestination, status: LogDestination }),
  update_interval: z.object({
    qengine_detail: z.int().meta({ description: "nanoseconds" }),
    qengine_policy: z.int().meta({ description: "nanoseconds" }),
  }),
});
export type AppConfig = z.infer<typeof AppConfig>;

export const appConfigApi = {
  get: endpoint({
    method: "GET",
    path: "/config",
    summary: "Get the configuration.",
    access: { action: "config:read", scope: "team" },
    response: AppConfig,
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/config",
    summary: "Change the given sections and fields of the configuration.",
    access: { action: "config:write", scope: "global" },
    query: z.object({
      force: QueryFlag.default(false).meta({ description: "skip the checks of agent options" }),
      dry_run: QueryFlag.default(false),
      overwrite: QueryFlag.default(false).meta({ description: "fields left out go back to their defaults" }),
    }),
    // The service checks sections and fields itself: unknown keys and wrong types have texts of their own.
    body: z.record(z.string(), z.json()),
    strict: true,
    response: AppConfig,
  }),
  certificate: endpoint({
    method: "GET",
    path: "/config/certificate",
    summary: "Get the certificate chain that agents have to trust.",
    access: { action: "config:read", scope: "team" },
    response: z.object({ certificate_chain: z.string().meta({ description: "PEM" }) }),
  }),
};
