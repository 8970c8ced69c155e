import type { LabelRow } from "../../hosts/labels/wire.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { eq } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { findMembers } from "./criteria.ts";

/** Recomputes the members of labels with criteria. It only reads if nothing changed. */
export const labelCriteria: Job = {
  name: "label_criteria",
  every: minutes(1),
  run: (services, signal) => updateCriteriaLabels(services, () => true, signal),
};

type Label = Pick<LabelRow, "id" | "name" | "criteria">;

export async function updateCriteriaLabels(
  { store, clock, log }: Services,
  isMeant: (label: Label) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const labels = await store.labels.pick(["id", "name", "criteria"], {
    where: eq("label_membership_type", "host_vitals"),
  });
  for (const label of labels.filter(isMeant)) {
    if (signal?.aborted) return;
    try {
      await findMembers({ store, clock }, label);
    } catch (err) {
      // The label or a host was deleted in the meantime. The next run sees the new state.
      if (!(err instanceof ReferenceViolation))
        log.error({ err, label: label.name }, "the members of a label could not be updated");
    }
  }
}
