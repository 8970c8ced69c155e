import { minutes } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lte } from "../store/query.ts";

/** Deletes rows that no longer count against a rate limit. They are ignored in any case. */
export const rateLimitCleanup: Job = {
  name: "rate_limit_cleanup",
  every: minutes(1),
  async run({ store, clock }) {
    await store.rateLimits.delete(lte("expires_at", clock.iso()));
  },
};
