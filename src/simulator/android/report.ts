import { perSecond } from "../fleet.ts";
import { columns } from "../report.ts";
import { type RequestReport, requestRows, rounded } from "../request-stats.ts";
import type { AndroidRequest, AndroidStats } from "./stats.ts";

export interface AndroidReport {
  devices: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byRequest: Record<AndroidRequest, RequestReport>;
  enrolled: number;
  enrolledPerSecond: number;
  left: number;
  wiped: number;
  policiesApplied: number;
  policiesPartlyApplied: number;
  done: number;
  refused: number;
  postponed: number;
  /** Messages that the server was sent twice. */
  repeated: number;
  /** What the server has asked of the stand-in. */
  apiRequests: number;
  /** Messages that the server has not taken before the end. */
  unsentMessages: number;
  recentErrors: string[];
}

export interface AndroidRun {
  readonly devices: number;
  readonly seconds: number;
  /** How long it took until the devices had enrolled. */
  readonly enrollSeconds: number;
  readonly unsentMessages: number;
  readonly apiRequests: number;
}

export function androidReportOf(stats: AndroidStats, run: AndroidRun): AndroidReport {
  const { devices, seconds, enrollSeconds, unsentMessages, apiRequests } = run;
  const { enrolled, left, wiped, applied, partly, done, refused, postponed, repeated } = stats;
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
    policiesApplied: applied,
    policiesPartlyApplied: partly,
    done,
    refused,
    postponed,
    repeated,
    apiRequests,
    unsentMessages,
    recentErrors: [...stats.recentErrors],
  };
}

/** True if every device enrolled and the server has all messages. Then `svc agent simulate` exits with 0. */
export const isAndroidComplete = ({ devices, enrolled, unsentMessages }: AndroidReport): boolean =>
  enrolled >= devices && unsentMessages === 0;

export function renderAndroidReport(report: AndroidReport): string {
  const { done, refused, postponed, repeated, unsentMessages } = report;
  const facts: [string, string][] = [
    [
      "devices",
      `${report.devices}, ${report.enrolled} enrolled (${report.enrolledPerSecond}/s), ${report.left} left, ${report.wiped} of them erased`,
    ],
    [
      "requests",
      `${report.requests} in ${report.seconds.toFixed(1)} s (${report.requestsPerSecond}/s), ${report.errors} errors`,
    ],
    ["commands", `${done} done, ${refused} failed, ${postponed} postponed`],
    ["policies", `${report.policiesApplied} versions applied, ${report.policiesPartlyApplied} in part`],
    ["messages", `${repeated} sent twice, ${unsentMessages} not delivered`],
    ["stand-in", `${report.apiRequests} requests of the server`],
    ...report.recentErrors.map((reason): [string, string] => ["last error", reason]),
  ];
  return [...columns(requestRows(report.byRequest), true), "", ...columns(facts, false)].join("\n");
}
