// Settings from flags, environment and file, in this order of precedence. The command passes the environment in.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { z } from "zod";
import { issueText } from "../../../../api/issue-text.ts";
import { isRecord } from "../../../../text/record.ts";
import { isServerUrl, NO_SERVER_URL } from "../../../../text/urls.ts";
import { readBucketUrl } from "../../store/blobs/bucket-url.ts";
import { isLoopback, isNetwork } from "../http/proxies.ts";
import { isAllowEntry } from "../outbound/addresses.ts";
import { BadSetting } from "../security/tls.ts";
import { Settings } from "./settings.ts";

type SettingName = keyof typeof Settings.shape;
const settingNames = Object.keys(Settings.shape) as SettingName[];
const envName = (name: SettingName): string => `SVC_${name.toUpperCase()}`;
export const flagName = (name: SettingName): string => name.replaceAll("_", "-");

/** Whether the setting is a switch, whose flag takes no value. */
export const isSwitch = (name: SettingName): boolean =>
  typeof (Settings.shape[name] as z.ZodType).safeParse(undefined).data === "boolean";

/** Settings with secret values: never read from a flag. */
export const secretSettings: readonly SettingName[] = [
  "admin_password",
  "server_private_key",
  "license_key",
  "blobs_secret_access_key",
  "android_pubsub_token",
  "text_service_key",
  "https_proxy",
];

/** Variables that other programs read too. They are used if the server's own variable is not set. */
const commonVariables: Partial<Record<SettingName, readonly string[]>> = {
  https_proxy: ["HTTPS_PROXY", "https_proxy"],
  no_proxy: ["NO_PROXY", "no_proxy"],
};

interface Sources {
  /** Values by setting name; undefined means not set. */
  readonly flags: Partial<Record<SettingName, unknown>>;
  readonly env: Record<string, string | undefined>;
  readonly file?: string | undefined;
  /** Defaults that replace those of the settings. */
  readonly defaults?: Partial<Record<SettingName, unknown>>;
}

/** Throws `BadSetting` with one line per invalid setting, which names the setting's source. */
export function readSettings({ flags, env, file, defaults = {} }: Sources): Settings {
  const input: Record<string, unknown> = { ...defaults, ...(file === undefined ? {} : readFile(file)) };
  const from: Record<string, string> = Object.fromEntries(
    Object.keys(input).map((name) => [name, `${name} in ${file}`]),
  );
  for (const name of settingNames) {
    for (const variable of [...(commonVariables[name] ?? []), envName(name)]) {
      const value = env[variable];
      if (value === undefined || value === "") continue;
      input[name] = value;
      from[name] = variable;
    }
    if (flags[name] !== undefined) {
      input[name] = flags[name];
      from[name] = `--${flagName(name)}`;
    }
  }
  const parsed = Settings.safeParse(input);
  if (!parsed.success) throw new BadSetting(parsed.error.issues.map((issue) => describe(issue, from)).join("\n"));
  checkTogether(parsed.data);
  return parsed.data;
}

/** Nested keys are joined with `_`: `live_query: {rest_period: 25s}` is `live_query_rest_period`. */
function readFile(file: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new BadSetting(`--config ${file}: ${(error as Error).message}`);
  }
  if (content === null) return {};
  if (typeof content !== "object" || Array.isArray(content))
    throw new BadSetting(`--config ${file}: must be a mapping of settings`);
  return flatten(content as Record<string, unknown>);
}

const flatten = (object: Record<string, unknown>, prefix = ""): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const name = `${prefix}${key}`.replaceAll("-", "_");
      return isRecord(value) ? Object.entries(flatten(value, `${name}_`)) : [[name, value]];
    }),
  );

function describe(issue: z.core.$ZodIssue, from: Record<string, string>): string {
  if (issue.code === "unrecognized_keys")
    return `${issue.keys.map((key) => from[key] ?? key).join(", ")}: no such setting`;
  const name = String(issue.path[0] ?? "settings");
  return `${from[name] ?? name}: ${issueText(issue)}`;
}

function checkTogether(settings: Settings): void {
  for (const entry of settings.outbound_allow)
    if (!isAllowEntry(entry)) throw new BadSetting(`outbound_allow: ${entry} is not a host name, address or network`);
  for (const network of settings.trusted_proxies)
    if (!isNetwork(network)) throw new BadSetting(`trusted_proxies: ${network} is not an address or network`);
  if (settings.workers > 1 && settings.database_url === undefined)
    throw new BadSetting("workers: more than one requires database_url (only one process can use the embedded store)");
  if ((settings.blobs_access_key_id === undefined) !== (settings.blobs_secret_access_key === undefined))
    throw new BadSetting("blobs_access_key_id and blobs_secret_access_key: both must be set");
  if (settings.blobs_url !== undefined)
    try {
      readBucketUrl(settings.blobs_url);
    } catch (error) {
      throw new BadSetting(`blobs_url: ${(error as Error).message}`);
    }
  checkServices(settings);
  if ((settings.admin_email === undefined) !== (settings.admin_password === undefined))
    throw new BadSetting("admin_email and admin_password: both must be set");
  for (const name of ["server_url", "database_url"] as const) {
    const value = settings[name];
    if (value !== undefined && !URL.canParse(value)) throw new BadSetting(`${name}: not a URL`);
  }
  if (settings.server_url !== undefined && !isServerUrl(settings.server_url))
    throw new BadSetting(`server_url: ${NO_SERVER_URL}`);
  if (settings.database_url !== undefined && !/^postgres(ql)?:$/.test(new URL(settings.database_url).protocol))
    throw new BadSetting("database_url: must begin with postgres://");
}

function checkServices({ https_proxy: proxy, apns_url: apns }: Settings): void {
  if (proxy !== undefined && !(URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)))
    throw new BadSetting("https_proxy: must be an http or https URL");
  if (!URL.canParse(apns)) throw new BadSetting("apns_url: not a URL");
  const { protocol, hostname } = new URL(apns);
  const isLocal = hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
  if (protocol !== "https:" && !(protocol === "http:" && isLocal))
    throw new BadSetting("apns_url: must begin with https:// (http:// is accepted for this machine only)");
}

/** One row per setting, for help and docs. */
export function settingsTable(): {
  name: SettingName;
  flag: string;
  env: string;
  fallback: string;
  description: string;
  secret: boolean;
}[] {
  return settingNames.map((name) => {
    const schema = Settings.shape[name] as z.ZodType;
    const secret = secretSettings.includes(name);
    return {
      name,
      flag: secret ? "" : `--${flagName(name)}`,
      env: envName(name),
      fallback: fallbackText(schema),
      description: schema.description ?? "",
      secret,
    };
  });
}

function fallbackText(schema: z.ZodType): string {
  const { def } = schema;
  if ("defaultValue" in def) return JSON.stringify(def.defaultValue)?.replace(/^"|"$/g, "") ?? "";
  if ("in" in def) return fallbackText(def.in as z.ZodType);
  if ("innerType" in def) return fallbackText(def.innerType as z.ZodType);
  return "";
}
