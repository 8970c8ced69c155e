import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { QueryFlag, Timestamp } from "../fields.ts";
import { type HistoryDataset, softwareFilters } from "./history-settings.ts";
import { osSettingSchemas } from "./os-settings.ts";

const url = z.string().max(2048);
/** Limits the number of members of a map. */
const few = <T extends z.ZodRecord>(map: T, most: number): T =>
  map.refine((members) => Object.keys(members).length <= most, `must have at most ${most} members`);

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
  scripts_disabled: z.boolean(),
  query_reports_disabled: z.boolean(),
  ai_features_disabled: z.boolean(),
  query_report_cap: z.int().min(0).max(1_000_000),
});
export const HostExpiry = z.object({ host_expiry_enabled: z.boolean(), host_expiry_window: z.int() });
export const ActivityExpiry = z.object({ activity_expiry_enabled: z.boolean(), activity_expiry_window: z.int() });
const HistoricalData = z
  .object({ uptime: z.boolean(), vulnerabilities: z.boolean() } satisfies Record<HistoryDataset, z.ZodBoolean>)
  .meta({
    description:
      "what charts read is recorded where the organization and the team of a host have it on; turning it off deletes what " +
      "was recorded",
  });
const MAX_EXCLUDED_CVES = 1_000;
const cvss = z.number().min(0).max(10).nullable();
const percent = z.number().min(0).max(100).nullable();
const VulnerabilityChart = z
  .object({
    software_filters: z
      .array(z.enum(softwareFilters))
      .max(softwareFilters.length)
      .nullable()
      .meta({ description: "null: all software" }),
    cvss_min: cvss,
    cvss_max: cvss,
    epss_min: percent,
    epss_max: percent,
    has_known_exploit: z.boolean(),
    exclude_vulnerabilities: z.array(z.string().max(64)).max(MAX_EXCLUDED_CVES),
  })
  .meta({
    description: "what charts of vulnerabilities count unless a request says otherwise; EPSS in percent (premium)",
  });
export const TeamFeatures = z.object({
  enable_host_users: z.boolean(),
  enable_software_inventory: z.boolean(),
  additional_queries: few(z.record(z.string().max(255), z.string().max(65_536)), 1_000).nullable(),
  historical_data: HistoricalData,
});
export type TeamFeatures = z.infer<typeof TeamFeatures>;
export const Features = TeamFeatures.extend({ vulnerability_exposure_historical_reporting: VulnerabilityChart });
export type Features = z.infer<typeof Features>;

export const FailingPoliciesWebhook = z.object({
  enable_failing_policies_webhook: z.boolean(),
  destination_url: url,
  policy_ids: z.array(z.int().positive()).max(100_000),
  host_batch_size: z.int().min(0).max(1_000_000),
});
export type FailingPoliciesWebhook = z.infer<typeof FailingPoliciesWebhook>;

/** Mails have no numbers of policies: they are about the policies of failing_policies_webhook. */
const MAIL_RECIPIENTS_MAX = 50;
export const mailDigests = ["immediately", "hourly", "daily"] as const;
export const FailingPoliciesMail = z.object({
  enable_failing_policies_mail: z.boolean(),
  recipients: z
    .array(z.string().max(255))
    .max(MAIL_RECIPIENTS_MAX)
    .meta({ description: "addresses; each gets a mail of its own, with a link to unsubscribe" }),
  digest: z
    .enum(mailDigests)
    .meta({ description: "how often a recipient gets a mail at most: what fails meanwhile is in the next one" }),
});
export type FailingPoliciesMail = z.infer<typeof FailingPoliciesMail>;

export const HostStatusWebhook = z.object({
  enable_host_status_webhook: z.boolean(),
  destination_url: url,
  host_percentage: z
    .int()
    .min(0)
    .max(100)
    .meta({ description: "minimum percentage of hosts that have not checked in" }),
  days_count: z.int().min(0).max(36_500).meta({ description: "minimum number of days without a check-in" }),
});
export type HostStatusWebhook = z.infer<typeof HostStatusWebhook>;
const VulnerabilitiesWebhook = z.object({
  enable_vulnerabilities_webhook: z.boolean(),
  destination_url: url,
  host_batch_size: z.int().min(0).max(1_000_000),
});
const ActivitiesWebhook = z.object({ enable_activities_webhook: z.boolean(), destination_url: url });
export const HostActivitiesWebhook = z.object({ enable_host_activities_webhook: z.boolean(), destination_url: url });
export type HostActivitiesWebhook = z.infer<typeof HostActivitiesWebhook>;
export const WebhookSettings = z.object({
  interval: z.string().max(32).meta({ description: "period of the automation job, for example 24h" }),
  host_status_webhook: HostStatusWebhook,
  failing_policies_webhook: FailingPoliciesWebhook,
  failing_policies_mail: FailingPoliciesMail,
  vulnerabilities_webhook: VulnerabilitiesWebhook,
  activities_webhook: ActivitiesWebhook,
  host_activities_webhook: HostActivitiesWebhook.meta({ description: "activities of all hosts" }),
});
export type WebhookSettings = z.infer<typeof WebhookSettings>;

const short = z.string().max(255);
const secret = z.string().max(4096);
/** Documents such as metadata and certificates, as text. */
const document = z.string().max(1024 * 1024);

export const SmtpSettings = z.object({
  enable_smtp: z.boolean(),
  configured: z.boolean().meta({ description: "returned" }),
  sender_address: short,
  server: short,
  port: z.int().min(0).max(65_535),
  authentication_type: short.meta({ description: "authtype_username_and_password or none" }),
  user_name: short,
  password: secret,
  enable_ssl_tls: z.boolean(),
  authentication_method: short.meta({ description: "authmethod_plain, authmethod_cram_md5 or authmethod_login" }),
  domain: short,
  verify_ssl_certs: z.boolean(),
  enable_start_tls: z.boolean(),
});
export type SmtpSettings = z.infer<typeof SmtpSettings>;

const identityProvider = { entity_id: short, issuer_uri: url, idp_name: short, metadata: document, metadata_url: url };
export const SsoSettings = z.object({
  enable_sso: z.boolean(),
  ...identityProvider,
  idp_image_url: url,
  enable_sso_idp_login: z.boolean(),
  enable_jit_provisioning: z.boolean(),
  sso_server_url: url,
});
export type SsoSettings = z.infer<typeof SsoSettings>;

export const ConditionalAccess = z.object({
  directory_tenant_id: short,
  directory_connection_configured: z.boolean().meta({ description: "returned" }),
  provider_idp_id: short,
  provider_assertion_consumer_service_url: url,
  provider_audience_uri: url,
  provider_certificate: document,
  bypass_disabled: z
    .boolean()
    .meta({ description: "whether users of hosts that fail policies cannot let one sign-in pass" }),
});

const SvcDesktop = z.object({
  transparency_url: url,
  alternative_browser_host: short.meta({
    description: "host, or host:port, at which users open the pages of their devices; empty: that of server_url",
  }),
  sso_enabled: z.boolean().meta({
    description: "whether the pages of devices require a sign-in with the identity provider of end users",
  }),
});

const LabelNames = z.array(short).max(1000);
const CustomSetting = z.object({
  path: z.string().max(4096),
  labels: LabelNames.optional(),
  labels_include_all: LabelNames.optional(),
  labels_include_any: LabelNames.optional(),
  labels_exclude_any: LabelNames.optional(),
});
export const CustomSettings = z.object({ custom_settings: z.array(CustomSetting).max(10_000) });
/** What happens on a device before its user can use it. */
export const SetupSwitches = z.object({
  enable_end_user_authentication: z.boolean().meta({ description: "users sign in before their device enrolls" }),
  enable_release_device_manually: z
    .boolean()
    .meta({ description: "devices wait in the setup assistant until a command releases them" }),
  manual_agent_install: z.boolean().meta({ description: "the bootstrap package installs the agent" }),
  lock_end_user_info: z.boolean().meta({ description: "users cannot change the names of their account" }),
  require_all_software_macos: z.boolean(),
  require_all_software_windows: z.boolean(),
  enable_managed_local_account: z.boolean(),
  end_user_local_account_type: z
    .enum(["admin", "standard", "none"])
    .meta({ description: "other than admin only with enable_managed_local_account" }),
});
export type SetupSwitches = z.infer<typeof SetupSwitches>;
export const MacosSetup = SetupSwitches.extend({ bootstrap_package: url, macos_setup_assistant: z.string().max(4096) });

export const MdmSettings = z.object({
  enabled_and_configured: z.boolean().meta({ description: "returned" }),
  android_enabled_and_configured: z.boolean().meta({ description: "returned" }),
  windows_enabled_and_configured: z.boolean(),
  enable_turn_on_windows_mdm_manually: z.boolean(),
  ...osSettingSchemas,
  windows_migration_enabled: z.boolean().meta({ description: "move hosts away from another vendor's Windows MDM" }),
  windows_automatic_enrollment: z.object({
    default_team: short.meta({ description: "name of the team of Windows hosts that enroll with a directory" }),
  }),
  windows_directory_tenant_ids: z
    .array(short)
    .max(100)
    .meta({ description: "tenants of the cloud directory whose users may enroll Windows hosts; none: nobody may" }),
  windows_directory_client_ids: z
    .array(short)
    .max(100)
    .meta({ description: "apps of the directory for which tokens may be, besides the server's own URL" }),
  macos_migration: z.object({ enable: z.boolean(), mode: short, webhook_url: url }),
  macos_setup: MacosSetup,
  macos_settings: CustomSettings,
  windows_settings: CustomSettings,
  end_user_authentication: z.object(identityProvider),
  vendora_server_url: url,
});
export type MdmSettings = z.infer<typeof MdmSettings>;

/** A ticket tracker with the Jira-compatible REST API. */
const TicketingA = z.object({
  enable_software_vulnerabilities: z.boolean().default(false),
  enable_failing_policies: z.boolean().default(false),
  url,
  username: short,
  api_token: secret,
  project_key: short,
});
/** A help desk with the Zendesk-compatible REST API. */
const TicketingB = z.object({
  enable_software_vulnerabilities: z.boolean().default(false),
  enable_failing_policies: z.boolean().default(false),
  url,
  email: short,
  api_token: secret,
  group_id: z.int().min(0),
});
const JsonObject = z.record(z.string(), z.json());
export const Integrations = z.object({
  ticketing_a: z.array(TicketingA).max(100),
  ticketing_b: z.array(TicketingB).max(100),
  calendar: z.array(z.object({ domain: short, api_key_json: few(JsonObject, 100) })).max(10),
  conditional_access_enabled: z.boolean().meta({ description: "for hosts without a team" }),
  certificates_idp_introspection_urls: z.array(url).max(100).meta({
    description: "where tokens of end users may be checked who request certificates; hosts need one of these",
  }),
  certificates_idp_client_ids: z
    .array(short)
    .max(100)
    .meta({ description: "clients for which these tokens may be checked; none: any" }),
  certificates_disable_host_end_user_binding: z.boolean().meta({
    description: "a host may request a certificate for whoever a token proves, instead of only for its own users",
  }),
});
export type Integrations = z.infer<typeof Integrations>;

/**
 * Options for agents: `config` is sent to them unchanged; `overrides.platforms.<platform>` replaces it on that
 * platform.
 */
export const AgentOptions = z.object({
  config: JsonObject.optional(),
  overrides: z.object({ platforms: z.record(z.string(), JsonObject.nullable()).optional() }).optional(),
  command_line_flags: JsonObject.optional(),
  // The following options are for managed agents.
  extensions: JsonObject.optional().meta({ description: "by name: {platform: windows, linux or macos, channel}" }),
  script_execution_timeout: z.int().min(1).max(3600).optional().meta({ description: "seconds; default: 300" }),
  update_channels: JsonObject.optional().meta({ description: "of orbit, osqueryd and desktop" }),
});
export type AgentOptions = z.infer<typeof AgentOptions>;

const MiB = 1024 * 1024;
/** Bytes of all YARA rules together: PATCH /config takes 5 MiB of JSON. */
export const YARA_RULES_BYTES_MAX = 3 * MiB;

/** A file of YARA rules. The name is also that of a file in an export, so it is one on every system. */
export const YaraRule = z.object({
  name: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9_]([A-Za-z0-9._ +()-]*[A-Za-z0-9_)])?$/, {
      error: "must be a file name of letters, digits, spaces and . _ - + ( )",
    }),
  contents: z.string().min(1).max(MiB),
});
export const YARA_RULES_MAX = 500;
export const YaraRules = z.array(YaraRule).max(YARA_RULES_MAX);
export type YaraRules = z.infer<typeof YaraRules>;

export const License = z.object({
  tier: z.enum(["free", "premium"]),
  expiration: Timestamp,
  organization: z.string().optional(),
  device_count: z.int().optional(),
  note: z.string().optional(),
});
export type License = z.infer<typeof License>;

const LogDestination = z.object({ plugin: z.string(), config: z.record(z.string(), z.json()) });

/** What people may change by hand although files determine the rest. */
export const GitopsExceptions = z.object({
  labels: z.boolean(),
  software: z.boolean(),
  secrets: z.boolean().meta({ description: "enroll secrets" }),
});
export type GitopsExceptions = z.infer<typeof GitopsExceptions>;

/** The sections that can be changed. */
export const ConfigSections = z.object({
  org_info: OrgInfo,
  server_settings: ServerSettings,
  host_expiry_settings: HostExpiry,
  activity_expiry_settings: ActivityExpiry,
  features: Features,
  smtp_settings: SmtpSettings,
  sso_settings: SsoSettings,
  conditional_access: ConditionalAccess,
  mdm: MdmSettings,
  vulnerability_settings: z.object({ databases_path: z.string().max(4096) }),
  svc_desktop: SvcDesktop,
  gitops: z.object({ gitops_mode_enabled: z.boolean(), repository_url: url, exceptions: GitopsExceptions }),
  webhook_settings: WebhookSettings,
  integrations: Integrations,
  agent_options: AgentOptions,
  yara_rules: YaraRules,
});
export type ConfigSections = z.infer<typeof ConfigSections>;

const nanoseconds = z.int().meta({ description: "nanoseconds" });

/** The configuration as returned to clients, without the sections that the caller may not see. */
export const AppConfig = ConfigSections.extend({
  agent_options: AgentOptions.optional().meta({ description: "global admin and gitops only" }),
  smtp_settings: SmtpSettings.optional().meta({ description: "global admin and gitops only" }),
  sso_settings: SsoSettings.optional().meta({ description: "global admin and gitops only" }),
  yara_rules: YaraRules.optional().meta({ description: "global admin and gitops only" }),
  license: License,
  logging: z.object({ debug: z.boolean(), json: z.boolean(), result: LogDestination, status: LogDestination }),
  update_interval: z.object({
    qengine_detail: nanoseconds,
    qengine_policy: nanoseconds,
  }),
  vulnerabilities: z.object({
    databases_path: z.string(),
    periodicity: nanoseconds,
    cpe_database_url: z.string(),
    cve_feed_prefix_url: z.string(),
    disable_schedule: z.boolean(),
    disable_data_sync: z.boolean(),
    recent_vulnerability_max_age: nanoseconds,
  }),
  scripts: z.array(z.string()).meta({ description: "applied through configuration as code only" }),
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
      force: QueryFlag.default(false).meta({
        description:
          "skip the checks of agent options and trackers, and turn mail off although users need it to sign in",
      }),
      dry_run: QueryFlag.default(false),
      overwrite: QueryFlag.default(false).meta({ description: "reset omitted fields to their defaults" }),
    }),
    // The service validates sections and fields, because unknown keys and wrong types have their own error messages.
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
