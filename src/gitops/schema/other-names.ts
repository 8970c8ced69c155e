// Keys of other systems with files of this form: what they are called here, or that there is nothing like them.

import { ownOf } from "../../text/record.ts";

/** By their words. */
const words: Readonly<Record<string, readonly string[]>> = {
  apple: ["vendora", "macos"],
  osquery: ["qengine"],
  entra: ["directory"],
  okta: ["provider", "idp"],
  fleet: ["svc", "team"],
  fleets: ["teams"],
};

const names: Readonly<Record<string, readonly string[]>> = {
  apple_business: ["vendora_business"],
  digicert: ["hosted_ca_a"],
  ndes_scep_proxy: ["directory_scep_proxy"],
  hydrant: ["hosted_est_ca"],
  smallstep: ["hosted_scep_ca"],
  google_calendar: ["calendar"],
  google_workspace: ["workspace_directory"],
  jira: ["ticketing_a"],
  zendesk: ["ticketing_b"],
  macos_bootstrap_package: ["bootstrap_package"],
  macos_manual_agent_install: ["manual_agent_install"],
  enable_create_local_admin_account: ["enable_managed_local_account", "managed_local_account_settings"],
  slug: ["svc_maintained_app_slug"],
};

const NOTHING = "there is nothing like it here: remove it";
const without: Readonly<Record<string, string>> = {
  deferred_save_host: NOTHING,
  debug_host_ids: NOTHING,
  detail_query_overrides: NOTHING,
};

/** The first of the known keys that is this key under another name. */
export function otherName(key: string, knownKeys: readonly string[]): string | undefined {
  const parts = key.split("_");
  const spelled = parts.flatMap((part, i) =>
    (ownOf(words, part) ?? []).map((word) => [...parts.slice(0, i), word, ...parts.slice(i + 1)].join("_")),
  );
  const unprefixed = ownOf(words, parts[0]!) === undefined ? [] : [parts.slice(1).join("_")];
  return [...(ownOf(names, key) ?? []), ...spelled, ...unprefixed].find((candidate) => knownKeys.includes(candidate));
}

/** Why there is no such key; undefined if it is not a key of other systems. */
export const nothingLike = (key: string): string | undefined => ownOf(without, key);

/** Keys that other systems write without an effect; they are ignored with this warning. */
export const withoutEffect = (section: PropertyKey | undefined, key: string): string | undefined =>
  key === "update_new_hosts" && (section === "ios_updates" || section === "ipados_updates")
    ? "is for Macs only, and ignored here"
    : undefined;
