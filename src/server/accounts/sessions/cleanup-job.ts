import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { deleteExpired } from "./expired.ts";

export const sessionCleanup: Job = {
  name: "session_cleanup",
  every: hours(1),
  async run(services) {
    await deleteExpired(services);
  },
};
