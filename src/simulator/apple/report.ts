import { perSecond } from "../fleet.ts";
import { columns } from "../report.ts";
import { type RequestReport, requestRows, rounded } from "../request-stats.ts";
import type { AppleRequest, AppleStats } from "./stats.ts";

export interface AppleReport {
  devices: number;
  seconds: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  byRequest: Record<AppleRequest, RequestReport>;
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
    seconds: rounded(seconds),
    requests: stats.count,
    requestsPerSecond: perSecond(stats.count, seconds),
    errors: stats.errors,
    byRequest: stats.byRequest(),
    enrolled,
    enrolledPerSecond: perSecond(enrolled, enrollSeconds),
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

export function renderAppleReport(report: AppleReport): string {
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
  return [...columns(requestRows(report.byRequest), true), "", ...columns(facts, false)].join("\n");
}
