// Parts of a server that a test starts alone.
import type { Agent } from "../../src/server/edge/agent/agent.ts";
import { agents } from "../../src/server/edge/agent/start.ts";
import { liveQueries } from "../../src/server/inventory/live-queries/hub.ts";
import type { Services } from "../../src/server/platform/core/context.ts";
import { Running, withRunning } from "../../src/server/platform/core/running.ts";

/** The agent side of another server. */
export async function startAgentSide(
  given: Omit<Services, "running">,
): Promise<{ agent: Agent; stop(): Promise<void> }> {
  const services = withRunning(given);
  await services.running.start(services, liveQueries);
  const agent = await services.running.start(services, agents);
  return { agent, stop: () => services.running.stop() };
}

/** For parts that need only a few of the services. */
export function runningOf(some: Partial<Services>): Running {
  const services = { ...some } as Services;
  return new Running(() => services);
}
