import { minutes } from "../../../platform/core/clock.ts";
import type { Job } from "../../../platform/core/job.ts";
import { sendDue } from "./push.ts";

/** Reminders of devices for which commands wait, and pushes that could not be sent. */
export const applePushJob: Job = {
  name: "apns_push",
  every: minutes(1),
  async run(services, signal) {
    await sendDue(services, signal);
  },
};
