import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { trimEvents } from "./automations.ts";
import { deadResults, recount } from "./counts.ts";
import { removeResults } from "./results.ts";

/** Policy counts are updated with every change. This job corrects deviations, for example after a crash. */
export const policyCounts: Job = {
  name: "policy_counts",
  every: hours(1),
  after: ["host_expiry"],
  async run({ store, clock }, signal) {
    await removeResults(store, await deadResults(store, signal), signal);
    for (const { id } of await store.policies.pick(["id"])) {
      if (signal.aborted) return;
      await recount(store, id, clock.iso());
    }
    while (!signal.aborted && (await trimEvents(store)) > 0);
  },
};
