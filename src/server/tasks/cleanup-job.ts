import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { forgetTasks } from "./start.ts";

export const taskCleanup: Job = {
  name: "task_cleanup",
  every: hours(1),
  async run(services) {
    await forgetTasks(services);
  },
};
