import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { adminOf } from "../../../src/server/platform/store/admin.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { testTables } from "./tables.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: true });
});
afterAll(() => server?.destroy());

it.each(["immediate", "kill", "fast"] as const)(
  "throws StoreUnavailable while Postgres is down (%s), and recovers automatically",
  async (how) => {
    const store = await openPostgres({
      tables: testTables,
      url: await server.createDatabase(`away_${how}`),
      cipher,
      create: true,
    });
    const reset = vi.fn();
    await store.listen("news", () => undefined, reset);
    const kept: number[] = [];
    const failures: unknown[] = [];
    let stop = false;
    const writers = Array.from({ length: 4 }, async (_, by) => {
      for (let n = 0; !stop; n++) {
        try {
          kept.push((await store.teams.insert({ name: `${by} ${n}` })).id);
        } catch (error) {
          failures.push(error);
          await new Promise((done) => setTimeout(done, 5));
        }
      }
    });
    await expect.poll(() => kept.length).toBeGreaterThan(20);
    await server.stop(how);
    await expect.poll(() => failures.length).toBeGreaterThan(10);
    await expect(store.check()).rejects.toThrow(StoreUnavailable);
    const before = kept.length;
    await server.start();
    await expect.poll(() => kept.length).toBeGreaterThan(before + 20);
    stop = true;
    await Promise.all(writers);

    expect(failures.filter((error) => !(error instanceof StoreUnavailable))).toEqual([]);
    const there = new Set((await store.teams.pick(["id"])).map((row) => row.id));
    expect(kept.filter((id) => !there.has(id))).toEqual([]);
    await expect.poll(() => reset.mock.calls.length).toBeGreaterThan(0);
    await store.close();
  },
);

it.runIf(process.platform === "linux")("reports within its time limit that Postgres does not respond", async () => {
  const store = await openPostgres({
    tables: testTables,
    url: await server.createDatabase("paused"),
    cipher,
    create: true,
  });
  await store.teams.insert({ name: "a" });
  server.pause();
  try {
    const started = Date.now();
    await expect(store.check()).rejects.toThrow(StoreUnavailable);
    // The check has a limit of two seconds; statements have thirty.
    expect(Date.now() - started).toBeLessThan(20_000);
  } finally {
    server.resume();
  }
  await vi.waitFor(() => store.check(), { timeout: 60_000 });
  expect(await store.teams.count()).toBe(1);
  await store.close();
});

it.runIf(process.platform === "linux")(
  "fails waiting calls when Postgres freezes, and recovers automatically",
  async () => {
    const store = await openPostgres({
      tables: testTables,
      url: await server.createDatabase("frozen"),
      cipher,
      create: true,
      poolSize: 3,
      leadEveryMs: 200,
    });
    await store.teams.insert({ name: "before" });
    const heard = vi.fn();
    const reset = vi.fn();
    await store.listen("news", heard, reset);
    const led: AbortSignal[] = [];
    const stopLeading = await store.lead("job", async (lost) => {
      led.push(lost);
      await new Promise<void>((done) => lost.addEventListener("abort", () => done(), { once: true }));
    });
    await vi.waitFor(() => expect(led).toHaveLength(1));

    server.pause();
    try {
      const started = Date.now();
      // More than there are connections: some run, some wait for one.
      const calls = [
        ...Array.from({ length: 3 }, () => store.teams.count()),
        ...Array.from({ length: 3 }, (_, n) => store.teams.insert({ name: `alone ${n}` })),
        ...Array.from({ length: 3 }, (_, n) => store.tx((tx) => tx.teams.insert({ name: `tx ${n}` }))),
      ];
      const outcomes = await Promise.allSettled(calls);
      for (const outcome of outcomes) {
        expect(outcome.status).toBe("rejected");
        expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailable);
      }
      // Statements have a limit of thirty seconds, and waiting for a connection has ten.
      expect(Date.now() - started).toBeLessThan(9_000);
      expect(store.stats()).toMatchObject({ unreachable: 1, outages: 1 });
      await expect(store.teams.count()).rejects.toThrow("the database does not respond");
      expect(led[0]?.aborted).toBe(true);
    } finally {
      server.resume();
    }

    await vi.waitFor(() => expect(store.stats().unreachable).toBe(0), { timeout: 30_000 });
    await store.teams.insert({ name: "after" });
    expect(await store.teams.pick(["name"])).toContainEqual({ name: "after" });
    await vi.waitFor(() => expect(reset).toHaveBeenCalled(), { timeout: 30_000 });
    await store.notify("news", "again");
    await vi.waitFor(() => expect(heard).toHaveBeenCalledWith("again"), { timeout: 30_000 });
    await vi.waitFor(() => expect(led).toHaveLength(2), { timeout: 30_000 });
    await stopLeading();
    await store.close();
  },
);

it.runIf(process.platform === "linux")("reports a COMMIT that froze as unknown", async () => {
  const store = await openPostgres({
    tables: testTables,
    url: await server.createDatabase("frozen_commit"),
    cipher,
    create: true,
  });
  try {
    const writing = store.tx(async (tx) => {
      await tx.teams.insert({ name: "either way" });
      server.pause();
    });
    await expect(writing).rejects.toThrow("whether the transaction was kept is unknown");
    await expect(writing).rejects.toThrow(StoreUnavailable);
  } finally {
    server.resume();
  }
  await vi.waitFor(() => store.check(), { timeout: 30_000 });
  await store.close();
});

it.runIf(process.platform === "linux")(
  "lets a copy of the whole store continue after Postgres was frozen",
  async () => {
    const store = await openPostgres({
      tables: testTables,
      url: await server.createDatabase("frozen_copy"),
      cipher,
      create: true,
    });
    await store.teams.insert({ name: "a" });
    const copying = adminOf(store).snapshot(async (all) => {
      await all.teams.count();
      server.pause();
      const counting = all.teams.count();
      await vi.waitFor(() => expect(store.stats().unreachable).toBe(1), { timeout: 30_000 });
      server.resume();
      return counting;
    });
    expect(await copying).toBe(1);
    await vi.waitFor(() => store.check(), { timeout: 30_000 });
    await store.close();
  },
);

it("keeps waiting for a lock of a live database", async () => {
  const url = await server.createDatabase("locked");
  const store = await openPostgres({ tables: testTables, url, cipher, create: true });
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  await blocker.query("BEGIN; LOCK TABLE t_teams IN ACCESS EXCLUSIVE MODE");
  const waiting = store.teams.count();
  // Longer than the silence after which a database counts as unreachable.
  await blocker.query("SELECT pg_sleep(6)");
  await blocker.query("COMMIT");
  await blocker.end();
  expect(await waiting).toBe(0);
  expect(store.stats()).toMatchObject({ unreachable: 0, outages: 0 });
  await store.close();
});

it("reports clearly that no server is listening at the address", async () => {
  const opening = openPostgres({ tables: testTables, url: "postgres://svc@127.0.0.1:1/none", cipher, create: true });
  await expect(opening).rejects.toThrow(/cannot serve this now: connect ECONNREFUSED/);
  await expect(opening).rejects.toThrow(StoreUnavailable);
});
