// Bulk writes of policies and their labels, in the caller's transaction, which must hold the policies lock.

import { pick } from "../../../api/plain-fields.ts";
import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { forgetErrors } from "../../hosts/query-errors/errors.ts";
import { admitKeptSql } from "../../platform/agent-protocol/admit-carving.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, service } from "../../platform/core/context.ts";
import { alreadyExists } from "../../platform/core/errors.ts";
import { checkLicenseRuns } from "../../platform/core/http/tier.ts";
import { newResultIds } from "../../platform/shared-rows/result-ids.ts";
import { oneOf } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { addTask } from "../../platform/tasks/queue.ts";
import { labelScopes, type Place, type PolicyRow } from "./applies.ts";
import { type Columns, outdatesResults, policyColumns } from "./rules.ts";
import { scopeTrim } from "./scope-trim.ts";

export interface PolicyLabels {
  readonly ids: readonly number[];
  readonly rule: LabelRule;
}

export interface NewPolicy {
  readonly place: Place;
  readonly columns: Columns;
  readonly labels?: PolicyLabels | undefined;
}

export async function insertPolicies(ctx: Context, policies: readonly NewPolicy[]): Promise<PolicyRow[]> {
  const { store } = ctx;
  const now = ctx.clock.iso();
  for (const { columns, place } of policies) admitPolicy(ctx, { ...columns, team_id: place.team_id });
  if (policies.some(({ columns, place, labels }) => columns.critical || place.scope !== "global" || labels?.ids.length))
    checkLicenseRuns(ctx);
  const author_id = ctx.user.kind === "user" ? ctx.user.id : null;
  const rows: PolicyRow[] = [];
  for await (const part of parts(policies)) {
    const results = await newResultIds(store, part.length, now);
    const created = await unlessTaken(
      part.map(({ columns }) => columns.name),
      store.policies.insertMany(
        part.map(({ columns, place }, i) => ({
          ...columns,
          ...place,
          created_at: now,
          updated_at: now,
          author_id,
          result_id: results[i]!,
        })),
      ),
    );
    await store.policyLabels.insertMany(created.flatMap(({ id }, i) => labelRows(id, part[i]!.labels)));
    rows.push(...created);
  }
  return rows;
}

function admitPolicy(ctx: Context, { name, query, team_id }: Pick<PolicyRow, "name" | "query" | "team_id">): void {
  admitKeptSql(ctx, query, team_id, `the policy ${JSON.stringify(name)}`);
}

export interface PolicyChange {
  readonly before: PolicyRow;
  readonly set: Partial<Columns>;
  /** Undefined: unchanged. */
  readonly labels: PolicyLabels | undefined;
  /** Invalidates the results, even if the query stays as it is. */
  readonly isReset?: boolean;
}

export interface ChangedPolicy {
  readonly row: PolicyRow;
  /** The result id that the change has invalidated. */
  readonly outdated: number | null;
}

export async function updatePolicies(ctx: Context, changes: readonly PolicyChange[]): Promise<ChangedPolicy[]> {
  // Checked even if the SQL is unchanged, since a changed platform may make more hosts run it.
  for (const { before, set } of changes)
    admitPolicy(ctx, { name: before.name, query: set.query ?? before.query, team_id: before.team_id });
  const changed: ChangedPolicy[] = [];
  for await (const part of parts(changes)) changed.push(...(await updatePart(ctx, part)));
  return changed;
}

async function updatePart(ctx: Context, changes: readonly PolicyChange[]): Promise<ChangedPolicy[]> {
  const { store, clock } = ctx;
  const now = clock.iso();
  if (await addPremium(ctx, changes)) checkLicenseRuns(ctx);
  const isOutdated = changes.map(({ before, set, isReset }) => isReset || outdatesResults(before, set));
  const outdated = changes.filter((_, i) => isOutdated[i]);
  const results = await newResultIds(store, outdated.length, now);
  const columns = ({ before, set, isReset }: PolicyChange) => ({
    id: before.id,
    ...columnsAfter(before, set),
    updated_at: isReset ? before.updated_at : now,
  });
  await unlessTaken(
    changes.map(({ before, set }) => set.name ?? before.name),
    (async () => {
      await store.policies.updateEach(changes.filter((_, i) => !isOutdated[i]).map(columns));
      await store.policies.updateEach(
        outdated.map((change, i) => ({
          ...columns(change),
          result_id: results[i]!,
          passing_host_count: 0,
          failing_host_count: 0,
          host_count_updated_at: null,
        })),
      );
    })(),
  );
  await forgetErrors(
    store,
    "policy_id",
    outdated.map(({ before }) => before.id),
  );
  if (outdated.length > 0)
    await store.policyEvents.delete(
      oneOf(
        "policy_id",
        outdated.map(({ before }) => before.id),
      ),
    );
  await relabel(ctx, changes, now);
  const rows = new Map(
    (await store.policies.getMany(changes.map(({ before }) => before.id))).map((row) => [row.id, row]),
  );
  return changes.map(({ before }, i) => ({
    row: rows.get(before.id)!,
    outdated: isOutdated[i] ? before.result_id : null,
  }));
}

/** Replaces the labels of the changes that name some, and lets hosts report results for the new ones. */
async function relabel(ctx: Context, changes: readonly PolicyChange[], now: string): Promise<void> {
  const { store } = ctx;
  const relabelled = changes.filter(({ labels }) => labels !== undefined);
  if (relabelled.length > 0) {
    await store.policyLabels.delete(
      oneOf(
        "policy_id",
        relabelled.map(({ before }) => before.id),
      ),
    );
    await store.policyLabels.insertMany(relabelled.flatMap(({ before, labels }) => labelRows(before.id, labels)));
    const revisions = await newResultIds(store, relabelled.length, now);
    await store.policies.updateEach(
      relabelled.map(({ before }, i) => ({ id: before.id, asked_revision: revisions[i]! })),
    );
  }
  const narrowed = relabelled.filter(({ labels }) => labels!.ids.length > 0).map(({ before }) => before.id);
  if (narrowed.length > 0) {
    const work = { payload: { policy_ids: narrowed }, total: narrowed.length };
    await addTask({ ...ctx, user: service }, scopeTrim, work);
  }
}

/** Whether a change needs the premium tier: a policy becomes critical or gets labels that it did not have. */
async function addPremium({ store }: Context, changes: readonly PolicyChange[]): Promise<boolean> {
  if (changes.some(({ before, set }) => set.critical && !before.critical)) return true;
  const narrowed = changes.filter(({ labels }) => labels !== undefined && labels.ids.length > 0);
  const scopes = await labelScopes(
    store,
    narrowed.map(({ before }) => before.id),
  );
  return narrowed.some(({ before, labels }) => {
    const scope = scopes.get(before.id);
    const ids = new Set(scope?.[labels!.rule]);
    return labels!.ids.some((id) => !ids.has(id));
  });
}

/** All columns, since the rows of one bulk write must set the same ones. */
const columnsAfter = (before: PolicyRow, set: Partial<Columns>): Columns => ({
  ...pick(before, policyColumns),
  ...set,
});

const labelRows = (policy_id: number, labels: PolicyLabels | undefined) =>
  (labels?.ids ?? []).map((label_id) => ({
    policy_id,
    label_id,
    excludes: labels!.rule === "exclude_any",
    requires_all: labels!.rule === "include_all",
  }));

async function unlessTaken<R>(names: readonly string[], write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    const which = names.length === 1 ? `a policy with the name ${JSON.stringify(names[0])}` : "one of the policies";
    throw alreadyExists(`${which} exists`);
  }
}
