import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MAX_AGE_MS, Overdue } from "../../../src/server/platform/core/concurrency/age.ts";
import { Batcher } from "../../../src/server/platform/core/concurrency/batcher.ts";
import { startApp } from "../../support/app.ts";
import { enrollment, makeSecret, throughApp } from "./agents.ts";

/** A batcher whose batches end when they are released, with its own clock. */
function gated(options: { size: number; parallel?: number; key?: (item: string) => unknown }) {
  const clock = { time: 0 };
  const batches: (readonly string[])[] = [];
  let open = () => {};
  const batcher = new Batcher<string, string>(
    async (items) => {
      batches.push(items);
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      return items;
    },
    { parallel: 1, ...options, now: () => clock.time },
  );
  const add = (item: string): Promise<string> =>
    batcher.add(item).catch((error: unknown) => (error instanceof Overdue ? "overdue" : "failed"));
  /** Ends the current batch, and starts the next one. */
  const next = async () => {
    open();
    for (let i = 0; i < 5; i++) await turn();
  };
  return { clock, batches, add, next };
}

describe("batches with more work than can be done", () => {
  test("process the latest request first", async () => {
    const { batches, add, next } = gated({ size: 2 });
    const results = [add("running")];
    await turn();
    for (const item of ["a", "b", "c", "d"]) results.push(add(item));
    for (let i = 0; i < 3; i++) await next();
    await next();
    expect(await Promise.all(results)).toEqual(["running", "a", "b", "c", "d"]);
    expect(batches).toEqual([["running"], ["c", "d"], ["a", "b"]]);
  });

  test("take what arrives in the same turn as the end of the last batch", async () => {
    const { batches, add, next } = gated({ size: 9 });
    const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));
    const first = add("running")
      .then(tick)
      .then(() => add("answered"));
    await turn();
    const second = add("waiting");
    for (let i = 0; i < 2; i++) await next();
    expect(await Promise.all([first, second])).toEqual(["answered", "waiting"]);
    expect(batches).toEqual([["running"], ["waiting", "answered"]]);
  });

  test("process the messages of one host in order", async () => {
    const { batches, add, next } = gated({ size: 2, key: (item) => item[0] });
    const results = [add("x1")];
    await turn();
    for (const item of ["a1", "b1", "a2", "c1", "a3"]) results.push(add(item));
    for (let i = 0; i < 6; i++) await next();
    await Promise.all(results);
    expect(batches).toEqual([["x1"], ["a1", "c1"], ["b1", "a2"], ["a3"]]);
  });

  test.each([undefined, (item: string) => item])(
    "take the oldest one with the latest ones, with the key %s",
    async (key) => {
      const { batches, add, next } = gated({ size: 4, ...(key && { key }) });
      void add("running");
      await turn();
      for (const item of ["a", "b", "c", "d", "e"]) void add(item);
      await next();
      for (const item of ["f", "g", "h", "i"]) void add(item);
      await next();
      expect(batches).toEqual([["running"], ["a", "c", "d", "e"], ["b", "g", "h", "i"]]);
    },
  );

  test("refuse requests that waited too long, without starting them", async () => {
    const { clock, batches, add, next } = gated({ size: 2 });
    const results = [add("running")];
    await turn();
    results.push(add("old"));
    clock.time = MAX_AGE_MS + 1;
    results.push(add("new"));
    await next();
    await next();
    // Work in progress is completed, however long it takes, because it cannot be undone.
    expect(await Promise.all(results)).toEqual(["running", "overdue", "new"]);
    expect(batches).toEqual([["running"], ["new"]]);
  });
});

describe("a second batch beside a running one", () => {
  test("starts only when it is full", async () => {
    const { batches, add } = gated({ size: 2, parallel: 2 });
    for (const item of ["first", "a"]) {
      void add(item);
      await turn();
      await turn();
    }
    expect(batches).toEqual([["first"]]);
    void add("b");
    await turn();
    expect(batches).toEqual([["first"], ["a", "b"]]);
  });

  test("starts with the next request if the running one is slow", async () => {
    const { batches, clock, add } = gated({ size: 3, parallel: 2 });
    void add("slow");
    await turn();
    void add("a");
    clock.time = 1_001;
    void add("b");
    await turn();
    expect(batches).toEqual([["slow"], ["a", "b"]]);
    // No third one beside them.
    for (const item of ["c", "d", "e"]) void add(item);
    clock.time = 3_000;
    await turn();
    expect(batches).toHaveLength(2);
  });
});

test("an agent whose request waited too long is asked to retry, and nothing of it is written", async () => {
  const t = await startApp();
  await makeSecret(t);
  const body = Buffer.from(JSON.stringify(enrollment()));
  const since = performance.now() - MAX_AGE_MS - 1;
  const reply = await t.agent.replyTo("enroll", { body, authorization: undefined, address: "", since });
  expect(reply).toMatchObject({ status: 503, retryAfter: 5 });
  expect(JSON.parse(reply.body)).toEqual({ error: "the request waited too long and was not processed; try again" });
  expect(await t.store.hosts.count()).toBe(0);
  expect(await t.services.metrics.registry.metrics()).toContain('svc_agent_overdue_total{endpoint="enroll"} 1');
  expect((await throughApp(t)("/api/v1/qengine/enroll", enrollment())).status).toBe(200);
});
