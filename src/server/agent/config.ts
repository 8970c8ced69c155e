// What agents get as their configuration: the options of the host's team, else the global ones, as text made once.
import type { AgentOptions, Features } from "../../api/app-config.ts";
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { Cached } from "./cached.ts";
import { toSeconds } from "./inventory/numbers.ts";
import { platformFamily } from "./inventory/platforms.ts";
import type { AgentReply } from "./wire.ts";

/** The intervals that a configuration sets; they decide until when a silent host counts as online. */
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
  for(platform: string, platformLike: string): AgentConfig;
}

export interface ConfigCache {
  /** When the memory has it. */
  now(teamId: number | null): TeamConfig | undefined;
  get(teamId: number | null): Promise<TeamConfig>;
  stop(): Promise<void>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function build(config: Record<string, unknown>): AgentConfig {
  const sent: Record<string, unknown> = { ...config };
  // A pack given as text would be read from a file on the host.
  if (isObject(sent.packs))
    sent.packs = Object.fromEntries(Object.entries(sent.packs).filter(([, pack]) => isObject(pack)));
  const options = isObject(sent.options) ? sent.options : {};
  const intervals: Record<string, number> = {};
  const copy = (name: keyof Intervals, value: unknown) => {
    const seconds = value === undefined ? null : toSeconds(value);
    if (seconds !== null) intervals[name] = seconds;
  };
  copy("distributed_interval", options.distributed_interval);
  copy("config_tls_refresh", options.config_tls_refresh ?? options.config_refresh);
  copy("logger_tls_period", options.logger_tls_period);
  return { reply: { status: 200, body: JSON.stringify(sent) }, intervals };
}

function teamConfig(options: AgentOptions, features: Features): TeamConfig {
  const base = build(options.config ?? {});
  const overrides = new Map<string, AgentConfig>();
  for (const [platform, config] of Object.entries(options.overrides?.platforms ?? {}))
    if (config !== null) overrides.set(platform, build(config));
  return {
    features,
    for: (platform, platformLike) =>
      overrides.size === 0
        ? base
        : (overrides.get(platform) ?? overrides.get(platformFamily(platform, platformLike)) ?? base),
  };
}

export async function createConfigCache({ store, config }: Services): Promise<ConfigCache> {
  const teams = new Map<number, Cached<TeamConfig>>();

  function cached(teamId: number | null): Cached<TeamConfig> {
    const key = teamId ?? 0;
    const held = teams.get(key);
    if (held) return held;
    const made = new Cached(async () => {
      const global = await config.current();
      const team = teamId === null ? null : await store.teams.get(teamId);
      return teamConfig(team?.agent_options ?? global.agent_options, team?.settings.features ?? global.features);
    });
    teams.set(key, made);
    return made;
  }

  const forget = () => {
    for (const one of teams.values()) one.forget();
    teams.clear();
  };
  const stops = [
    await store.listen(channels.config, forget, forget),
    await store.listen(channels.teams, forget, forget),
  ];
  return {
    now: (teamId) => teams.get(teamId ?? 0)?.now,
    get: (teamId) => cached(teamId).get(),
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}
