import type { PolicyCache } from "../../../checks/policies/cache.ts";
import { type PlannedAnswers, type PolicyAnswers, planPolicies } from "../../../checks/policies/ingest.ts";
import type { ServerStore } from "../../../platform/core/tables.ts";
import type { PlannedWrite } from "./planned-write.ts";

/** Plans policy answers, and sets the policy revision that each host has now reported. */
export async function planPolicyAnswers(
  store: ServerStore,
  policies: PolicyCache,
  planned: readonly PlannedWrite[],
): Promise<PlannedAnswers> {
  const reporting = planned.filter(({ item }) => item.results.policiesReported);
  if (reporting.length === 0) return { plan: null, reports: [] };
  const newest = reporting.reduce((most, { item }) => Math.max(most, item.results.policiesRevision ?? 0), 0);
  const answered = new Set(reporting.flatMap(({ item }) => [...item.results.policies.keys()]));
  const snapshot = await policies.covering(newest, answered);
  const items = reporting.map(({ item: { results, state }, row, set }): PolicyAnswers => {
    const host = {
      id: row.id,
      team_id: row.team_id,
      platform: set.platform ?? row.platform,
      platform_like: set.platform_like ?? row.platform_like,
    };
    const revision = results.policiesRevision ?? state.sentPoliciesRevision;
    const upTo = Math.min(revision ?? snapshot.for(host).revision, snapshot.revision);
    set.policies_revision = Math.max(row.policies_revision ?? 0, upTo);
    const isWritten = (["policy_updated_at", "policies_revision"] as const).some(
      (column) => set[column] !== undefined && set[column] !== row[column],
    );
    const { policies: answers, policyErrors, allPoliciesReported: isWhole } = results;
    return { host, answers, errors: policyErrors, isWhole, askedRevision: revision, isWritten };
  });
  return planPolicies(store, snapshot, items);
}
