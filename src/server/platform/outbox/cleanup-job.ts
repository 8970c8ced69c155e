import { minutes } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { cleanOutbox } from "./cleanup.ts";

/** Deletes old delivered and abandoned messages from the outbox, and limits its size. */
export const outboxCleanup: Job = {
  name: "outbox_cleanup",
  every: minutes(10),
  run: cleanOutbox,
};
