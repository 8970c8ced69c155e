// The fields of a host with a single value, in the order of reports. Replies, columns of the table, order keys, fields of
// selectors and columns of reports follow from these records. A new column of hosts is added here, in a migration, and
// where its value comes from.

import { z } from "zod";
import { Id, Timestamp } from "../fields.ts";
import { recordOf } from "../plain-fields.ts";

/** `real` is a double, `time` an ISO text, `flag` a boolean. */
type ColumnKind = "text" | "int" | "real" | "flag" | "time";

/** A field with a column of the hosts table of the same name. */
export interface StoredField<S extends z.ZodType, K extends ColumnKind, N extends boolean, C extends boolean> {
  readonly schema: S;
  readonly kind: K;
  readonly isNullable: N;
  /** Filled from what the agent reports, as opposed to what the server knows. */
  readonly isCollected: C;
  /** Lists can be ordered by it. */
  readonly isOrdered: true;
  /** What replies have for null: null, the time that stands for never, or no such key. */
  readonly absent: "null" | "never" | "left out";
}

/** A field that replies make from other columns or tables. */
export interface ComputedField<S extends z.ZodType, O extends boolean> {
  readonly schema: S;
  readonly kind: null;
  readonly isCollected: false;
  readonly isOrdered: O;
}

const stored = <S extends z.ZodType, K extends ColumnKind, N extends boolean, C extends boolean>(
  schema: S,
  kind: K,
  isNullable: N,
  isCollected: C,
  absent: StoredField<S, K, N, C>["absent"] = "null",
): StoredField<S, K, N, C> => ({ schema, kind, isNullable, isCollected, isOrdered: true, absent });

const collectedText = () => stored(z.string(), "text", false, true);
const collectedInt = (schema = z.int()) => stored(schema, "int", false, true);
const collectedReal = (schema = z.number()) => stored(schema, "real", false, true);
const optionalText = () => stored(z.string().nullable(), "text", true, false);
const time = () => stored(Timestamp, "time", false, false);
const timeOrNever = (schema = Timestamp) => stored(schema, "time", true, false, "never");
const seconds = () => collectedInt(z.int().meta({ description: "seconds" }));
const computed = <S extends z.ZodType, O extends boolean>(schema: S, isOrdered: O): ComputedField<S, O> => ({
  schema,
  kind: null,
  isCollected: false,
  isOrdered,
});

export const hostFields = {
  id: computed(Id, true),
  display_name: collectedText(),
  hostname: collectedText(),
  computer_name: collectedText(),
  display_text: computed(z.string(), false),
  status: computed(z.enum(["online", "offline"]), false),
  seen_time: computed(Timestamp, true),
  team_id: computed(Id.nullable(), true),
  team_name: computed(z.string().nullable(), true),
  platform: collectedText(),
  platform_like: collectedText(),
  os_version: collectedText(),
  code_name: collectedText(),
  build: collectedText(),
  uuid: collectedText(),
  hardware_serial: collectedText(),
  hardware_vendor: collectedText(),
  hardware_model: collectedText(),
  hardware_version: collectedText(),
  cpu_type: collectedText(),
  cpu_subtype: collectedText(),
  cpu_brand: collectedText(),
  cpu_physical_cores: collectedInt(),
  cpu_logical_cores: collectedInt(),
  memory: collectedInt(z.int().meta({ description: "bytes" })),
  gigs_disk_space_available: collectedReal(),
  gigs_total_disk_space: collectedReal(),
  percent_disk_space_available: collectedReal(),
  disk_encryption_enabled: stored(
    z.boolean().optional().meta({ description: "absent if unknown" }),
    "flag",
    true,
    false,
    "left out",
  ),
  primary_ip: collectedText(),
  primary_mac: collectedText(),
  public_ip: collectedText(),
  timezone: optionalText(),
  // Neither z.int() nor an integer column: after 104 days the value exceeds a safe integer. A double is exact, since the
  // value is whole seconds × 10^9.
  uptime: collectedReal(z.number().meta({ description: "nanoseconds" })),
  qengine_version: collectedText(),
  agent_version: optionalText(),
  svc_desktop_version: optionalText(),
  scripts_enabled: stored(z.boolean().nullable(), "flag", true, false),
  distributed_interval: seconds(),
  config_tls_refresh: seconds(),
  logger_tls_period: seconds(),
  refetch_requested: stored(z.boolean(), "flag", false, false),
  created_at: time(),
  updated_at: time(),
  detail_updated_at: timeOrNever(Timestamp.meta({ description: "2000-01-01T00:00:00Z: never" })),
  label_updated_at: timeOrNever(),
  policy_updated_at: timeOrNever(),
  software_updated_at: timeOrNever(),
  last_enrolled_at: time(),
  last_restarted_at: stored(Timestamp, "time", true, true, "never"),
  last_mdm_checked_in_at: computed(Timestamp.nullable(), false),
  last_mdm_enrolled_at: computed(Timestamp.nullable(), false),
};

type HostFields = typeof hostFields;
export type HostFieldName = keyof HostFields;
type With<T> = { [K in HostFieldName]: HostFields[K] extends T ? K : never }[HostFieldName];
export type StoredName = With<{ readonly kind: ColumnKind }>;
export type CollectedName = With<{ readonly isCollected: true }>;
type OrderedName = With<{ readonly isOrdered: true }>;

type ValueOf = { text: string; int: number; real: number; flag: boolean; time: string };
/** The value of the field's column. */
export type StoredValue<K extends StoredName> =
  | ValueOf[HostFields[K]["kind"]]
  | (HostFields[K]["isNullable"] extends true ? null : never);

export const hostFieldNames = Object.keys(hostFields) as readonly HostFieldName[];
export const isStored = (name: HostFieldName): name is StoredName => hostFields[name].kind !== null;
export const orderedHostFields = hostFieldNames.filter(
  (name) => hostFields[name].isOrdered,
) as readonly string[] as readonly [OrderedName, ...OrderedName[]];

export const hostSchemas = recordOf(hostFieldNames, (name) => hostFields[name].schema) as {
  [K in HostFieldName]: HostFields[K]["schema"];
};
