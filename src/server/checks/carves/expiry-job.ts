import { hours, minutes } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { expireCarves, sweepBlocks } from "./expiry.ts";

export const carveExpiry: Job = {
  name: "carve_expiry",
  every: minutes(5),
  async run(services, signal) {
    const expired = await expireCarves(services, signal);
    if (expired > 0) services.log.info({ carves: expired }, "contents of carves expired");
  },
};

/**
 * Deletes blocks that were left behind by deleted hosts or crashed servers. It reads every block, so it runs rarely.
 */
export const carveBlocks: Job = {
  name: "carve_blocks",
  every: hours(1),
  async run(services, signal) {
    const removed = await sweepBlocks(services, signal);
    if (removed > 0) services.log.info({ blocks: removed }, "blocks without a carve were removed");
  },
};
