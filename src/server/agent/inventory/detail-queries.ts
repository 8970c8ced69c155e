import { appliesTo, type DetailQuery } from "../../agent-protocol/detail-query.ts";
import { DETAIL_PREFIX } from "../../agent-protocol/rows.ts";
import { type PlatformFamily, platformFamily } from "../../core/platforms.ts";
import { detailQueries } from "./queries.ts";

export interface DetailFeatures {
  readonly enable_host_users: boolean;
  readonly enable_software_inventory: boolean;
}

export interface DetailAsk {
  readonly platform: string;
  readonly platformLike?: string;
  readonly features: DetailFeatures;
  /** `osquery_info.version`; "" if unknown. */
  readonly agentVersion: string;
  /** Only the queries that determine the MDM state. */
  readonly criticalOnly?: boolean;
}

/** The two parts of a distributed read reply, by wire name. Shared between hosts: do not modify. */
export interface DetailQuerySet {
  readonly queries: Readonly<Record<string, string>>;
  readonly discovery: Readonly<Record<string, string>>;
}

type Version = readonly [number, number];

/** Major and minor of an agent version ("5.12.1", "5.9.1-12-gabc"); 0.0 if it cannot be parsed. */
export function agentVersionOf(version: string): Version {
  const match = /^v?(\d{1,6})\.(\d{1,6})/.exec(version);
  return match ? [Number(match[1]), Number(match[2])] : [0, 0];
}

const before = (a: Version, b: Version): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

// The versions at which the set of queries changes. The cache key is the number of steps that a version has reached.
const steps: readonly Version[] = [
  [4, 3],
  [5, 8],
  [5, 16],
];
/** Since this version, a query without a discovery query always runs. */
const DISCOVERY_OPTIONAL: Version = [5, 8];
const NONE: Version = [0, 0];

const versionClasses = new Map<string, number>();

function versionClass(agentVersion: string): number {
  const known = versionClasses.get(agentVersion);
  if (known !== undefined) return known;
  const version = agentVersionOf(agentVersion);
  const reached = steps.filter((step) => !before(version, step)).length;
  // Versions are reported by agents, so the cache needs a limit.
  if (versionClasses.size >= 1000) versionClasses.clear();
  versionClasses.set(agentVersion, reached);
  return reached;
}

function isFor(query: DetailQuery, family: PlatformFamily, version: Version): boolean {
  if (query.needs) return family === query.needs.platform && !before(version, query.needs.agent);
  return appliesTo(query, family);
}

function build(family: PlatformFamily, features: DetailFeatures, reached: number, criticalOnly: boolean) {
  const version = steps[reached - 1] ?? NONE;
  const queries: Record<string, string> = {};
  const discovery: Record<string, string> = {};
  for (const query of detailQueries) {
    if (!isFor(query, family, version)) continue;
    if (criticalOnly && !query.critical) continue;
    if (query.feature === "users" && !features.enable_host_users) continue;
    if (query.feature === "software" && !features.enable_software_inventory) continue;
    const name = DETAIL_PREFIX + query.name;
    queries[name] = query.older && before(version, query.older.before) ? query.older.sql : query.sql;
    if (query.discovery) discovery[name] = query.discovery;
    else if (before(version, DISCOVERY_OPTIONAL)) discovery[name] = "SELECT 1";
  }
  return Object.freeze({ queries: Object.freeze(queries), discovery: Object.freeze(discovery) });
}

const sets = new Map<string, DetailQuerySet>();

/**
 * The detail queries for a host. A host with an unknown platform gets the queries of all platforms: those for other
 * systems fail individually, except where a failing discovery query would discard the whole reply.
 */
export function detailQueriesFor(ask: DetailAsk): DetailQuerySet {
  const family = platformFamily(ask.platform, ask.platformLike);
  const { enable_host_users: users, enable_software_inventory: software } = ask.features;
  const reached = versionClass(ask.agentVersion);
  const key = `${family} ${users} ${software} ${reached} ${ask.criticalOnly === true}`;
  let set = sets.get(key);
  if (set === undefined) {
    set = build(family, ask.features, reached, ask.criticalOnly === true);
    sets.set(key, set);
  }
  return set;
}

const byName = new Map(detailQueries.map((query) => [query.name, query]));

/** Whether results of this query apply to a host of this family. For an unknown family all do. */
export function answersFor(key: string, family: PlatformFamily): boolean {
  const query = byName.get(key);
  return query !== undefined && appliesTo(query, family);
}
