import { channels } from "../../platform/core/channels.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { lte } from "../../platform/store/query.ts";

/** Deletes the rows of expired secrets and tokens, which are refused in any case. */
export const enrollTokenCleanup: Job = {
  name: "enroll_token_cleanup",
  every: minutes(10),
  async run({ store, clock }) {
    const isOver = lte("expires_at", clock.iso());
    await store.enrollTokens.delete(isOver);
    if ((await store.enrollSecrets.delete(isOver)) > 0) await store.notify(channels.enrollSecrets, "");
  },
};
