import { minutes } from "../../../core/clock.ts";
import type { Job } from "../../../core/job.ts";
import { continueSetups } from "./release.ts";

export const setupJob: Job = {
  name: "setup_experience",
  every: minutes(1),
  run: continueSetups,
};
