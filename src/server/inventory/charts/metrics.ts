// The metrics of charts. A further one is an entry here and in src/api/inventory/chart-metrics.ts.
import type { ChartMetric } from "../../../api/inventory/chart-metrics.ts";
import { cve } from "./cve.ts";
import type { Metric } from "./metric.ts";
import { uptime } from "./uptime.ts";

export const metrics: Readonly<Record<ChartMetric, Metric>> = { uptime, cve };
