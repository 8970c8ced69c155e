import { minutes } from "../../../platform/core/clock.ts";
import type { Job } from "../../../platform/core/job.ts";
import { continueSetups } from "./release.ts";

export const setupJob: Job = {
  name: "setup_experience",
  every: minutes(1),
  run: continueSetups,
};
