import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { over } from "./expired.ts";

/** Deletes expired sessions and tokens. They are refused in any case. */
export const sessionCleanup: Job = {
  name: "session_cleanup",
  every: hours(1),
  async run(services) {
    await services.store.sessions.delete(over(services));
  },
};
