import { forgetUses } from "../approvals/budget.ts";
import { endApprovals } from "../approvals/cleanup.ts";
import { resumeRuns } from "../approvals/run.ts";
import { minutes } from "../core/clock.ts";
import type { Job } from "./job.ts";

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
