// Adds hosts to manual labels, and removes them from others.
import { recordActivities } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf, or } from "../../platform/store/query.ts";
import { type HostRow, hostFor } from "../hosts/access.ts";
import { notifyMembersChanged } from "./counts.ts";
import { labelName } from "./names.ts";
import { quotedNames } from "./scope.ts";
import { LABELS_LOCK } from "./write.ts";

/** Names and ids of manual labels. */
export interface HostLabelChange {
  readonly add?: readonly (string | number)[] | null | undefined;
  readonly remove?: readonly (string | number)[] | null | undefined;
}

interface ManualLabel {
  readonly id: number;
  readonly name: string;
}

/** All or nothing: one label that cannot be set by hand refuses the whole call. */
export async function changeHostLabels(
  ctx: Context,
  hostId: number,
  { add, remove }: HostLabelChange,
): Promise<Record<string, never>> {
  await hostFor(ctx, "hosts:label", hostId);
  const work = async (store: ServerTx) => {
    const inside = within(ctx, store);
    const host = await hostFor(inside, "hosts:label", hostId);
    const [joining, leaving] = [await manualLabels(store, add), await manualLabels(store, remove)];
    await changeLabels(inside, [host], { joining, leaving });
  };
  await ctx.store.tx(work, { lock: LABELS_LOCK });
  return {};
}

interface LabelChange {
  readonly joining: readonly ManualLabel[];
  readonly leaving: readonly ManualLabel[];
}

/** Adds hosts to labels, and removes them from others, in the caller's transaction with `LABELS_LOCK`. */
export async function changeLabels(
  inside: Context,
  hosts: readonly Pick<HostRow, "id" | "display_name">[],
  { joining, leaving }: LabelChange,
): Promise<void> {
  const { store } = inside;
  const hostIds = hosts.map(({ id }) => id);
  const labelIds = [...joining, ...leaving].map(({ id }) => id);
  if (labelIds.length === 0) return;
  const memberships = await store.labelMembers.pick(["label_id", "host_id"], {
    where: and(oneOf("host_id", hostIds), oneOf("label_id", labelIds)),
  });
  const current = new Set(memberships.map(({ label_id, host_id }) => `${label_id} ${host_id}`));
  const changes = hosts
    .map(({ id, display_name }) => ({
      id,
      display_name,
      added: joining.filter((label) => !current.has(`${label.id} ${id}`)),
      removed: leaving.filter((label) => current.has(`${label.id} ${id}`)),
    }))
    .filter(({ added, removed }) => added.length + removed.length > 0);
  if (changes.length === 0) return;
  const joined = changes.flatMap(({ id, added }) => added.map((label) => ({ label_id: label.id, host_id: id })));
  if (joined.length > 0)
    await store.labelMembers.upsert(joined, { on: ["label_id", "host_id"], set: [], returning: [] });
  const left = leaving.map(({ id }) => id);
  if (left.length > 0) await store.labelMembers.delete(and(oneOf("host_id", hostIds), oneOf("label_id", left)));
  const changed = changes.flatMap(({ added, removed }) => [...added, ...removed].map(({ id }) => id));
  await notifyMembersChanged(store, [...new Set(changed)]);
  const namesOf = (labels: readonly ManualLabel[]) => labels.map(({ name }) => name);
  const entries = changes.map(({ id, display_name, added, removed }) => ({
    host_id: id,
    host_display_name: display_name,
    added: namesOf(added),
    removed: namesOf(removed),
  }));
  await recordActivities(inside, "edited_host_labels", entries, { hostIds: changes.map(({ id }) => id) });
}

/** The labels with these names and ids, each once, in their order. 400 of `field` if one is not there, or not manual. */
export async function manualLabels(
  store: ServerTx,
  input: HostLabelChange["add"],
  field = "labels",
): Promise<ManualLabel[]> {
  const refs = (input ?? []).map((ref) => (typeof ref === "number" ? ref : labelName(ref))).filter((ref) => ref !== "");
  if (refs.length === 0) return [];
  const ids = refs.filter((ref) => typeof ref === "number");
  const names = refs.filter((ref) => typeof ref === "string");
  const rows = await store.labels.list({ where: or(oneOf("id", ids), oneOf("name", names)) });
  const labels = new Map<string | number, ManualLabel>();
  for (const label of rows)
    if (label.label_type === "regular" && label.label_membership_type === "manual")
      labels.set(label.id, label).set(label.name, label);
  const wrong = [...new Set(refs.filter((ref) => !labels.has(ref)))];
  if (wrong.length > 0) throw badRequest(`unknown labels, or not manual: ${quotedNames(wrong.map(String))}`, field);
  return [...new Set(refs.map((ref) => labels.get(ref)!))];
}
