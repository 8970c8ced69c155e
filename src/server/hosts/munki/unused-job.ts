import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { removeUnusedSolutions } from "../mdm-status/solutions.ts";
import { removeUnusedIssues } from "./unused.ts";

/** Deletes device management products and Munki issues that no host reports any more. */
export const deviceManagement: Job = {
  name: "device_management",
  every: hours(1),
  after: ["host_expiry"],
  async run(services, signal) {
    await removeUnusedSolutions(services);
    await removeUnusedIssues(services, signal);
  },
};
