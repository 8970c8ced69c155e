// The keys of org_settings, team_settings, agent_options and controls, derived from the API's own schemas.
import { z } from "zod";
import { CaSpecs } from "../../api/certificates/ca.ts";
import { SCRIPTS_MAX } from "../../api/delivery/scripts.ts";
import { DirectoryCredentialsInput } from "../../api/hosts/directory.ts";
import {
  AgentOptions,
  ConfigSections,
  SetupSwitches,
  YARA_RULES_MAX,
  YaraRule,
} from "../../api/settings/app-config.ts";
import { osSettingNames, osSettings } from "../../api/settings/os-settings.ts";
import { TeamIntegrations, TeamMdm, TeamSettingsChange } from "../../api/settings/teams.ts";
import { ASSETS_MAX, AssetFile } from "./assets.ts";
import { CertificateFiles } from "./certificates.ts";
import { inFile, type Spelling, spelled, unwrapped } from "./loosen.ts";
import { notBuilt, notHere } from "./not-built.ts";
import { ProfileFile } from "./profiles.ts";
import { ScriptFile } from "./scripts.ts";
import { LicenseTokens, PortalTokens } from "./tokens.ts";

const { shape } = ConfigSections;

const PROFILES_MAX = 10_000;
const SECRETS_MAX = 50;
export const EnrollSecrets = z
  .array(z.strictObject({ secret: z.string().min(1, { error: "must not be empty" }).max(255) }))
  .max(SECRETS_MAX, { error: `must not be more than ${SECRETS_MAX}` })
  .nullish()
  .meta({ description: "enroll secrets; kept if left out; an empty list removes all" });

/** A YARA rule in a file: its text, one file of rules, or several files by a pattern. */
const YaraFiles = z
  .array(
    z.strictObject({
      name: YaraRule.shape.name.optional(),
      contents: YaraRule.shape.contents.optional(),
      path: z.string().min(1).optional().meta({ description: "a file of YARA rules, relative to this one" }),
      paths: z.string().min(1).optional().meta({ description: "files of YARA rules by a pattern" }),
    }),
  )
  .max(YARA_RULES_MAX);

/** Ids are assigned by the server: in files, each policy declares whether the webhook covers it. */
const policyIds = z
  .array(z.json())
  .max(0, { error: "must be empty: use webhooks_and_tickets_enabled of the policy instead" })
  .nullish();
const failingPolicies = inFile(shape.webhook_settings.shape.failing_policies_webhook, {
  replaced: { policy_ids: policyIds },
}).nullish();

const logoPath = (mode: string) =>
  z
    .string()
    .max(1024)
    .nullish()
    .meta({ description: `an image file with the logo for ${mode} backgrounds, instead of its URL` });

/** Sections of org_settings by their names in the configuration. */
export const orgSections = {
  org_info: inFile(shape.org_info, {
    newer: {
      org_logo_url: "org_logo_url_dark_mode",
      org_logo_url_light_background: "org_logo_url_light_mode",
    },
    replaced: {
      org_logo_path_dark_mode: logoPath("dark"),
      org_logo_path_light_mode: logoPath("light"),
    },
  }),
  server_settings: inFile(shape.server_settings, {
    newer: {
      live_query_disabled: "live_reporting_disabled",
      query_reports_disabled: "discard_reports_data",
      query_report_cap: "report_cap",
    },
  }),
  features: inFile(shape.features),
  host_expiry_settings: inFile(shape.host_expiry_settings),
  activity_expiry_settings: inFile(shape.activity_expiry_settings, {
    notBuilt: { preserve_host_activities_on_reenrollment: "choice of which activities are kept" },
  }),
  sso_settings: inFile(shape.sso_settings),
  smtp_settings: inFile(shape.smtp_settings, { without: ["configured"] }),
  conditional_access: inFile(shape.conditional_access, { without: ["directory_connection_configured"] }),
  vulnerability_settings: inFile(shape.vulnerability_settings),
  svc_desktop: inFile(shape.svc_desktop),
  gitops: inFile(shape.gitops, {
    replaced: {
      exceptions: z
        .json()
        .optional()
        .refine((input) => input === undefined, { error: "exceptions cannot be set in files" })
        .meta({ description: "cannot be set in files", never: true }),
    },
  }),
  webhook_settings: inFile(shape.webhook_settings, { replaced: { failing_policies_webhook: failingPolicies } }),
  integrations: inFile(shape.integrations, { notBuilt: { workspace_directory: "workspace directory" } }),
} as const satisfies Partial<Record<keyof ConfigSections, z.ZodObject>>;

/** Sections in which fields that a file leaves out keep their values. */
export const keptSections: ReadonlySet<string> = new Set(["host_expiry_settings", "smtp_settings", "gitops"]);

/** Fields of the configuration's `mdm` that belong to org_settings; all others belong to controls. */
export const orgMdmKeys = ["end_user_authentication", "vendora_server_url", "windows_automatic_enrollment"] as const;
const picked = (from: z.ZodObject, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(from.shape as Record<string, z.ZodType>).filter(([key]) => keys.includes(key)));

export const OrgSettings = z.strictObject({
  ...Object.fromEntries(Object.entries(orgSections).map(([name, schema]) => [name, schema.nullish()])),
  secrets: EnrollSecrets,
  mdm: spelled(
    {
      ...picked(inFile(shape.mdm), orgMdmKeys),
      vendora_business_manager: PortalTokens,
      vendora_business: PortalTokens,
      vendora_bm_default_team: z
        .string()
        .max(255)
        .nullish()
        .meta({ description: "older form of vendora_business, for a server with one token" }),
      volume_purchasing_program: LicenseTokens,
      end_user_license_agreement: z
        .string()
        .max(4096)
        .nullish()
        .meta({ description: "a PDF file, relative to this one" }),
    },
    [{ key: "vendora_business_manager", older: "vendora_business_manager", newer: "vendora_business" }],
  ).nullish(),
  certificate_authorities: CaSpecs.nullish(),
  yara_rules: YaraFiles.nullish(),
  directory_graph_credentials: z.array(DirectoryCredentialsInput.strict()).max(1).nullish(),
});

export const appleUpdates = ["macos_updates", "ios_updates", "ipados_updates"] as const;
const everywhere = osSettingNames.filter((name) => osSettings[name].isInFiles);
const globalOnly = [
  "windows_enabled_and_configured",
  "enable_turn_on_windows_mdm_manually",
  "windows_migration_enabled",
  "windows_directory_tenant_ids",
  "windows_directory_client_ids",
  "macos_migration",
] as const;

/** The part of the setup experience that is plain settings; the rest of it is files for hosts. */
const setupOf = (schema: z.ZodType) =>
  inFile(unwrapped(schema), {
    newer: {
      macos_setup_assistant: "vendora_setup_assistant",
      enable_release_device_manually: "vendora_enable_release_device_manually",
      manual_agent_install: "macos_manual_agent_install",
      script: "macos_script",
    },
    older: { require_all_software_macos: "require_all_software" },
    replaced: {
      software: notHere("set setup_experience of the packages and apps instead"),
      script: z.string().nullish().meta({ description: "a script that hosts run at the end, relative to this file" }),
    },
  }).nullish();

/** The parts of controls that have the same schema in global and team files. */
const controls = (mdm: z.ZodObject, setupSchema: z.ZodType) => ({
  ...picked(mdm, everywhere),
  macos_setup: setupSchema,
  setup_experience: setupSchema,
  macos_settings: vendorSettings,
  vendora_settings: vendorSettings,
  windows_settings: windowsSettings,
  linux_settings: z.strictObject({ enable_escrow_disk_encryption_key: ofPlatform }).nullish(),
  android_settings: androidSettings,
  scripts: z.array(ScriptFile).max(SCRIPTS_MAX).nullish(),
});
const ofPlatform = z.boolean().nullish().meta({ description: "default: as controls.enable_disk_encryption" });
const profileFiles = z.array(ProfileFile).max(PROFILES_MAX).nullish();
const profileSpellings: readonly Spelling[] = [
  { key: "custom_settings", older: "custom_settings", newer: "configuration_profiles" },
];
const vendorSettings = spelled(
  {
    custom_settings: profileFiles,
    configuration_profiles: profileFiles,
    assets: z.array(AssetFile).max(ASSETS_MAX).nullish(),
    enable_disk_encryption: ofPlatform,
    enable_escrow_disk_encryption_key: z.boolean().nullish().meta({
      description: "if given, equals enable_disk_encryption: Macs are encrypted and send their key, or neither",
    }),
    managed_local_account_settings: z.strictObject({ enabled: z.boolean().nullish() }).nullish(),
    end_user_local_account_type: SetupSwitches.shape.end_user_local_account_type.nullish(),
  },
  profileSpellings,
).nullish();
const windowsSettings = spelled(
  {
    custom_settings: profileFiles,
    configuration_profiles: profileFiles,
    require_bitlocker_pin: z.boolean().nullish(),
    enable_disk_encryption: ofPlatform,
    enable_managed_local_account: notBuilt("managed local accounts of Windows"),
  },
  profileSpellings,
).nullish();
const androidSettings = spelled(
  { custom_settings: profileFiles, configuration_profiles: profileFiles, certificates: CertificateFiles },
  profileSpellings,
).nullish();

export const controlSpellings: readonly Spelling[] = [
  { key: "macos_settings", older: "macos_settings", newer: "vendora_settings" },
  { key: "macos_setup", older: "macos_setup", newer: "setup_experience" },
];

const laterGlobalControls = {
  vendora_require_hardware_attestation: "hardware attestation",
  vendora_account_provisioning: "account provisioning",
};
const ofEverybody = notHere(
  "applies to all hosts: allowed only in the global file, or in the one for hosts without a team",
);

const globalMdm = inFile(shape.mdm);
export const GlobalControls = spelled(
  {
    ...controls(globalMdm, setupOf(shape.mdm.shape.macos_setup)),
    ...picked(globalMdm, globalOnly),
    android_enabled_and_configured: notHere(
      "files cannot turn on device management of Android: that takes `svc mdm android sign-up`",
    ),
    ...Object.fromEntries(Object.entries(laterGlobalControls).map(([key, what]) => [key, notBuilt(what)])),
  },
  controlSpellings,
);

export const TeamControls = spelled(
  {
    ...controls(inFile(TeamMdm), setupOf(TeamMdm.shape.macos_setup)),
    ...Object.fromEntries(
      [...globalOnly, "android_enabled_and_configured", ...Object.keys(laterGlobalControls)].map((key) => [
        key,
        ofEverybody,
      ]),
    ),
  },
  controlSpellings,
);

/** Paths of `mdm` that files cannot express: they keep their values. */
export const mdmLeft = [
  "macos_settings",
  "windows_settings",
  "android_settings",
  "macos_setup.bootstrap_package",
  "macos_setup.macos_setup_assistant",
  "macos_setup.script",
  "macos_setup.software",
] as const;

const team = inFile(TeamSettingsChange).shape as Record<string, z.ZodType>;
const hooks = unwrapped(team.webhook_settings!);
const TeamWebhooks = inFile(hooks, { replaced: { failing_policies_webhook: failingPolicies } });

export const TeamSettings = z.strictObject({
  description: z.string().max(4096).nullish().meta({ description: "kept if left out" }),
  secrets: EnrollSecrets,
  features: team.features!.nullish(),
  host_expiry_settings: orgSections.host_expiry_settings.nullish(),
  webhook_settings: TeamWebhooks.nullish(),
  integrations: team.integrations!.nullish(),
});

const ofTeams = notHere("hosts without a team only have webhook_settings and integrations");
export const NoTeamSettings = z.strictObject({
  webhook_settings: inFile(hooks, {
    without: ["host_status_webhook"],
    replaced: { failing_policies_webhook: failingPolicies, host_status_webhook: ofTeams },
  }).nullish(),
  integrations: inFile(TeamIntegrations, {
    without: ["calendar", "conditional_access_enabled"],
    replaced: { calendar: ofTeams, conditional_access_enabled: ofTeams },
  }).nullish(),
  ...Object.fromEntries(["description", "secrets", "features", "host_expiry_settings"].map((key) => [key, ofTeams])),
});

/** Checked by the server, which knows every option of the agent. */
export const AgentOptionsFile = inFile(AgentOptions);
