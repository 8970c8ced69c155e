// Records the past for charts, and deletes what is older than is kept.
import { chartMetricNames, chartMetrics } from "../../../api/inventory/chart-metrics.ts";
import { hourOf } from "../../hosts/history/hours.ts";
import { clearWhereOff, noteSample, readSwitches, recordedHosts, sampledAt } from "../../hosts/history/recorded.ts";
import { days, hours, minutes } from "../../platform/core/clock.ts";
import { isPremium } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { metrics } from "./metrics.ts";

/** One server runs it at a time, so that nothing is recorded while what was turned off is deleted. */
export const historySamples: Job = {
  name: "history_samples",
  every: minutes(5),
  after: ["host_expiry", "vulnerabilities"],
  async run(services, signal) {
    const { store, clock } = services;
    for (const name of chartMetricNames) {
      const metric = metrics[name];
      const switches = await readSwitches(services, metric.dataset);
      await clearWhereOff(services, metric.dataset, switches, (hosts) => metric.clear(store, hosts, signal), signal);
      if (!switches.isOn || (chartMetrics[name].isPremium && !isPremium(services))) continue;
      const last = await sampledAt(store, name);
      const now = clock.now();
      if (signal.aborted) return;
      if (!metric.isDue(now, last)) continue;
      await metric.sample(services, recordedHosts(switches), last, signal);
      if (signal.aborted) return;
      await noteSample(store, name, clock.iso());
    }
  },
};

export const historyCleanup: Job = {
  name: "history_cleanup",
  every: hours(1),
  async run({ store, clock, settings }, signal) {
    const before = hourOf(clock.now()) - days(settings.history_days);
    for (const name of chartMetricNames) await metrics[name].trim(store, before, signal);
  },
};
