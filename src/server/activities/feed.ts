// The running part of activities in one server: the sealer, and those who follow what it seals.
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { startSealer } from "./sealer.ts";

export interface Feed {
  /** Calls back when entries were sealed, and when readers are to look at whether they go on, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** How many follow now. */
  readonly readers: number;
  isStopping(): boolean;
  /** Ends every stream, that their connections may close. */
  endStreams(): void;
  stop(): Promise<void>;
}

/** One per server: the configuration reader is the same object in the services and in every context made of them. */
const servers = new WeakMap<Services["config"], Feed>();

export function feedOf({ config }: Pick<Services, "config">): Feed {
  const feed = servers.get(config);
  if (!feed) throw new Error("activities were not started");
  return feed;
}

export async function startActivities(services: Services): Promise<Feed> {
  const listeners = new Set<() => void>();
  let stopping = false;
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const unlisten = await services.store.listen(channels.activityChain, tell, tell);
  const sealer = await startSealer(services);

  function endStreams(): void {
    stopping = true;
    tell();
  }

  const feed: Feed = {
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
  servers.set(services.config, feed);
  return feed;
}
