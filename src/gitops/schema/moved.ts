// Settings that controls in files have in another place than the server.
import { isRecord } from "../../text/record.ts";

export interface MovedSetting {
  /** The server's place, in `mdm`. */
  readonly setting: readonly string[];
  /** The place in controls, under the server's spellings. */
  readonly key: readonly string[];
  /** The server's place is an older one in files: allowed too, but not both at once. */
  readonly isOlder?: true;
}

export const movedSettings: readonly MovedSetting[] = [
  {
    setting: ["windows_require_bitlocker_pin"],
    key: ["windows_settings", "require_bitlocker_pin"],
    isOlder: true,
  },
  { setting: ["disk_encryption", "macos"], key: ["macos_settings", "enable_disk_encryption"] },
  { setting: ["disk_encryption", "windows"], key: ["windows_settings", "enable_disk_encryption"] },
  { setting: ["disk_encryption", "linux"], key: ["linux_settings", "enable_escrow_disk_encryption_key"] },
  {
    setting: ["macos_setup", "enable_managed_local_account"],
    key: ["macos_settings", "managed_local_account_settings", "enabled"],
    isOlder: true,
  },
  {
    setting: ["macos_setup", "end_user_local_account_type"],
    key: ["macos_settings", "end_user_local_account_type"],
    isOlder: true,
  },
];

type Value = Readonly<Record<string, unknown>>;

export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), value);

export function withValueAt(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): Value {
  const fields = isRecord(value) ? value : {};
  if (key === undefined) return fields;
  return { ...fields, [key]: rest.length === 0 ? replacement : withValueAt(fields[key], rest, replacement) };
}

/** The value without what is at the path, and without objects that this leaves empty. */
export function withoutValueAt(value: Value, [key, ...rest]: readonly string[]): Value {
  if (key === undefined || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...others } = value;
  if (rest.length === 0) return others;
  const left = isRecord(inner) ? withoutValueAt(inner, rest) : inner;
  return isRecord(left) && Object.keys(left).length === 0 ? others : { ...others, [key]: left };
}
