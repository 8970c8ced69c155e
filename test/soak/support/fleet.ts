// Simulated agents with a ledger, and the checks at the end.
import { join } from "node:path";
import type { SimulationOptions } from "../../../src/simulator/options.ts";
import type { SimulationReport } from "../../../src/simulator/report.ts";
import { Simulation } from "../../../src/simulator/simulation.ts";
import type { Bed } from "./bed.ts";
import { insist, pause, until } from "./check.ts";

const BACKOFF_S = 2;

export interface Fleet {
  readonly simulation: Simulation;
  readonly ledgerFile: string;
}

/** Agents that are all enrolled and continue while the server is unreachable. */
export async function startFleet(
  bed: Bed,
  secret: string,
  options: Partial<SimulationOptions> & { hosts: number },
): Promise<Fleet> {
  const ledgerFile = join(bed.notes, "ledger");
  const simulation = new Simulation({
    serverUrl: bed.url,
    enrollSecret: secret,
    softwarePerHost: 50,
    logLinesPerMinute: 6,
    ledgerFile,
    // Agents whose lines were refused retry soon, so that the run includes it; otherwise they wait for n² periods, up
    // to an hour.
    flags: { logger_tls_backoff_max: String(BACKOFF_S) },
    ...options,
  });
  simulation.start();
  await until("all agents enrolled", 60_000 + 20 * options.hosts, () => simulation.stats.enrolled === options.hosts);
  return { simulation, ledgerFile };
}

export interface FleetEnd {
  readonly report: SimulationReport;
  /** The number of acknowledged log lines. */
  readonly lines: number;
}

/**
 * Ends the agents while the server runs. Checks that all their data was accepted, no acknowledged data is lost, and no
 * key was refused.
 */
export async function endFleet(bed: Bed, { simulation, ledgerFile }: Fleet): Promise<FleetEnd> {
  await pause(BACKOFF_S * 1000 + 500);
  const report = await simulation.stop();
  const told = () => report.recentErrors.join("; ");
  insist(report.nodeInvalid === 0, () => `${report.nodeInvalid} node keys were refused: ${told()}`);
  insist(report.reEnrolled === 0, `${report.reEnrolled} agents enrolled again`);
  insist(
    report.undefinedAnswers === 0,
    () => `${report.undefinedAnswers} answers that an agent has no meaning for: ${told()}`,
  );
  insist(
    report.lostResults === 0,
    () => `${report.lostResults} query results were not delivered at the end: ${told()}`,
  );
  insist(report.pendingLines === 0, () => `${report.pendingLines} log lines were not delivered at the end: ${told()}`);
  insist(report.droppedLines === 0, `${report.droppedLines} log lines were dropped by the agents`);
  const ledger = await bed.checkLedger(ledgerFile);
  insist(ledger.acknowledged > 0, "no log line was acknowledged");
  insist(ledger.lost.length === 0, () => `${ledger.lost.length} of ${ledger.acknowledged} acknowledged lines are lost`);
  insist(ledger.doubled.length === 0, `${ledger.doubled.length} lines stand more often than they were sent`);
  return { report, lines: ledger.acknowledged };
}
