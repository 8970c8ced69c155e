import { forgetUses } from "../../hosts/approvals/budget.ts";
import { endApprovals } from "../../hosts/approvals/cleanup.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { adoptRuns } from "./run.ts";

/** Expires undecided approval requests, and creates the tasks of deletes that were approved before there were tasks. */
export const approvals: Job = {
  name: "approvals",
  every: minutes(1),
  async run(services) {
    await endApprovals(services);
    await forgetUses(services);
    const adopted = await adoptRuns(services);
    if (adopted > 0) services.log.info({ approvals: adopted }, "approved deletes were resumed");
  },
};
