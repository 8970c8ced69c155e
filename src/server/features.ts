// Background parts of the server: buffers that flush, caches that listen, jobs. Started once, and stopped before the
// store closes.
import { startActivities } from "./activity-feed/feed.ts";
import { type Agent, startAgent } from "./agent/start.ts";
import { approvedDeletion } from "./approvals/run.ts";
import type { Services } from "./core/context.ts";
import { adoptScriptRuns } from "./host-actions/earlier-runs.ts";
import { hostDeletion } from "./host-list/delete.ts";
import { openGeo } from "./hosts/geo.ts";
import { startJobs } from "./jobs/start.ts";
import { ensureBuiltinLabels } from "./labels/builtin.ts";
import { startLabelCounts } from "./labels/counts.ts";
import { stopMail } from "./mail/later.ts";
import { startManagedAgents } from "./managed-agent/agents.ts";
import { startOutbox } from "./outbox/sender.ts";
import { startPolicyCounts } from "./policies/counts.ts";
import { scopeTrim } from "./policies/scope-trim.ts";
import { startStreams } from "./sessions/streams.ts";
import { startTasks } from "./tasks/start.ts";

export interface Features {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startFeatures(services: Services): Promise<Features> {
  await openGeo(services);
  const streams = await startStreams(services);
  const activities = await startActivities(services);
  await ensureBuiltinLabels(services);
  await adoptScriptRuns(services);
  const labelCounts = await startLabelCounts(services);
  const policyCounts = await startPolicyCounts(services);
  const agent = await startAgent(services);
  const managed = await startManagedAgents(services);
  const tasks = await startTasks(services, [hostDeletion, approvedDeletion, scopeTrim]);
  const jobs = startJobs(services);
  const outbox = await startOutbox(services);
  return {
    agent,
    async stop() {
      await stopMail(services);
      await jobs.stop();
      await tasks.stop();
      await outbox.stop();
      await managed.stop();
      await agent.stop();
      await policyCounts.stop();
      await labelCounts.stop();
      // Stopped last, because the other parts may record activities when they stop.
      await activities.stop();
      await streams.stop();
    },
  };
}
