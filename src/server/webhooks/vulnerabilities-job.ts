import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { reportVulnerabilities } from "./vulnerabilities.ts";

/** Finds new vulnerabilities on hosts and notifies the configured recipients. */
export const vulnerabilities: Job = {
  name: "vulnerabilities",
  every: hours(1),
  run: reportVulnerabilities,
};
