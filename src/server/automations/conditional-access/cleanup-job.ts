import { hours } from "../../platform/core/clock.ts";
import { isFree } from "../../platform/core/concurrency/lease.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, isNull, lte } from "../../platform/store/query.ts";

/**
 * Deletes requests that are too old to be answered again, permissions that were not used, and devices without a host of
 * which the directory knows nothing.
 */
export const conditionalAccessCleanup: Job = {
  name: "conditional_access_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.conditionalAccessRequests.delete(lte("expires_at", clock.iso()));
    await store.conditionalAccessBypasses.delete(lte("expires_at", clock.iso()));
    await store.directoryDevices.delete(and(isNull("host_id"), eq("reported", ""), isFree({ clock })));
  },
};
