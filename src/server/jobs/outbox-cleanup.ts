import { minutes } from "../core/clock.ts";
import { cleanOutbox } from "../outbox/cleanup.ts";
import type { Job } from "./job.ts";

/** Deletes old delivered and abandoned messages from the outbox, and limits its size. */
export const outboxCleanup: Job = {
  name: "outbox_cleanup",
  every: minutes(10),
  run: cleanOutbox,
};
