// Stores policy results, as part of the transaction that stores all results of a host.

import { teamsOfHosts } from "../../hosts/hosts/reads.ts";
import { touchHosts } from "../../hosts/hosts/write.ts";
import type { HostErrors } from "../../hosts/query-errors/errors.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { isOfTeam } from "./applies.ts";
import { recordActions, recordFailing } from "./automations.ts";
import { type CachedPolicy, type PolicySnapshot, policiesFor } from "./cache.ts";
import { CountDiff, type HostForPolicies, type HostPoliciesRow, recordCounts, resultsOf, rowOf } from "./results.ts";

export interface PolicyAnswers {
  readonly host: HostForPolicies;
  /** Whether the host passes, by policy id; null: the query failed. */
  readonly answers: ReadonlyMap<number, boolean | null>;
  /** Why policies failed to run, by policy id. */
  readonly errors: ReadonlyMap<number, string>;
  /** Every policy of the host was run, not only those new to it. */
  readonly isWhole: boolean;
  /** The revision that the host ran; results of later queries are ignored. Null: the results do not carry it. */
  readonly askedRevision: number | null;
  /** The transaction has already written the host's own row. */
  readonly isWritten: boolean;
}

interface Candidate extends PolicyAnswers {
  readonly policies: readonly CachedPolicy[];
}

/** Hosts whose results are expected to change, or to start automations, according to data read before the transaction. */
export interface PolicyPlan {
  readonly snapshot: PolicySnapshot;
  readonly candidates: readonly Candidate[];
}

export interface PlannedAnswers {
  /** Null: no results change. */
  readonly plan: PolicyPlan | null;
  readonly reports: readonly HostErrors[];
}

export async function planPolicies(
  store: Services["store"],
  snapshot: PolicySnapshot,
  items: readonly PolicyAnswers[],
): Promise<PlannedAnswers> {
  if (items.length === 0 || snapshot.byId.size === 0) return { plan: null, reports: [] };
  const hosts = items.map(({ host }) => host);
  const rows = byId(
    await resultsOf(
      store,
      hosts.map(({ id }) => id),
    ),
  );
  const policies = await policiesFor(store, snapshot, hosts);
  const all = items.map((item): Candidate => ({ ...item, policies: policies.get(item.host.id)! }));
  const candidates = all.filter((item) => {
    const row = rows.get(item.host.id);
    return !isSame(row, after(item, row)) || failsAgain(snapshot, item);
  });
  return { plan: candidates.length > 0 ? { snapshot, candidates } : null, reports: all.map(errorsOf) };
}

/** Errors of policies that have changed since, or do not apply to the host, are left out. */
function errorsOf(item: Candidate): HostErrors {
  const errors = new Map<number, string>();
  const succeeded = new Set<number>();
  for (const policy of item.policies) {
    const answer = countedAnswer(item, policy);
    const error = item.errors.get(policy.id);
    if (answer === null && error !== undefined) errors.set(policy.id, error);
    else if (answer !== undefined) succeeded.add(policy.id);
  }
  return { hostId: item.host.id, of: "policy_id", errors, succeeded: item.isWhole ? "all" : succeeded };
}

/** Whether the host has just reported that it fails a policy whose automations run each time. */
const failsAgain = ({ continuous }: PolicySnapshot, item: Candidate): boolean =>
  continuous.size > 0 &&
  item.policies.some((policy) => continuous.has(policy.id) && countedAnswer(item, policy) === false);

export async function writePolicies(tx: ServerTx, plan: PolicyPlan, now: number): Promise<void> {
  const ids = plan.candidates.map(({ host }) => host.id);
  // Write the host rows first to lock them, so that the team read here is valid until the commit.
  const unwritten = plan.candidates.flatMap(({ host, isWritten }) => (isWritten ? [] : [host.id]));
  if (unwritten.length > 0) await touchHosts(tx, unwritten, isoAt(now));
  const teams = await teamsOfHosts(tx, ids);
  const before = byId(await resultsOf(tx, ids));
  const diff = new CountDiff();
  const changes: Change[] = [];
  const unchanged: Change[] = [];
  for (const item of plan.candidates) {
    const teamId = teams.get(item.host.id);
    if (teamId === undefined) continue;
    // A host that was transferred meanwhile keeps no results of its old team's policies.
    const policies = item.policies.filter((policy) => isOfTeam(policy, teamId));
    const old = before.get(item.host.id);
    const answered = { ...item, policies };
    const row = after(answered, old);
    const change: Change = { before: old, after: row, answered };
    if (isSame(old, row)) {
      unchanged.push(change);
      continue;
    }
    diff.note(old, row);
    changes.push(change);
  }
  if (changes.length > 0) {
    await tx.hostPolicies.upsert(
      changes.map((change) => rowOf(change.after)),
      { on: ["id"], returning: [] },
    );
    await recordCounts(tx, diff);
  }
  if (plan.snapshot.automated.size + plan.snapshot.acting.size > 0)
    await recordAutomations(tx, plan.snapshot, [...changes, ...unchanged], now);
  const gated = changes.filter((change) => changesGate(change, plan.snapshot)).map(({ after: { id } }) => id);
  if (gated.length > 0) await plan.snapshot.gateChanged(tx, gated, isoAt(now));
}

interface Change {
  readonly before: HostPoliciesRow | undefined;
  readonly after: HostPoliciesRow;
  /** With the policies that apply to the host now. */
  readonly answered: Candidate;
}

/** Whether the host has another result of a policy that decides about its sign-ins. */
const changesGate = ({ before, after, answered: { policies } }: Change, { gating }: PolicySnapshot): boolean =>
  gating.size > 0 &&
  policies.some(
    ({ id, result_id }) =>
      gating.has(id) &&
      (after.failing.includes(result_id) !== (before?.failing.includes(result_id) ?? false) ||
        after.passing.includes(result_id) !== (before?.passing.includes(result_id) ?? false)),
  );

async function recordAutomations(
  tx: ServerTx,
  { automated, acting, continuous }: PolicySnapshot,
  changes: readonly Change[],
  now: number,
): Promise<void> {
  const failing: { policy_id: number; host_id: number }[] = [];
  const actions: { policy_id: number; host_id: number }[] = [];
  const recovered = new Map<number, number[]>();
  for (const change of changes)
    for (const policy of change.answered.policies) {
      const { id, result_id } = policy;
      if (!automated.has(id) && !acting.has(id)) continue;
      const failed = change.before?.failing.includes(result_id) ?? false;
      const fails = change.after.failing.includes(result_id);
      const starts = (fails && !failed) || (continuous.has(id) && countedAnswer(change.answered, policy) === false);
      if (starts && automated.has(id)) failing.push({ policy_id: id, host_id: change.after.id });
      if (starts && acting.has(id)) actions.push({ policy_id: id, host_id: change.after.id });
      if (failed && !fails) recovered.set(id, [...(recovered.get(id) ?? []), change.after.id]);
    }
  await recordFailing(tx, failing, isoAt(now));
  await recordActions(tx, actions, isoAt(now));
  for (const [policyId, hostIds] of recovered) {
    const which = and(eq("policy_id", policyId), oneOf("host_id", hostIds));
    await tx.policyEvents.delete(which);
    await tx.policyInstalls.delete(which);
  }
}

/** Undefined: the report has no result of the policy, or one of an earlier version of its query. Null: the query failed. */
function countedAnswer(
  { answers, askedRevision }: Pick<PolicyAnswers, "answers" | "askedRevision">,
  { id, result_id }: CachedPolicy,
): boolean | null | undefined {
  return askedRevision === null || result_id <= askedRevision ? answers.get(id) : undefined;
}

/** The host's results after this report. Only policies that apply to the host have a result. */
function after(item: Candidate, row: HostPoliciesRow | undefined): HostPoliciesRow {
  const { host, policies } = item;
  const passing: number[] = [];
  const failing: number[] = [];
  const passed = new Set(row?.passing);
  const failed = new Set(row?.failing);
  for (const policy of policies) {
    const { result_id } = policy;
    const answer = countedAnswer(item, policy);
    const counts = answer !== undefined;
    if (counts ? answer === true : passed.has(result_id)) passing.push(result_id);
    else if (counts ? answer === false : failed.has(result_id)) failing.push(result_id);
  }
  return {
    id: host.id,
    passing: ascending(passing),
    failing: ascending(failing),
    critical_count: row?.critical_count ?? 0,
  };
}

const ascending = (ids: number[]): number[] => ids.sort((a, b) => a - b);
const byId = (rows: readonly HostPoliciesRow[]) => new Map(rows.map((row) => [row.id, row]));

const equal = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((id, i) => id === b[i]);
const isSame = (row: HostPoliciesRow | undefined, next: HostPoliciesRow): boolean =>
  equal(row?.passing ?? [], next.passing) && equal(row?.failing ?? [], next.failing);
