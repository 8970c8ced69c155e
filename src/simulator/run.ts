import { ended } from "./ended.ts";
import type { SimulationOptions } from "./options.ts";
import type { SimulationReport } from "./report.ts";
import { Simulation } from "./simulation.ts";

/** Runs a simulation until its duration is over, the signal aborts, or, in the mode `enroll`, all hosts are done. */
export async function runSimulation(options: SimulationOptions, signal?: AbortSignal): Promise<SimulationReport> {
  const simulation = new Simulation(options);
  if (options.mode === "enroll") {
    await simulation.enrollAll(signal);
    return simulation.stop();
  }
  simulation.start();
  await ended(options.duration, signal);
  return simulation.stop();
}
