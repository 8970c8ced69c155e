// Last-seen times: kept in memory and written in bulk. Losing one flush is harmless.
import { setImmediate as breathe } from "node:timers/promises";
import { type SeenRow, seenRow, updateSeen } from "../../../hosts/hosts/seen.ts";
import { type Flusher, startFlusher } from "../../../platform/core/concurrency/flusher.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { HostState } from "./state.ts";

export interface SeenBuffer extends Flusher {
  mark(state: HostState, now: number): void;
}

/** Rows per write, few enough not to delay other requests. */
const BATCH_SIZE = 500;

export function createSeenBuffer({ store, settings, log, metrics }: Services): SeenBuffer {
  let seen: HostState[] = [];

  async function write(): Promise<void> {
    const states = seen;
    seen = [];
    metrics.hostsSeen.set(states.length);
    for (let from = 0; from < states.length; from += BATCH_SIZE) {
      const changes = new Map<number, SeenRow>();
      for (const state of states.slice(from, from + BATCH_SIZE)) {
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

  const flusher = startFlusher(settings.seen_flush_interval || 1000, write, (err) =>
    log.warn({ err }, "last-seen times could not be written"),
  );
  return {
    ...flusher,
    mark(state, now) {
      if (state.seenAt === 0) seen.push(state);
      state.seenAt = now;
    },
  };
}
