import type { ConfigGroup } from "./setting-types.ts";

const migrationModes = [
  { value: "", label: "not chosen" },
  { value: "voluntary", label: "voluntary: users start it" },
  { value: "forced", label: "forced: users are asked until they have started it" },
];

export const appleDevices: readonly ConfigGroup[] = [
  {
    title: "Server",
    fields: [
      {
        path: "mdm.vendora_server_url",
        label: "Server URL for Apple devices",
        kind: "url",
        hint: "if devices reach the server elsewhere than agents; enrolled devices stay at the URL with which they enrolled",
      },
    ],
  },
  {
    title: "Migration of Macs",
    fields: [
      {
        path: "mdm.macos_migration.enable",
        label: "Users of Macs can move them here from another device management",
        kind: "check",
        isPremium: true,
      },
      {
        path: "mdm.macos_migration.mode",
        label: "Mode",
        kind: "select",
        options: migrationModes,
        isPremium: true,
      },
      {
        path: "mdm.macos_migration.webhook_url",
        label: "URL that is notified of a migration",
        kind: "url",
        hint: "what receives it ends the other device management of the Mac",
        isPremium: true,
      },
    ],
  },
];

export const windowsDevices: readonly ConfigGroup[] = [
  {
    title: "Windows",
    fields: [
      {
        path: "mdm.windows_enabled_and_configured",
        label: "Windows hosts are managed",
        kind: "check",
        hint: "turned off, hosts keep what they have got and receive nothing more",
      },
      {
        path: "mdm.enable_turn_on_windows_mdm_manually",
        label: "Users turn device management on themselves",
        kind: "check",
        hint: "otherwise agents do it",
        isPremium: true,
      },
      {
        path: "mdm.windows_migration_enabled",
        label: "Hosts of another vendor's device management are moved here",
        kind: "check",
        isPremium: true,
      },
    ],
  },
  {
    title: "Enrollment with a cloud directory",
    fields: [
      {
        path: "mdm.windows_directory_tenant_ids",
        label: "Tenants whose users may enroll hosts",
        kind: "lines",
        hint: "one GUID on each line; none: nobody may",
      },
      {
        path: "mdm.windows_directory_client_ids",
        label: "Apps of the directory for which tokens may be",
        kind: "lines",
        hint: "one GUID on each line, besides the URL of this server",
      },
      {
        path: "mdm.windows_automatic_enrollment.default_team",
        label: "Team of hosts that enroll so",
        kind: "team",
        isPremium: true,
      },
    ],
  },
];

const PROVIDER = "mdm.end_user_authentication";

export const endUsers: readonly ConfigGroup[] = [
  {
    title: "Identity provider of end users",
    fields: [
      { path: `${PROVIDER}.idp_name`, label: "Name of the identity provider", kind: "text" },
      { path: `${PROVIDER}.entity_id`, label: "Entity ID of this server", kind: "text" },
      { path: `${PROVIDER}.issuer_uri`, label: "Issuer of the provider", kind: "text" },
      { path: `${PROVIDER}.metadata_url`, label: "URL of the provider's metadata", kind: "url" },
      { path: `${PROVIDER}.metadata`, label: "Metadata", kind: "document", hint: "if the provider has no URL for it" },
    ],
  },
];
