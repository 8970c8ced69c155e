import { minutes } from "../core/clock.ts";
import { cleanOutbox } from "../outbox/cleanup.ts";
import type { Job } from "./job.ts";

/** The outbox keeps what was delivered and given up for a while, and never too much. */
export const outboxCleanup: Job = {
  name: "outbox_cleanup",
  every: minutes(10),
  run: cleanOutbox,
};
