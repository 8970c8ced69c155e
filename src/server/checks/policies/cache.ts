// Caches policies in the form in which agents get them.

import { inScope, type LabelScope } from "../../hosts/labels/scope.ts";
import { POLICY_PREFIX } from "../../platform/agent-protocol/names.ts";
import { channels } from "../../platform/core/channels.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { isOfTeam, isOnPlatform, labelScopes, labelsByHost, type Place } from "./applies.ts";
import { acts, automatedPolicies } from "./automations.ts";
import type { HostForPolicies } from "./results.ts";

export interface CachedPolicy extends Place {
  readonly id: number;
  readonly result_id: number;
  readonly query: string;
  readonly platform: string;
  readonly labels: LabelScope | null;
  /** Increases when the query or its hosts change. A result counts if its revision is at least `result_id`. */
  readonly revision: number;
}

/** The policies for the hosts of one team on one platform. */
export interface PolicyList {
  readonly policies: readonly CachedPolicy[];
  /** Some policies are restricted by labels, which have to be checked for each host. */
  readonly scoped: boolean;
  /** In the wire format of a distributed read. */
  readonly queries: Readonly<Record<string, string>>;
  /** The highest revision of the policies. A host that has reported it has run all of them. */
  readonly revision: number;
}

export interface PolicySnapshot {
  readonly byId: ReadonlyMap<number, CachedPolicy>;
  /** The highest revision of all policies. */
  readonly revision: number;
  /** Ids of the policies with an enabled automation. */
  readonly automated: ReadonlySet<number>;
  /** Ids of the policies that do something with failing hosts. */
  readonly acting: ReadonlySet<number>;
  /** Ids of the policies whose results decide whether hosts may sign in to other services. */
  readonly gating: ReadonlySet<number>;
  /** Called in the transaction in which hosts change results of `gating`. */
  readonly gateChanged: (tx: ServerTx, hostIds: readonly number[], now: string) => Promise<void>;
  /** Ids of those among both whose automations run at each failing answer. */
  readonly continuous: ReadonlySet<number>;
  for(host: Omit<HostForPolicies, "id">): PolicyList;
}

export interface PolicyCache {
  /** The cached snapshot; undefined if it has to be loaded. */
  readonly now: PolicySnapshot | undefined;
  get(): Promise<PolicySnapshot>;
  /**
   * A snapshot that includes this revision and these ids (if they exist). Another server may have sent them to a host.
   */
  covering(revision: number, ids: Iterable<number>): Promise<PolicySnapshot>;
  forget(): void;
  stop(): Promise<void>;
}

/** Limit for the policies in one distributed read. Agents reject a reply above 8 MiB as a whole. */
const TEXT_MAX = 4 * 1024 * 1024;
/** Maximum number of cached lists. `platform_like` is reported by agents and could have any value. */
const LISTS_MAX = 2_000;

export async function createPolicyCache(
  services: Services,
  gateChanged: PolicySnapshot["gateChanged"],
): Promise<PolicyCache> {
  const { store } = services;
  const policies = new CachedValue(() => readSnapshot(services, gateChanged));
  const forget = () => policies.forget();
  const listened = [channels.policies, channels.labels, channels.teams, channels.config];
  const stops = await Promise.all(listened.map((channel) => store.listen(channel, forget, forget)));
  return {
    get now() {
      return policies.now;
    },
    get: () => policies.get(),
    async covering(revision, ids) {
      const snapshot = await policies.get();
      let newest = 0;
      for (const id of snapshot.byId.keys()) newest = Math.max(newest, id);
      if (snapshot.revision >= revision && [...ids].every((id) => id <= newest)) return snapshot;
      // This server has not processed the notification of the change yet.
      if (policies.now === snapshot) forget();
      return policies.get();
    },
    forget,
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

const cachedColumns = [
  "id",
  "result_id",
  "asked_revision",
  "query",
  "scope",
  "team_id",
  "platform",
  "software_title_id",
  "script_id",
  "conditional_access_enabled",
  "resend_profile_uuid",
  "continuous_automations_enabled",
] as const;

async function readSnapshot(services: Services, gateChanged: PolicySnapshot["gateChanged"]): Promise<PolicySnapshot> {
  const { store } = services;
  const rows = await store.policies.pick(cachedColumns);
  const scopes = await labelScopes(store);
  const cachedPolicies = rows.map(
    ({ id, result_id, asked_revision, query, scope, team_id, platform }): CachedPolicy => ({
      id,
      result_id,
      query,
      scope,
      team_id,
      platform,
      labels: scopes.get(id) ?? null,
      revision: Math.max(result_id, asked_revision),
    }),
  );
  const automated = await automatedPolicies(services);
  const acting = new Set(rows.filter(acts).map(({ id }) => id));
  const continuous = new Set(
    rows
      .filter((row) => row.continuous_automations_enabled && (automated.has(row.id) || acting.has(row.id)))
      .map(({ id }) => id),
  );
  const automations = {
    automated,
    acting,
    continuous,
    gating: new Set(rows.filter((row) => row.conditional_access_enabled).map(({ id }) => id)),
    gateChanged,
  };
  return snapshotOf(cachedPolicies, automations, (team_id, left) =>
    services.log.warn({ team_id, left }, "too many policies for one request: the last ones are not sent to hosts"),
  );
}

function snapshotOf(
  policies: readonly CachedPolicy[],
  automations: Pick<PolicySnapshot, "automated" | "acting" | "continuous" | "gating" | "gateChanged">,
  onOverflow: (teamId: number | null, left: number) => void,
): PolicySnapshot {
  const lists = new Map<string, PolicyList>();
  return {
    byId: new Map(policies.map((policy) => [policy.id, policy])),
    revision: newestOf(policies),
    ...automations,
    for({ team_id, platform, platform_like }) {
      const key = `${team_id} ${platform} ${platform_like}`;
      const cachedList = lists.get(key);
      if (cachedList) return cachedList;
      const meant = policies.filter(
        (policy) => isOfTeam(policy, team_id) && isOnPlatform(policy.platform, platform, platform_like),
      );
      const policiesOfHost = fitting(meant);
      if (policiesOfHost.length < meant.length) onOverflow(team_id, meant.length - policiesOfHost.length);
      const scoped = policiesOfHost.some(({ labels }) => labels !== null);
      const list = {
        policies: policiesOfHost,
        scoped,
        queries: queriesOf(policiesOfHost),
        revision: newestOf(policiesOfHost),
      };
      if (lists.size >= LISTS_MAX) lists.clear();
      lists.set(key, list);
      return list;
    },
  };
}

/** The leading policies that fit into one reply. */
function fitting(policies: readonly CachedPolicy[]): readonly CachedPolicy[] {
  let bytes = 0;
  const end = policies.findIndex(({ query }) => {
    bytes += Buffer.byteLength(query);
    return bytes > TEXT_MAX;
  });
  return end === -1 ? policies : policies.slice(0, end);
}

const newestOf = (policies: readonly CachedPolicy[]): number =>
  policies.reduce((newest, { revision }) => Math.max(newest, revision), 0);

const queriesOf = (policies: readonly CachedPolicy[]): Record<string, string> =>
  Object.fromEntries(policies.map(({ id, query }) => [POLICY_PREFIX + id, query]));

/** The policies that apply to each host, considering labels. */
export async function policiesFor(
  store: Services["store"],
  snapshot: PolicySnapshot,
  hosts: readonly HostForPolicies[],
): Promise<Map<number, readonly CachedPolicy[]>> {
  const lists = hosts.map((host) => ({ host, list: snapshot.for(host) }));
  const scoped = lists.flatMap(({ host, list }) => (list.scoped ? [host.id] : []));
  const labels = scoped.length > 0 ? await labelsByHost(store, scoped) : null;
  return new Map(
    lists.map(({ host, list }) => {
      if (!list.scoped) return [host.id, list.policies];
      const memberOf = labels!.get(host.id)!;
      return [host.id, list.policies.filter((policy) => !policy.labels || inScope(memberOf, policy.labels))];
    }),
  );
}

interface DuePolicies {
  readonly queries: Readonly<Record<string, string>>;
  readonly revision: number;
  /** Includes every policy of the host, not only new ones. */
  readonly isWhole: boolean;
}

/**
 * The policies to send to a host: all of them if the policy interval has passed, otherwise those that are newer than
 * its last reported revision; null if there are none. A host that has never reported a revision gets them by interval
 * only.
 */
export async function duePolicies(
  store: Services["store"],
  cache: PolicyCache,
  host: HostForPolicies & { readonly policies_revision: number | null },
  isWhole: boolean,
): Promise<DuePolicies | null> {
  const snapshot = await cache.get();
  const list = snapshot.for(host);
  const answered = host.policies_revision;
  if (!isWhole && (answered === null || list.revision <= answered)) return null;
  const { revision } = list;
  if (isWhole && !list.scoped) return { queries: list.queries, revision, isWhole };
  const policies = (await policiesFor(store, snapshot, [host])).get(host.id)!;
  const due = isWhole ? policies : policies.filter((policy) => policy.revision > answered!);
  return { queries: queriesOf(due), revision, isWhole };
}
