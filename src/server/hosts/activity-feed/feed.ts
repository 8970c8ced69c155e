// The background part of activities in one server: the sealer, and the readers that follow sealed entries.

import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { startSealer } from "../../platform/outbox/activities.ts";

interface Feed {
  /**
   * Calls the listener when entries were sealed and when readers must recheck their access. Returns a function to stop.
   */
  onChange(listener: () => void): () => void;
  /** Number of current readers. */
  readonly readers: number;
  isStopping(): boolean;
  /** Ends every stream so that connections can close. */
  endStreams(): void;
  stop(): Promise<void>;
}

export const activityFeed = startedPart("activities", startActivities);

async function startActivities(services: Services): Promise<Feed> {
  const listeners = new Set<() => void>();
  let stopping = false;
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  const unlisten = await services.store.listen(channels.activityChain, notify, notify);
  const sealer = await startSealer(services);

  function endStreams(): void {
    stopping = true;
    notify();
  }

  return {
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get readers() {
      return listeners.size;
    },
    isStopping: () => stopping,
    endStreams,
    async stop() {
      endStreams();
      await sealer.stop();
      await unlisten();
    },
  };
}
