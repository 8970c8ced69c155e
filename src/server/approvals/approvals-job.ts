import { minutes } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { forgetUses } from "./budget.ts";
import { endApprovals } from "./cleanup.ts";
import { resumeRuns } from "./run.ts";

/** Expires undecided approval requests, and resumes approved deletes whose server is gone. */
export const approvals: Job = {
  name: "approvals",
  every: minutes(1),
  async run(services, signal) {
    await endApprovals(services);
    await forgetUses(services);
    const resumed = await resumeRuns(services, signal);
    if (resumed > 0) services.log.info({ approvals: resumed }, "approved deletes were resumed");
  },
};
