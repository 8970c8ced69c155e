import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lt } from "../store/query.ts";

/** Deletes the rows of expired mailed links. Expired links are refused in any case. */
export const oneTimeCleanup: Job = {
  name: "one_time_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.oneTimeTokens.delete(lt("expires_at", clock.iso()));
  },
};
