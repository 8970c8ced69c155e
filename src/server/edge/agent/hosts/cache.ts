// Caches hosts by node key. A cached key costs no store read; unknown keys are looked up in batches and not cached.

import { watchHosts } from "../../../hosts/hosts/changes.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../../platform/core/context.ts";
import { queueFigures } from "../../../platform/core/logging/metrics.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { type HostRow, HostState } from "./state.ts";

export interface HostCache {
  /** The host of a node key; undefined if it is not cached or has to be read again. */
  cached(key: string): HostState | undefined;
  /** Looks the key up in the store; null if no host has it. */
  find(key: string): Promise<HostState | null>;
  /** Reads the row again; null if the host was deleted or has a different node key. */
  reload(state: HostState): Promise<HostRow | null>;
  /** Caches a host that has just enrolled and drops its previous key. */
  put(row: HostRow, key: string): HostState;
  drop(state: HostState): void;
  readonly size: number;
  stop(): Promise<void>;
}

const HOSTS_MAX = 200_000;

export async function createHostCache(services: Services): Promise<HostCache> {
  const { store, settings } = services;
  const byKey = new Map<string, HostState>();
  const byId = new Map<number, HostState>();

  const lookups = new Batcher<string, HostRow | null>(
    async (hashes) => {
      const rows = await store.hosts.list({ where: oneOf("node_key_hash", [...new Set(hashes)]) });
      const byHash = new Map(rows.map((row) => [row.node_key_hash, row]));
      return hashes.map((hash) => byHash.get(hash) ?? null);
    },
    { size: 200, parallel: 2, figures: queueFigures(services.metrics, "node keys") },
  );

  const readings = new Batcher<number, HostRow | null>(
    async (ids) => {
      const rows = await store.hosts.getMany([...new Set(ids)]);
      const rowsById = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => rowsById.get(id) ?? null);
    },
    { size: 100, parallel: 2, figures: queueFigures(services.metrics, "hosts") },
  );

  function drop(state: HostState): void {
    state.live = false;
    if (byKey.get(state.key) === state) byKey.delete(state.key);
    if (byId.get(state.id) === state) byId.delete(state.id);
  }

  function put(row: HostRow, key: string): HostState {
    const old = byId.get(row.id);
    if (old?.key === key) {
      old.load(row, settings);
      return old;
    }
    if (old) drop(old);
    const state = new HostState(row.id, key, tokenHash(key));
    state.load(row, settings);
    byKey.set(key, state);
    byId.set(row.id, state);
    if (byKey.size > HOSTS_MAX) {
      const oldest = byKey.values().next().value;
      if (oldest) drop(oldest);
    }
    return state;
  }

  const changes = await watchHosts(store, {
    host: (id) => byId.get(id)?.doubt(),
    all: () => {
      for (const state of byKey.values()) state.doubt();
    },
  });

  return {
    cached(key) {
      const state = byKey.get(key);
      return state?.fresh ? state : undefined;
    },
    async find(key) {
      const hash = tokenHash(key);
      const before = changes.notifications;
      const row = await lookups.add(hash);
      if (row === null) {
        const state = byKey.get(key);
        if (state) drop(state);
        return null;
      }
      const state = put(row, key);
      if (changes.notifications !== before) state.fresh = false;
      return state;
    },
    async reload(state) {
      const before = changes.notifications;
      const row = await readings.add(state.id);
      if (row === null || row.node_key_hash !== state.keyHash) {
        drop(state);
        return null;
      }
      state.load(row, settings);
      if (changes.notifications !== before) state.fresh = false;
      return row;
    },
    put,
    drop,
    get size() {
      return byKey.size;
    },
    async stop() {
      await Promise.all([lookups.idle(), readings.idle()]);
      await changes.stop();
    },
  };
}
