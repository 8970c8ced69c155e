import { type FleetReport, type FleetRun, fleetReportOf, renderFleetReport } from "../fleet-report.ts";
import type { AppleRequest, AppleStats } from "./stats.ts";

export interface AppleReport extends FleetReport<AppleRequest> {
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
}

interface AppleRun extends FleetRun {
  readonly unsentAnswers: number;
}

export function appleReportOf(stats: AppleStats, run: AppleRun): AppleReport {
  const { unsentAnswers } = run;
  const { left, acknowledged, refused, postponed, repeated, pushes } = stats;
  const { profilesInstalled, declarationsActive, keysEscrowed } = stats;
  return {
    ...fleetReportOf(stats, run),
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
  };
}

/** True if every device enrolled and the server has all answers. Then `svc agent simulate` exits with 0. */
export const isComplete = ({ devices, enrolled, unsentAnswers }: AppleReport): boolean =>
  enrolled >= devices && unsentAnswers === 0;

export function renderAppleReport(report: AppleReport): string {
  const { acknowledged, refused, postponed, repeated, unsentAnswers } = report;
  return renderFleetReport(report, `${report.left} left`, [
    [
      "commands",
      `${acknowledged} done, ${refused} failed, ${postponed} postponed, ${repeated} received again, ${unsentAnswers} answers not delivered`,
    ],
    ["pushes", String(report.pushes)],
    [
      "state",
      `${report.profilesInstalled} profiles installed, ${report.declarationsActive} declarations active, ${report.keysEscrowed} recovery keys sent`,
    ],
  ]);
}
