// Database sessions of the test run are kept after their store is closed: opening one takes as long as most tests, and
// the next store benefits from its cached tables.
import type pg from "pg";
import { vi } from "vitest";

type PoolModule = typeof import("../../src/server/platform/store/postgres/connection/pool.ts");

vi.mock("../../src/server/platform/store/postgres/connection/pool.ts", async (original) => {
  const real = await original<PoolModule>();
  const idlePools = new Shelf<pg.Pool>();
  const idleClients = new Shelf<pg.Client>();
  const homes = new WeakMap<pg.Client, string>();

  const createPool: PoolModule["createPool"] = (options) => {
    const key = `${options.poolSize} ${options.waitMs} ${options.url}`;
    const pool = idlePools.take(key) ?? real.createPool(options);
    return leased(pool, async () => {
      // A pool that never gets a session back, or whose server is gone, is of no use to the next store.
      const isWhole = pool.totalCount > 0 && pool.idleCount === pool.totalCount && pool.waitingCount === 0;
      if (isWhole) idlePools.put(key, pool);
      else await pool.end();
    });
  };

  const connectClient: PoolModule["connectClient"] = async (url, { unhurried = false } = {}) => {
    const key = `${unhurried} ${url}`;
    const client = idleClients.take(key) ?? (await real.connectClient(url, { unhurried }));
    homes.set(client, key);
    return client;
  };

  const destroy: PoolModule["destroy"] = (client) => {
    const key = homes.get(client);
    homes.delete(client);
    const isBusy = !(client as pg.Client & { readyForQuery: boolean }).readyForQuery;
    if (key === undefined || isBusy) return real.destroy(client);
    client.removeAllListeners();
    client.on("error", () => undefined);
    client.once("end", () => idleClients.drop(key, client));
    client.query("ROLLBACK; UNLISTEN *; SELECT pg_advisory_unlock_all()").then(
      () => idleClients.put(key, client),
      () => real.destroy(client),
    );
  };
  return { ...real, createPool, connectClient, destroy };
});

class Shelf<T> {
  readonly #kept = new Map<string, T[]>();

  put(key: string, one: T): void {
    this.#kept.set(key, [...(this.#kept.get(key) ?? []), one]);
  }
  take(key: string): T | undefined {
    return this.#kept.get(key)?.pop();
  }
  drop(key: string, one: T): void {
    this.#kept.set(
      key,
      (this.#kept.get(key) ?? []).filter((each) => each !== one),
    );
  }
}

/** The pool for one store. */
function leased(pool: pg.Pool, giveBack: () => Promise<void>): pg.Pool {
  let isOver = false;
  const end = async () => {
    if (isOver) throw new Error("Called end on pool more than once");
    isOver = true;
    await giveBack();
  };
  const connect = async () => {
    if (isOver) throw new Error("Cannot use a pool after calling end on the pool");
    return pool.connect();
  };
  return new Proxy(pool, {
    get: (target, name) => (name === "end" ? end : name === "connect" ? connect : Reflect.get(target, name, target)),
  });
}
