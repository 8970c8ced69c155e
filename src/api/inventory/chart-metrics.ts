// What charts show. No zod: the console and the commands import it.

interface MetricSpec {
  readonly summary: string;
  /** How points are best drawn: as a line, or as a grid of hours and days. */
  readonly visualization: "line" | "checkerboard";
  /** Hours per point unless a request says otherwise. */
  readonly resolution: number;
  readonly isPremium: boolean;
}

/** By name. */
export const chartMetrics = {
  uptime: {
    summary: "hosts that were online at any moment of the time of a point",
    visualization: "checkerboard",
    resolution: 3,
    isPremium: false,
  },
  cve: {
    summary: "hosts that a critical vulnerability affected at the end of the time of a point",
    visualization: "line",
    resolution: 24,
    isPremium: true,
  },
} as const satisfies Record<string, MetricSpec>;

export type ChartMetric = keyof typeof chartMetrics;
export const chartMetricNames = Object.keys(chartMetrics) as [ChartMetric, ...ChartMetric[]];

export const CHART_DAYS = 7;
/** The most days of a chart, unless the server keeps more. */
export const MAX_CHART_DAYS = 31;
