// Builds the agent configuration: the agent options of the host's team, or else the global ones, plus the scheduled
// queries of the host. Hosts with equal configurations share one serialized reply.

import type { AgentOptions, TeamFeatures } from "../../../../api/settings/app-config.ts";
import { isRecord } from "../../../../text/record.ts";
import type { PlanItem, TeamPlan } from "../../../checks/queries/plan.ts";
import { toSeconds } from "../../../platform/agent-protocol/numbers.ts";
import type { AgentReply } from "../../../platform/agent-protocol/wire.ts";
import { platformFamily } from "../../../platform/core/platforms.ts";

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

/** The features that decide what agents are asked. */
type AgentFeatures = Omit<TeamFeatures, "historical_data">;

export interface TeamConfig {
  readonly features: AgentFeatures;
  /** Items that only some of the hosts receive. */
  readonly scoped: readonly PlanItem[];
  /** `choice` selects the scoped items to include. */
  for(platform: string, platformLike: string, choice?: string): AgentConfig;
}

/** Agents reject a larger configuration (bytes). */
const TEXT_MAX = 4 * 1024 * 1024;
/** Maximum text cached per team for the different choices; above it the cache is cleared. */
const TEXTS_MAX = 64 * 1024 * 1024;

interface Build {
  readonly config: Record<string, unknown>;
  readonly items: readonly PlanItem[];
  /** Called with the number of items that did not fit. */
  readonly onOverflow: (overflow: number) => void;
}

function build({ config, items, onOverflow }: Build): AgentConfig {
  const sent: Record<string, unknown> = { ...config };
  // A pack given as a string would be read as a file path on the host.
  const packs = isRecord(sent.packs) ? Object.entries(sent.packs).filter(([, pack]) => isRecord(pack)) : [];
  if (isRecord(sent.packs) || items.length > 0) sent.packs = Object.fromEntries([...packs, ...packsOf(items)]);
  let text = JSON.stringify(sent);
  if (Buffer.byteLength(text) > TEXT_MAX && items.length > 0) {
    const fittingItems = fitting(
      items,
      TEXT_MAX - Buffer.byteLength(JSON.stringify({ ...sent, packs: Object.fromEntries(packs) })),
    );
    onOverflow(items.length - fittingItems.length);
    text = JSON.stringify({ ...sent, packs: Object.fromEntries([...packs, ...packsOf(fittingItems)]) });
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
  let bytesLeft = room;
  return items.filter(({ pack, name, value }) => {
    const size = Buffer.byteLength(JSON.stringify([pack, name, value])) + 32;
    if (size > bytesLeft) return false;
    bytesLeft -= size;
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
    const chosenKeys = new Set(choice.split(","));
    const items = plan.items.filter((item) => !scoped.has(item) || chosenKeys.has(item.key));
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

export function teamConfig(
  options: AgentOptions,
  features: AgentFeatures,
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
