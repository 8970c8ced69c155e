// The parts of the configuration that are forms.

import { appleDevices, endUsers, windowsDevices } from "./groups-devices.ts";
import { certificateRequests, conditionalAccess, mail } from "./groups-services.ts";
import { webhooks } from "./groups-webhooks.ts";
import type { ConfigGroup } from "./setting-types.ts";

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
      {
        path: "server_settings.ai_features_disabled",
        label: "Texts for policies are not suggested by a language model",
        kind: "check",
      },
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
      {
        path: "svc_desktop.alternative_browser_host",
        label: "Host at which users open these pages",
        kind: "text",
        hint: "host, or host:port; empty: that of the server URL",
        isPremium: true,
      },
      {
        path: "svc_desktop.sso_enabled",
        label: "These pages require a sign-in with the identity provider of end users",
        kind: "check",
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
      {
        path: "features.additional_queries",
        label: "Additional queries",
        kind: "json",
        hint: "SQL by name, whose rows are stored with each host; null: none",
      },
      {
        path: "features.historical_data.uptime",
        label: "Which hosts were online is recorded for charts",
        kind: "check",
        hint: "turning it off deletes what was recorded",
      },
      {
        path: "features.historical_data.vulnerabilities",
        label: "Which hosts were vulnerable is recorded for charts",
        kind: "check",
        hint: "turning it off deletes what was recorded",
      },
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

export const configGroups = {
  organization,
  "sign-in": signIn,
  agents,
  "host-expiry": hostExpiry,
  "activity-expiry": activityExpiry,
  "gitops-mode": gitops,
  webhooks,
  mail,
  "apple-devices": appleDevices,
  "windows-devices": windowsDevices,
  "end-users": endUsers,
  "conditional-access": conditionalAccess,
  "certificate-requests": certificateRequests,
} as const satisfies Readonly<Record<string, readonly ConfigGroup[]>>;

export type ConfigPartId = keyof typeof configGroups;
