import type { z } from "zod";
import { labelFields } from "../../../api/hosts/label.ts";
import type { LabelBody, LabelItem, labelsApi } from "../../../api/hosts/labels.ts";
import { fieldNames, pickSet } from "../../../api/plain-fields.ts";
import { labelCounts } from "../../hosts/labels/counts.ts";
import { checkCustomVital } from "../../hosts/labels/custom-vitals.ts";
import { checkUnused } from "../../hosts/labels/label-uses.ts";
import { againWithoutGone, idsOfHosts, memberIds, replaceMembers } from "../../hosts/labels/members.ts";
import { checkLabelName, labelName } from "../../hosts/labels/names.ts";
import { admitLabelSql, reachOf } from "../../hosts/labels/reach.ts";
import {
  authorizeLabel,
  checkNameFree,
  checkOneSource,
  checkPlatform,
  checkQuery,
  getLabelRow,
  nameTaken,
} from "../../hosts/labels/rules.ts";
import { type LabelRow, labelOnWire } from "../../hosts/labels/wire.ts";
import { aboutLabel, insertLabel, LABELS_LOCK, removeLabels, updateLabel } from "../../hosts/labels/write.ts";
import { shownErrors } from "../../hosts/query-errors/errors.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalid, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { visible } from "../../platform/core/security/access.ts";
import { eq, everything } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { checkCriteria, findMembers } from "./criteria.ts";

const plainNames = fieldNames(labelFields);

type List = z.output<(typeof labelsApi)["list"]["query"]>;

export async function listLabels(ctx: Context, query: List): Promise<{ labels: LabelItem[] }> {
  const { query: _search, include_host_counts: counted, ...paging } = query;
  const { rows } = await page(ctx.store.labels, paging, everything);
  const counts = counted ? await labelCounts(ctx) : new Map<number, number>();
  const errorsOf = await labelErrors(ctx, rows);
  return {
    labels: rows.map((row) => labelOnWire(row, { count: counts.get(row.id) ?? 0, errors: errorsOf(row.id) })),
  };
}

export async function summarizeLabels({ store }: Context) {
  const rows = await store.labels.pick(["id", "name", "description", "label_type"], {
    order: [{ column: "id", direction: "asc" }],
  });
  return { labels: rows.map((row) => ({ ...row, team_id: null })) };
}

export async function getLabel(ctx: Context, id: number): Promise<{ label: LabelItem }> {
  return { label: await wholeLabel(ctx, await getLabelRow(ctx, id)) };
}

async function wholeLabel(ctx: Context, row: LabelRow): Promise<LabelItem> {
  const counts = await labelCounts(ctx);
  const isManual = row.label_membership_type === "manual";
  const errorsOf = await labelErrors(ctx, [row]);
  const hostIds = isManual ? await memberIds(ctx, row.id) : [];
  return labelOnWire(row, { count: counts.get(row.id) ?? 0, errors: errorsOf(row.id), hostIds });
}

/** On hosts that the caller may see. */
export const labelErrors = (ctx: Pick<Context, "store" | "user">, rows: readonly Pick<LabelRow, "id">[]) =>
  shownErrors(
    ctx.store,
    "label_id",
    rows.map(({ id }) => id),
    visible(ctx, "hosts:list"),
  );

/** Serializes changes of labels. Caches are notified at the commit. */
export const changingLabels = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx(
    async (store) => {
      const result = await work(within(ctx, store));
      await store.notify(channels.labels, "");
      return result;
    },
    { lock: LABELS_LOCK },
  );

export async function createLabel(ctx: Context, input: LabelBody): Promise<{ label: LabelItem }> {
  const name = checkLabelName(input.name);
  checkOneSource(input);
  const platform = checkPlatform(input.platform);
  const query = checkQuery(input.query);
  admitLabelSql(ctx, { name, query });
  const criteria = input.criteria ? checkCriteria(ctx, input.criteria) : null;
  const storeLabel = async (): Promise<number> => {
    const members = await idsOfHosts(ctx, input.hosts ?? input.host_ids ?? [], "hosts");
    return changingLabels(ctx, async (inside) => {
      const { store } = inside;
      await checkNameFree(store, name);
      await checkCustomVital(store, criteria);
      const now = ctx.clock.iso();
      const label = await insertLabel(store, {
        created_at: now,
        updated_at: now,
        author_id: ctx.user.kind === "user" ? ctx.user.id : null,
        name,
        ...pickSet(input, plainNames),
        query,
        platform,
        label_type: "regular",
        label_membership_type: query !== "" ? "dynamic" : criteria ? "host_vitals" : "manual",
        criteria,
        asked_teams: reachOf(ctx),
      });
      if (members.size > 0) await replaceMembers(inside, label.id, members);
      if (criteria) await findMembers(inside, label);
      await recordActivity(inside, "created_label", aboutLabel(label));
      return label.id;
    });
  };
  return getLabel(ctx, await nameTaken(name, () => againWithoutGone(storeLabel)));
}

export async function modifyLabel(
  ctx: Context,
  id: number,
  { team_id, label_type, ...change }: z.output<typeof labelsApi.modify.body>,
): Promise<{ label: LabelItem }> {
  const row = await changeable(ctx, id);
  checkUnchanged<{ team_id: number | null; label_type: string }>(
    { team_id, label_type },
    { team_id: null, label_type: row.label_type },
  );
  const name = change.name == null ? row.name : checkLabelName(change.name);
  const hosts = change.hosts ?? change.host_ids;
  if (change.hosts && change.host_ids) throw invalid("hosts", "only one of hosts and host_ids can be given");
  if (hosts && row.label_membership_type !== "manual")
    throw invalid("hosts", "hosts can be set only for a manual label");
  const storeLabel = async (): Promise<void> => {
    const members = hosts ? await idsOfHosts(ctx, hosts, "hosts") : null;
    await changingLabels(ctx, async (inside) => {
      const { store } = inside;
      await checkNameFree(store, name, id);
      const isThere = await updateLabel(store, id, {
        name,
        updated_at: ctx.clock.iso(),
        ...pickSet(change, plainNames),
      });
      if (!isThere) throw notFound("label", id);
      if (members) await replaceMembers(inside, id, members);
      await recordActivity(inside, "edited_label", aboutLabel({ id, name }));
    });
  };
  await nameTaken(name, () => againWithoutGone(storeLabel));
  return getLabel(ctx, id);
}

async function changeable(ctx: Context, id: number): Promise<LabelRow> {
  const row = await getLabelRow(ctx, id);
  await authorizeLabel(ctx, row);
  if (row.label_type === "builtin") throw invalid("label_type", "built-in labels cannot be changed");
  return row;
}

export const deleteLabelById = (ctx: Context, id: number) =>
  remove(ctx, "label_type", (inside) => getLabelRow(inside, id));

export const deleteLabelByName = (ctx: Context, name: string) =>
  remove(ctx, "name", (inside) => labelNamed(inside, name));

/** Deletes the label and its memberships. A label that is in use cannot be deleted. */
async function remove(
  ctx: Context,
  field: "name" | "label_type",
  find: (inside: Context) => Promise<LabelRow>,
): Promise<Record<string, never>> {
  try {
    await changingLabels(ctx, async (inside) => {
      const row = await find(inside);
      await authorizeLabel(inside, row);
      if (row.label_type === "builtin") throw invalid(field, "built-in labels cannot be deleted");
      await checkUnused(inside, row);
      await removeLabels(inside, [row]);
    });
  } catch (error) {
    if (error instanceof ReferenceViolation) throw invalid("base", "the label is in use (foreign key)");
    throw error;
  }
  return {};
}

export async function labelNamed({ store }: Pick<Context, "store">, name: string): Promise<LabelRow> {
  const row = await store.labels.first({ where: eq("name", labelName(name)) });
  if (!row) throw notFound("label", name);
  return row;
}
