import { stopBackground } from "../../platform/core/concurrency/background.ts";
import type { Services } from "../../platform/core/context.ts";
import { allJobs } from "./all.ts";
import { carryOut, runSchedule } from "./schedule.ts";

/** Starts the schedule. Each server has one; the jobs' leases decide which of them runs a job. */
export function startJobs(services: Services): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = runSchedule(services, allJobs, stopping.signal);
  running.catch((err: unknown) => services.log.error({ err }, "the schedule of jobs has ended"));
  return {
    async stop() {
      stopping.abort();
      await stopBackground(services);
      await running.catch(() => {});
    },
  };
}

/** Runs one job immediately, by name, whether it is due or not. */
export async function runJob(services: Services, name: string): Promise<void> {
  const job = allJobs.find((candidate) => candidate.name === name);
  if (!job) throw new Error(`there is no job ${name}`);
  await carryOut(services, job, new AbortController().signal);
}
