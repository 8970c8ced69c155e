// Builds and caches the agent configuration: the agent options of the host's team, or else the global ones, plus the
// scheduled queries of the host. Hosts with equal configurations share one serialized reply.

import type { AgentOptions, Features } from "../../../api/settings/app-config.ts";
import { isRecord } from "../../../text/record.ts";
import type { PlanCache, PlanItem, TeamPlan } from "../../checks/queries/plan.ts";
import { toSeconds } from "../../platform/agent-protocol/numbers.ts";
import type { AgentReply } from "../../platform/agent-protocol/wire.ts";
import { channels } from "../../platform/core/channels.ts";
import { seconds } from "../../platform/core/clock.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { and, oneOf } from "../../platform/store/query.ts";
import type { HostState } from "./hosts/state.ts";

/** Intervals in seconds from a configuration. They determine how long a silent host counts as online. */
export interface Intervals {
  readonly distributed_interval?: number;
  readonly config_tls_refresh?: number;
  readonly logger_tls_period?: number;
}

export interface AgentConfig {
  readonly reply: AgentReply;
  readonly intervals: Intervals;
}

export interface TeamConfig {
  readonly features: Features;
  /** Items that only some of the hosts receive. */
  readonly scoped: readonly PlanItem[];
  /** `choice` selects the scoped items to include. */
  for(platform: string, platformLike: string, choice?: string): AgentConfig;
}

/** The scoped items that apply to a host, cached until `until` (ms). */
export interface Choice {
  readonly of: TeamConfig;
  readonly keys: string;
  readonly until: number;
}

type Asking = Pick<HostState, "id" | "teamId" | "platform" | "platformLike" | "choice">;

export interface ConfigCache {
  get(teamId: number | null): Promise<TeamConfig>;
  /** The cached configuration of the host; undefined if it has to be loaded. */
  nowFor(host: Asking): AgentConfig | undefined;
  getFor(host: Asking): Promise<AgentConfig>;
  stop(): Promise<void>;
}

/** Label memberships are read again after this time: query results change them without a notification. */
const CHOICE_TTL = seconds(60);
/** Agents reject a larger configuration (bytes). */
const TEXT_MAX = 4 * 1024 * 1024;
/** Maximum text cached per team for the different choices; above it the cache is cleared. */
const TEXTS_MAX = 64 * 1024 * 1024;

interface Build {
  readonly config: Record<string, unknown>;
  readonly items: readonly PlanItem[];
  /** Called with the number of items that did not fit. */
  readonly onOverflow: (left: number) => void;
}

function build({ config, items, onOverflow }: Build): AgentConfig {
  const sent: Record<string, unknown> = { ...config };
  // A pack given as a string would be read as a file path on the host.
  const packs = isRecord(sent.packs) ? Object.entries(sent.packs).filter(([, pack]) => isRecord(pack)) : [];
  if (isRecord(sent.packs) || items.length > 0) sent.packs = Object.fromEntries([...packs, ...packsOf(items)]);
  let text = JSON.stringify(sent);
  if (Buffer.byteLength(text) > TEXT_MAX && items.length > 0) {
    const kept = fitting(
      items,
      TEXT_MAX - Buffer.byteLength(JSON.stringify({ ...sent, packs: Object.fromEntries(packs) })),
    );
    onOverflow(items.length - kept.length);
    text = JSON.stringify({ ...sent, packs: Object.fromEntries([...packs, ...packsOf(kept)]) });
  }
  const options = isRecord(sent.options) ? sent.options : {};
  const intervals: Record<string, number> = {};
  const copy = (name: keyof Intervals, value: unknown) => {
    const seconds = value === undefined ? null : toSeconds(value);
    if (seconds !== null) intervals[name] = seconds;
  };
  copy("distributed_interval", options.distributed_interval);
  copy("config_tls_refresh", options.config_tls_refresh ?? options.config_refresh);
  copy("logger_tls_period", options.logger_tls_period);
  return { reply: { status: 200, body: text }, intervals };
}

/** Keeps the order of the items stable, since agents reload their whole schedule when the text changes. */
function packsOf(items: readonly PlanItem[]): [string, unknown][] {
  const packs = new Map<string, unknown>();
  const queries = new Map<string, [string, unknown][]>();
  for (const { pack, name, value } of items) {
    if (name === null) {
      packs.set(pack, value);
      continue;
    }
    const existing = queries.get(pack);
    if (existing) existing.push([name, value]);
    else {
      queries.set(pack, [[name, value]]);
      packs.set(pack, null);
    }
  }
  return [...packs].map(([pack, value]) => [pack, value ?? { queries: Object.fromEntries(queries.get(pack) ?? []) }]);
}

/** The leading items that fit into `room` bytes. */
function fitting(items: readonly PlanItem[], room: number): PlanItem[] {
  let left = room;
  return items.filter(({ pack, name, value }) => {
    const size = Buffer.byteLength(JSON.stringify([pack, name, value])) + 32;
    if (size > left) return false;
    left -= size;
    return true;
  });
}

/** The configurations of one set of options, by platform and choice. */
function variants(config: Record<string, unknown>, plan: TeamPlan, onOverflow: Build["onOverflow"]) {
  const scoped = new Set(plan.scoped);
  const configsByChoice = new Map<string, AgentConfig>();
  let cachedLength = 0;
  return (choice: string): AgentConfig => {
    const cached = configsByChoice.get(choice);
    if (cached) return cached;
    const chosen = new Set(choice.split(","));
    const items = plan.items.filter((item) => !scoped.has(item) || chosen.has(item.key));
    const agentConfig = build({ config, items, onOverflow });
    cachedLength += agentConfig.reply.body.length;
    if (cachedLength > TEXTS_MAX) {
      configsByChoice.clear();
      cachedLength = agentConfig.reply.body.length;
    }
    configsByChoice.set(choice, agentConfig);
    return agentConfig;
  };
}

function teamConfig(
  options: AgentOptions,
  features: Features,
  plan: TeamPlan,
  onOverflow: Build["onOverflow"],
): TeamConfig {
  const base = variants(options.config ?? {}, plan, onOverflow);
  const overrides = new Map<string, (choice: string) => AgentConfig>();
  for (const [platform, config] of Object.entries(options.overrides?.platforms ?? {}))
    if (config !== null) overrides.set(platform, variants(config, plan, onOverflow));
  return {
    features,
    scoped: plan.scoped,
    for(platform, platformLike, choice = "") {
      if (overrides.size === 0) return base(choice);
      const configOf = overrides.get(platform) ?? overrides.get(platformFamily(platform, platformLike)) ?? base;
      return configOf(choice);
    },
  };
}

export async function createConfigCache(
  { store, config, clock, log }: Services,
  plans: PlanCache,
): Promise<ConfigCache> {
  const teams = new Map<number, CachedValue<TeamConfig>>();

  function cached(teamId: number | null): CachedValue<TeamConfig> {
    const key = teamId ?? 0;
    const existing = teams.get(key);
    if (existing) return existing;
    const cachedConfig = new CachedValue(async () => {
      const [global, plan] = await Promise.all([config.current(), plans.get()]);
      const team = teamId === null ? null : await store.teams.get(teamId);
      return teamConfig(
        team?.agent_options ?? global.agent_options,
        team?.settings.features ?? global.features,
        plan.of(teamId),
        (left) =>
          log.warn({ team_id: teamId, queries: left }, "scheduled queries do not fit into the configuration of agents"),
      );
    });
    teams.set(key, cachedConfig);
    return cachedConfig;
  }

  // The memberships of each host in the labels that scope scheduled queries.
  const memberships = new Batcher<number, ReadonlySet<number>>(
    async (ids) => {
      const { labels } = await plans.get();
      const labelsByHost = new Map<number, Set<number>>();
      if (labels.length > 0)
        for (const { host_id, label_id } of await store.labelMembers.pick(["host_id", "label_id"], {
          where: and(oneOf("host_id", [...new Set(ids)]), oneOf("label_id", labels)),
        })) {
          const existing = labelsByHost.get(host_id);
          if (existing) existing.add(label_id);
          else labelsByHost.set(host_id, new Set([label_id]));
        }
      return ids.map((id) => labelsByHost.get(id) ?? none);
    },
    { size: 200, parallel: 2 },
  );

  const forget = () => {
    for (const cachedConfig of teams.values()) cachedConfig.forget();
    teams.clear();
  };
  const stops: (() => Promise<void>)[] = [];
  for (const channel of [channels.config, channels.teams, channels.queries, channels.labels])
    stops.push(await store.listen(channel, forget, forget));
  return {
    get: (teamId) => cached(teamId).get(),
    nowFor(host) {
      const team = teams.get(host.teamId ?? 0)?.now;
      if (team === undefined) return undefined;
      if (team.scoped.length === 0) return team.for(host.platform, host.platformLike);
      const { choice } = host;
      if (choice === null || choice.of !== team || clock.now() >= choice.until) return undefined;
      return team.for(host.platform, host.platformLike, choice.keys);
    },
    async getFor(host) {
      const team = await cached(host.teamId).get();
      if (team.scoped.length === 0) return team.for(host.platform, host.platformLike);
      const memberOf = await memberships.add(host.id);
      const keys = team.scoped
        .filter((item) => isFor(item, host.id, memberOf))
        .map(({ key }) => key)
        .join(",");
      host.choice = { of: team, keys, until: clock.now() + CHOICE_TTL };
      return team.for(host.platform, host.platformLike, keys);
    },
    async stop() {
      await memberships.idle();
      for (const stop of stops) await stop();
    },
  };
}

/** Whether the host gets the scoped item. */
const isFor = ({ labels, needsAll, hosts }: PlanItem, id: number, memberOf: ReadonlySet<number>): boolean =>
  hosts.has(id) ||
  (needsAll ? labels.every((labelId) => memberOf.has(labelId)) : labels.some((labelId) => memberOf.has(labelId)));

const none: ReadonlySet<number> = new Set();
