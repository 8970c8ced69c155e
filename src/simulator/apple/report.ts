import { columns } from "../report.ts";
import { type AppleRequest, type AppleStats, appleRequests } from "./stats.ts";

export interface AppleReport {
  devices: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byRequest: Record<
    AppleRequest,
    { count: number; errors: number; p50: number; p95: number; p99: number; max: number }
  >;
  enrolled: number;
  enrolledPerSecond: number;
  left: number;
  acknowledged: number;
  refused: number;
  postponed: number;
  repeated: number;
  pushes: number;
  profilesInstalled: number;
  declarationsActive: number;
  keysEscrowed: number;
  /** Answers to commands that the server has not accepted before the end. */
  unsentAnswers: number;
  recentErrors: string[];
}

export interface AppleProgress {
  readonly seconds: number;
  readonly devices: number;
  readonly enrolled: number;
  readonly requests: number;
  readonly errors: number;
  readonly commands: number;
}

export interface AppleRun {
  readonly devices: number;
  readonly seconds: number;
  /** How long it took until the devices had enrolled. */
  readonly enrollSeconds: number;
  readonly unsentAnswers: number;
}

export function appleReportOf(
  stats: AppleStats,
  { devices, seconds, enrollSeconds, unsentAnswers }: AppleRun,
): AppleReport {
  const { enrolled, left, acknowledged, refused, postponed, repeated, pushes } = stats;
  const { profilesInstalled, declarationsActive, keysEscrowed } = stats;
  return {
    devices,
    seconds: round(seconds),
    requests: stats.count,
    requestsPerSecond: seconds > 0 ? round(stats.count / seconds) : 0,
    errors: stats.errors,
    byRequest: Object.fromEntries(
      appleRequests.map((name) => {
        const { latency, errors } = stats.requests[name];
        const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => round(latency.quantile(q))) as [number, number, number];
        return [name, { count: latency.count, errors, p50, p95, p99, max: round(latency.maxMs) }];
      }),
    ) as AppleReport["byRequest"],
    enrolled,
    enrolledPerSecond: enrollSeconds > 0 ? round(enrolled / enrollSeconds) : 0,
    left,
    acknowledged,
    refused,
    postponed,
    repeated,
    pushes,
    profilesInstalled,
    declarationsActive,
    keysEscrowed,
    unsentAnswers,
    recentErrors: [...stats.recentErrors],
  };
}

/** True if every device enrolled and the server has all answers. Then `svc agent simulate` exits with 0. */
export const isComplete = ({ devices, enrolled, unsentAnswers }: AppleReport): boolean =>
  enrolled >= devices && unsentAnswers === 0;

/** One line for a terminal or a log. */
export const renderAppleProgress = ({
  seconds,
  devices,
  enrolled,
  requests,
  errors,
  commands,
}: AppleProgress): string =>
  `${seconds.toFixed(0)} s  ${enrolled}/${devices} enrolled  ${commands} commands done  ${requests} requests  ${errors} errors`;

export function renderAppleReport(report: AppleReport): string {
  const head = ["request", "count", "errors", "p50 ms", "p95 ms", "p99 ms", "max ms"];
  const rows = appleRequests
    .filter((name) => report.byRequest[name].count > 0)
    .map((name) => {
      const { count, errors, p50, p95, p99, max } = report.byRequest[name];
      return [name, String(count), String(errors), ...[p50, p95, p99, max].map((ms) => ms.toFixed(1))];
    });
  const { acknowledged, refused, postponed, repeated, unsentAnswers } = report;
  const facts: [string, string][] = [
    ["devices", `${report.devices}, ${report.enrolled} enrolled (${report.enrolledPerSecond}/s), ${report.left} left`],
    [
      "requests",
      `${report.requests} in ${report.seconds.toFixed(1)} s (${report.requestsPerSecond}/s), ${report.errors} errors`,
    ],
    [
      "commands",
      `${acknowledged} done, ${refused} failed, ${postponed} postponed, ${repeated} received again, ${unsentAnswers} answers not delivered`,
    ],
    ["pushes", String(report.pushes)],
    [
      "state",
      `${report.profilesInstalled} profiles installed, ${report.declarationsActive} declarations active, ${report.keysEscrowed} recovery keys sent`,
    ],
    ...report.recentErrors.map((reason): [string, string] => ["last error", reason]),
  ];
  return [...columns([head, ...rows], true), "", ...columns(facts, false)].join("\n");
}

const round = (value: number): number => Math.round(value * 100) / 100;
