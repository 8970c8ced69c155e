import { hours } from "../core/clock.ts";
import { tellVulnerabilities } from "../webhooks/vulnerabilities.ts";
import type { Job } from "./job.ts";

/** Looks for vulnerabilities that are new on hosts, and tells of them. */
export const vulnerabilities: Job = {
  name: "vulnerabilities",
  every: hours(1),
  run: tellVulnerabilities,
};
