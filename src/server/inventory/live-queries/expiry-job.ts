import { expireActivities } from "../../platform/activities/expiry.ts";
import { days, hours, isoAt } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { sealAll } from "../../platform/outbox/activities.ts";
import { removeEndedBefore } from "./removal.ts";

/** Deletes activities older than the retention window, and the data of ended live queries from that time. */
export const activityExpiry: Job = {
  name: "activity_expiry",
  every: hours(1),
  async run(services, signal) {
    const { config, clock, store, log } = services;
    const { activity_expiry_enabled: on, activity_expiry_window: window } = (await config.current())
      .activity_expiry_settings;
    if (!on || !Number.isSafeInteger(window) || window <= 0 || window >= 100_000) return;
    const cutoff = isoAt(clock.now() - days(window));
    // Only sealed activities can be removed from the hash chain.
    await sealAll(services);
    const gone = await expireActivities(services, cutoff, signal);
    if (gone > 0) log.info({ activities: gone }, "activities expired");
    await removeEndedBefore(store, cutoff, signal);
  },
};
