// Last-seen times: kept in memory and written in bulk. Losing one flush is harmless.
import { setImmediate as breathe } from "node:timers/promises";
import type { Services } from "../../core/context.ts";
import { type SeenRow, seenRow, updateSeen } from "../../hosts/seen.ts";
import type { HostState } from "./state.ts";

export interface SeenBuffer {
  mark(state: HostState, now: number): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Rows per write, few enough not to delay other requests. */
const CHUNK = 500;

export function createSeenBuffer({ store, settings, log, metrics }: Services): SeenBuffer {
  let seen: HostState[] = [];
  let flushing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const states = seen;
    seen = [];
    metrics.hostsSeen.set(states.length);
    for (let from = 0; from < states.length; from += CHUNK) {
      const changes = new Map<number, SeenRow>();
      for (const state of states.slice(from, from + CHUNK)) {
        const { id, distributedInterval: distributed_interval, configTlsRefresh: config_tls_refresh } = state;
        const row = seenRow({ id, distributed_interval, config_tls_refresh }, state.seenAt);
        state.seenAt = 0;
        const before = changes.get(id);
        if (!before || before.seen_time < row.seen_time) changes.set(id, row);
      }
      await updateSeen(store, [...changes.values()]);
      await breathe();
    }
  }

  const flush = (): Promise<void> => {
    flushing = flushing.then(write).catch((error: unknown) => {
      log.warn({ err: error }, "last-seen times could not be written");
    });
    return flushing;
  };
  const timer = setInterval(() => void flush(), settings.seen_flush_interval || 1000);
  timer.unref();

  return {
    mark(state, now) {
      if (state.seenAt === 0) seen.push(state);
      state.seenAt = now;
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
