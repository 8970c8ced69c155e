import { forgetUses } from "../../hosts/approvals/budget.ts";
import { endApprovals } from "../../hosts/approvals/cleanup.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";

/** Expires undecided approval requests, and forgets what counts no longer against the limit of deletes. */
export const approvals: Job = {
  name: "approvals",
  every: minutes(1),
  async run(services) {
    await endApprovals(services);
    await forgetUses(services);
  },
};
