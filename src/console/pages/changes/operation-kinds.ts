// What is asked of hosts, in the words of users. The filter takes all kinds of a name.
import type { HostOperation } from "../../../api/hosts/operations.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  Script: ["run_script", "script"],
  "Installation of software": ["software_install", "store_app", "in_house_app", "apple_store_app"],
  "Uninstallation of software": ["software_uninstall"],
  Lock: ["lock", "apple_lock", "android_lock"],
  Unlock: ["unlock", "apple_unlock"],
  Wipe: ["wipe", "apple_wipe", "windows_wipe", "android_wipe"],
  Profile: ["apple_profile", "windows_profile", "apple_declarations"],
  Command: ["apple_custom_command", "windows_custom_command", "android_custom_command"],
  "Turning off management": ["apple_leave", "windows_leave", "android_leave"],
  "Clearing the passcode": ["apple_clear_passcode"],
};

export const kindOptions: readonly { readonly value: string; readonly label: string }[] = Object.entries(names).map(
  ([label, kinds]) => ({
    value: kinds.join(","),
    label,
  }),
);

const nameByKind = new Map(Object.entries(names).flatMap(([name, kinds]) => kinds.map((kind) => [kind, name])));

/** Kinds that only the server itself sends are shown as they are called in the API. */
export const kindName = (kind: string): string => nameByKind.get(kind) ?? kind.replaceAll("_", " ");

/** The script, software or command; without one, the kind. */
export const whatOf = ({ kind, detail }: HostOperation): string =>
  detail === "" || detail === kind ? kindName(kind) : detail;

/** "backup.sh on ada-mac". */
export const nameOfOperation = (operation: HostOperation): string =>
  `${whatOf(operation)} on ${operation.host.display_name}`;
