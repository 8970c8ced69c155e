import {
  ActivityExpiry,
  AgentOptions,
  ConditionalAccess,
  ConfigSections,
  Features,
  HostExpiry,
  Integrations,
  MdmSettings,
  OrgInfo,
  ServerSettings,
  SmtpSettings,
  SsoSettings,
  WebhookSettings,
} from "../../api/app-config.ts";
import { may } from "../core/access.ts";
import { defaultAgentOptions, parseAgentOptions } from "./agent-options.ts";
import { type Section, section } from "./section.ts";

export const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/\S+$/i.test(text)) return false;
  return URL.canParse(text);
};

/** Empty, or an address that a browser may be sent to: nothing that runs as script. */
const isLink = (text: string): boolean => text === "" || /^(https?|file|mailto):/i.test(text);

const badLinks = (value: Record<string, unknown>, names: readonly string[]) =>
  names
    .filter((name) => !isLink(value[name] as string))
    .map((name) => ({ name, reason: "must be a URL (http, https, file or mailto)" }));

/** A hundred years: longer ones lead to dates that do not exist. */
const MAX_EXPIRY_DAYS = 36_500;

/** What the days of an expiry, of the organization's and of teams' settings, must keep to. */
export function expiryProblem(enabled: boolean, window: number): string | null {
  if (enabled && window <= 0) return "must be greater than 0 when expiry is enabled";
  if (window < 0) return "must not be negative";
  return window > MAX_EXPIRY_DAYS ? `must not be more than ${MAX_EXPIRY_DAYS} days` : null;
}

export const noFailingPoliciesWebhook = {
  enable_failing_policies_webhook: false,
  destination_url: "",
  policy_ids: [],
  host_batch_size: 0,
};
export const defaultFeatures = { enable_host_users: true, enable_software_inventory: true, additional_queries: null };
const noIdentityProvider = { entity_id: "", issuer_uri: "", idp_name: "", metadata: "", metadata_url: "" };
export const noHostExpiry = { host_expiry_enabled: false, host_expiry_window: 0 };

export const sections: { readonly [K in keyof ConfigSections]: Section<ConfigSections[K]> } = {
  org_info: section({
    name: "org_info",
    schema: OrgInfo,
    defaults: { org_name: "", org_logo_url: "", org_logo_url_light_background: "", contact_url: "" },
    check: (value) => badLinks(value, ["org_logo_url", "org_logo_url_light_background", "contact_url"]),
  }),
  server_settings: section({
    name: "server_settings",
    schema: ServerSettings,
    defaults: {
      server_url: "",
      enable_analytics: false,
      live_query_disabled: false,
      query_reports_disabled: false,
      ai_features_disabled: false,
      query_report_cap: 1000,
    },
    check: ({ server_url: url }) =>
      url === "" || isHttpUrl(url) ? [] : [{ name: "server_url", reason: "must be an http or https URL" }],
  }),
  host_expiry_settings: section({
    name: "host_expiry_settings",
    schema: HostExpiry,
    defaults: noHostExpiry,
    check(value) {
      const reason = expiryProblem(value.host_expiry_enabled, value.host_expiry_window);
      return reason ? [{ name: "host_expiry_window", reason }] : [];
    },
  }),
  activity_expiry_settings: section({
    name: "activity_expiry_settings",
    schema: ActivityExpiry,
    defaults: { activity_expiry_enabled: false, activity_expiry_window: 0 },
    check(value) {
      const reason = expiryProblem(value.activity_expiry_enabled, value.activity_expiry_window);
      return reason ? [{ name: "activity_expiry_window", reason }] : [];
    },
  }),
  features: section({
    name: "features",
    schema: Features,
    defaults: defaultFeatures,
    check: ({ additional_queries: queries }) =>
      Object.entries(queries ?? {})
        .filter(([name, sql]) => name.trim() === "" || sql.trim() === "")
        .map(([name]) => ({ name: `additional_queries.${name}`, reason: "must have a name and a query" })),
  }),
  smtp_settings: section({
    name: "smtp_settings",
    schema: SmtpSettings,
    defaults: {
      enable_smtp: false,
      configured: false,
      sender_address: "",
      server: "",
      port: 587,
      authentication_type: "authtype_username_and_password",
      user_name: "",
      password: "",
      enable_ssl_tls: true,
      authentication_method: "authmethod_plain",
      domain: "",
      verify_ssl_certs: true,
      enable_start_tls: true,
    },
    secrets: ["password"],
    visibleTo: (user) => may(user, "config:read_secrets", null),
  }),
  sso_settings: section({
    name: "sso_settings",
    schema: SsoSettings,
    defaults: {
      enable_sso: false,
      ...noIdentityProvider,
      idp_image_url: "",
      enable_sso_idp_login: false,
      enable_jit_provisioning: false,
      sso_server_url: "",
    },
    visibleTo: (user) => may(user, "config:read_secrets", null),
  }),
  conditional_access: section({
    name: "conditional_access",
    schema: ConditionalAccess,
    defaults: {
      directory_tenant_id: "",
      directory_connection_configured: false,
      provider_idp_id: "",
      provider_assertion_consumer_service_url: "",
      provider_audience_uri: "",
      provider_certificate: "",
    },
  }),
  mdm: section({
    name: "mdm",
    schema: MdmSettings,
    defaults: {
      enabled_and_configured: false,
      android_enabled_and_configured: false,
      windows_enabled_and_configured: false,
      enable_turn_on_windows_mdm_manually: false,
      enable_disk_encryption: false,
      windows_require_bitlocker_pin: false,
      macos_updates: { minimum_version: "", deadline: "", update_new_hosts: false },
      ios_updates: { minimum_version: "", deadline: "" },
      ipados_updates: { minimum_version: "", deadline: "" },
      windows_updates: { deadline_days: null, grace_period_days: null },
      macos_migration: { enable: false, mode: "voluntary", webhook_url: "" },
      macos_setup: {
        bootstrap_package: "",
        enable_end_user_authentication: false,
        macos_setup_assistant: "",
        enable_release_device_manually: false,
      },
      macos_settings: { custom_settings: [] },
      windows_settings: { custom_settings: [] },
      end_user_authentication: noIdentityProvider,
      vendora_server_url: "",
    },
  }),
  vulnerability_settings: section({
    name: "vulnerability_settings",
    schema: ConfigSections.shape.vulnerability_settings,
    defaults: { databases_path: "" },
  }),
  svc_desktop: section({
    name: "svc_desktop",
    schema: ConfigSections.shape.svc_desktop,
    defaults: { transparency_url: "" },
  }),
  gitops: section({
    name: "gitops",
    schema: ConfigSections.shape.gitops,
    defaults: { gitops_mode_enabled: false, repository_url: "" },
  }),
  integrations: section({
    name: "integrations",
    schema: Integrations,
    defaults: { ticketing_a: [], ticketing_b: [], calendar: [] },
  }),
  webhook_settings: section({
    name: "webhook_settings",
    schema: WebhookSettings,
    defaults: {
      interval: "24h",
      host_status_webhook: {
        enable_host_status_webhook: false,
        destination_url: "",
        host_percentage: 0,
        days_count: 0,
      },
      failing_policies_webhook: noFailingPoliciesWebhook,
      vulnerabilities_webhook: { enable_vulnerabilities_webhook: false, destination_url: "", host_batch_size: 0 },
      activities_webhook: { enable_activities_webhook: false, destination_url: "" },
    },
    check({ failing_policies_webhook: { enable_failing_policies_webhook: on, destination_url: url } }) {
      const name = "failing_policies_webhook.destination_url";
      if (url === "") return on ? [{ name, reason: "is required to enable the failing policies webhook" }] : [];
      return isHttpUrl(url) ? [] : [{ name, reason: "must be an http or https URL" }];
    },
  }),
  agent_options: section({
    name: "agent_options",
    schema: AgentOptions,
    defaults: defaultAgentOptions,
    whole: true,
    checkInput: (given, { force }) => void parseAgentOptions(given, { force, at: "agent_options" }),
    visibleTo: (user) => may(user, "config:read_secrets", null),
  }),
};

export const allSections: readonly Section[] = Object.values(sections);
