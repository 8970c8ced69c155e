import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { announceExpiring } from "./service.ts";

export const expiryJob: Job = {
  name: "certificate_expiry",
  every: hours(1),
  run: announceExpiring,
};
