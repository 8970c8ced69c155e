// The sections of the configuration that are forms.
import type { SectionId } from "../sections.ts";
import type { ConfigGroup } from "./fields.ts";

const digests = [
  { value: "immediately", label: "at once" },
  { value: "hourly", label: "once an hour" },
  { value: "daily", label: "once a day" },
];

const organization: readonly ConfigGroup[] = [
  {
    title: "Organization",
    fields: [
      { path: "org_info.org_name", label: "Name", kind: "text" },
      { path: "org_info.org_logo_url", label: "Logo URL", kind: "url", hint: "for dark backgrounds" },
      {
        path: "org_info.org_logo_url_light_background",
        label: "Logo URL for light backgrounds",
        kind: "url",
      },
      { path: "org_info.contact_url", label: "Contact URL", kind: "url", hint: "where end users get help" },
    ],
  },
  {
    title: "Server",
    fields: [
      {
        path: "server_settings.server_url",
        label: "Server URL",
        kind: "url",
        hint: "where agents and users reach the server; enrolled hosts stay at the URL with which they enrolled",
      },
      { path: "server_settings.live_query_disabled", label: "Live queries are turned off", kind: "check" },
      { path: "server_settings.query_reports_disabled", label: "Reports of queries are turned off", kind: "check" },
      { path: "server_settings.query_report_cap", label: "Most rows of a report", kind: "number" },
      { path: "server_settings.scripts_disabled", label: "Scripts are turned off", kind: "check" },
    ],
  },
  {
    title: "Device pages",
    fields: [
      {
        path: "svc_desktop.transparency_url",
        label: "Transparency URL",
        kind: "url",
        hint: "what end users read about what is collected; empty: the server's own page",
        isPremium: true,
      },
    ],
  },
];

const signIn: readonly ConfigGroup[] = [
  {
    title: "Single sign-on",
    fields: [
      { path: "sso_settings.enable_sso", label: "Users can sign in with the identity provider", kind: "check" },
      { path: "sso_settings.idp_name", label: "Name of the identity provider", kind: "text" },
      { path: "sso_settings.entity_id", label: "Entity ID of this server", kind: "text" },
      { path: "sso_settings.issuer_uri", label: "Issuer of the provider", kind: "text" },
      { path: "sso_settings.metadata_url", label: "URL of the provider's metadata", kind: "url" },
      { path: "sso_settings.metadata", label: "Metadata", kind: "document", hint: "if the provider has no URL for it" },
      { path: "sso_settings.idp_image_url", label: "Logo URL of the provider", kind: "url" },
      {
        path: "sso_settings.enable_sso_idp_login",
        label: "Sign-ins that start at the provider are accepted",
        kind: "check",
      },
      {
        path: "sso_settings.enable_jit_provisioning",
        label: "Accounts are created at the first sign-in",
        kind: "check",
        isPremium: true,
      },
      {
        path: "sso_settings.sso_server_url",
        label: "Server URL for sign-ins",
        kind: "url",
        hint: "if users reach the console elsewhere than agents reach the server",
      },
    ],
  },
];

const agents: readonly ConfigGroup[] = [
  {
    title: "Agent options",
    fields: [
      {
        path: "agent_options",
        label: "Agent options",
        kind: "json",
        hint: "for hosts of teams without options of their own; the server refuses options that agents do not have",
      },
    ],
  },
  {
    title: "Inventory",
    fields: [
      { path: "features.enable_host_users", label: "Hosts report their local users", kind: "check" },
      { path: "features.enable_software_inventory", label: "Hosts report their software", kind: "check" },
    ],
  },
];

const hostExpiry: readonly ConfigGroup[] = [
  {
    title: "",
    fields: [
      {
        path: "host_expiry_settings.host_expiry_enabled",
        label: "Hosts that are no longer seen are deleted",
        kind: "check",
      },
      { path: "host_expiry_settings.host_expiry_window", label: "After days", kind: "number" },
    ],
  },
];

const activityExpiry: readonly ConfigGroup[] = [
  {
    title: "",
    fields: [
      { path: "activity_expiry_settings.activity_expiry_enabled", label: "Old activities are deleted", kind: "check" },
      { path: "activity_expiry_settings.activity_expiry_window", label: "After days", kind: "number" },
    ],
  },
];

const gitops: readonly ConfigGroup[] = [
  {
    title: "",
    fields: [
      {
        path: "gitops.gitops_mode_enabled",
        label: "What is configured in files can be changed only there",
        kind: "check",
        isPremium: true,
      },
      {
        path: "gitops.repository_url",
        label: "Repository URL",
        kind: "url",
        hint: "shown to those who want to change something",
        isPremium: true,
      },
    ],
  },
  {
    title: "What people may change by hand nevertheless",
    fields: [
      { path: "gitops.exceptions.labels", label: "Labels", kind: "check", isPremium: true },
      { path: "gitops.exceptions.software", label: "Software", kind: "check", isPremium: true },
      { path: "gitops.exceptions.secrets", label: "Enroll secrets", kind: "check", isPremium: true },
    ],
  },
];

const webhooks: readonly ConfigGroup[] = [
  {
    title: "Activities",
    fields: [
      {
        path: "webhook_settings.activities_webhook.enable_activities_webhook",
        label: "Send activities",
        kind: "check",
      },
      { path: "webhook_settings.activities_webhook.destination_url", label: "URL for activities", kind: "url" },
    ],
  },
  {
    title: "Host status",
    fields: [
      {
        path: "webhook_settings.host_status_webhook.enable_host_status_webhook",
        label: "Send when hosts are no longer seen",
        kind: "check",
      },
      { path: "webhook_settings.host_status_webhook.destination_url", label: "URL for host status", kind: "url" },
      { path: "webhook_settings.host_status_webhook.host_percentage", label: "From percent of hosts", kind: "number" },
      { path: "webhook_settings.host_status_webhook.days_count", label: "Not seen for days", kind: "number" },
    ],
  },
  {
    title: "Failing policies",
    fields: [
      {
        path: "webhook_settings.failing_policies_webhook.enable_failing_policies_webhook",
        label: "Send when hosts fail policies",
        kind: "check",
        hint: "for the policies whose automation is turned on",
      },
      {
        path: "webhook_settings.failing_policies_webhook.destination_url",
        label: "URL for failing policies",
        kind: "url",
      },
      {
        path: "webhook_settings.failing_policies_webhook.host_batch_size",
        label: "Hosts in a request about policies",
        kind: "number",
        hint: "0: all",
      },
      {
        path: "webhook_settings.failing_policies_mail.enable_failing_policies_mail",
        label: "Mail when hosts fail policies",
        kind: "check",
      },
      {
        path: "webhook_settings.failing_policies_mail.recipients",
        label: "Recipients",
        kind: "lines",
        hint: "one address on each line",
      },
      {
        path: "webhook_settings.failing_policies_mail.digest",
        label: "A recipient gets mail",
        kind: "select",
        options: digests,
      },
    ],
  },
  {
    title: "Vulnerabilities",
    fields: [
      {
        path: "webhook_settings.vulnerabilities_webhook.enable_vulnerabilities_webhook",
        label: "Send when vulnerabilities are found",
        kind: "check",
      },
      {
        path: "webhook_settings.vulnerabilities_webhook.destination_url",
        label: "URL for vulnerabilities",
        kind: "url",
      },
      {
        path: "webhook_settings.vulnerabilities_webhook.host_batch_size",
        label: "Hosts in a request about vulnerabilities",
        kind: "number",
        hint: "0: all",
      },
    ],
  },
  {
    title: "All",
    fields: [
      {
        path: "webhook_settings.interval",
        label: "How often they are sent",
        kind: "text",
        hint: "such as 24h; activities are sent at once",
      },
    ],
  },
];

export const configGroups = {
  organization,
  "sign-in": signIn,
  agents,
  "host-expiry": hostExpiry,
  "activity-expiry": activityExpiry,
  "gitops-mode": gitops,
  webhooks,
} as const satisfies Partial<Record<SectionId, readonly ConfigGroup[]>>;
