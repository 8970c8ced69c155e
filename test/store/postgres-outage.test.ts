import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createCipher } from "../../src/server/core/cipher.ts";
import { openPostgres } from "../../src/server/store/postgres/open.ts";
import { StoreUnavailable } from "../../src/server/store/store.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { testTables } from "./tables.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: true });
});
afterAll(() => server?.destroy());

it.each(["immediate", "kill", "fast"] as const)(
  "answers StoreUnavailable while Postgres is away (%s), and works again by itself",
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

it.runIf(process.platform === "linux")("says within its limit that Postgres does not answer", async () => {
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
    // Its limit is two seconds; statements have thirty.
    expect(Date.now() - started).toBeLessThan(20_000);
  } finally {
    server.resume();
  }
  await vi.waitFor(() => store.check(), { timeout: 60_000 });
  expect(await store.teams.count()).toBe(1);
  await store.close();
});

it("says clearly that nothing answers at the address", async () => {
  const opening = openPostgres({ tables: testTables, url: "postgres://svc@127.0.0.1:1/none", cipher, create: true });
  await expect(opening).rejects.toThrow(/cannot serve this now: connect ECONNREFUSED/);
  await expect(opening).rejects.toThrow(StoreUnavailable);
});
