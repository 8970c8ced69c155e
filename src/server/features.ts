// What runs beside requests: buffers that flush, caches that listen, jobs. Started once, stopped before the store closes.
import { type Agent, startAgent } from "./agent/start.ts";
import type { Services } from "./core/context.ts";
import { startJobs } from "./jobs/start.ts";
import { ensureBuiltinLabels } from "./labels/builtin.ts";

export interface Features {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startFeatures(services: Services): Promise<Features> {
  await ensureBuiltinLabels(services);
  const agent = await startAgent(services);
  const jobs = await startJobs(services);
  return {
    agent,
    async stop() {
      await jobs.stop();
      await agent.stop();
    },
  };
}
