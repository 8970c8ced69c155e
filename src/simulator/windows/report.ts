import { perSecond } from "../fleet.ts";
import { columns } from "../report.ts";
import { type RequestReport, requestRows, rounded } from "../request-stats.ts";
import type { WindowsRequest, WindowsStats } from "./stats.ts";

export interface WindowsReport {
  devices: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byRequest: Record<WindowsRequest, RequestReport>;
  enrolled: number;
  enrolledPerSecond: number;
  left: number;
  wiped: number;
  done: number;
  refused: number;
  postponed: number;
  repeated: number;
  doubled: number;
  /** How often agents have answered queries. */
  reports: number;
  /** Answers to commands that the server has not taken before the end. */
  unsentAnswers: number;
  recentErrors: string[];
}

export interface WindowsRun {
  readonly devices: number;
  readonly seconds: number;
  /** How long it took until the devices had enrolled. */
  readonly enrollSeconds: number;
  readonly unsentAnswers: number;
}

export function windowsReportOf(stats: WindowsStats, run: WindowsRun): WindowsReport {
  const { devices, seconds, enrollSeconds, unsentAnswers } = run;
  const { enrolled, left, wiped, done, refused, postponed, repeated, doubled, reports } = stats;
  return {
    devices,
    seconds: rounded(seconds),
    requests: stats.count,
    requestsPerSecond: perSecond(stats.count, seconds),
    errors: stats.errors,
    byRequest: stats.byRequest(),
    enrolled,
    enrolledPerSecond: perSecond(enrolled, enrollSeconds),
    left,
    wiped,
    done,
    refused,
    postponed,
    repeated,
    doubled,
    reports,
    unsentAnswers,
    recentErrors: [...stats.recentErrors],
  };
}

/** True if every device enrolled and the server has all answers. Then `svc agent simulate` exits with 0. */
export const isWindowsComplete = ({ devices, enrolled, unsentAnswers, doubled }: WindowsReport): boolean =>
  enrolled >= devices && unsentAnswers === 0 && doubled === 0;

export function renderWindowsReport(report: WindowsReport): string {
  const { done, refused, postponed, repeated, doubled, unsentAnswers } = report;
  const facts: [string, string][] = [
    [
      "devices",
      `${report.devices}, ${report.enrolled} enrolled (${report.enrolledPerSecond}/s), ${report.left} left, ${report.wiped} of them erased`,
    ],
    [
      "requests",
      `${report.requests} in ${report.seconds.toFixed(1)} s (${report.requestsPerSecond}/s), ${report.errors} errors`,
    ],
    [
      "commands",
      `${done} done, ${refused} failed, ${postponed} postponed, ${repeated} received again, ${doubled} received again after their answer, ${unsentAnswers} answers not delivered`,
    ],
    ["agents", `${report.reports} reports`],
    ...report.recentErrors.map((reason): [string, string] => ["last error", reason]),
  ];
  return [...columns(requestRows(report.byRequest), true), "", ...columns(facts, false)].join("\n");
}
