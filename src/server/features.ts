// What runs beside requests: buffers that flush, caches that listen, jobs. Started once, stopped before the store closes.
import { type Agent, startAgent } from "./agent/start.ts";
import type { Services } from "./core/context.ts";
import { startManagedAgents } from "./device/managed-agents.ts";
import { openGeo } from "./hosts/geo.ts";
import { startJobs } from "./jobs/start.ts";
import { ensureBuiltinLabels } from "./labels/builtin.ts";
import { startLabelCounts } from "./labels/counts.ts";
import { startPolicyCounts } from "./policies/counts.ts";

export interface Features {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startFeatures(services: Services): Promise<Features> {
  await openGeo(services);
  await ensureBuiltinLabels(services);
  const labelCounts = await startLabelCounts(services);
  const policyCounts = await startPolicyCounts(services);
  const agent = await startAgent(services);
  const managed = await startManagedAgents(services);
  const jobs = await startJobs(services);
  return {
    agent,
    async stop() {
      await jobs.stop();
      await managed.stop();
      await agent.stop();
      await policyCounts.stop();
      await labelCounts.stop();
    },
  };
}
