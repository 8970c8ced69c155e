// Caches the configurations of agents by team, and which scheduled queries each host gets.

import type { PlanCache, PlanItem } from "../../../checks/queries/plan.ts";
import { channels } from "../../../platform/core/channels.ts";
import { seconds } from "../../../platform/core/clock.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import { CachedValue } from "../../../platform/core/concurrency/cached.ts";
import type { Services } from "../../../platform/core/context.ts";
import { and, oneOf } from "../../../platform/store/query.ts";
import type { HostState } from "../hosts/state.ts";
import { type AgentConfig, type TeamConfig, teamConfig } from "./team-config.ts";

type ConfiguredHost = Pick<HostState, "id" | "teamId" | "platform" | "platformLike" | "choice">;

/** Label memberships are read again after this time: query results change them without a notification. */
const CHOICE_TTL = seconds(60);
export class ConfigCache {
  readonly #services: Services;
  readonly #plans: PlanCache;
  readonly #teams = new Map<number, CachedValue<TeamConfig>>();
  readonly #memberships = new Batcher<number, ReadonlySet<number>>((ids) => this.#scopingLabels(ids), {
    size: 200,
    parallel: 2,
  });
  readonly #stops: (() => Promise<void>)[] = [];

  private constructor(services: Services, plans: PlanCache) {
    this.#services = services;
    this.#plans = plans;
  }

  static async start(services: Services, plans: PlanCache): Promise<ConfigCache> {
    const cache = new ConfigCache(services, plans);
    const forget = () => cache.#forget();
    for (const channel of [channels.config, channels.teams, channels.queries, channels.labels])
      cache.#stops.push(await services.store.listen(channel, forget, forget));
    return cache;
  }

  get(teamId: number | null): Promise<TeamConfig> {
    return this.#team(teamId).get();
  }

  /** The cached configuration of the host; undefined if it has to be loaded. */
  nowFor(host: ConfiguredHost): AgentConfig | undefined {
    const team = this.#teams.get(host.teamId ?? 0)?.now;
    if (team === undefined) return undefined;
    if (team.scoped.length === 0) return team.for(host.platform, host.platformLike);
    const { choice } = host;
    if (choice === null || choice.of !== team || this.#services.clock.now() >= choice.until) return undefined;
    return team.for(host.platform, host.platformLike, choice.keys);
  }

  async getFor(host: ConfiguredHost): Promise<AgentConfig> {
    const team = await this.get(host.teamId);
    if (team.scoped.length === 0) return team.for(host.platform, host.platformLike);
    const memberOf = await this.#memberships.add(host.id);
    const keys = team.scoped
      .filter((item) => isFor(item, host.id, memberOf))
      .map(({ key }) => key)
      .join(",");
    host.choice = { of: team, keys, until: this.#services.clock.now() + CHOICE_TTL };
    return team.for(host.platform, host.platformLike, keys);
  }

  async stop(): Promise<void> {
    await this.#memberships.idle();
    for (const stop of this.#stops) await stop();
  }

  #team(teamId: number | null): CachedValue<TeamConfig> {
    const key = teamId ?? 0;
    const existing = this.#teams.get(key);
    if (existing) return existing;
    const added = new CachedValue(() => this.#load(teamId));
    this.#teams.set(key, added);
    return added;
  }

  async #load(teamId: number | null): Promise<TeamConfig> {
    const { store, config, log } = this.#services;
    const [global, plan] = await Promise.all([config.current(), this.#plans.get()]);
    const team = teamId === null ? null : await store.teams.get(teamId);
    return teamConfig(
      team?.agent_options ?? global.agent_options,
      team?.settings.features ?? global.features,
      plan.of(teamId),
      (overflow) =>
        log.warn(
          { team_id: teamId, queries: overflow },
          "scheduled queries do not fit into the configuration of agents",
        ),
    );
  }

  /** The memberships of each host in the labels that scope scheduled queries. */
  async #scopingLabels(hostIds: readonly number[]): Promise<ReadonlySet<number>[]> {
    const { labels } = await this.#plans.get();
    const labelsByHost = new Map<number, Set<number>>();
    if (labels.length > 0)
      for (const { host_id, label_id } of await this.#services.store.labelMembers.pick(["host_id", "label_id"], {
        where: and(oneOf("host_id", [...new Set(hostIds)]), oneOf("label_id", labels)),
      })) {
        const existing = labelsByHost.get(host_id);
        if (existing) existing.add(label_id);
        else labelsByHost.set(host_id, new Set([label_id]));
      }
    return hostIds.map((id) => labelsByHost.get(id) ?? none);
  }

  #forget(): void {
    for (const team of this.#teams.values()) team.forget();
    this.#teams.clear();
  }
}

/** Whether the host gets the scoped item. */
const isFor = ({ labels, needsAll, hosts }: PlanItem, id: number, memberOf: ReadonlySet<number>): boolean =>
  hosts.has(id) ||
  (needsAll ? labels.every((labelId) => memberOf.has(labelId)) : labels.some((labelId) => memberOf.has(labelId)));

const none: ReadonlySet<number> = new Set();
