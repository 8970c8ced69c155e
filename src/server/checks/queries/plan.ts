// The cached plan of scheduled queries. Rebuilt when queries, packs, labels, teams or the configuration change.

import { ALL_HOSTS } from "../../hosts/labels/builtin-labels.ts";
import { channels } from "../../platform/core/channels.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerStore } from "../../platform/core/tables.ts";
import { and, eq, gt, oneOf } from "../../platform/store/query.ts";
import { namesAsSent, splitResultName } from "./names.ts";
import { reportRules } from "./report.ts";

/** The properties of a saved query that are needed to process its results. */
export interface PlannedQuery {
  readonly id: number;
  readonly team_id: number | null;
  readonly name: string;
  readonly updated_at: string;
  readonly automations_enabled: boolean;
  readonly logging: string;
  readonly discard_data: boolean;
}

/** A scheduled query or a legacy pack in a configuration. */
export interface PlanItem {
  /** Unique within the plan. */
  readonly key: string;
  /** Name of the pack. */
  readonly pack: string;
  /** The query's name as sent to agents; null: the item is a whole pack. */
  readonly name: string | null;
  readonly value: Readonly<Record<string, unknown>>;
  /** If not empty, only hosts with one of these labels, and the hosts in `hosts`, get the item. */
  readonly labels: readonly number[];
  /** Hosts need all of the labels. */
  readonly needsAll?: true;
  readonly hosts: ReadonlySet<number>;
}

export interface TeamPlan {
  /** In the order in which they are sent. */
  readonly items: readonly PlanItem[];
  /** The items that only some hosts of the team get. */
  readonly scoped: readonly PlanItem[];
}

export interface Plan {
  readonly reportsEnabled: boolean;
  readonly reportCap: number;
  /** Ids of the labels that restrict items. */
  readonly labels: readonly number[];
  of(teamId: number | null): TeamPlan;
  /** The query with this result name; null if it is unknown or part of a legacy pack. */
  named(resultName: string): PlannedQuery | null;
  query(id: number): PlannedQuery | null;
}

export interface PlanCache {
  now(): Plan | undefined;
  get(): Promise<Plan>;
  /**
   * Whether the name may belong to a query that another server has already sent, but of which this one does not know
   * yet.
   */
  mayBeNew(plan: Plan, resultName: string): boolean;
  /** Reloads the plan. Names that it still lacks are not looked up again until something changes. */
  reread(plan: Plan, resultNames: Iterable<string>): Promise<Plan>;
  stop(): Promise<void>;
}

/** Maximum number of cached result names, since agents can send any. */
const NAMES_MAX = 20_000;

export async function createPlanCache(services: Services): Promise<PlanCache> {
  const { store } = services;
  const plan = new CachedValue(() => loadPlan(services));
  /** Names in our format that match no query. */
  const unknown = new Set<string>();
  const forget = () => {
    plan.forget();
    unknown.clear();
  };
  const stops: (() => Promise<void>)[] = [];
  for (const channel of [channels.queries, channels.labels, channels.teams, channels.config])
    stops.push(await store.listen(channel, forget, forget));
  return {
    now: () => plan.now,
    get: () => plan.get(),
    mayBeNew: (current, name) =>
      current.named(name) === null && !unknown.has(name) && !splitResultName(name).next().done,
    async reread(outdated, names) {
      if (plan.now === outdated) plan.forget();
      const read = await plan.get();
      for (const name of names) {
        if (read.named(name) !== null) continue;
        if (unknown.size >= NAMES_MAX) unknown.clear();
        unknown.add(name);
      }
      return read;
    },
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

const everyHost: Pick<PlanItem, "labels" | "hosts"> = { labels: [], hosts: new Set() };

export async function loadPlan({ store, config }: Pick<Services, "store" | "config">): Promise<Plan> {
  const rules = await reportRules({ config });
  const queries = await store.queries.pick(
    ["id", "team_id", "name", "updated_at", "automations_enabled", "logging", "discard_data"],
    { order: [{ column: "id", direction: "asc" }] },
  );
  const allHosts = (await store.labels.first({ where: and(eq("name", ALL_HOSTS), eq("label_type", "builtin")) }))?.id;
  const sentNames = namesByTeam(queries);
  const scheduled = await scheduledItems(store, rules.enabled, allHosts, sentNames);
  const packs = await packItems(store, allHosts);

  const teams = new Map<number | null, TeamPlan>();
  const ofTeam = (teamId: number | null): TeamPlan => {
    const cached = teams.get(teamId);
    if (cached) return cached;
    const items = [
      ...(scheduled.get(null) ?? []),
      ...(teamId === null ? [] : (scheduled.get(teamId) ?? [])),
      ...packs.flatMap(({ item, teamIds, everywhere }) => {
        if (everywhere || (teamId !== null && teamIds.has(teamId))) return [{ ...item, ...everyHost }];
        return item.labels.length > 0 || item.hosts.size > 0 ? [item] : [];
      }),
    ];
    const sent = { items, scoped: items.filter(({ labels, hosts }) => labels.length > 0 || hosts.size > 0) };
    teams.set(teamId, sent);
    return sent;
  };

  const byId = new Map(queries.map((query) => [query.id, query]));
  const bySentName = new Map<number | null, Map<string, PlannedQuery>>();
  for (const [teamId, names] of sentNames)
    bySentName.set(teamId, new Map([...names].map(([id, sent]) => [sent, byId.get(id)!])));
  const byResultName = new Map<string, PlannedQuery | null>();
  const named = (resultName: string): PlannedQuery | null => {
    const cached = byResultName.get(resultName);
    if (cached !== undefined) return cached;
    let query: PlannedQuery | null = null;
    for (const { teamId, name } of splitResultName(resultName)) {
      query = bySentName.get(teamId)?.get(name) ?? null;
      if (query) break;
    }
    if (byResultName.size >= NAMES_MAX) byResultName.clear();
    byResultName.set(resultName, query);
    return query;
  };

  const labels = new Set<number>();
  for (const items of scheduled.values()) for (const item of items) for (const id of item.labels) labels.add(id);
  for (const { item } of packs) for (const id of item.labels) labels.add(id);
  return {
    reportsEnabled: rules.enabled,
    reportCap: rules.cap,
    labels: [...labels],
    of: ofTeam,
    named,
    query: (id) => byId.get(id) ?? null,
  };
}

/** For each scope: the name as sent to agents, by query id. */
function namesByTeam(
  saved: readonly Pick<PlannedQuery, "id" | "team_id" | "name">[],
): Map<number | null, Map<number, string>> {
  const teams = new Map<number | null, { id: number; name: string }[]>();
  for (const query of saved) {
    const team = teams.get(query.team_id);
    if (team) team.push(query);
    else teams.set(query.team_id, [query]);
  }
  return new Map([...teams].map(([teamId, queries]) => [teamId, namesAsSent(queries)]));
}

type Items = Map<number | null, PlanItem[]>;

/** The queries to schedule: those with an interval whose results are stored or forwarded. */
async function scheduledItems(
  store: ServerStore,
  reportsEnabled: boolean,
  allHosts: number | undefined,
  names: ReadonlyMap<number | null, ReadonlyMap<number, string>>,
): Promise<Items> {
  const rows = (await store.queries.list({ where: gt("interval", 0) })).filter(
    (row) => row.automations_enabled || (row.logging === "snapshot" && reportsEnabled && !row.discard_data),
  );
  const scopes = new Map<number, number[]>();
  const needAll = new Set<number>();
  if (rows.length > 0)
    for (const { query_id, label_id, requires_all } of await store.queryLabels.pick([
      "query_id",
      "label_id",
      "requires_all",
    ])) {
      scopes.set(query_id, [...(scopes.get(query_id) ?? []), label_id]);
      if (requires_all) needAll.add(query_id);
    }
  const items: Items = new Map();
  for (const row of rows) {
    const labels = (scopes.get(row.id) ?? []).sort((a, b) => a - b);
    const sent = names.get(row.team_id)?.get(row.id) ?? row.name;
    const item: PlanItem = {
      key: `q${row.id}`,
      pack: row.team_id === null ? "Global" : `team-${row.team_id}`,
      name: sent,
      value: {
        query: row.query,
        interval: row.interval,
        ...(row.logging === "snapshot" ? { snapshot: true } : {}),
        ...(row.logging === "differential_ignore_removals" ? { removed: false } : {}),
        ...limits(row.platform, row.min_qengine_version, row.shard),
      },
      ...scopeOfItem(labels, needAll.has(row.id), allHosts),
      hosts: everyHost.hosts,
    };
    const team = items.get(row.team_id);
    if (team) team.push(item);
    else items.set(row.team_id, [item]);
  }
  for (const team of items.values()) team.sort((a, b) => (a.name! < b.name! ? -1 : 1));
  return items;
}

/** Every host has the label `allHosts`. */
const scopeOfItem = (
  labels: readonly number[],
  needsAll: boolean,
  allHosts: number | undefined,
): Pick<PlanItem, "labels" | "needsAll"> =>
  needsAll
    ? { labels: labels.filter((id) => id !== allHosts), needsAll }
    : { labels: allHosts !== undefined && labels.includes(allHosts) ? [] : labels };

interface PackItem {
  readonly item: PlanItem;
  readonly teamIds: ReadonlySet<number>;
  readonly everywhere: boolean;
}

async function packItems(store: ServerStore, allHosts: number | undefined): Promise<PackItem[]> {
  const packs = await store.packs.list({
    where: eq("disabled", false),
    order: [{ column: "name", direction: "asc" }],
  });
  if (packs.length === 0) return [];
  const inPacks = oneOf(
    "pack_id",
    packs.map(({ id }) => id),
  );
  const [targets, entries] = await Promise.all([
    store.packTargets.list({ where: inPacks }),
    store.scheduledQueries.list({ where: inPacks, order: [{ column: "name", direction: "asc" }] }),
  ]);
  const sql = new Map(
    (
      await store.queries.pick(["id", "query"], {
        where: oneOf("id", [...new Set(entries.map(({ query_id }) => query_id))]),
      })
    ).map(({ id, query }) => [id, query]),
  );
  return packs.flatMap((pack) => {
    const ownEntries = entries.filter(({ pack_id, query_id }) => pack_id === pack.id && sql.has(query_id));
    if (ownEntries.length === 0) return [];
    const names = namesAsSent(ownEntries);
    const queries = ownEntries.map((entry) => [
      names.get(entry.id)!,
      {
        query: sql.get(entry.query_id)!,
        interval: entry.interval,
        ...(entry.snapshot ? { snapshot: true } : {}),
        ...(entry.removed ? {} : { removed: false }),
        ...limits(entry.platform, entry.version, entry.shard),
        ...(entry.denylist ? {} : { denylist: false }),
      },
    ]);
    const mine = targets.filter(({ pack_id }) => pack_id === pack.id);
    const labels = mine.flatMap(({ label_id }) => label_id ?? []).sort((a, b) => a - b);
    return {
      item: {
        key: `p${pack.id}`,
        pack: pack.name,
        name: null,
        value: { queries: Object.fromEntries(queries), ...limits(pack.platform, "", null) },
        labels,
        hosts: new Set(mine.flatMap(({ host_id }) => host_id ?? [])),
      },
      teamIds: new Set(mine.flatMap(({ team_id }) => team_id ?? [])),
      everywhere: allHosts !== undefined && labels.includes(allHosts),
    };
  });
}

const limits = (platform: string, version: string, shard: number | null): Record<string, unknown> => ({
  ...(platform === "" ? {} : { platform }),
  ...(version === "" ? {} : { version }),
  ...(shard === null || shard >= 100 ? {} : { shard }),
});
