// Builds the queries of a distributed read (docs/protocols/agent.md, Distributed queries).

import { duePolicies } from "../../../checks/policies/cache.ts";
import {
  ADDITIONAL_PREFIX,
  LABEL_PREFIX,
  LABELS_REVISION,
  NEW_POLICIES_REVISION,
  NO_LABELS,
  NO_POLICIES,
  POLICIES_REVISION,
} from "../../../platform/agent-protocol/names.ts";
import { DETAIL_PREFIX } from "../../../platform/agent-protocol/rows.ts";
import { ACCELERATE, type AgentReply, IDLE, IDLE_ACCELERATED } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { HostRow, HostState } from "../hosts/state.ts";
import { hasTurn, isDue } from "../inventory/due.ts";
import type { QueryCaches } from "./planned-write.ts";
import { textsForHost } from "./sources.ts";

/** Before version 5.8, agents skip queries without a discovery query if any other query has one. */
const ALWAYS = "SELECT 1;";

type ReadServices = Pick<Services, "settings" | "clock" | "store" | "extensions">;

export async function dueQueries(
  services: ReadServices,
  caches: QueryCaches,
  row: HostRow,
  state: Pick<HostState, "sentPoliciesRevision">,
): Promise<AgentReply> {
  const due = new DueQueries(services, caches, row);
  await due.addDetails();
  await due.addLabels();
  const policiesRevision = await due.addPolicies();
  if (policiesRevision !== null) state.sentPoliciesRevision = policiesRevision;
  return due.reply();
}

/** Collects what one host is to run now. */
class DueQueries {
  readonly #services: ReadServices;
  readonly #caches: QueryCaches;
  readonly #row: HostRow;
  readonly #now: number;
  readonly #queries: Record<string, string> = {};
  readonly #discovery: Record<string, string> = {};

  constructor(services: ReadServices, caches: QueryCaches, row: HostRow) {
    this.#services = services;
    this.#caches = caches;
    this.#row = row;
    this.#now = services.clock.now();
  }

  async addDetails(): Promise<void> {
    const row = this.#row;
    const areDue = this.#isDue(row.detail_updated_at, this.#services.settings.detail_interval);
    const criticalUntil = row.refetch_critical_queries_until;
    if (!areDue && (criticalUntil === null || Date.parse(criticalUntil) <= this.#now)) return;
    const { features } = await this.#caches.configs.get(row.team_id);
    const details = this.#caches.details.for({
      platform: row.platform,
      platformLike: row.platform_like,
      agentVersion: row.qengine_version,
      features,
      criticalOnly: !areDue,
      isTurn: (interval) => row.refetch_requested || hasTurn(row.detail_updated_at, this.#now, interval, row.id),
    });
    Object.assign(this.#queries, details.queries);
    Object.assign(this.#discovery, details.discovery);
    if (!areDue) return;
    for (const { query, text } of await textsForHost(this.#services, row)) {
      this.#queries[DETAIL_PREFIX + query.name] = text;
      if (query.discovery) this.#discovery[DETAIL_PREFIX + query.name] = query.discovery;
    }
    for (const [name, query] of Object.entries(features.additional_queries ?? {}))
      if (query.trim() !== "") this.#queries[ADDITIONAL_PREFIX + name] = query;
  }

  async addLabels(): Promise<void> {
    const row = this.#row;
    if (!this.#isDue(row.label_updated_at, this.#services.settings.label_interval)) return;
    const dynamicLabels = await this.#caches.labels.get();
    const labels = dynamicLabels.for(row.platform, row.platform_like, row.team_id);
    for (const { id, query } of labels) this.#queries[LABEL_PREFIX + id] = query;
    if (labels.length === 0) this.#queries[NO_LABELS] = ALWAYS;
    else this.#queries[LABELS_REVISION + dynamicLabels.revision] = ALWAYS;
  }

  /** Returns the revision of the policies that the host is asked for; null if it is asked for none. */
  async addPolicies(): Promise<number | null> {
    const { settings, store } = this.#services;
    const allPolicies = this.#isDue(this.#row.policy_updated_at, settings.policy_interval);
    const policies = await duePolicies(store, this.#caches.policies, this.#row, allPolicies);
    if (policies === null) return null;
    Object.assign(this.#queries, policies.queries);
    this.#queries[(policies.isWhole ? POLICIES_REVISION : NEW_POLICIES_REVISION) + policies.revision] = ALWAYS;
    // A query without content, whose result updates policy_updated_at. Without it every poll would read the host's row.
    if (allPolicies && Object.keys(policies.queries).length === 0) this.#queries[NO_POLICIES] = ALWAYS;
    return policies.revision;
  }

  reply(): AgentReply {
    const queries = this.#queries;
    const discovery = this.#discovery;
    const names = Object.keys(queries);
    const accelerate = this.#row.hostname === "" || this.#row.platform === "";
    if (names.length === 0) return accelerate ? IDLE_ACCELERATED : IDLE;
    for (const name of names) discovery[name] ??= ALWAYS;
    return {
      status: 200,
      body: JSON.stringify({ queries, discovery, ...(accelerate ? { accelerate: ACCELERATE } : {}) }),
    };
  }

  #isDue(last: string | null, interval: number): boolean {
    const { id, refetch_requested } = this.#row;
    return refetch_requested || isDue(last, this.#now, interval, id, this.#services.settings.max_jitter_percent);
  }
}
