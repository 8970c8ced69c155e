// Adds one host to manual labels, or removes it from them.
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { hostFor } from "../hosts/access.ts";
import { notifyMembersChanged } from "./counts.ts";
import { labelName } from "./names.ts";
import { quotedNames } from "./scope.ts";
import { LABELS_LOCK } from "./write.ts";

type Change = "add" | "remove";

/** All or nothing: one label that cannot be set by hand refuses the whole call. */
export async function changeHostLabels(
  ctx: Context,
  hostId: number,
  input: readonly string[] | null | undefined,
  change: Change,
): Promise<Record<string, never>> {
  await hostFor(ctx, "hosts:label", hostId);
  const names = [...new Set((input ?? []).map(labelName))].filter((name) => name !== "");
  if (names.length === 0) return {};
  const work = async (store: ServerTx) => {
    const inside = within(ctx, store);
    const host = await hostFor(inside, "hosts:label", hostId);
    const named = await store.labels.list({ where: oneOf("name", names) });
    const manual = new Map(
      named
        .filter((label) => label.label_type === "regular" && label.label_membership_type === "manual")
        .map((label) => [label.name, label.id]),
    );
    const wrong = names.filter((name) => !manual.has(name));
    if (wrong.length > 0) throw badRequest(`unknown labels, or not manual: ${quotedNames(wrong)}`, "labels");
    const hostLabels = new Set(
      (
        await store.labelMembers.pick(["label_id"], {
          where: and(eq("host_id", hostId), oneOf("label_id", [...manual.values()])),
        })
      ).map(({ label_id }) => label_id),
    );
    const changed = names.filter((name) => hostLabels.has(manual.get(name)!) === (change === "remove"));
    if (changed.length === 0) return;
    const ids = changed.map((name) => manual.get(name)!);
    if (change === "add")
      await store.labelMembers.upsert(
        ids.map((label_id) => ({ label_id, host_id: hostId })),
        { on: ["label_id", "host_id"], set: [], returning: [] },
      );
    else await store.labelMembers.delete(and(eq("host_id", hostId), oneOf("label_id", ids)));
    await notifyMembersChanged(store, ids);
    const details = { host_id: hostId, host_display_name: host.display_name };
    const [added, removed] = change === "add" ? [changed, []] : [[], changed];
    await recordActivity(inside, "edited_host_labels", { ...details, added, removed }, { hostId });
  };
  await ctx.store.tx(work, { lock: LABELS_LOCK });
  return {};
}
