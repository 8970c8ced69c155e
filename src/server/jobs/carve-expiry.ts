import { expireCarves, sweepBlocks } from "../carves/expiry.ts";
import { hours, minutes } from "../core/clock.ts";
import type { Job } from "./job.ts";

export const carveExpiry: Job = {
  name: "carve_expiry",
  every: minutes(5),
  async run(services, signal) {
    const expired = await expireCarves(services, signal);
    if (expired > 0) services.log.info({ carves: expired }, "contents of carves expired");
  },
};

/** Looks at every block: seldom, and only for what the death of a host or of a server left behind. */
export const carveBlocks: Job = {
  name: "carve_blocks",
  every: hours(1),
  async run(services, signal) {
    const removed = await sweepBlocks(services, signal);
    if (removed > 0) services.log.info({ blocks: removed }, "blocks without a carve were removed");
  },
};
