import { days, hours, isoAt } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lte } from "../store/query.ts";

/** How long a task can be read after its end. The activity feed keeps a record beyond that. */
const KEPT_FOR = days(30);

export const taskCleanup: Job = {
  name: "task_cleanup",
  every: hours(1),
  async run({ store, clock }) {
    await store.tasks.delete(lte("finished_at", isoAt(clock.now() - KEPT_FOR)));
  },
};
