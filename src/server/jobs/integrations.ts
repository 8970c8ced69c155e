import { channels } from "../core/channels.ts";
import { hours } from "../core/clock.ts";
import type { Job } from "./job.ts";

/** Tickets and webhooks go out as they come; this has the sender look whether any was left lying. */
export const integrations: Job = {
  name: "integrations",
  every: hours(1),
  async run({ store }) {
    await store.notify(channels.outbox, "");
  },
};
