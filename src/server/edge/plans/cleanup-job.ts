import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { lte } from "../../platform/store/query.ts";

/** Deletes plans that cannot be applied any more, and applied ones after their time. */
export const planCleanup: Job = {
  name: "plan_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.plans.delete(lte("expires_at", clock.iso()));
  },
};
