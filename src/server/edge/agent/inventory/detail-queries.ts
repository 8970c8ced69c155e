import type { InventorySource } from "../../../hosts/hosts/inventory/source.ts";
import { appliesTo, type DetailFeatures, type DetailQuery } from "../../../platform/agent-protocol/detail-query.ts";
import { DETAIL_PREFIX } from "../../../platform/agent-protocol/rows.ts";
import { type PlatformFamily, platformFamily } from "../../../platform/core/platforms.ts";
import { systemQueries } from "./queries.ts";

export interface DetailAsk {
  readonly platform: string;
  readonly platformLike?: string;
  readonly features: DetailFeatures;
  /** `osquery_info.version`; "" if unknown. */
  readonly agentVersion: string;
  /** Only the queries that determine the MDM state. */
  readonly criticalOnly?: boolean;
  /** Whether queries with this interval (ms) have their turn. Default: they have. */
  readonly isTurn?: (interval: number) => boolean;
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
const MAX_CACHED_VERSIONS = 1_000;

function isFor(query: DetailQuery, family: PlatformFamily, version: Version): boolean {
  if (query.needs) return family === query.needs.platform && !before(version, query.needs.agent);
  return appliesTo(query, family);
}

/** What is asked for the details of hosts: of every host, and by the sources. */
export class DetailQueries {
  readonly byName: ReadonlyMap<string, DetailQuery>;
  readonly #queries: readonly DetailQuery[];
  readonly #features: readonly (keyof DetailFeatures)[];
  readonly #intervals: readonly number[];
  readonly #versionClasses = new Map<string, number>();
  readonly #sets = new Map<string, DetailQuerySet>();

  constructor(sources: readonly InventorySource[]) {
    const queries = [...systemQueries, ...sources.flatMap((source) => source.queries)];
    this.byName = new Map(queries.map((query) => [query.name, query]));
    if (this.byName.size < queries.length) throw new Error("two detail queries have the same name");
    this.#queries = queries;
    this.#features = [...new Set(queries.flatMap(({ feature }) => feature ?? []))];
    this.#intervals = [...new Set(queries.flatMap(({ interval }) => interval ?? []))];
  }

  /**
   * The detail queries for a host. A host with an unknown platform gets the queries of all platforms: those for other
   * systems fail individually, except where a failing discovery query would discard the whole reply.
   */
  for(ask: DetailAsk): DetailQuerySet {
    const family = platformFamily(ask.platform, ask.platformLike);
    const reached = this.#versionClass(ask.agentVersion);
    const turns = ask.isTurn === undefined ? this.#intervals : this.#intervals.filter(ask.isTurn);
    const switches = this.#features.map((feature) => ask.features[feature]);
    const key = `${family} ${switches} ${reached} ${ask.criticalOnly === true} ${turns}`;
    const cached = this.#sets.get(key);
    if (cached) return cached;
    const created = this.#build(family, reached, ask, turns);
    this.#sets.set(key, created);
    return created;
  }

  /** Whether results of this query apply to a host of this family. For an unknown family all do. */
  answersFor(name: string, family: PlatformFamily): boolean {
    const query = this.byName.get(name);
    return query !== undefined && appliesTo(query, family);
  }

  /** The number of `steps` that the version has reached. */
  #versionClass(agentVersion: string): number {
    const cached = this.#versionClasses.get(agentVersion);
    if (cached !== undefined) return cached;
    const version = agentVersionOf(agentVersion);
    const reached = steps.filter((step) => !before(version, step)).length;
    // Versions are reported by agents, so the cache needs a limit.
    if (this.#versionClasses.size >= MAX_CACHED_VERSIONS) this.#versionClasses.clear();
    this.#versionClasses.set(agentVersion, reached);
    return reached;
  }

  #build(family: PlatformFamily, reached: number, ask: DetailAsk, turns: readonly number[]): DetailQuerySet {
    const version = steps[reached - 1] ?? NONE;
    const queries: Record<string, string> = {};
    const discovery: Record<string, string> = {};
    for (const query of this.#queries) {
      if (query.perHost || !isFor(query, family, version)) continue;
      if (ask.criticalOnly && !query.critical) continue;
      if (query.feature && !ask.features[query.feature]) continue;
      if (query.interval !== undefined && !turns.includes(query.interval)) continue;
      const name = DETAIL_PREFIX + query.name;
      queries[name] = query.older && before(version, query.older.before) ? query.older.sql : query.sql;
      if (query.discovery) discovery[name] = query.discovery;
      else if (before(version, DISCOVERY_OPTIONAL)) discovery[name] = "SELECT 1";
    }
    return Object.freeze({ queries: Object.freeze(queries), discovery: Object.freeze(discovery) });
  }
}
