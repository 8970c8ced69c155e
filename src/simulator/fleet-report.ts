// What the reports of all fleets of simulated devices have in common.
import { perSecond } from "./fleet.ts";
import { columns } from "./report.ts";
import { type RequestReport, type RequestStats, requestRows, rounded } from "./request-stats.ts";

export interface FleetReport<Request extends string> {
  devices: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byRequest: Record<Request, RequestReport>;
  enrolled: number;
  enrolledPerSecond: number;
  recentErrors: string[];
}

export interface FleetRun {
  readonly devices: number;
  readonly seconds: number;
  /** Seconds until the devices had enrolled. */
  readonly enrollSeconds: number;
}

export function fleetReportOf<Request extends string>(
  stats: RequestStats<Request> & { readonly enrolled: number },
  { devices, seconds, enrollSeconds }: FleetRun,
): FleetReport<Request> {
  return {
    devices,
    seconds: rounded(seconds),
    requests: stats.count,
    requestsPerSecond: perSecond(stats.count, seconds),
    errors: stats.errors,
    byRequest: stats.byRequest(),
    enrolled: stats.enrolled,
    enrolledPerSecond: perSecond(stats.enrolled, enrollSeconds),
    recentErrors: stats.recentErrors.list(),
  };
}

type Fact = [name: string, value: string];

/**
 * The report as text. `fate`: what became of the devices after they enrolled; `facts`: what only these devices have.
 */
export function renderFleetReport(report: FleetReport<string>, fate: string, facts: readonly Fact[]): string {
  const { devices, enrolled, enrolledPerSecond, requests, seconds, requestsPerSecond, errors } = report;
  const all: Fact[] = [
    ["devices", `${devices}, ${enrolled} enrolled (${enrolledPerSecond}/s), ${fate}`],
    ["requests", `${requests} in ${seconds.toFixed(1)} s (${requestsPerSecond}/s), ${errors} errors`],
    ...facts,
    ...report.recentErrors.map((reason): Fact => ["last error", reason]),
  ];
  return [...columns(requestRows(report.byRequest), true), "", ...columns(all, false)].join("\n");
}
