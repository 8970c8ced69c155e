import type { Settings } from "../core/settings.ts";
import type { PolicySnapshot } from "../policies/cache.ts";
import type { RowOf } from "../store/table.ts";
import type { tables } from "../tables.ts";
import type { AgentConfig, Choice } from "./config.ts";
import { jitterMs } from "./inventory/due.ts";
import { type AgentReply, IDLE, IDLE_ACCELERATED } from "./wire.ts";

export type HostRow = RowOf<(typeof tables)["hosts"]>;
export type DueSettings = Pick<
  Settings,
  "detail_interval" | "label_interval" | "policy_interval" | "max_jitter_percent"
>;

/** What is held in memory of a host that has called: enough to answer an idle one without the store. */
export class HostState {
  readonly id: number;
  readonly key: string;
  readonly keyHash: string;
  teamId: number | null = null;
  platform = "";
  platformLike = "";
  hostname = "";
  agentVersion = "";
  distributedInterval = 0;
  configTlsRefresh = 0;
  loggerTlsPeriod = 0;
  /** False: the row must be read before this is believed. */
  fresh = true;
  /** Not gone from the cache. */
  live = true;
  refetch = true;
  /** Nothing is due between these two instants (milliseconds). */
  idleFrom = 0;
  idleTo = 0;
  criticalUntil = 0;
  /** When last heard of, in milliseconds; 0: not since the last flush. */
  seenAt = 0;
  /** The configuration that was last sent, whose intervals the row has. */
  config: AgentConfig | null = null;
  /** What it gets of what is scheduled on part of the hosts. */
  choice: Choice | null = null;
  /** What its policy queries were taken from, until they are answered. */
  policiesAsked: PolicySnapshot | null = null;

  constructor(id: number, key: string, keyHash: string) {
    this.id = id;
    this.key = key;
    this.keyHash = keyHash;
  }

  load(row: HostRow, due: DueSettings): void {
    this.teamId = row.team_id;
    this.platform = row.platform;
    this.platformLike = row.platform_like;
    this.hostname = row.hostname;
    this.agentVersion = row.qengine_version;
    this.distributedInterval = row.distributed_interval;
    this.configTlsRefresh = row.config_tls_refresh;
    this.loggerTlsPeriod = row.logger_tls_period;
    this.refetch = row.refetch_requested;
    this.criticalUntil =
      row.refetch_critical_queries_until === null ? 0 : Date.parse(row.refetch_critical_queries_until);
    const kinds = [
      [row.detail_updated_at, due.detail_interval],
      [row.label_updated_at, due.label_interval],
      [row.policy_updated_at, due.policy_interval],
    ] as const;
    this.idleFrom = 0;
    this.idleTo = Number.POSITIVE_INFINITY;
    for (const [last, interval] of kinds) {
      const at = last === null ? Number.NEGATIVE_INFINITY : Date.parse(last);
      this.idleTo = Math.min(this.idleTo, at + interval + jitterMs(this.id, interval, due.max_jitter_percent));
      // A time far ahead comes from a clock that was set back since.
      if (last !== null) this.idleFrom = Math.max(this.idleFrom, at - interval);
    }
    this.fresh = true;
  }

  /** The agent has nothing to run: by the same rule as `isDue`, which decides. */
  isIdle(now: number): boolean {
    return !this.refetch && now <= this.idleTo && now >= this.idleFrom && this.criticalUntil <= now;
  }

  get idleReply(): AgentReply {
    return this.hostname === "" || this.platform === "" ? IDLE_ACCELERATED : IDLE;
  }
}
