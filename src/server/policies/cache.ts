// Policies as agents are asked them, held in memory.
import { Cached } from "../agent/cached.ts";
import { POLICY_PREFIX } from "../agent/results.ts";
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { inScope, type LabelScope } from "../labels/scope.ts";
import { isOfTeam, isOnPlatform, labelScopes, labelsByHost, type Place } from "./applies.ts";
import { automatedPolicies } from "./automations.ts";
import type { AskedHost } from "./results.ts";

export interface AskedPolicy extends Place {
  readonly id: number;
  readonly result_id: number;
  readonly query: string;
  readonly platform: string;
  readonly labels: LabelScope | null;
}

/** The policies of one team's hosts on one platform. */
export interface PolicyList {
  readonly policies: readonly AskedPolicy[];
  /** Some are narrowed by labels: for each host those have to be looked at. */
  readonly scoped: boolean;
  /** As agents are sent them. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface PolicySnapshot {
  readonly byId: ReadonlyMap<number, AskedPolicy>;
  /** Those whose newly failing hosts are told of. */
  readonly automated: ReadonlySet<number>;
  for(host: Omit<AskedHost, "id">): PolicyList;
}

export interface PolicyCache {
  get(): Promise<PolicySnapshot>;
  forget(): void;
  stop(): Promise<void>;
}

/** Agents refuse an answer of over 8 MiB, and with it everything else that is in it. */
const TEXT_MAX = 4 * 1024 * 1024;
/** Lists held at most: `platform_like` is what agents say. */
const LISTS_MAX = 2_000;

export async function createPolicyCache(services: Services): Promise<PolicyCache> {
  const { store } = services;
  const policies = new Cached(async (): Promise<PolicySnapshot> => {
    const rows = await store.policies.pick(["id", "result_id", "query", "scope", "team_id", "platform"]);
    const scopes = await labelScopes(store);
    const asked = rows.map((row): AskedPolicy => ({ ...row, labels: scopes.get(row.id) ?? null }));
    return snapshotOf(asked, await automatedPolicies(services), (team_id, left) =>
      services.log.warn({ team_id, left }, "policies that come last are not asked: all together they are too long"),
    );
  });
  const forget = () => policies.forget();
  const listened = [channels.policies, channels.labels, channels.teams, channels.config];
  const stops = await Promise.all(listened.map((channel) => store.listen(channel, forget, forget)));
  return {
    get: () => policies.get(),
    forget,
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

function snapshotOf(
  policies: readonly AskedPolicy[],
  automated: ReadonlySet<number>,
  onOverflow: (teamId: number | null, left: number) => void,
): PolicySnapshot {
  const lists = new Map<string, PolicyList>();
  return {
    byId: new Map(policies.map((policy) => [policy.id, policy])),
    automated,
    for({ team_id, platform, platform_like }) {
      const key = `${team_id} ${platform} ${platform_like}`;
      const known = lists.get(key);
      if (known) return known;
      const meant = policies.filter(
        (policy) => isOfTeam(policy, team_id) && isOnPlatform(policy.platform, platform, platform_like),
      );
      const own = fitting(meant);
      if (own.length < meant.length) onOverflow(team_id, meant.length - own.length);
      const list = { policies: own, scoped: own.some(({ labels }) => labels !== null), queries: queriesOf(own) };
      if (lists.size >= LISTS_MAX) lists.clear();
      lists.set(key, list);
      return list;
    },
  };
}

/** The first of them, as many as one answer may hold. */
function fitting(policies: readonly AskedPolicy[]): readonly AskedPolicy[] {
  let bytes = 0;
  const end = policies.findIndex(({ query }) => {
    bytes += Buffer.byteLength(query);
    return bytes > TEXT_MAX;
  });
  return end === -1 ? policies : policies.slice(0, end);
}

const queriesOf = (policies: readonly AskedPolicy[]): Record<string, string> =>
  Object.fromEntries(policies.map(({ id, query }) => [POLICY_PREFIX + id, query]));

/** The policies that are for each host, labels included. */
export async function policiesFor(
  store: Services["store"],
  snapshot: PolicySnapshot,
  hosts: readonly AskedHost[],
): Promise<Map<number, readonly AskedPolicy[]>> {
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

/** What a host whose policies are due is asked, and by which snapshot. */
export async function duePolicies(
  store: Services["store"],
  cache: PolicyCache,
  host: AskedHost,
): Promise<{ queries: Readonly<Record<string, string>>; asked: PolicySnapshot }> {
  const asked = await cache.get();
  const list = asked.for(host);
  if (!list.scoped) return { queries: list.queries, asked };
  return { queries: queriesOf((await policiesFor(store, asked, [host])).get(host.id)!), asked };
}
