// Policy results: one row per host with the ids of its passing and failing results.
//
// A transaction that changes such a row must write the host's own row first (as ingest, transfer and enrollment do), so
// that concurrent ones wait for each other. Dead results (of deleted or reset policies) may be removed at any time.

import type { HostPolicy } from "../../../api/hosts/host.ts";
import { teamsOfHosts } from "../../hosts/hosts/reads.ts";
import { inScope } from "../../hosts/labels/scope.ts";
import { policyErrorsOf } from "../../hosts/query-errors/errors.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { ReadOnce } from "../../platform/core/read-once.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, gt, has, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { side } from "../../platform/store/sides.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { isOfTeam, isOnPlatform, labelScopes, labelsByHost, ofHostsIn, type PolicyRow, teamIdOf } from "./applies.ts";
import { type CountChanges, hostPolicies } from "./tables.ts";

export type HostPoliciesRow = Pick<RowOf<typeof hostPolicies>, "id" | "passing" | "failing" | "critical_count">;

/** The host attributes that determine which policies apply. */
export interface HostForPolicies {
  readonly id: number;
  readonly team_id: number | null;
  readonly platform: string;
  readonly platform_like: string;
}

/** Accumulates changes of policy counts. */
export class CountDiff {
  readonly #sums = new Map<number, [number, number]>();

  /** Records that a host's results changed from `before` to `after`. */
  note(before: Pick<HostPoliciesRow, "passing" | "failing"> | undefined, after: typeof before): void {
    this.#each(before?.passing, after?.passing, 0);
    this.#each(before?.failing, after?.failing, 1);
  }

  #each(before: readonly number[] = [], after: readonly number[] = [], at: 0 | 1): void {
    for (const id of before) this.#of(id)[at]--;
    for (const id of after) this.#of(id)[at]++;
  }

  #of(id: number): [number, number] {
    const sum = this.#sums.get(id);
    if (sum) return sum;
    const newSum: [number, number] = [0, 0];
    this.#sums.set(id, newSum);
    return newSum;
  }

  get changes(): CountChanges {
    return [...this.#sums]
      .filter(([, [passing, failing]]) => passing !== 0 || failing !== 0)
      .map(([id, [passing, failing]]) => [id, passing, failing] as const);
  }
}

/** Must run in the transaction that changes the results. */
export async function recordCounts(store: ServerTx, diff: CountDiff): Promise<void> {
  const { changes } = diff;
  if (changes.length === 0) return;
  await store.policyCountChanges.insert({ changes });
  await store.notify(channels.policyCounts, "");
}

/** The row that is stored, with the sum by which lists are sorted. */
export const rowOf = ({ id, passing, failing, critical_count }: HostPoliciesRow) => ({
  id,
  passing,
  failing,
  critical_count,
  issues_count: failing.length + critical_count,
});

/** The policies of each host with its response, by host id. */
export async function policiesOfHosts(
  { store }: Pick<Context, "store">,
  hosts: readonly HostForPolicies[],
): Promise<Map<number, HostPolicy[]>> {
  const policiesByHost = new Map<number, HostPolicy[]>(hosts.map(({ id }) => [id, []]));
  if (hosts.length === 0) return policiesByHost;
  const where = ofHostsIn(hosts.map(({ team_id }) => team_id));
  const rows = await store.policies.list({ where, order: [{ column: "id", direction: "asc" }] });
  if (rows.length === 0) return policiesByHost;
  const ids = hosts.map(({ id }) => id);
  const results = new Map((await store.hostPolicies.getMany(ids)).map((row) => [row.id, row]));
  const scopes = await labelScopes(
    store,
    rows.map(({ id }) => id),
  );
  const labels = scopes.size > 0 ? await labelsByHost(store, ids) : new Map<number, Set<number>>();
  const authors = await authorsOf(store, rows);
  const errorOf = await policyErrorsOf(store, ids);
  for (const host of hosts) {
    const hostResults = results.get(host.id);
    const passing = new Set(hostResults?.passing);
    const failing = new Set(hostResults?.failing);
    for (const policy of rows) {
      if (!isOfTeam(policy, host.team_id) || !isOnPlatform(policy.platform, host.platform, host.platform_like))
        continue;
      const scope = scopes.get(policy.id);
      if (scope && !inScope(labels.get(host.id)!, scope)) continue;
      const response = passing.has(policy.result_id) ? "pass" : failing.has(policy.result_id) ? "fail" : "";
      policiesByHost.get(host.id)!.push({ ...onHost(policy, authors), response, error: errorOf(host.id, policy.id) });
    }
  }
  return policiesByHost;
}

const onHost = (policy: PolicyRow, authors: Authors): Omit<HostPolicy, "response" | "error"> => ({
  id: policy.id,
  name: policy.name,
  query: policy.query,
  description: policy.description,
  resolution: policy.resolution,
  platform: policy.platform,
  critical: policy.critical,
  author_id: policy.author_id,
  ...authorOf(policy, authors),
  team_id: teamIdOf(policy),
  conditional_access_enabled: policy.conditional_access_enabled,
  created_at: policy.created_at,
  updated_at: policy.updated_at,
});

type Authors = ReadonlyMap<number, { readonly name: string; readonly email: string }>;

export async function authorsOf(store: Pick<ServerTx, "users">, rows: readonly PolicyRow[]): Promise<Authors> {
  const ids = [...new Set(rows.flatMap(({ author_id }) => author_id ?? []))];
  if (ids.length === 0) return new Map();
  const users = await store.users.pick(["id", "name", "email"], { where: oneOf("id", ids) });
  return new Map(users.map((user) => [user.id, user]));
}

export function authorOf({ author_id }: PolicyRow, authors: Authors): { author_name: string; author_email: string } {
  const author = author_id === null ? undefined : authors.get(author_id);
  return { author_name: author?.name ?? "", author_email: author?.email ?? "" };
}

/** The columns that `failingCounts` and the issues of a host are made of. */
export const issuesSide = side(hostPolicies, "failing", "critical_count");

/** Whether a policy exists, by the id of its results. */
export const existingPolicies = ({ policies }: Pick<ServerTx, "policies">): ReadOnce<true> =>
  new ReadOnce(async (ids) =>
    (await policies.pick(["result_id"], { where: oneOf("result_id", ids) })).map(({ result_id }) => [result_id, true]),
  );

/** How many existing policies each of the hosts fails. Results of deleted policies are not counted. */
export async function failingCounts(
  policies: ReadOnce<true>,
  rows: readonly (Pick<HostPoliciesRow, "failing"> | null | undefined)[],
): Promise<number[]> {
  const ids = new Set<number>();
  for (const row of rows) for (const id of row?.failing ?? []) ids.add(id);
  const existing = await policies.of(ids);
  return rows.map((row) => {
    let count = 0;
    for (const id of row?.failing ?? []) if (existing.has(id)) count++;
    return count;
  });
}

/**
 * Removes results of policies that do not belong to the hosts' teams. Call it in the transaction that transfers the
 * hosts, after the new team was written to their rows.
 */
export async function forgetForeignResults(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  const rows = await resultsOf(store, hostIds);
  if (rows.length === 0) return;
  const teams = await teamsOfHosts(
    store,
    rows.map(({ id }) => id),
  );
  const policies = await store.policies.pick(["id", "result_id", "scope", "team_id"], {
    where: ofHostsIn(teams.values()),
  });
  const diff = new CountDiff();
  const changed = rows.flatMap((row) => {
    const teamId = teams.get(row.id) ?? null;
    const teamResultIds = new Set(
      policies.filter((policy) => isOfTeam(policy, teamId)).map(({ result_id }) => result_id),
    );
    const after = rowOf({
      ...row,
      passing: row.passing.filter((id) => teamResultIds.has(id)),
      failing: row.failing.filter((id) => teamResultIds.has(id)),
    });
    if (after.passing.length === row.passing.length && after.failing.length === row.failing.length) return [];
    diff.note(row, after);
    return [after];
  });
  if (changed.length > 0) await store.hostPolicies.updateEach(changed);
  await recordCounts(store, diff);
  // Drop queued events of policies of the previous team.
  const events = await store.policyEvents.list({ where: oneOf("host_id", hostIds) });
  if (events.length === 0) return;
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const foreign = events.filter(({ policy_id, host_id }) => {
    const policy = byId.get(policy_id);
    return !policy || !isOfTeam(policy, teams.get(host_id) ?? null);
  });
  await store.policyEvents.delete(
    oneOf(
      "id",
      foreign.map(({ id }) => id),
    ),
  );
}

/**
 * Removes all results of hosts that are deleted or enroll again. Call it in the same transaction, after the host rows
 * were written and before they are deleted.
 */
export async function forgetResults(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  const rows = await resultsOf(store, hostIds);
  if (rows.length === 0) return;
  const diff = new CountDiff();
  for (const row of rows) diff.note(row, undefined);
  const ids = rows.map(({ id }) => id);
  const critical = rows.filter(({ critical_count }) => critical_count > 0);
  if (critical.length > 0)
    await store.hostPolicies.updateEach(critical.map((row) => rowOf({ ...row, passing: [], failing: [] })));
  const isCritical = new Set(critical.map(({ id }) => id));
  await store.hostPolicies.delete(
    oneOf(
      "id",
      ids.filter((id) => !isCritical.has(id)),
    ),
  );
  await store.policyEvents.delete(oneOf("host_id", ids));
  await recordCounts(store, diff);
}

export const resultsOf = (
  store: Pick<ServerTx, "hostPolicies">,
  hostIds: readonly number[],
): Promise<HostPoliciesRow[]> =>
  store.hostPolicies.pick(["id", "passing", "failing", "critical_count"], { where: oneOf("id", hostIds) });

/** Host rows rewritten per batch. */
const BATCH_SIZE = 200;
const byId = [{ column: "id", direction: "asc" }] as const;

/**
 * Removes results from the rows that match `where`: of policies that were deleted or no longer apply to those hosts.
 * Dead results must be removed even though no count includes them, because lists are sorted by the number of failures.
 */
export async function removeResults(
  store: ServerTx,
  resultIds: readonly number[],
  signal: AbortSignal,
  where: Predicate = everything,
): Promise<void> {
  if (resultIds.length === 0) return;
  const gone = new Set(resultIds);
  const left = (ids: readonly number[]) => ids.filter((id) => !gone.has(id));
  const holding = and(or(has("passing", ...resultIds), has("failing", ...resultIds)), where);
  for (let last = 0; !signal.aborted; ) {
    const rows = await store.hostPolicies.list({ where: and(gt("id", last), holding), order: byId, limit: BATCH_SIZE });
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    await store.tx(async (tx) => {
      const diff = new CountDiff();
      for (const row of rows) {
        const { id, ...set } = rowOf({ ...row, passing: left(row.passing), failing: left(row.failing) });
        // A row that was written meanwhile no longer has these results, or loses them at the host's next report.
        if ((await tx.hostPolicies.update({ where: and(eq("id", id), eq("revision", row.revision)), set })) > 0)
          diff.note(row, set);
      }
      await recordCounts(tx, diff);
    });
  }
}
