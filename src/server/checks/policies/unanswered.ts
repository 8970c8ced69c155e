// Hosts that have not reported a result for the current query of a policy. Computed on demand, since hosts are added,
// removed and changed without writing to any policy.

import { onPlatform } from "../../hosts/hosts/status.ts";
import { type LabelScope, scopePredicate } from "../../hosts/labels/scope.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import {
  and,
  eq,
  everything,
  exists,
  has,
  isNull,
  not,
  nothing,
  or,
  type Predicate,
} from "../../platform/store/query.ts";
import { labelScopes, type PolicyRow } from "./applies.ts";
import { hostPolicies } from "./tables.ts";

type CountedPolicy = Pick<
  PolicyRow,
  "id" | "scope" | "team_id" | "platform" | "result_id" | "passing_host_count" | "failing_host_count"
>;

/**
 * By policy id. `scopes` are the policies' label scopes. If `where` restricts the hosts, the counts in the rows must be
 * restricted alike.
 */
export async function unansweredCounts(
  store: Pick<ServerTx, "hosts">,
  rows: readonly CountedPolicy[],
  scopes: ReadonlyMap<number, LabelScope>,
  where: Predicate = everything,
): Promise<Map<number, number>> {
  // Policies of the same scope and platforms apply to the same number of hosts.
  const totals = new Map<string, number>();
  const counts = new Map<number, number>();
  for (const row of rows) {
    const labels = scopes.get(row.id);
    const meant = and(ofTeam(row), ofPlatforms(row.platform), where);
    if (labels) {
      // A host that has left the labels keeps its result until its next answers, so the counts cannot be subtracted.
      counts.set(row.id, await store.hosts.count(and(meant, scopePredicate(labels), not(hasAnswered(row.result_id)))));
      continue;
    }
    const key = `${row.scope} ${row.team_id} ${row.platform}`;
    const total = totals.get(key) ?? (await store.hosts.count(meant));
    totals.set(key, total);
    counts.set(row.id, Math.max(0, total - row.passing_host_count - row.failing_host_count));
  }
  return counts;
}

/** The hosts that the policy applies to and that have no result for it. */
export async function unansweredHosts(
  store: Pick<ServerTx, "policies" | "policyLabels">,
  policyId: number,
): Promise<Predicate> {
  const policy = await store.policies.get(policyId);
  if (policy === null) return nothing;
  const labels = (await labelScopes(store, [policyId])).get(policyId) ?? {};
  return and(ofTeam(policy), ofPlatforms(policy.platform), scopePredicate(labels), not(hasAnswered(policy.result_id)));
}

const ofTeam = ({ scope, team_id }: CountedPolicy): Predicate =>
  scope === "global" ? everything : scope === "no_team" ? isNull("team_id") : eq("team_id", team_id);

const ofPlatforms = (list: string): Predicate =>
  list === "" ? everything : or(...list.split(",").map((word) => onPlatform(word)));

const hasAnswered = (resultId: number): Predicate =>
  exists(hostPolicies, "id", or(has("passing", resultId), has("failing", resultId)));
