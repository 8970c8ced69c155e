import type { PlanItem } from "../../../api/edge/plans.ts";

/** `3 new, 1 changed`. */
export const summaryOf = ({ create, update, delete: remove }: PlanItem["summary"]): string =>
  [
    ...(create > 0 ? [`${create} new`] : []),
    ...(update > 0 ? [`${update} changed`] : []),
    ...(remove > 0 ? [`${remove} deleted`] : []),
  ].join(", ");
