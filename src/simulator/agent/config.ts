import { versionCompare } from "../../agent-wire/version-compare.ts";
import type { Family } from "../inventory/platforms.ts";
import { hashText } from "../random.ts";

export type ConfigQuery = {
  name: string;
  query: string;
  interval: number;
  snapshot: boolean;
  removed: boolean;
  platform: string;
  version: string;
  shard: number;
};
type Pack = {
  name: string;
  queries: ConfigQuery[];
  platform: string;
  version: string;
  shard: number;
  discovery: string[];
};
export type Decorators = { load: string[]; always: string[] };
/** `text` is one copy of the received text, shared by all agents with this config. */
export type AgentConfig = {
  text: string;
  options: Record<string, string>;
  schedule: ConfigQuery[];
  packs: Pack[];
  decorators: Decorators;
};

const MAX_TEXT = 4 * 1024 * 1024;
const MAX_DEPTH = 32;
const DEFAULT_INTERVAL = 3600;
const MAX_INTERVAL = 604_800;
const LINUX_WORDS = ["linux", "ubuntu", "centos"];

const cache = new Map<string, AgentConfig | null>();

/**
 * Parses a config as an agent does. Null if it is too large or too deeply nested. Agents with the same text share one
 * object.
 */
export function readConfig(text: string, json: Record<string, unknown> | null): AgentConfig | null {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const config = text.length > MAX_TEXT || tooDeep(json, 0) ? null : parse(text, json ?? {});
  if (cache.size >= 64) cache.clear();
  cache.set(text, config);
  return config;
}

function parse(text: string, json: Record<string, unknown>): AgentConfig {
  const options: Record<string, string> = {};
  for (const [name, value] of Object.entries(object(json.options))) {
    if (["string", "number", "boolean"].includes(typeof value)) options[name] = String(value);
  }
  const packs = Object.entries(object(json.packs)).flatMap(([name, value]) => {
    // A text would be a path on the host, where no such file exists.
    if (typeof value !== "object" || value === null) return [];
    const pack = object(value);
    return [{ name, queries: queries(pack.queries), discovery: texts(pack.discovery), ...limits(pack) }];
  });
  const decorators = object(json.decorators);
  const intervals = Object.values(object(decorators.interval)).flatMap(texts);
  return {
    text,
    options,
    schedule: queries(json.schedule),
    packs,
    decorators: { load: [...texts(decorators.load), ...intervals], always: texts(decorators.always) },
  };
}

function queries(value: unknown): ConfigQuery[] {
  return Object.entries(object(value)).flatMap(([name, entry]) => {
    const fields = object(entry);
    const query = fields.query;
    const interval = fields.interval === undefined ? DEFAULT_INTERVAL : Number(fields.interval);
    if (typeof query !== "string" || query === "" || !(interval >= 1 && interval <= MAX_INTERVAL)) return [];
    const snapshot = flag(fields.snapshot, false);
    return [{ name, query, interval, snapshot, removed: flag(fields.removed, true), ...limits(fields) }];
  });
}

function limits(fields: Record<string, unknown>) {
  return {
    platform: typeof fields.platform === "string" ? fields.platform : "",
    version: typeof fields.version === "string" ? fields.version : "",
    shard: fields.shard === undefined || fields.shard === "" ? 100 : Number(fields.shard),
  };
}

export type SelectedQuery = { name: string; query: ConfigQuery };
export type HostFacts = { family: Family; agentVersion: string; identifier: string; delimiter: string };

/** The queries that this host runs, by result name. `matches` runs the discovery query of a pack. */
export function selectQueries(
  config: AgentConfig,
  host: HostFacts,
  matches: (sql: string) => boolean,
): SelectedQuery[] {
  const selected: SelectedQuery[] = [];
  for (const query of config.schedule) if (applies(query, host)) selected.push({ name: query.name, query });
  for (const pack of config.packs) {
    if (!applies(pack, host) || !pack.discovery.every(matches)) continue;
    for (const query of pack.queries) {
      if (!applies(query, host)) continue;
      selected.push({ name: ["pack", pack.name, query.name].join(host.delimiter), query });
    }
  }
  return selected.filter(
    ({ name, query }) => !reserved(query.name, host.agentVersion) && !reserved(name, host.agentVersion),
  );
}

function applies(limits: { platform: string; version: string; shard: number }, host: HostFacts): boolean {
  if (!platformMatches(limits.platform, host.family)) return false;
  if (limits.version !== "" && versionCompare(host.agentVersion, limits.version) < 0) return false;
  return limits.shard >= 100 || hashText(host.identifier) % 100 < limits.shard;
}

/** Tests for substrings, as the agent does. Words that it does not know never match. */
export function platformMatches(platform: string, family: Family): boolean {
  if (platform === "" || platform.includes("any") || platform.includes("all")) return true;
  if (family === "windows") return platform.includes("windows");
  if (platform.includes("posix")) return true;
  if (family === "darwin") return platform.includes("darwin");
  return LINUX_WORDS.some((word) => platform.includes(word));
}

/** Since version 5.19, names that collide with the agent's own keys are skipped. */
function reserved(name: string, version: string): boolean {
  return versionCompare(version, "5.19.0") >= 0 && /^(query|cache|config_views)\.|(epoch|counter)$/.test(name);
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : [];
}

function flag(value: unknown, otherwise: boolean): boolean {
  return value === undefined ? otherwise : String(value) === "true" || String(value) === "1";
}

function tooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((inner) => tooDeep(inner, depth + 1));
}
