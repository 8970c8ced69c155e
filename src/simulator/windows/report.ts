import { type FleetReport, type FleetRun, fleetReportOf, renderFleetReport } from "../fleet-report.ts";
import type { WindowsRequest, WindowsStats } from "./stats.ts";

export interface WindowsReport extends FleetReport<WindowsRequest> {
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
}

interface WindowsRun extends FleetRun {
  readonly unsentAnswers: number;
}

export function windowsReportOf(stats: WindowsStats, run: WindowsRun): WindowsReport {
  const { unsentAnswers } = run;
  const { left, wiped, done, refused, postponed, repeated, doubled, reports } = stats;
  return {
    ...fleetReportOf(stats, run),
    left,
    wiped,
    done,
    refused,
    postponed,
    repeated,
    doubled,
    reports,
    unsentAnswers,
  };
}

/** True if every device enrolled and the server has all answers. Then `svc agent simulate` exits with 0. */
export const isWindowsComplete = ({ devices, enrolled, unsentAnswers, doubled }: WindowsReport): boolean =>
  enrolled >= devices && unsentAnswers === 0 && doubled === 0;

export function renderWindowsReport(report: WindowsReport): string {
  const { done, refused, postponed, repeated, doubled, unsentAnswers } = report;
  return renderFleetReport(report, `${report.left} left, ${report.wiped} of them erased`, [
    [
      "commands",
      `${done} done, ${refused} failed, ${postponed} postponed, ${repeated} received again, ${doubled} received again after their answer, ${unsentAnswers} answers not delivered`,
    ],
    ["agents", `${report.reports} reports`],
  ]);
}
