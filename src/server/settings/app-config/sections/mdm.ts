import { type MdmSettings, MdmSettings as MdmSettingsSchema } from "../../../../api/settings/app-config.ts";
import { noOsSettings, osSettingPaths } from "../../../../api/settings/os-settings.ts";
import { isRecord } from "../../../../text/record.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { section } from "../section.ts";
import { completeOsSettings, noMacosSetup, osSettingsProblems, respellMdm, storedElsewhere } from "./mdm-rules.ts";
import { badServerUrls, badUrls, missing, under } from "./rules.ts";
import { noIdentityProvider, providerProblems, trimmed } from "./sign-on.ts";

const premium = [
  "enable_turn_on_windows_mdm_manually",
  ...osSettingPaths,
  "windows_migration_enabled",
  "windows_automatic_enrollment.default_team",
  "macos_migration.enable",
  "macos_migration.mode",
  "macos_migration.webhook_url",
  ...Object.keys(noMacosSetup).map((name) => `macos_setup.${name}`),
];

export const mdm = section({
  name: "mdm",
  schema: MdmSettingsSchema,
  defaults: {
    enabled_and_configured: false,
    android_enabled_and_configured: false,
    windows_enabled_and_configured: false,
    enable_turn_on_windows_mdm_manually: false,
    ...noOsSettings,
    windows_migration_enabled: false,
    windows_automatic_enrollment: { default_team: "" },
    windows_directory_tenant_ids: [],
    windows_directory_client_ids: [],
    macos_migration: { enable: false, mode: "", webhook_url: "" },
    macos_setup: noMacosSetup,
    macos_settings: { custom_settings: [] },
    windows_settings: { custom_settings: [] },
    end_user_authentication: noIdentityProvider,
    vendora_server_url: "",
  },
  returned: {
    enabled_and_configured: "a push certificate turns it on (POST /mdm/vendora/apns_certificate)",
    android_enabled_and_configured: "a connection with Google turns it on (GET /android_enterprise/signup_url)",
  },
  elsewhere: storedElsewhere,
  premium,
  outbound: ["macos_migration.webhook_url", "end_user_authentication.metadata_url"],
  respell: respellMdm,
  complete: (value, change, before) =>
    withoutMigration(
      completeOsSettings({ ...value, end_user_authentication: trimmed(value.end_user_authentication) }, change, before),
      change,
    ),
  check: (value) => [
    ...osSettingsProblems(value),
    ...windowsProblems(value),
    ...directoryProblems(value),
    ...under("macos_migration", migrationProblems(value.macos_migration)),
    ...under("end_user_authentication", endUserProblems(value.end_user_authentication)),
    ...badServerUrls(value, ["vendora_server_url"]),
  ],
});

/** Without device management of Windows there is no migration to it, unless the change asks for one. */
const withoutMigration = (value: MdmSettings, change: unknown): MdmSettings =>
  isRecord(change) && change.windows_enabled_and_configured === false && change.windows_migration_enabled == null
    ? { ...value, windows_migration_enabled: false }
    : value;

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function directoryProblems(value: MdmSettings): FieldError[] {
  return (["windows_directory_tenant_ids", "windows_directory_client_ids"] as const)
    .filter((name) => !value[name].every((id) => GUID.test(id)))
    .map((name) => ({ name, reason: "must be GUIDs, as the directory shows them" }));
}

function windowsProblems(value: MdmSettings): FieldError[] {
  if (!value.windows_migration_enabled) return [];
  const name = "windows_migration_enabled";
  if (!value.windows_enabled_and_configured)
    return [{ name, reason: "needs windows_enabled_and_configured to be true" }];
  return value.enable_turn_on_windows_mdm_manually
    ? [{ name, reason: "needs enable_turn_on_windows_mdm_manually to be false" }]
    : [];
}

function migrationProblems(value: MdmSettings["macos_migration"]): FieldError[] {
  const errors = badUrls(value, ["webhook_url"]);
  if (value.enable) errors.push(...missing(value, ["webhook_url"], "enable the migration"));
  const isMode = value.mode === "voluntary" || value.mode === "forced" || (value.mode === "" && !value.enable);
  if (!isMode) errors.push({ name: "mode", reason: "must be voluntary or forced" });
  return errors;
}

/** End user authentication is off if none of its fields is set. */
function endUserProblems(value: MdmSettings["end_user_authentication"]): FieldError[] {
  const isConfigured = Object.values(value).some((text) => text !== "");
  return providerProblems(value, isConfigured, "authenticate end users");
}
