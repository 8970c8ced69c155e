import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lte } from "../store/query.ts";

/** Deletes the rows of expired tokens, which are refused in any case. */
export const enrollTokenCleanup: Job = {
  name: "enroll_token_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.enrollTokens.delete(lte("expires_at", clock.iso()));
  },
};
