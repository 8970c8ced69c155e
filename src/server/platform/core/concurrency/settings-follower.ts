// What follows the settings of teams: compared soon after they change.
import { channels, HOSTS_MOVED } from "../channels.ts";
import type { Services } from "../context.ts";
import { type StartedPart, startedPart } from "../running.ts";
import { startTriggeredTask } from "./triggered-task.ts";

interface Following {
  /** The log message for a failed run. */
  readonly failure: string;
  /** Further channels after whose messages it is compared. */
  readonly also?: readonly string[];
}

export interface Follower {
  /** Compares now, or after the comparison that is going on. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs `compare` at startup, and soon after settings of teams or of hosts without a team have changed, or hosts have
 * changed teams. Any server may do it.
 */
export const settingsFollower = (
  name: string,
  { failure, also = [] }: Following,
  compare: (services: Services) => Promise<unknown>,
): StartedPart<Follower> =>
  startedPart(name, async (services) => {
    const { store } = services;
    // Another server may have changed settings that are still cached here, and compared with them already.
    const uncached = { ...services, config: services.config.over(store) };
    const trigger = { channel: channels.teams, least: 100, more: 400, failure };
    const task = await startTriggeredTask(services, trigger, () => compare(uncached));
    const stops: (() => Promise<unknown>)[] = [];
    for (const channel of [channels.config, ...also]) stops.push(await store.listen(channel, task.plan, task.plan));
    const moved = (payload: string) => {
      if (payload === HOSTS_MOVED) task.plan();
    };
    stops.push(await store.listen(channels.labelMembers, moved, task.plan));
    return {
      run: task.run,
      async stop() {
        for (const stop of stops) await stop();
        await task.stop();
      },
    };
  });
