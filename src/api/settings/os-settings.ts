// Settings of operating systems that teams have, and the organization for hosts without a team. Schemas, defaults, the
// premium tier, what has to be turned on before, and the keys of controls in files follow from this record.

import { z } from "zod";
import { recordOf } from "../plain-fields.ts";

const short = z.string().max(255);

/** Text, because the older form has a version and a day only. */
export const AppleUpdates = z.object({
  minimum_version: short.meta({ description: "a version such as 15.2, or latest: the newest for each device" }),
  deadline: short.meta({ description: "day by which a version has to be installed, YYYY-MM-DD" }),
  deadline_days: z
    .int()
    .nullable()
    .meta({ description: "with latest, in place of deadline: days after a version has come out" }),
});
export type AppleUpdates = z.infer<typeof AppleUpdates>;
const noAppleUpdates: AppleUpdates = { minimum_version: "", deadline: "", deadline_days: null };

/** Where the encryption of disks on one platform differs from `enable_disk_encryption`. */
const encrypts = z.boolean().nullable().meta({ description: "null: as enable_disk_encryption" });
const DiskEncryption = z.object({ macos: encrypts, windows: encrypts, linux: encrypts });
export type DiskEncryption = z.infer<typeof DiskEncryption>;

/** What Apple devices are called, with variables in place of what differs between them. */
export const NameTemplate = z.string().max(1024).meta({
  description: "name of Apple devices, such as Mac-$SVC_VAR_HOST_HARDWARE_SERIAL; empty: devices keep their names",
});

/** The device management that has to be on before a setting can be turned on. */
export type ManagedDevices = "Apple" | "Windows" | "Android" | "Apple or Windows";

interface OsSetting<S extends z.ZodType> {
  readonly schema: S;
  readonly fallback: z.output<S>;
  /** Null: decided value by value. */
  readonly needs: ManagedDevices | null;
  /** Whether the controls of files have a key with this name. */
  readonly isInFiles: boolean;
}

const setting = <S extends z.ZodType>(
  schema: S,
  fallback: NoInfer<z.output<S>>,
  needs: ManagedDevices | null,
  isInFiles = true,
): OsSetting<S> => ({ schema, fallback, needs, isInFiles });

/** All of them need the premium tier. */
export const osSettings = {
  enable_disk_encryption: setting(
    z.boolean().meta({ description: "on every platform without a value in disk_encryption" }),
    false,
    "Apple or Windows",
  ),
  // In files, each platform has a key of its own.
  disk_encryption: setting(DiskEncryption, { macos: null, windows: null, linux: null }, null, false),
  windows_require_bitlocker_pin: setting(z.boolean(), false, "Windows"),
  enable_recovery_lock_password: setting(
    z
      .boolean()
      .meta({ description: "Macs with Apple silicon get a password without which they do not start in recovery mode" }),
    false,
    "Apple",
  ),
  name_template: setting(NameTemplate, "", "Apple"),
  macos_updates: setting(
    AppleUpdates.extend({ update_new_hosts: z.boolean() }),
    { ...noAppleUpdates, update_new_hosts: false },
    "Apple",
  ),
  ios_updates: setting(AppleUpdates, noAppleUpdates, "Apple"),
  ipados_updates: setting(AppleUpdates, noAppleUpdates, "Apple"),
  windows_updates: setting(
    z.object({ deadline_days: z.int().nullable(), grace_period_days: z.int().nullable() }),
    { deadline_days: null, grace_period_days: null },
    "Windows",
  ),
};

type Fields = typeof osSettings;
export type OsSettingName = keyof Fields;
export type OsSettings = { [K in OsSettingName]: z.output<Fields[K]["schema"]> };

export const osSettingNames = Object.keys(osSettings) as readonly OsSettingName[];

export const osSettingSchemas = recordOf(osSettingNames, (name) => osSettings[name].schema) as {
  [K in OsSettingName]: Fields[K]["schema"];
};

export const noOsSettings = recordOf(osSettingNames, (name) => osSettings[name].fallback) as OsSettings;

type Changeable<S extends z.ZodType> =
  S extends z.ZodObject<infer Shape> ? z.ZodObject<{ [K in keyof Shape]: z.ZodOptional<Shape[K]> }> : S;

/** The schemas of changes: fields of objects that are left out keep their values. */
export const osSettingChanges = recordOf(osSettingNames, (name) => {
  const { schema } = osSettings[name];
  return schema instanceof z.ZodObject ? schema.partial() : schema;
}) as { [K in OsSettingName]: Changeable<Fields[K]["schema"]> };

/** The paths of single values within the settings. */
export const osSettingPaths: readonly string[] = osSettingNames.flatMap((name) => {
  const { fallback } = osSettings[name];
  return typeof fallback === "object" ? Object.keys(fallback).map((key) => `${name}.${key}`) : [name];
});
