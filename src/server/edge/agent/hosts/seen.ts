// Last-seen times: kept in memory and written in bulk. Losing one flush is harmless.
import { setImmediate as breathe } from "node:timers/promises";
import { type SeenRow, seenRow, updateSeen } from "../../../hosts/hosts/seen.ts";
import { type Flusher, startFlusher } from "../../../platform/core/concurrency/flusher.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { HostState } from "./state.ts";

/** Rows per write, few enough not to delay other requests. */
const BATCH_SIZE = 500;

export class SeenBuffer {
  readonly #services: Services;
  readonly #flusher: Flusher;
  #states: HostState[] = [];

  constructor(services: Services) {
    this.#services = services;
    this.#flusher = startFlusher(
      services.settings.seen_flush_interval || 1000,
      () => this.#write(),
      (err) => services.log.warn({ err }, "last-seen times could not be written"),
    );
  }

  mark(state: HostState, now: number): void {
    if (state.seenAt === 0) this.#states.push(state);
    state.seenAt = now;
  }

  /** Writes last-seen times immediately. */
  flush(): Promise<void> {
    return this.#flusher.flush();
  }

  stop(): Promise<void> {
    return this.#flusher.stop();
  }

  async #write(): Promise<void> {
    const { store, metrics } = this.#services;
    const states = this.#states;
    this.#states = [];
    metrics.hostsSeen.set(states.length);
    for (let from = 0; from < states.length; from += BATCH_SIZE) {
      const back = new Set<number>();
      const rows = rowsOf(states.slice(from, from + BATCH_SIZE), back);
      await updateSeen(store, rows, ({ id }) => back.has(id));
      await breathe();
    }
  }
}

/** The latest row of each host. A host that has enrolled again has several states. Adds those that may have been offline. */
function rowsOf(states: readonly HostState[], back: Set<number>): SeenRow[] {
  const rows = new Map<number, SeenRow>();
  for (const state of states) {
    const { id, distributedInterval: distributed_interval, configTlsRefresh: config_tls_refresh } = state;
    const row = seenRow({ id, distributed_interval, config_tls_refresh }, state.seenAt);
    if (state.onlineUntil < state.seenAt) back.add(id);
    state.onlineUntil = Date.parse(row.online_until);
    state.seenAt = 0;
    const before = rows.get(id);
    if (!before || before.seen_time < row.seen_time) rows.set(id, row);
  }
  return [...rows.values()];
}
