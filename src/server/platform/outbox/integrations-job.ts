import { channels } from "../core/channels.ts";
import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";

/** Tickets and webhooks are sent immediately. This job makes the sender check for any that were left behind. */
export const integrations: Job = {
  name: "integrations",
  every: hours(1),
  async run({ store }) {
    await store.notify(channels.outbox, "");
  },
};
