// Adds one host to manual labels, and removes it from others.
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf, or } from "../../platform/store/query.ts";
import { hostFor } from "../hosts/access.ts";
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
    const ids = [...joining, ...leaving].map(({ id }) => id);
    if (ids.length === 0) return;
    const memberships = await store.labelMembers.pick(["label_id"], {
      where: and(eq("host_id", hostId), oneOf("label_id", ids)),
    });
    const current = new Set(memberships.map(({ label_id }) => label_id));
    const added = joining.filter(({ id }) => !current.has(id));
    const removed = leaving.filter(({ id }) => current.has(id));
    if (added.length + removed.length === 0) return;
    const joined = added.map(({ id }) => ({ label_id: id, host_id: hostId }));
    if (joined.length > 0)
      await store.labelMembers.upsert(joined, { on: ["label_id", "host_id"], set: [], returning: [] });
    const removedIds = removed.map(({ id }) => id);
    if (removedIds.length > 0)
      await store.labelMembers.delete(and(eq("host_id", hostId), oneOf("label_id", removedIds)));
    await notifyMembersChanged(store, [...added.map(({ id }) => id), ...removedIds]);
    const details = {
      host_id: hostId,
      host_display_name: host.display_name,
      added: added.map(({ name }) => name),
      removed: removed.map(({ name }) => name),
    };
    await recordActivity(inside, "edited_host_labels", details, { hostId });
  };
  await ctx.store.tx(work, { lock: LABELS_LOCK });
  return {};
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
