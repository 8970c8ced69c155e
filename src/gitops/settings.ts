// The keys of org_settings, team_settings, agent_options and controls, made from the schemas that the API has for them.
import { z } from "zod";
import { AgentOptions, ConfigSections } from "../api/app-config.ts";
import { TeamSettingsChange } from "../api/teams.ts";
import { notBuilt } from "./items.ts";
import { inFile } from "./loosen.ts";

const { shape } = ConfigSections;

const Secrets = z.array(z.strictObject({ secret: z.string().min(1).max(255) })).max(50);

/** Sections of org_settings by their name in the configuration. */
export const orgSections = {
  org_info: inFile(shape.org_info, {
    extend: {
      org_logo_url_dark_mode: z.string().max(2048).nullish(),
      org_logo_url_light_mode: z.string().max(2048).nullish(),
    },
    notBuilt: { org_logo_path_dark_mode: "logo files", org_logo_path_light_mode: "logo files" },
  }),
  server_settings: inFile(shape.server_settings, {
    extend: {
      live_reporting_disabled: z.boolean().nullish(),
      discard_reports_data: z.boolean().nullish(),
      report_cap: z.int().min(0).nullish(),
    },
    notBuilt: { scripts_disabled: "switch for scripts" },
  }),
  features: inFile(shape.features, {
    notBuilt: { historical_data: "historical data", vulnerability_exposure_historical_reporting: "historical data" },
  }),
  host_expiry_settings: inFile(shape.host_expiry_settings),
  activity_expiry_settings: inFile(shape.activity_expiry_settings, {
    notBuilt: { preserve_host_activities_on_reenrollment: "choice of which activities are kept" },
  }),
  sso_settings: inFile(shape.sso_settings),
  smtp_settings: inFile(shape.smtp_settings, { returned: ["configured"] }),
  conditional_access: inFile(shape.conditional_access, { returned: ["directory_connection_configured"] }),
  vulnerability_settings: inFile(shape.vulnerability_settings),
  svc_desktop: inFile(shape.svc_desktop, {
    notBuilt: { alternative_browser_host: "other browser host", sso_enabled: "single sign-on of the desktop app" },
  }),
  gitops: inFile(shape.gitops, { notBuilt: { exceptions: "exceptions" } }),
  webhook_settings: inFile(shape.webhook_settings),
  integrations: inFile(shape.integrations, { notBuilt: { workspace_directory: "workspace directory" } }),
} as const;
export type OrgSection = keyof typeof orgSections;

/** Left as they are where the file does not have them. */
export const keptSections: ReadonlySet<string> = new Set(["host_expiry_settings", "smtp_settings", "gitops"]);

/** Fields of the configuration's `mdm` that stand in org_settings; all others are controls. */
const orgMdm = ["end_user_authentication", "vendora_server_url"] as const;
const mdm = inFile(shape.mdm, { returned: ["enabled_and_configured", "android_enabled_and_configured"] });
const mdmOf = (keys: readonly string[]) =>
  Object.fromEntries(Object.entries(mdm.shape).filter(([key]) => keys.includes(key)));

export const OrgSettings = z.strictObject({
  ...Object.fromEntries(Object.entries(orgSections).map(([name, schema]) => [name, schema.nullish()])),
  secrets: Secrets.nullish(),
  mdm: z
    .strictObject({
      ...mdmOf(orgMdm),
      vendora_business_manager: notBuilt("connection to a business manager"),
      vendora_business: notBuilt("connection to a business manager"),
      vendora_bm_default_team: notBuilt("connection to a business manager"),
      volume_purchasing_program: notBuilt("volume licences"),
      windows_automatic_enrollment: notBuilt("automatic enrollment of Windows hosts"),
      end_user_license_agreement: notBuilt("end-user licence agreement"),
    })
    .nullish(),
  certificate_authorities: z.record(z.string(), z.json()).nullish(),
  yara_rules: notBuilt("YARA rules"),
  directory_graph_credentials: notBuilt("directory credentials"),
});

const updates = ["macos_updates", "ios_updates", "ipados_updates", "windows_updates"] as const;
const everywhere = ["enable_disk_encryption", "windows_require_bitlocker_pin", ...updates] as const;
const globalOnly = [
  "windows_enabled_and_configured",
  "enable_turn_on_windows_mdm_manually",
  "windows_migration_enabled",
  "macos_migration",
] as const;
export const controlKeys = { everywhere, globalOnly } as const;

/** What of controls this server cannot do yet. */
const laterControls = {
  scripts: notBuilt("saved scripts"),
  macos_settings: notBuilt("configuration profiles"),
  vendora_settings: notBuilt("configuration profiles"),
  windows_settings: notBuilt("configuration profiles"),
  linux_settings: notBuilt("settings of Linux hosts"),
  android_settings: notBuilt("settings of Android hosts"),
  macos_setup: notBuilt("setup experience"),
  setup_experience: notBuilt("setup experience"),
  enable_recovery_lock_password: notBuilt("recovery lock"),
  name_template: notBuilt("names of hosts by template"),
};
const laterGlobalControls = {
  android_enabled_and_configured: notBuilt("device management of Android"),
  windows_directory_tenant_ids: notBuilt("directory tenants"),
  windows_directory_client_ids: notBuilt("directory tenants"),
  vendora_require_hardware_attestation: notBuilt("hardware attestation"),
  vendora_account_provisioning: notBuilt("account provisioning"),
};

export const GlobalControls = z.strictObject({
  ...mdmOf([...everywhere, ...globalOnly]),
  ...laterControls,
  ...laterGlobalControls,
});
export const TeamControls = z.strictObject({ ...mdmOf(everywhere), ...laterControls });

const team = inFile(TeamSettingsChange);
export const TeamSettings = z.strictObject({
  secrets: Secrets.nullish(),
  features: orgSections.features.nullish(),
  host_expiry_settings: orgSections.host_expiry_settings.nullish(),
  webhook_settings: team.shape.webhook_settings!,
  integrations: team.shape.integrations!,
});
export const NoTeamSettings = z.strictObject({
  webhook_settings: z
    .strictObject({
      failing_policies_webhook: (orgSections.webhook_settings.shape as Record<string, z.ZodType>)
        .failing_policies_webhook!,
    })
    .nullish(),
});

/** Checked by the server, which knows every option of the agent. */
export const AgentOptionsFile = z.strictObject(AgentOptions.shape).partial();
