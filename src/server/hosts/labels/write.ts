// Writes and deletes labels and their members in the caller's transaction.

import type { labelFields } from "../../../api/hosts/label.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { newResultIds } from "../../platform/shared-rows/result-ids.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { forgetErrors } from "../query-errors/errors.ts";
import { notifyMembersChanged } from "./counts.ts";
import { checkCustomVital } from "./custom-vitals.ts";
import { replaceMembers } from "./members.ts";
import { admitLabelSql, reachOf } from "./reach.ts";
import type { labels } from "./tables.ts";
import type { LabelRow } from "./wire.ts";

/** Locked by every change of labels and of the hosts of manual labels. */
export const LABELS_LOCK = "labels";

export type LabelColumns = Pick<
  LabelRow,
  keyof typeof labelFields | "name" | "query" | "platform" | "label_membership_type" | "criteria"
>;

export interface LabelWrite {
  /** Absent for a new label. */
  readonly before?: LabelRow | undefined;
  readonly columns: LabelColumns;
  /** Ids of hosts. Undefined: the members do not change. */
  readonly members?: ReadonlySet<number> | undefined;
}

export const aboutLabel = ({ id, name }: Pick<LabelRow, "id" | "name">) => ({ label_id: id, label_name: name });

/** Writes and announces the differences. Returns the resulting rows in the given order; those with criteria have no members yet. */
export async function writeLabels(ctx: Context, writes: readonly LabelWrite[]): Promise<LabelRow[]> {
  const { store, user } = ctx;
  const now = ctx.clock.iso();
  for (const { before, columns } of writes) {
    if (before?.query !== columns.query) admitLabelSql(ctx, columns);
    await checkCustomVital(store, columns.criteria);
  }
  const fresh = writes.filter(({ before }) => !before);
  const created: LabelRow[] = [];
  for await (const batch of parts(fresh))
    created.push(
      ...(await store.labels.insertMany(
        batch.map(({ columns }) => ({
          ...columns,
          created_at: now,
          updated_at: now,
          author_id: user.kind === "user" ? user.id : null,
          label_type: "regular" as const,
          asked_teams: reachOf(ctx),
        })),
      )),
    );
  await joinNew(
    store,
    fresh.flatMap(({ members }, i) => [...(members ?? [])].map((host_id) => ({ label_id: created[i]!.id, host_id }))),
  );
  const changes = writes.flatMap(({ before, ...write }) =>
    before ? [{ before, ...write, changed: changedIn(before, write) }] : [],
  );
  for await (const batch of parts(changes.filter(({ changed }) => changed.length > 0)))
    await store.labels.updateEach(
      batch.map(({ before, columns, changed }) => ({
        id: before.id,
        ...columns,
        asked_teams: changed.includes("query") ? reachOf(ctx) : before.asked_teams,
        updated_at: now,
      })),
    );
  // Answers to the old query no longer count: hosts become members again when they answer the new one.
  const requeried = changes
    .filter(({ changed }) => changed.some((column) => asks.has(column)))
    .map(({ before }) => before.id);
  if (requeried.length > 0) {
    const revisions = await newResultIds(store, requeried.length, now);
    await store.labels.updateEach(requeried.map((id, i) => ({ id, asked_revision: revisions[i]! })));
    await store.labelMembers.delete(oneOf("label_id", requeried));
    await forgetErrors(store, "label_id", requeried);
    await notifyMembersChanged(store, requeried);
  }
  const edited: LabelRow[] = [];
  for (const { before, columns, members, changed } of changes) {
    const others = members !== undefined && (await replaceMembers(ctx, before.id, members));
    if (others || changed.length > 0) edited.push({ ...before, ...columns });
  }
  await recordActivities(ctx, "created_label", created.map(aboutLabel));
  await recordActivities(ctx, "edited_label", edited.map(aboutLabel));
  let next = 0;
  return writes.map(({ before, columns }) => (before ? { ...before, ...columns } : created[next++]!));
}

const asks: ReadonlySet<string> = new Set(["query", "platform", "label_membership_type"]);

const changedIn = (before: LabelRow, { columns }: Pick<LabelWrite, "columns">): (keyof LabelColumns)[] =>
  (Object.keys(columns) as (keyof LabelColumns)[]).filter(
    (column) => JSON.stringify(before[column]) !== JSON.stringify(columns[column]),
  );

async function joinNew(store: ServerTx, rows: readonly { label_id: number; host_id: number }[]): Promise<void> {
  if (rows.length === 0) return;
  for await (const batch of parts(rows)) await store.labelMembers.insertMany(batch);
  await notifyMembersChanged(
    store,
    rows.map(({ label_id }) => label_id),
  );
}

/** Deletes labels and their memberships. Throws `ReferenceViolation` if a label is still in use. */
export async function removeLabels(ctx: Context, rows: readonly Pick<LabelRow, "id" | "name">[]): Promise<void> {
  const { store } = ctx;
  const ids = rows.map(({ id }) => id);
  for await (const batch of parts(ids))
    await store.labels.delete(batch.length === 1 ? eq("id", batch[0]!) : oneOf("id", batch));
  await recordActivities(ctx, "deleted_label", rows.map(aboutLabel));
  await notifyMembersChanged(store, ids);
}

export const insertLabel = (store: ServerTx, row: InsertOf<typeof labels>): Promise<LabelRow> =>
  store.labels.insert(row);

/** False: there is no such label. */
export const updateLabel = async (store: ServerTx, id: number, set: Partial<LabelRow>): Promise<boolean> =>
  (await store.labels.update({ where: eq("id", id), set })) > 0;
