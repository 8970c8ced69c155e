import type pg from "pg";
import { expect, it, vi } from "vitest";
import { Watchdog } from "../../../src/server/platform/store/postgres/connection/watchdog.ts";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";

/** A probe whose replies the test controls. */
function bench() {
  const questions: { answer(): void; fail(): void }[] = [];
  const drop = vi.fn(() => questions.at(-1)?.fail());
  const ask = vi.fn(
    () => new Promise<void>((done, failed) => questions.push({ answer: done, fail: () => failed(new Error("lost")) })),
  );
  const watchdog = new Watchdog({ ask, drop, close: () => undefined }, undefined);
  const tick = (times = 1) => {
    for (let n = 0; n < times; n++) watchdog.tick();
  };
  const settled = () => new Promise((done) => setImmediate(done));
  const question = () => questions.at(-1)!;
  return { watchdog, ask, drop, tick, settled, question };
}

const poolThat = (connect: () => Promise<unknown>) => ({ connect }) as unknown as pg.Pool;

it("accepts a late reply", async () => {
  const { watchdog, ask, tick, settled, question } = bench();
  for (let round = 0; round < 5; round++) {
    tick(1 + 6);
    expect(watchdog.silent).toBe(false);
    question().answer();
    await settled();
  }
  expect(ask).toHaveBeenCalledTimes(5);
  expect(watchdog.outages).toBe(0);
});

it("is silent after seven ticks without a reply, and no longer after a reply to a new probe", async () => {
  const { watchdog, ask, drop, tick, settled, question } = bench();
  tick(1 + 7);
  expect(watchdog.silent).toBe(true);
  expect(drop).toHaveBeenCalledTimes(1);
  await settled();

  // The watchdog sends another probe on another connection, as long as necessary.
  tick(30);
  expect(ask).toHaveBeenCalledTimes(2);
  question().fail();
  await settled();
  expect(watchdog.silent).toBe(true);
  tick();
  question().answer();
  await settled();
  expect(watchdog).toMatchObject({ silent: false, outages: 1 });
});

it("treats replies to statements as signs of life", async () => {
  const { watchdog, tick } = bench();
  for (let n = 0; n < 10; n++) {
    tick(6);
    watchdog.heard();
  }
  expect(watchdog.silent).toBe(false);
  tick(7);
  expect(watchdog.silent).toBe(true);
});

it("does not treat a refused connection as silence", async () => {
  const { watchdog, tick, settled, question } = bench();
  for (let n = 0; n < 20; n++) {
    tick();
    question().fail();
    await settled();
  }
  expect(watchdog.outages).toBe(0);
});

it("ends the wait for a connection, and releases one that comes too late", async () => {
  const { watchdog, tick } = bench();
  const release = vi.fn();
  let give: (client: unknown) => void = () => undefined;
  const pool = poolThat(() => new Promise((done) => (give = done)));
  tick();
  const waiting = watchdog.connect(pool);
  tick(7);
  await expect(waiting).rejects.toThrow(StoreUnavailable);
  give({ release });
  await vi.waitFor(() => expect(release).toHaveBeenCalledTimes(1));

  const connect = vi.fn(async () => ({}));
  await expect(watchdog.connect(poolThat(connect))).rejects.toThrow("the database does not respond");
  expect(connect).not.toHaveBeenCalled();
});
