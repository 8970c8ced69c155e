import { days, hours, isoAt } from "../core/clock.ts";
import { lt, oneOf } from "../store/query.ts";
import type { Job } from "./job.ts";

/** Rows in one delete: short enough that nobody waits for it. */
const BATCH = 2000;

export const activityExpiry: Job = {
  name: "activity_expiry",
  every: hours(1),
  async run({ config, store, clock }, signal) {
    const { activity_expiry_enabled: on, activity_expiry_window: window } = (await config.current())
      .activity_expiry_settings;
    if (!on || !Number.isSafeInteger(window) || window <= 0 || window >= 100_000) return;
    const where = lt("created_at", isoAt(clock.now() - days(window)));
    const oldest = [{ column: "created_at", direction: "asc" }] as const;
    while (!signal.aborted) {
      const old = await store.activities.pick(["id"], { where, order: oldest, limit: BATCH });
      if (old.length > 0)
        await store.activities.delete(
          oneOf(
            "id",
            old.map(({ id }) => id),
          ),
        );
      if (old.length < BATCH) return;
    }
  },
};
