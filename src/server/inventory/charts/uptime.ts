import { HostBits } from "../../hosts/history/host-set.ts";
import { clearHours, hourOf, readHours, trimHours } from "../../hosts/history/hours.ts";
import { sampleUptime, UPTIME, UPTIME_EVERY } from "../../hosts/history/uptime.ts";
import { hours } from "../../platform/core/clock.ts";
import type { Metric } from "./metric.ts";

const HOUR = hours(1);

export const uptime: Metric = {
  dataset: "uptime",
  isDue: (now, last) => last === null || last > now || now - last >= UPTIME_EVERY / 2,
  sample: sampleUptime,
  clear: (store, hosts, signal) => clearHours(store, UPTIME, hosts, signal),
  trim: (store, before, signal) => trimHours(store, UPTIME, hourOf(before), signal),
  async read(ctx, { spans }) {
    return {
      filters: {},
      async count(visible) {
        const byHour = await readHours(ctx, UPTIME, { from: spans[0]!.from, to: spans.at(-1)!.to });
        return spans.map(({ from, to }) => {
          const sets: HostBits[] = [];
          // Where the offset from UTC is no whole number of hours, an hour counts for the time in which it begins.
          for (let hour = hourOf(from + HOUR - 1); hour < to; hour += HOUR) {
            const bits = byHour.get(hour);
            if (bits) sets.push(bits);
          }
          if (sets.length <= 1) return sets[0]?.sizeWithin(visible) ?? 0;
          const union = new HostBits();
          for (const bits of sets) union.addAll(bits);
          return union.sizeWithin(visible);
        });
      },
    };
  },
};
