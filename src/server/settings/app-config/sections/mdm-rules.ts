// Rules of the device management settings, both of the organization and of teams.

import { isDeepStrictEqual } from "node:util";
import type { MdmSettings } from "../../../../api/settings/app-config.ts";
import type { AppleUpdates, DiskEncryption, OsSettings } from "../../../../api/settings/os-settings.ts";
import { isRecord } from "../../../../text/record.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { LATEST } from "../../apple-versions/offered.ts";
import { getPath } from "../merge.ts";
import { templateProblem } from "./name-template.ts";
import { under } from "./rules.ts";

export const noMacosSetup: MdmSettings["macos_setup"] = {
  bootstrap_package: "",
  enable_end_user_authentication: false,
  macos_setup_assistant: "",
  enable_release_device_manually: false,
  manual_agent_install: false,
  lock_end_user_info: true,
  require_all_software_macos: false,
  require_all_software_windows: false,
  enable_managed_local_account: false,
  end_user_local_account_type: "admin",
};

const PROFILES =
  "profiles are stored by POST /configuration_profiles (svc mdm profiles add), or from files by svc apply";

/** Settings that only show what other endpoints store, and where to store it. */
export const storedElsewhere: Readonly<Record<string, string>> = {
  "macos_settings.custom_settings": PROFILES,
  "windows_settings.custom_settings": PROFILES,
  "android_settings.custom_settings": PROFILES,
  "macos_setup.bootstrap_package": "POST /bootstrap stores the package (svc mdm bootstrap upload)",
  "macos_setup.macos_setup_assistant":
    "POST /enrollment_profiles/automatic stores the profile (svc mdm enrollment-profile set)",
  "macos_setup.script": "POST /setup_experience/script stores the script (svc setup-experience script upload)",
  "macos_setup.software": "PUT /setup_experience/software chooses the software (svc setup-experience software set)",
};

/** Whatever a change sets at one of these paths would be shown, and have no effect. */
export function elsewhereProblems(
  elsewhere: Readonly<Record<string, string>>,
  change: unknown,
  before: unknown,
): FieldError[] {
  return Object.entries(elsewhere).flatMap(([name, where]) => {
    const value = getPath(change, name);
    const isNothing = isUnset(value) || value === "" || (Array.isArray(value) && value.length === 0);
    return isNothing || isDeepStrictEqual(value, getPath(before, name))
      ? []
      : [{ name, reason: `cannot be set here: ${where}` }];
  });
}

type DeviceSettings = OsSettings & Pick<MdmSettings, "macos_setup">;

type EncryptionSettings = Pick<OsSettings, "enable_disk_encryption" | "disk_encryption">;

/** Whether the disks of hosts on the platform have to be encrypted. */
export const mustEncrypt = (
  { disk_encryption, enable_disk_encryption }: EncryptionSettings,
  platform: keyof DiskEncryption,
): boolean => disk_encryption[platform] ?? enable_disk_encryption;

export const osSettingsProblems = (value: DeviceSettings): FieldError[] => [
  ...(value.windows_require_bitlocker_pin && !mustEncrypt(value, "windows")
    ? [{ name: "windows_require_bitlocker_pin", reason: "needs enable_disk_encryption to be true" }]
    : []),
  ...nameProblems(value.name_template),
  ...under("macos_updates", updateProblems(value.macos_updates)),
  ...under("ios_updates", updateProblems(value.ios_updates)),
  ...under("ipados_updates", updateProblems(value.ipados_updates)),
  ...under("windows_updates", windowsProblems(value.windows_updates)),
  ...under("macos_setup", accountProblems(value.macos_setup)),
];

function nameProblems(template: string): FieldError[] {
  const reason = templateProblem(template);
  return reason === null ? [] : [{ name: "name_template", reason }];
}

/** The user's account may lack rights, or not exist, only if there is another one with them. */
const accountProblems = (setup: MdmSettings["macos_setup"]): FieldError[] =>
  setup.end_user_local_account_type === "admin" || setup.enable_managed_local_account
    ? []
    : [{ name: "end_user_local_account_type", reason: "needs enable_managed_local_account to be true" }];

const DEADLINE_DAYS_MAX = 365;

function updateProblems({ minimum_version: version, deadline, deadline_days: days }: AppleUpdates): FieldError[] {
  if (version === LATEST) return latestProblems(deadline, days);
  const errors: FieldError[] = [];
  if (days !== null) errors.push({ name: "deadline_days", reason: `needs minimum_version to be ${LATEST}` });
  if (version !== "" && !/^\d{1,9}(\.\d{1,9}){0,3}$/.test(version))
    errors.push({ name: "minimum_version", reason: "must be a version such as 14.6.1" });
  if (deadline !== "" && !isDate(deadline)) errors.push({ name: "deadline", reason: "must be a date, YYYY-MM-DD" });
  if (version === "" && deadline !== "")
    errors.push({ name: "minimum_version", reason: "is required together with deadline" });
  if (version !== "" && deadline === "")
    errors.push({ name: "deadline", reason: "is required together with minimum_version" });
  return errors;
}

function latestProblems(deadline: string, days: number | null): FieldError[] {
  const errors: FieldError[] = [];
  if (deadline !== "")
    errors.push({ name: "deadline", reason: `must be empty if minimum_version is ${LATEST}: use deadline_days` });
  if (days === null) errors.push({ name: "deadline_days", reason: `is required if minimum_version is ${LATEST}` });
  else if (days < 0 || days > DEADLINE_DAYS_MAX)
    errors.push({ name: "deadline_days", reason: `must be from 0 to ${DEADLINE_DAYS_MAX}` });
  return errors;
}

/** A date that exists in the calendar. */
const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().slice(0, 10) === text;

const windowsRanges = { deadline_days: 30, grace_period_days: 7 } as const;

function windowsProblems(value: MdmSettings["windows_updates"]): FieldError[] {
  return (Object.keys(windowsRanges) as (keyof typeof windowsRanges)[]).flatMap((name) => {
    const other = name === "deadline_days" ? "grace_period_days" : "deadline_days";
    const days = value[name];
    if (days === null) return value[other] === null ? [] : [{ name, reason: `is required together with ${other}` }];
    const most = windowsRanges[name];
    return days >= 0 && days <= most ? [] : [{ name, reason: `must be from 0 to ${most}` }];
  });
}

/** Accepts the older key of disk encryption, and all forms of `update_new_hosts`. */
export function respellMdm(change: Record<string, unknown>): Record<string, unknown> {
  const result = { ...change };
  const { macos_settings: settings, macos_updates: updates } = change;
  if (isRecord(settings) && "enable_disk_encryption" in settings) {
    const { enable_disk_encryption: older, ...rest } = settings;
    result.macos_settings = rest;
    result.enable_disk_encryption ??= older;
  }
  if (isRecord(updates) && "update_new_hosts" in updates) {
    const { update_new_hosts: setting, ...rest } = updates;
    const flag = booleanLike.get(setting);
    result.macos_updates = setting === null ? rest : { ...rest, update_new_hosts: flag ?? setting };
  }
  return result;
}

const booleanLike = new Map<unknown, boolean>([
  ["true", true],
  ["false", false],
  [1, true],
  [0, false],
]);

/** Fills in what follows from the given fields. */
export const completeOsSettings = <T extends DeviceSettings>(value: T, change: unknown, before: T): T =>
  withoutDependents(newHostsUpdated(oneDeadline(value, change), change, before), change);

/** What a change turns off takes with it the settings that need it, unless the change names them. */
function withoutDependents<T extends DeviceSettings>(value: T, change: unknown): T {
  if (!isRecord(change)) return value;
  const { macos_setup: setup } = change;
  const isAccountOff =
    isRecord(setup) && setup.enable_managed_local_account === false && isUnset(setup.end_user_local_account_type);
  const isPinOff = isUnset(change.windows_require_bitlocker_pin) && turnsOffWindows(value, change);
  return {
    ...value,
    ...(isAccountOff
      ? { macos_setup: { ...value.macos_setup, end_user_local_account_type: noMacosSetup.end_user_local_account_type } }
      : {}),
    ...(isPinOff ? { windows_require_bitlocker_pin: false } : {}),
  };
}

const isUnset = (field: unknown): boolean => field === undefined || field === null;

const turnsOffWindows = (value: DeviceSettings, change: Record<string, unknown>): boolean =>
  !mustEncrypt(value, "windows") && !(isUnset(change.enable_disk_encryption) && isUnset(change.disk_encryption));

/**
 * Setting version and deadline for the first time turns `update_new_hosts` on, unless the change sets it. Without
 * both it is off.
 */
function newHostsUpdated<T extends Pick<OsSettings, "macos_updates">>(value: T, change: unknown, before: T): T {
  const sent = isRecord(change) ? change.macos_updates : undefined;
  if (!isRecord(sent) || sent.update_new_hosts !== undefined) return value;
  const update_new_hosts =
    isSet(value.macos_updates) && (!isSet(before.macos_updates) || before.macos_updates.update_new_hosts);
  return { ...value, macos_updates: { ...value.macos_updates, update_new_hosts } };
}

const isSet = ({ minimum_version: version, deadline }: AppleUpdates): boolean =>
  version === LATEST || (version !== "" && deadline !== "");

const appleUpdates = ["macos_updates", "ios_updates", "ipados_updates"] as const;

/**
 * A change from a version to `latest`, or back, replaces the kind of deadline, too: clients that know only versions
 * and days do not send `deadline_days`.
 */
function oneDeadline<T extends Pick<OsSettings, (typeof appleUpdates)[number]>>(value: T, change: unknown): T {
  let result = value;
  for (const name of appleUpdates) {
    const sent = isRecord(change) ? change[name] : undefined;
    if (!isRecord(sent) || sent.minimum_version === undefined) continue;
    const isLatest = value[name].minimum_version === LATEST;
    if (isLatest && sent.deadline === undefined) result = { ...result, [name]: { ...result[name], deadline: "" } };
    if (!isLatest && sent.deadline_days === undefined)
      result = { ...result, [name]: { ...result[name], deadline_days: null } };
  }
  return result;
}
