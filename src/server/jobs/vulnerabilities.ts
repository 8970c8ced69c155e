import { hours } from "../core/clock.ts";
import { reportVulnerabilities } from "../webhooks/vulnerabilities.ts";
import type { Job } from "./job.ts";

/** Finds new vulnerabilities on hosts and notifies the configured recipients. */
export const vulnerabilities: Job = {
  name: "vulnerabilities",
  every: hours(1),
  run: reportVulnerabilities,
};
