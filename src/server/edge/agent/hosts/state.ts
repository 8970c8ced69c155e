import type { PolicySnapshot } from "../../../checks/policies/cache.ts";
import { type AgentReply, IDLE, IDLE_ACCELERATED } from "../../../platform/agent-protocol/wire.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";
import type { Tables } from "../../../platform/core/tables.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { AgentConfig, TeamConfig } from "../config/team-config.ts";
import { jitterMs } from "../inventory/due.ts";

/** The scoped items that apply to a host, cached until `until` (ms). */
export interface Choice {
  readonly of: TeamConfig;
  readonly keys: string;
  readonly until: number;
}

export type HostRow = RowOf<Tables["hosts"]>;
type DueSettings = Pick<Settings, "detail_interval" | "label_interval" | "policy_interval" | "max_jitter_percent">;

/** In-memory state of a host that has called. It suffices to answer an idle poll without the store. */
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
  /** False: the row has to be read again before the next use. */
  fresh = true;
  /** Number of times the row was reported as possibly changed. */
  doubts = 0;
  /** False once the host has left the cache. */
  live = true;
  refetch = true;
  /** No queries are due between these two instants (ms). */
  idleFrom = 0;
  idleTo = 0;
  criticalUntil = 0;
  /** Last request, in ms; 0 if there was none since the last flush. */
  seenAt = 0;
  /** Until when the host counts as online by its last contact with this server, in ms; 0: no contact was recorded. */
  onlineUntil = 0;
  /** IP address of the last request. */
  address = "";
  /** The configuration sent last; its intervals are stored in the row. */
  config: AgentConfig | null = null;
  /** The scoped scheduled queries of the host. */
  choice: Choice | null = null;
  /** The policy revision that this server sent last. Used for results that do not carry a revision. */
  sentPoliciesRevision: number | null = null;
  policiesRevision: number | null = null;
  /** The policy snapshot for which the host has no new policies. */
  #answered: PolicySnapshot | null = null;

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
    // Another server has sent a different configuration since.
    if (
      this.distributedInterval !== row.distributed_interval ||
      this.configTlsRefresh !== row.config_tls_refresh ||
      this.loggerTlsPeriod !== row.logger_tls_period
    )
      this.config = null;
    this.distributedInterval = row.distributed_interval;
    this.configTlsRefresh = row.config_tls_refresh;
    this.loggerTlsPeriod = row.logger_tls_period;
    this.refetch = row.refetch_requested;
    this.policiesRevision = row.policies_revision;
    this.#answered = null;
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
      // Ignores a future time, which means that the clock was set back.
      if (last !== null) this.idleFrom = Math.max(this.idleFrom, at - interval);
    }
    this.fresh = true;
  }

  doubt(): void {
    this.fresh = false;
    this.doubts++;
  }

  /** Whether the agent has nothing to run. Must agree with `isDue`, which decides. */
  isIdle(now: number): boolean {
    return !this.refetch && now <= this.idleTo && now >= this.idleFrom && this.criticalUntil <= now;
  }

  /** Whether the host has reported all of these policies, regardless of the interval. Must agree with `duePolicies`. */
  hasAnswered(policies: PolicySnapshot): boolean {
    if (this.#answered === policies) return true;
    const { teamId: team_id, platform, platformLike: platform_like, policiesRevision } = this;
    if (policiesRevision !== null && policies.for({ team_id, platform, platform_like }).revision > policiesRevision)
      return false;
    this.#answered = policies;
    return true;
  }

  get idleReply(): AgentReply {
    return this.hostname === "" || this.platform === "" ? IDLE_ACCELERATED : IDLE;
  }
}
