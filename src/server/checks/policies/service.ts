// Creates, changes and deletes policies.

import type { Policy, PolicyChange, PolicyChanges, PolicyCreated } from "../../../api/checks/policies.ts";
import { resolveLabelNames } from "../../hosts/labels/scope.ts";
import { recordActivities, recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { inBackground } from "../../platform/core/concurrency/background.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, forbidden, notFound } from "../../platform/core/errors.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { byId } from "../../platform/core/maps.ts";
import { may } from "../../platform/core/security/access.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { teamName } from "../../settings/teams/reads.ts";
import { knows, placeFor, sameTeam } from "./access.ts";
import { type Place, type PolicyRow, placeOf, teamIdOf } from "./applies.ts";
import { forgetInConfig } from "./automations.ts";
import { POLICIES_LOCK } from "./counts.ts";
import { patchColumns } from "./patch.ts";
import { removeResults } from "./results.ts";
import {
  type Columns,
  checkAutomations,
  checkTier,
  columnsOf,
  type LabelsInput,
  labelsInput,
  refused,
  wholeColumns,
} from "./rules.ts";
import { policyOnWire } from "./wire.ts";
import { type ChangedPolicy, insertPolicies, type PolicyLabels, updatePolicies } from "./write.ts";

/** Serializes changes of policies; caches are notified at the commit. */
export const changingPolicies = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx(
    async (store) => {
      const result = await work(within(ctx, store));
      await store.notify(channels.policies, "");
      return result;
    },
    { lock: POLICIES_LOCK },
  );

export async function createPolicy(
  ctx: Context,
  teamId: number | null,
  input: PolicyCreated,
): Promise<{ policy: Policy }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  checkTier(ctx, input);
  const columns = wholeColumns(await withSavedQuery(ctx, input));
  const labels = labelsInput(input);
  await checkAutomations(ctx, place, input);
  return changingPolicies(ctx, async (inside) => {
    const row = await insertPolicy(
      inside,
      place,
      { ...columns, ...(await patchColumns(inside, place, input)) },
      labels,
    );
    await recordActivity(inside, "created_policy", await detailsOf(inside, row));
    return { policy: await policyOnWire(inside, row) };
  });
}

/** Runs in a transaction of `changingPolicies`. The caller has checked the request. */
export async function addPolicy(inside: Context, teamId: number, input: PolicyChanges): Promise<PolicyRow> {
  const place = placeOf(teamId);
  const columns = { ...wholeColumns(input), ...(await patchColumns(inside, place, input)) };
  const row = await insertPolicy(inside, place, columns, undefined);
  await recordActivity(inside, "created_policy", await detailsOf(inside, row));
  return row;
}

/** Copies name, query and description from the saved query named by `query_id`. */
async function withSavedQuery(ctx: Context, input: PolicyCreated): Promise<PolicyChanges> {
  if (input.query_id === undefined) return input;
  if (input.query !== undefined && input.query !== "")
    throw refused("both policy query and query_id cannot be given", "query_id");
  const query = await ctx.store.queries.get(input.query_id);
  if (!query || !(query.team_id === null || may(ctx.user, "queries:list", query.team_id)))
    throw notFound("query", input.query_id);
  return { ...input, name: query.name, query: query.query, description: query.description };
}

export async function insertPolicy(
  ctx: Context,
  place: Place,
  columns: Columns,
  labels: LabelsInput | undefined,
): Promise<PolicyRow> {
  const [row] = await insertPolicies(ctx, [{ place, columns, labels: labels && (await labelsNamed(ctx, labels)) }]);
  return row!;
}

export async function modifyPolicy(
  ctx: Context,
  teamId: number | null,
  id: number,
  { team_id, ...change }: PolicyChange,
): Promise<{ policy: Policy }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  checkTier(ctx, change);
  const set = columnsOf(change);
  const labels = labelsInput(change);
  const changed = await changingPolicies(ctx, async (inside) => {
    const before = await inside.store.policies.get(id);
    if (!before || !knows(inside, before)) throw notFound("policy", id);
    if (!sameTeam(before, place)) throw badRequest("policy does not belong to team/global");
    checkUnchanged({ team_id }, { team_id: before.team_id });
    await checkAutomations(inside, place, change);
    const applied = await changeInside(inside, before, { change, set, labels });
    return { ...applied, policy: await policyOnWire(inside, applied.row) };
  });
  settleResults(ctx, [changed]);
  return { policy: changed.policy };
}

interface CheckedChange {
  readonly change: PolicyChanges;
  readonly set: Partial<Columns>;
  readonly labels: LabelsInput | undefined;
}

async function changeInside(
  inside: Context,
  before: PolicyRow,
  { change, set, labels }: CheckedChange,
): Promise<ChangedPolicy> {
  const ofPatch = await patchColumns(inside, before, change, before);
  const changed = await updatePolicy(inside, before, { ...set, ...ofPatch }, labels);
  await recordActivity(inside, "edited_policy", await detailsOf(inside, changed.row));
  return changed;
}

/**
 * Runs in a transaction of `changingPolicies`. The caller has checked the request. Results that the change invalidates
 * are removed by the job that recounts.
 */
export async function changePolicy(inside: Context, before: PolicyRow, change: PolicyChanges): Promise<void> {
  await changeInside(inside, before, { change, set: columnsOf(change), labels: undefined });
}

export async function updatePolicy(
  ctx: Context,
  before: PolicyRow,
  set: Partial<Columns>,
  labels: LabelsInput | undefined,
): Promise<ChangedPolicy> {
  const [changed] = await updatePolicies(ctx, [{ before, set, labels: labels && (await labelsNamed(ctx, labels)) }]);
  return changed!;
}

/**
 * Removes outdated results from host rows in the background, after the change has been committed. What a stop leaves
 * undone is done by a job.
 */
export function settleResults(ctx: Context, changes: readonly ChangedPolicy[]): void {
  dropResults(
    ctx,
    changes.flatMap((change) => change.outdated ?? []),
  );
}

export function dropResults(ctx: Context, resultIds: readonly number[]): void {
  if (resultIds.length > 0)
    inBackground(ctx, "results of policies that are gone", (signal) => removeResults(ctx.store, resultIds, signal));
}

export async function deletePolicies(
  ctx: Context,
  teamId: number | null,
  policyIds: readonly number[],
): Promise<{ deleted?: number[] }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  const ids = [...new Set(policyIds)];
  if (ids.length === 0) return {};
  const gone = await changingPolicies(ctx, async (inside) => {
    const rows = await inside.store.policies.getMany(ids);
    const policiesById = byId(rows);
    for (const id of ids) {
      const row = policiesById.get(id);
      if (!row || !knows(inside, row)) throw notFound("policy", id);
      if (!sameTeam(row, place)) throw forbidden();
    }
    const team = await teamName(inside.store, place.team_id);
    await removePolicies(
      inside,
      ids.map((id) => policiesById.get(id)!),
      () => team,
    );
    return rows;
  });
  if (place.scope === "global") await forgetInConfig(ctx, ids);
  dropResults(
    ctx,
    gone.map(({ result_id }) => result_id),
  );
  return { deleted: ids };
}

/** Runs in the caller's transaction, which must hold the policies lock. Call `dropResults` after the commit. */
export async function removePolicies(
  inside: Context,
  rows: readonly PolicyRow[],
  teamName: (row: PolicyRow) => string | null,
): Promise<void> {
  for await (const part of parts(rows))
    await inside.store.policies.delete(
      oneOf(
        "id",
        part.map(({ id }) => id),
      ),
    );
  await recordActivities(
    inside,
    "deleted_policy",
    rows.map((row) => details(row, teamName(row))),
  );
}

/**
 * Call it before a team is deleted, with which its policies go, in the same transaction. Returns the work to do after
 * that.
 */
export async function policiesLeave({ store }: Context, teamId: number): Promise<(ctx: Context) => void> {
  const rows = await store.policies.pick(["result_id"], { where: eq("team_id", teamId) });
  if (rows.length > 0) await store.notify(channels.policies, "");
  const results = rows.map(({ result_id }) => result_id);
  return (ctx) => dropResults(ctx, results);
}

async function labelsNamed(ctx: Context, { names, rule }: LabelsInput): Promise<PolicyLabels> {
  const labels = await resolveLabelNames(ctx, names, "policy", `labels_${rule}`);
  return { ids: labels.map(({ id }) => id), rule };
}

const details = (row: PolicyRow, team: string | null) => ({
  policy_id: row.id,
  policy_name: row.name,
  team_id: teamIdOf(row) ?? -1,
  ...(team === null ? {} : { team_name: team }),
});
export const detailsOf = async (ctx: Context, row: PolicyRow) => details(row, await teamName(ctx.store, row.team_id));
