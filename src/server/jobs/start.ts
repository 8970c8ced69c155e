import { stopBackground } from "../core/concurrency/background.ts";
import type { Services } from "../core/context.ts";
import { allJobs } from "./all.ts";
import { runRequests } from "./requests.ts";
import { carryOut, runSchedule } from "./schedule.ts";

/** Runs the schedule while this server is the leader. */
export async function startJobs(services: Services): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const resign = await services.store.lead("jobs", async (lost) => {
    const over = AbortSignal.any([lost, stopping.signal]);
    await Promise.all([runSchedule(services, allJobs, over), runRequests(services, allJobs, over)]);
  });
  return {
    async stop() {
      stopping.abort();
      await stopBackground(services);
      await resign();
    },
  };
}

/** Runs one job immediately, by name, whether it is due or not. */
export async function runJob(services: Services, name: string): Promise<void> {
  const job = allJobs.find((one) => one.name === name);
  if (!job) throw new Error(`there is no job ${name}`);
  await carryOut(services, job, new AbortController().signal);
}
