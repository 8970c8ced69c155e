// Custom host vitals by which labels choose their members.
import { customVitalOf } from "../../hosts/labels/custom-vitals.ts";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import { vitalKey, written } from "../../settings/variables/text.ts";
import type { IsUsedIn, VariableUser } from "../../settings/variables/use.ts";
import { findMembers } from "./criteria.ts";

type Label = Pick<LabelRow, "id" | "name" | "criteria">;

async function labelsThatUse(store: Pick<ServerTx, "labels">, isUsedIn: IsUsedIn): Promise<Label[]> {
  const where = eq("label_membership_type", "host_vitals");
  const labels = await store.labels.pick(["id", "name", "criteria"], { where });
  return labels.filter(({ criteria }) => {
    const id = customVitalOf(criteria);
    return id !== null && isUsedIn(written(vitalKey(id)));
  });
}

export const labelsUseVitals: VariableUser = {
  async findUse(store, isUsedIn) {
    const [label] = await labelsThatUse(store, isUsedIn);
    return label ? `the label ${JSON.stringify(label.name)}` : null;
  },
  async changed(inside, isUsedIn) {
    for (const label of await labelsThatUse(inside.store, isUsedIn)) await findMembers(inside, label);
  },
};
