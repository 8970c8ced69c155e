import { days, hours, isoAt } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lt, oneOf } from "../store/query.ts";

const KEPT_FOR = days(30);
const BATCH_SIZE = 2_000;
const byTime = [{ column: "created_at", direction: "asc" }] as const;

/** Deletes old runs of policy automations, and those of the time of activities that have expired. */
export const policyRunCleanup: Job = {
  name: "policy_run_cleanup",
  every: hours(1),
  async run({ store, clock }, signal) {
    const [oldest] = await store.activities.pick(["created_at"], {
      order: [{ column: "id", direction: "asc" }],
      limit: 1,
    });
    const cutoff = isoAt(clock.now() - KEPT_FOR);
    const where = lt("created_at", oldest && oldest.created_at > cutoff ? oldest.created_at : cutoff);
    while (!signal.aborted) {
      const old = await store.policyRuns.pick(["id"], { where, order: byTime, limit: BATCH_SIZE });
      if (old.length === 0) return;
      await store.policyRuns.delete(
        oneOf(
          "id",
          old.map(({ id }) => id),
        ),
      );
    }
  },
};
