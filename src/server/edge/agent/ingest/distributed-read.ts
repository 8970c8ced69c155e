// Builds the queries of a distributed read (docs/protocols/agent.md, Distributed queries).

import { duePolicies, type PolicyCache } from "../../../checks/policies/cache.ts";
import type { LabelCache } from "../../../hosts/labels/dynamic.ts";
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
import type { ConfigCache } from "../config.ts";
import type { HostRow, HostState } from "../hosts/state.ts";
import type { DetailQueries } from "../inventory/detail-queries.ts";
import { hasTurn, isDue } from "../inventory/due.ts";
import { textsForHost } from "./sources.ts";

/** Before version 5.8, agents skip queries without a discovery query if any other query has one. */
const ALWAYS = "SELECT 1;";

export async function dueQueries(
  services: Pick<Services, "settings" | "clock" | "store" | "extensions">,
  caches: {
    readonly configs: ConfigCache;
    readonly labels: LabelCache;
    readonly policies: PolicyCache;
    readonly details: DetailQueries;
  },
  row: HostRow,
  state: Pick<HostState, "policiesAsked">,
): Promise<AgentReply> {
  const { settings, clock, store } = services;
  const now = clock.now();
  const due = (last: string | null, interval: number) =>
    row.refetch_requested || isDue(last, now, interval, row.id, settings.max_jitter_percent);
  const queries: Record<string, string> = {};
  const discovery: Record<string, string> = {};

  const detailsDue = due(row.detail_updated_at, settings.detail_interval);
  const critical = row.refetch_critical_queries_until;
  if (detailsDue || (critical !== null && Date.parse(critical) > now)) {
    const { features } = await caches.configs.get(row.team_id);
    const details = caches.details.for({
      platform: row.platform,
      platformLike: row.platform_like,
      agentVersion: row.qengine_version,
      features,
      criticalOnly: !detailsDue,
      isTurn: (interval) => row.refetch_requested || hasTurn(row.detail_updated_at, now, interval, row.id),
    });
    Object.assign(queries, details.queries);
    Object.assign(discovery, details.discovery);
    if (detailsDue) {
      for (const { query, text } of await textsForHost(services, row)) {
        queries[DETAIL_PREFIX + query.name] = text;
        if (query.discovery) discovery[DETAIL_PREFIX + query.name] = query.discovery;
      }
      for (const [name, query] of Object.entries(features.additional_queries ?? {}))
        if (query.trim() !== "") queries[ADDITIONAL_PREFIX + name] = query;
    }
  }
  if (due(row.label_updated_at, settings.label_interval)) {
    const dynamicLabels = await caches.labels.get();
    const labels = dynamicLabels.for(row.platform, row.platform_like, row.team_id);
    for (const { id, query } of labels) queries[LABEL_PREFIX + id] = query;
    if (labels.length === 0) queries[NO_LABELS] = ALWAYS;
    else queries[LABELS_REVISION + dynamicLabels.revision] = ALWAYS;
  }
  const allPolicies = due(row.policy_updated_at, settings.policy_interval);
  const policies = await duePolicies(store, caches.policies, row, allPolicies);
  if (policies !== null) {
    state.policiesAsked = policies.revision;
    Object.assign(queries, policies.queries);
    queries[(policies.isWhole ? POLICIES_REVISION : NEW_POLICIES_REVISION) + policies.revision] = ALWAYS;
    // A query without content, whose result updates policy_updated_at. Without it every poll would read the host's row.
    if (allPolicies && Object.keys(policies.queries).length === 0) queries[NO_POLICIES] = ALWAYS;
  }

  const names = Object.keys(queries);
  const accelerate = row.hostname === "" || row.platform === "";
  if (names.length === 0) return accelerate ? IDLE_ACCELERATED : IDLE;
  for (const name of names) discovery[name] ??= ALWAYS;
  return {
    status: 200,
    body: JSON.stringify({ queries, discovery, ...(accelerate ? { accelerate: ACCELERATE } : {}) }),
  };
}
