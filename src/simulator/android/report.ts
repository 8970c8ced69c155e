import { type FleetReport, type FleetRun, fleetReportOf, renderFleetReport } from "../fleet-report.ts";
import type { AndroidRequest, AndroidStats } from "./stats.ts";

export interface AndroidReport extends FleetReport<AndroidRequest> {
  left: number;
  wiped: number;
  policiesApplied: number;
  policiesPartlyApplied: number;
  done: number;
  refused: number;
  postponed: number;
  certificatesInstalled: number;
  certificatesFailed: number;
  /** Messages that the server was sent twice. */
  repeated: number;
  /** What the server has asked of the stand-in. */
  apiRequests: number;
  /** Messages that the server has not taken before the end. */
  unsentMessages: number;
}

interface AndroidRun extends FleetRun {
  readonly unsentMessages: number;
  readonly apiRequests: number;
}

export function androidReportOf(stats: AndroidStats, run: AndroidRun): AndroidReport {
  const { unsentMessages, apiRequests } = run;
  const { left, wiped, applied, partly, done, refused, postponed, installed, notInstalled, repeated } = stats;
  return {
    ...fleetReportOf(stats, run),
    left,
    wiped,
    policiesApplied: applied,
    policiesPartlyApplied: partly,
    done,
    refused,
    postponed,
    certificatesInstalled: installed,
    certificatesFailed: notInstalled,
    repeated,
    apiRequests,
    unsentMessages,
  };
}

/** True if every device enrolled and the server has all messages. Then `svc agent simulate` exits with 0. */
export const isAndroidComplete = ({ devices, enrolled, unsentMessages }: AndroidReport): boolean =>
  enrolled >= devices && unsentMessages === 0;

export function renderAndroidReport(report: AndroidReport): string {
  const { done, refused, postponed, repeated, unsentMessages } = report;
  return renderFleetReport(report, `${report.left} left, ${report.wiped} of them erased`, [
    ["commands", `${done} done, ${refused} failed, ${postponed} postponed`],
    ["policies", `${report.policiesApplied} versions applied, ${report.policiesPartlyApplied} in part`],
    ["certificates", `${report.certificatesInstalled} installed, ${report.certificatesFailed} failed`],
    ["messages", `${repeated} sent twice, ${unsentMessages} not delivered`],
    ["simulated API", `${report.apiRequests} requests of the server`],
  ]);
}
