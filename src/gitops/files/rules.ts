// Rules between the fields of a section, as far as the files alone can be checked.

import { isRecord } from "../../text/record.ts";
import type { ScopeKind } from "../schema/sections.ts";
import { appleUpdates } from "../schema/settings.ts";
import type { Value } from "./overlay.ts";
import type { Problems } from "./problems.ts";
import { placeOf, type Tree } from "./tree.ts";

/** Reports a problem of the field at the dotted path. */
export type Report = (path: string, message: string) => void;

export const reporterOf =
  (tree: Tree, name: string, problems: Problems): Report =>
  (path, message) =>
    problems.error(placeOf(tree, path.split(".")), `${name}.${path}: ${message}`);

const part = (value: Value, key: string): Value => (isRecord(value[key]) ? (value[key] as Value) : {});
const text = (value: Value, key: string): string =>
  typeof value[key] === "string" ? (value[key] as string).trim() : "";

export function checkOrgSettings(value: Value, report: Report): void {
  checkExpiry(value, "host_expiry_settings.host_expiry", report);
  checkExpiry(value, "activity_expiry_settings.activity_expiry", report);
  const sso = part(value, "sso_settings");
  if (sso.enable_sso === true) {
    for (const key of ["entity_id", "idp_name"])
      if (text(sso, key) === "") report(`sso_settings.${key}`, "is required when enable_sso is true");
    if (text(sso, "metadata") === "" && text(sso, "metadata_url") === "")
      report("sso_settings.metadata", "either metadata or metadata_url is required when enable_sso is true");
  }
  const info = part(value, "org_info");
  for (const [mode, older] of [
    ["dark", "org_logo_url"],
    ["light", "org_logo_url_light_background"],
  ] as const) {
    const path = `org_logo_path_${mode}_mode`;
    if (text(info, path) !== "" && text(info, older) !== "")
      report(`org_info.${path}`, `cannot be given together with org_logo_url_${mode}_mode`);
  }
  const gitops = part(value, "gitops");
  const url = text(gitops, "repository_url");
  if (url !== "" && !/^https?:\/\/\S+$/i.test(url)) report("gitops.repository_url", "must be an http or https URL");
  if (url === "" && gitops.gitops_mode_enabled === true && gitops.repository_url !== undefined)
    report("gitops.repository_url", "is required when gitops_mode_enabled is true");
}

export const checkTeamSettings = (value: Value, report: Report): void =>
  checkExpiry(value, "host_expiry_settings.host_expiry", report);

export const rulesOfSettings: Readonly<Record<ScopeKind, (value: Value, report: Report) => void>> = {
  global: checkOrgSettings,
  team: checkTeamSettings,
  no_team: () => {},
};

/** If the days are left out, the server may have them. */
function checkExpiry(value: Value, path: string, report: Report): void {
  const [section, field] = path.split(".") as [string, string];
  const { [`${field}_enabled`]: on, [`${field}_window`]: days } = part(value, section);
  if (on === true && typeof days === "number" && days <= 0)
    report(`${path}_window`, "must be greater than 0 when expiry is enabled");
}

export function checkControls(value: Value, report: Report): void {
  const windows = part(value, "windows_settings").enable_disk_encryption ?? value.enable_disk_encryption;
  if (value.windows_require_bitlocker_pin === true && windows !== true)
    report("windows_require_bitlocker_pin", "needs enable_disk_encryption to be true");
  const macs = part(value, "macos_settings");
  const escrow = macs.enable_escrow_disk_encryption_key ?? null;
  if (escrow !== null && escrow !== (macs.enable_disk_encryption ?? value.enable_disk_encryption ?? false))
    report(
      "macos_settings.enable_escrow_disk_encryption_key",
      "must have the value of enable_disk_encryption: Macs are encrypted and send their key, or neither",
    );
  if (value.windows_migration_enabled === true) {
    if (value.windows_enabled_and_configured !== true)
      report("windows_migration_enabled", "needs windows_enabled_and_configured to be true");
    if (value.enable_turn_on_windows_mdm_manually === true)
      report("windows_migration_enabled", "needs enable_turn_on_windows_mdm_manually to be false");
  }
  for (const key of appleUpdates) checkUpdates(part(value, key), key, report);
  const { deadline_days: deadline, grace_period_days: grace } = part(value, "windows_updates");
  const periods = [deadline, grace].filter((days) => days !== undefined && days !== null);
  if (periods.length === 1) report("windows_updates", "deadline_days and grace_period_days must be given together");
  const migration = part(value, "macos_migration");
  const mode = text(migration, "mode");
  if (!["", "voluntary", "forced"].includes(mode)) report("macos_migration.mode", "must be voluntary or forced");
  if (migration.enable === true)
    for (const key of ["mode", "webhook_url"])
      if (text(migration, key) === "") report(`macos_migration.${key}`, "is required to enable the migration");
}

/** Documents of the older format cannot name files. */
export function checkNoFiles(mdm: Value, report: Report): void {
  const isGiven = (section: string, key: string) => {
    const list = part(mdm, section)[key];
    return Array.isArray(list) && list.length > 0;
  };
  for (const section of ["macos_settings", "windows_settings", "android_settings"])
    if (isGiven(section, "custom_settings"))
      report(`mdm.${section}.custom_settings`, "documents cannot contain profiles: use the files of a team instead");
  if (isGiven("macos_settings", "assets"))
    report("mdm.macos_settings.assets", "documents cannot contain assets: use the files of a team instead");
  for (const key of ["bootstrap_package", "macos_setup_assistant"])
    if (text(part(mdm, "macos_setup"), key) !== "")
      report(`mdm.macos_setup.${key}`, "documents cannot name files: use the files of a team instead");
  if (text(part(mdm, "macos_setup"), "script") !== "")
    report("mdm.macos_setup.script", "documents cannot contain scripts: use the files of a team instead");
  if (isGiven("android_settings", "certificates"))
    report(
      "mdm.android_settings.certificates",
      "documents cannot contain certificate templates: use the files of a team instead",
    );
}

/** The newest version for each device. */
const LATEST = "latest";

function checkUpdates(value: Value, key: string, report: Report): void {
  const version = text(value, "minimum_version");
  const deadline = text(value, "deadline");
  const days = value.deadline_days ?? null;
  if (version === LATEST) {
    if (deadline !== "" || days === null)
      report(key, `with minimum_version: ${LATEST}, deadline_days must be given in place of deadline`);
    return;
  }
  if (days !== null) report(`${key}.deadline_days`, `needs minimum_version: ${LATEST}`);
  if (deadline !== "" && !/^\d{4}-\d\d-\d\d$/.test(deadline)) report(`${key}.deadline`, "must be a date, YYYY-MM-DD");
  if ((version === "") !== (deadline === "")) report(key, "minimum_version and deadline must be given together");
}
