import type { Progress } from "./options.ts";
import { ENDPOINTS, type Endpoint, type Stats } from "./stats.ts";

export type EndpointReport = {
  count: number;
  errors: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  bytesIn: number;
  bytesOut: number;
};

export type SimulationReport = {
  hosts: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byEndpoint: Record<Endpoint, EndpointReport>;
  statuses: Record<string, number>;
  enrolled: number;
  reEnrolled: number;
  nodeInvalid: number;
  connectFailures: number;
  timeouts: number;
  undefinedAnswers: number;
  acknowledgedLines: number;
  pendingLines: number;
  droppedLines: number;
  deliveredResults: number;
  scriptsRun: number;
  installsRun: number;
  installsFailed: number;
  /** Results of queries, scripts and installations that were not delivered before the end. */
  lostResults: number;
  recentErrors: string[];
  /** Mode `enroll`: hosts that enrolled and delivered their first inventory. */
  enrollment: { hosts: number; seconds: number; perSecond: number } | null;
};

export function reportOf(
  stats: Stats,
  rest: Pick<SimulationReport, "hosts" | "seconds" | "pendingLines" | "lostResults" | "enrollment">,
): SimulationReport {
  const byEndpoint = Object.fromEntries(
    ENDPOINTS.map((name) => {
      const { latency, errors, bytesIn, bytesOut } = stats.endpoints[name];
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => round(latency.quantile(q))) as [number, number, number];
      return [name, { count: latency.count, errors, p50, p95, p99, max: round(latency.maxMs), bytesIn, bytesOut }];
    }),
  ) as Record<Endpoint, EndpointReport>;
  return {
    ...rest,
    requests: stats.requests,
    requestsPerSecond: rest.seconds > 0 ? round(stats.requests / rest.seconds) : 0,
    errors: stats.errors,
    byEndpoint,
    statuses: Object.fromEntries([...stats.statuses].sort(([a], [b]) => a - b)),
    enrolled: stats.enrolled,
    reEnrolled: stats.reEnrolled,
    nodeInvalid: stats.nodeInvalid,
    connectFailures: stats.connectFailures,
    timeouts: stats.timeouts,
    undefinedAnswers: stats.undefinedAnswers,
    acknowledgedLines: stats.acknowledgedLines,
    droppedLines: stats.droppedLines,
    deliveredResults: stats.deliveredResults,
    scriptsRun: stats.scriptsRun,
    installsRun: stats.installsRun,
    installsFailed: stats.installsFailed,
    recentErrors: stats.recentErrors.list(),
  };
}

/** True if the server accepted everything that the agents sent. Then `svc agent simulate` exits with 0. */
export function nothingLost(report: SimulationReport): boolean {
  return report.pendingLines === 0 && report.droppedLines === 0 && report.lostResults === 0;
}

/** The report as text lines with aligned columns. */
export function renderReport(report: SimulationReport): string {
  const head = ["endpoint", "requests", "errors", "p50 ms", "p95 ms", "p99 ms", "max ms", "in", "out"];
  const endpoints = ENDPOINTS.filter((name) => !/^(carve|managed)_/.test(name) || report.byEndpoint[name].count > 0);
  const rows = endpoints.map((name) => {
    const e = report.byEndpoint[name];
    const times = [e.p50, e.p95, e.p99, e.max].map((ms) => ms.toFixed(1));
    return [
      name.replaceAll("_", " "),
      String(e.count),
      String(e.errors),
      ...times,
      bytes(e.bytesIn),
      bytes(e.bytesOut),
    ];
  });
  const facts: [string, string][] = [
    ["hosts", `${report.hosts}, ${report.enrolled} enrolled, ${report.reEnrolled} enrolled again`],
    [
      "requests",
      `${report.requests} in ${report.seconds.toFixed(1)} s (${report.requestsPerSecond}/s), ${report.errors} errors`,
    ],
    [
      "statuses",
      Object.entries(report.statuses)
        .map(([status, n]) => `${status}: ${n}`)
        .join(", ") || "none",
    ],
    [
      "log lines",
      `${report.acknowledgedLines} acknowledged, ${report.pendingLines} pending, ${report.droppedLines} dropped`,
    ],
    ["results", `${report.deliveredResults} delivered, ${report.lostResults} lost`],
    [
      "failures",
      `${report.connectFailures} connect, ${report.timeouts} timeout, ${report.nodeInvalid} node key refused`,
    ],
  ];
  if (report.enrollment) {
    const { hosts, seconds, perSecond } = report.enrollment;
    facts.push(["enrollment", `${hosts} hosts with inventory in ${seconds.toFixed(1)} s (${perSecond}/s)`]);
  }
  if (report.scriptsRun > 0) facts.push(["scripts", `${report.scriptsRun} run`]);
  if (report.installsRun > 0)
    facts.push(["installations", `${report.installsRun} reported, ${report.installsFailed} of them failed`]);
  if (report.undefinedAnswers > 0)
    facts.push(["undefined", `${report.undefinedAnswers} replies with undefined meaning for agents`]);
  const errors = report.recentErrors.map((reason) => ["last error", reason] as [string, string]);
  return [...columns([head, ...rows], true), "", ...columns([...facts, ...errors], false)].join("\n");
}

/** One line for a terminal or a log. */
export function renderProgress(progress: Progress): string {
  const { seconds, started, hosts, enrolled, requests, requestsPerSecond, errors, connections } = progress;
  return (
    `${seconds.toFixed(0)} s  ${started}/${hosts} hosts started, ${enrolled} enrolled  ${requests} requests (${requestsPerSecond.toFixed(0)}/s)  ` +
    `${errors} errors  ${connections} connections`
  );
}

/** Aligned lines. */
export function columns(rows: string[][], numbersRight: boolean): string[] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i > 0 && numbersRight ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}

function bytes(count: number): string {
  if (count < 10_000) return `${count} B`;
  if (count < 10_000_000) return `${(count / 1000).toFixed(0)} kB`;
  return `${(count / 1_000_000).toFixed(0)} MB`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
