import { hours } from "../core/clock.ts";
import { lt } from "../store/query.ts";
import type { Job } from "./job.ts";

/** Mailed links that are over are refused anyway; here their rows go. */
export const oneTimeCleanup: Job = {
  name: "one_time_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.oneTimeTokens.delete(lt("expires_at", clock.iso()));
  },
};
