import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";

/** Longer than any upload takes. */
const UNFINISHED_AGE_MS = hours(24);

/** Deletes what servers that were killed left of uploads. */
export const uploadCleanup: Job = {
  name: "upload_cleanup",
  every: hours(6),
  async run({ blobs, clock, log }) {
    const removed = await blobs.removeUnfinished(new Date(clock.now() - UNFINISHED_AGE_MS));
    if (removed > 0) log.info({ uploads: removed }, "unfinished uploads were removed");
  },
};
