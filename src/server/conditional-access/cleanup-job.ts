import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lte } from "../store/query.ts";

/** Deletes requests that are too old to be answered again, and permissions that were not used. */
export const conditionalAccessCleanup: Job = {
  name: "conditional_access_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.conditionalAccessRequests.delete(lte("expires_at", clock.iso()));
    await store.conditionalAccessBypasses.delete(lte("expires_at", clock.iso()));
  },
};
