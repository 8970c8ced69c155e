// What names a label, by its id or in a selector.
import { type LabelUses, labelUseKinds } from "../../../api/hosts/label-effects.ts";
import { type UseOfLabel, usesById } from "../../hosts/labels/label-uses.ts";
import { getLabelRow } from "../../hosts/labels/rules.ts";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { eq, everything, oneOf } from "../../platform/store/query.ts";
import { readsView } from "../../settings/views/access.ts";
import { labelsNamedIn } from "../host-list/selector/known-names.ts";

/** Views read at a time. */
const BATCH_SIZE = 500;

export async function labelUses(ctx: Context, id: number): Promise<LabelUses> {
  const label = await getLabelRow(ctx, id);
  const uses = [
    ...(await usesById(ctx, id)),
    ...(await usesByLabels(ctx, label)),
    ...(await usesByViews(ctx, label)),
  ].sort(byKindAndName);
  const readable = uses.filter(({ isReadable }) => isReadable);
  const teamIds = readable.flatMap(({ team_id }) => team_id ?? []);
  const teams = byId(await ctx.store.teams.pick(["id", "name"], { where: oneOf("id", [...new Set(teamIds)]) }));
  return {
    uses: readable.map(({ labelId: _label, isReadable: _readable, ...use }) => ({
      ...use,
      team_name: use.team_id === null ? null : (teams.get(use.team_id)?.name ?? null),
    })),
    count: uses.length,
    hidden_count: uses.length - readable.length,
  };
}

const byKindAndName = (a: UseOfLabel, b: UseOfLabel): number =>
  labelUseKinds.indexOf(a.kind) - labelUseKinds.indexOf(b.kind) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

type LabelName = Pick<LabelRow, "id" | "name">;

async function usesByLabels({ store }: Context, { id: labelId, name }: LabelName): Promise<UseOfLabel[]> {
  const labels = await store.labels.pick(["id", "name", "criteria"], {
    where: eq("label_membership_type", "host_vitals"),
  });
  return labels
    .filter(({ criteria }) => criteria !== null && "where" in criteria && labelsNamedIn(criteria.where).has(name))
    .map(
      (label): UseOfLabel => ({
        labelId,
        kind: "label",
        id: label.id,
        name: label.name,
        team_id: null,
        as: "selector",
        on_delete: "unmatched",
        isReadable: true,
      }),
    );
}

async function usesByViews(ctx: Context, { id: labelId, name }: LabelName): Promise<UseOfLabel[]> {
  const uses: UseOfLabel[] = [];
  for await (const views of ctx.store.views.pages({ where: everything }, BATCH_SIZE))
    for (const view of views) {
      const isFilter = view.query.label_id === String(labelId);
      if (!isFilter && !labelsNamedIn(view.query.where ?? "").has(name)) continue;
      uses.push({
        labelId,
        kind: "view",
        id: view.id,
        name: view.name,
        team_id: view.team_id,
        as: isFilter ? "filter" : "selector",
        on_delete: "unmatched",
        isReadable: readsView(ctx, view),
      });
    }
  return uses;
}
