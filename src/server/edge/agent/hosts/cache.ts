// Caches hosts by node key. A cached key costs no store read; unknown keys are looked up in batches and not cached.

import { type HostChanges, watchHosts } from "../../../hosts/hosts/changes.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../../platform/core/context.ts";
import { queueFigures } from "../../../platform/core/logging/metrics.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { type HostRow, HostState } from "./state.ts";

const HOSTS_MAX = 200_000;

export class HostCache {
  readonly #services: Services;
  readonly #byKey = new Map<string, HostState>();
  readonly #byId = new Map<number, HostState>();
  readonly #lookups: Batcher<string, HostRow | null>;
  readonly #readings: Batcher<number, HostRow | null>;
  #changes!: HostChanges;

  private constructor(services: Services) {
    this.#services = services;
    const { metrics } = services;
    this.#lookups = new Batcher<string, HostRow | null>((hashes) => this.#rowsByHash(hashes), {
      size: 200,
      parallel: 2,
      figures: queueFigures(metrics, "node keys"),
    });
    this.#readings = new Batcher<number, HostRow | null>((ids) => this.#rowsById(ids), {
      size: 100,
      parallel: 2,
      figures: queueFigures(metrics, "hosts"),
    });
  }

  static async start(services: Services): Promise<HostCache> {
    const cache = new HostCache(services);
    cache.#changes = await watchHosts(services.store, {
      host: (id) => cache.#byId.get(id)?.doubt(),
      all: () => {
        for (const state of cache.#byKey.values()) state.doubt();
      },
    });
    return cache;
  }

  /** The host of a node key; undefined if it is not cached or has to be read again. */
  cached(key: string): HostState | undefined {
    const state = this.#byKey.get(key);
    return state?.fresh ? state : undefined;
  }

  /** Looks the key up in the store; null if no host has it. */
  async find(key: string): Promise<HostState | null> {
    const hash = tokenHash(key);
    const before = this.#changes.notifications;
    const row = await this.#lookups.add(hash);
    if (row === null) {
      const state = this.#byKey.get(key);
      if (state) this.drop(state);
      return null;
    }
    const state = this.put(row, key);
    if (this.#changes.notifications !== before) state.fresh = false;
    return state;
  }

  /** Reads the row again; null if the host was deleted or has a different node key. */
  async reload(state: HostState): Promise<HostRow | null> {
    const before = this.#changes.notifications;
    const row = await this.#readings.add(state.id);
    if (row === null || row.node_key_hash !== state.keyHash) {
      this.drop(state);
      return null;
    }
    state.load(row, this.#services.settings);
    if (this.#changes.notifications !== before) state.fresh = false;
    return row;
  }

  /** Caches a host that has just enrolled and drops its previous key. */
  put(row: HostRow, key: string): HostState {
    const { settings } = this.#services;
    const old = this.#byId.get(row.id);
    if (old?.key === key) {
      old.load(row, settings);
      return old;
    }
    if (old) this.drop(old);
    const state = new HostState(row.id, key, tokenHash(key));
    state.load(row, settings);
    this.#byKey.set(key, state);
    this.#byId.set(row.id, state);
    if (this.#byKey.size > HOSTS_MAX) {
      const oldest = this.#byKey.values().next().value;
      if (oldest) this.drop(oldest);
    }
    return state;
  }

  drop(state: HostState): void {
    state.live = false;
    if (this.#byKey.get(state.key) === state) this.#byKey.delete(state.key);
    if (this.#byId.get(state.id) === state) this.#byId.delete(state.id);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#lookups.idle(), this.#readings.idle()]);
    await this.#changes.stop();
  }

  async #rowsByHash(hashes: readonly string[]): Promise<(HostRow | null)[]> {
    const rows = await this.#services.store.hosts.list({ where: oneOf("node_key_hash", [...new Set(hashes)]) });
    const byHash = new Map(rows.map((row) => [row.node_key_hash, row]));
    return hashes.map((hash) => byHash.get(hash) ?? null);
  }

  async #rowsById(ids: readonly number[]): Promise<(HostRow | null)[]> {
    const rows = await this.#services.store.hosts.getMany([...new Set(ids)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}
