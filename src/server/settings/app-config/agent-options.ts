// Validates agent options. Agents ignore a wrong key silently, so the server refuses it.

import { AgentOptions } from "../../../api/settings/app-config.ts";
import { isRecord } from "../../../text/record.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { linuxPlatforms } from "../../platform/core/platforms.ts";
import { unsupportedKey, wrongType } from "./merge.ts";
import { commandLine, configKeys, type OptionType, settable } from "./osquery-options.ts";
import { checkDecorators, checkPacks, checkSchedule, checkTables, checkViews } from "./schedule.ts";

interface AgentOptionChecks {
  /** If true, only options that cannot be stored at all are refused. */
  readonly force: boolean;
  /** The path of the options, for error messages. Empty if they are the whole body. */
  readonly at: string;
}

/** The agent accepts at most 4 MiB of text, nested at most 32 levels deep. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;

const platforms: ReadonlySet<string> = new Set([
  "darwin",
  "windows",
  "chrome",
  "rocky",
  "almalinux",
  "fedora",
  "alpine",
  "bottlerocket",
  ...linuxPlatforms,
]);

export const defaultAgentOptions: AgentOptions = {
  config: {
    options: {
      pack_delimiter: "/",
      disable_distributed: false,
      distributed_plugin: "tls",
      distributed_interval: 10,
      distributed_tls_max_attempts: 3,
      distributed_tls_read_endpoint: "/api/v1/qengine/distributed/read",
      distributed_tls_write_endpoint: "/api/v1/qengine/distributed/write",
      logger_tls_endpoint: "/api/v1/qengine/log",
      logger_tls_period: 10,
      logger_tls_compress: true,
      logger_min_status: 1,
    },
    decorators: {
      load: ["SELECT uuid AS host_uuid FROM system_info;", "SELECT hostname AS hostname FROM system_info;"],
    },
  },
  overrides: {},
};

const under = (at: string, key: string): string => (at === "" ? key : `${at}.${key}`);

/** Returns the options if they are valid. 400 otherwise. */
export function parseAgentOptions(input: unknown, checks: AgentOptionChecks): AgentOptions {
  if (!isRecord(input)) throw wrongType(checks.at || "agent_options", "object", input);
  if (!checks.force) checkKeys(input, checks.at);
  checkShape(input, checks.at);
  // Every key was checked, or `force` was given. Parsing drops the keys that have no meaning anywhere.
  return AgentOptions.parse(input);
}

/** Refused even with `force`: the server could not build an agent configuration from such options. */
function checkShape(input: Record<string, unknown>, at: string): void {
  for (const key of ["config", "overrides", "command_line_flags", "extensions", "update_channels"] as const)
    checkObject(input[key], under(at, key));
  checkTimeout(input.script_execution_timeout, under(at, "script_execution_timeout"));
  const overrides = input.overrides as Record<string, unknown> | undefined;
  checkObject(overrides?.platforms, under(at, "overrides.platforms"));
  for (const [platform, config] of Object.entries(overrides?.platforms ?? {}))
    if (config !== null) checkObject(config, under(at, `overrides.platforms.${platform}`));
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_BYTES)
    throw badRequest("agent options are over 4 MiB", at || "base");
  if (depth(input) > MAX_DEPTH) throw badRequest(`agent options are nested more than ${MAX_DEPTH} deep`, at || "base");
}

function checkObject(value: unknown, at: string): void {
  if (value !== undefined && !isRecord(value)) throw wrongType(at, "object", value);
}

const depth = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Object.values(value).reduce((most: number, inner) => Math.max(most, depth(inner)), 0)
    : 0;

function checkKeys(input: Record<string, unknown>, at: string): void {
  for (const [key, value] of Object.entries(input)) {
    const here = under(at, key);
    if (key === "config") checkConfig(value, here);
    else if (key === "overrides") checkOverrides(value, here);
    else if (key === "command_line_flags") checkFlags(value, here);
    else if (key === "extensions") checkExtensions(value, here);
    else if (key === "update_channels") checkTexts(value, here, updated);
    else if (key === "script_execution_timeout") checkTimeout(value, here);
    else throw misplaced(here, key, topLevel);
  }
}

const updated: AllowedTexts = { orbit: null, osqueryd: null, desktop: null };
const extension: AllowedTexts = { platform: ["windows", "linux", "macos"], channel: null };

/** Allowed keys and their allowed values. Null: any text. */
type AllowedTexts = Readonly<Record<string, readonly string[] | null>>;

function checkTexts(value: unknown, at: string, allowed: AllowedTexts): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [key, text] of Object.entries(value)) {
    const here = under(at, key);
    const values = Object.hasOwn(allowed, key) ? allowed[key] : undefined;
    if (values === undefined) throw unsupportedKey(here, Object.keys(allowed));
    if (typeof text !== "string") throw wrongType(here, "string", text);
    if (text === "" || text.length > 255) throw badRequest("must have 1 to 255 characters", here);
    if (values !== null && !values.includes(text)) throw badRequest(`must be one of ${values.join(", ")}`, here);
  }
}

function checkExtensions(value: unknown, at: string): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [name, paths] of Object.entries(value)) checkTexts(paths, under(at, name), extension);
}

const MAX_SCRIPT_SECONDS = 3600;

function checkTimeout(value: unknown, at: string): void {
  if (value === undefined) return;
  if (!Number.isInteger(value)) throw wrongType(at, "integer", value);
  if ((value as number) < 1 || (value as number) > MAX_SCRIPT_SECONDS)
    throw badRequest(`must be 1 to ${MAX_SCRIPT_SECONDS} seconds`, at);
}

function checkOverrides(value: unknown, at: string): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const key of Object.keys(value))
    if (key !== "platforms")
      throw platforms.has(key)
        ? belongs(under(at, key), key, "overrides.platforms")
        : misplaced(under(at, key), key, ["platforms"]);
  const named = value.platforms ?? {};
  if (!isRecord(named)) throw wrongType(under(at, "platforms"), "object", named);
  for (const [platform, config] of Object.entries(named)) {
    const here = under(at, `platforms.${platform}`);
    if (!platforms.has(platform)) throw unsupportedKey(here, platforms);
    if (config === null)
      throw badRequest(`platforms cannot be null: '${here}'; leave it out, or give it a configuration`, here);
    checkConfig(config, here);
  }
}

function checkConfig(value: unknown, at: string): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [key, part] of Object.entries(value)) {
    const here = under(at, key);
    const type = configKeys.get(key);
    if (!type) throw misplaced(here, key, configKeys.keys());
    if (type === "object" ? !isRecord(part) : !Array.isArray(part) && !isRecord(part))
      throw wrongType(here, type, part);
  }
  checkOptions(value.options, under(at, "options"));
  checkSchedule(value.schedule, under(at, "schedule"));
  checkPacks(value.packs, under(at, "packs"));
  checkDecorators(value.decorators, under(at, "decorators"));
  checkViews(value.views, under(at, "views"));
  checkTables(value.auto_table_construction, under(at, "auto_table_construction"));
}

function checkOptions(value: unknown, at: string): void {
  for (const [key, option] of Object.entries(value ?? {})) {
    const here = under(at, key);
    const type = settable.get(key) ?? custom(key);
    if (!type)
      throw commandLine.has(key) ? belongs(here, key, "command_line_flags") : unsupportedKey(here, settable.keys());
    checkOption(here, type, option);
  }
}

function checkFlags(value: unknown, at: string): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [key, option] of Object.entries(value)) {
    const here = under(at, key);
    const type = commandLine.get(key) ?? settable.get(key) ?? custom(key);
    if (!type) throw misplaced(here, key, [...commandLine.keys(), ...settable.keys()]);
    checkOption(here, type, option);
  }
}

/** Extensions define options of their own, with this prefix. */
const custom = (key: string): OptionType | "any" | undefined => (key.startsWith("custom_") ? "any" : undefined);

function checkOption(at: string, type: OptionType | "any", value: unknown): void {
  const fits =
    type === "any"
      ? ["boolean", "number", "string"].includes(typeof value)
      : type === "integer"
        ? Number.isSafeInteger(value) && (value as number) >= 0
        : typeof value === type;
  if (!fits) throw wrongType(at, type === "any" ? "string" : type, value);
}

const belongs = (at: string, key: string, place: string) =>
  badRequest(`"${key}" should be part of the "${place}" object: unsupported key provided: "${key}"`, at);

const topLevel = new Set(Object.keys(AgentOptions.shape));

/** The error for an unknown key. If the key is valid elsewhere in the options, the message names that place. */
function misplaced(at: string, key: string, candidates: Iterable<string>) {
  if (configKeys.has(key)) return belongs(at, key, "config");
  if (key === "platforms") return belongs(at, key, "overrides");
  if (topLevel.has(key))
    return badRequest(`"${key}" should be at the top of the agent options: unsupported key provided: "${key}"`, at);
  if (settable.has(key)) return belongs(at, key, "config.options");
  if (commandLine.has(key)) return belongs(at, key, "command_line_flags");
  return unsupportedKey(at, candidates);
}
