import { describe, expect, it } from "vitest";
import { channels } from "../../src/server/core/channels.ts";
import { hours, minutes, seconds } from "../../src/server/core/clock.ts";
import { retryAfterOf, retryDelay } from "../../src/server/outbox/outcome.ts";
import { enqueue, enqueueMany, type Outgoing } from "../../src/server/outbox/service.ts";
import { eq } from "../../src/server/store/query.ts";
import { StoreUnavailable } from "../../src/server/store/store.ts";
import { destinationOf } from "../../src/server/webhooks/destinations.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { isSigned, type Receiver, startReceiver } from "../support/receiver.ts";

const settings = { outbound_allow: "127.0.0.1,::1,localhost" };
const webhook = (url: string, n: number, more: Partial<Outgoing> = {}): Outgoing => ({
  kind: "webhook",
  event: "activities",
  destination: url,
  url,
  payload: { n },
  ...more,
});
const send = (t: TestApp, ...all: Outgoing[]) => t.store.tx((tx) => enqueueMany(tx, t.services, all));
/** The sender looks at what is due by now. */
const look = (t: TestApp) => t.store.notify(channels.outbox, "");
const rows = (t: TestApp) => t.store.outbox.list({ order: [{ column: "id", direction: "asc" }] });
const states = async (t: TestApp) => (await rows(t)).map(({ state }) => state);
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
const allDelivered = (t: TestApp) => until(async () => (await states(t)).every((state) => state === "delivered"));
const attempts = async (t: TestApp, id: number) => (await t.store.outbox.get(id))?.attempts;
const numbers = (receiver: Receiver) => receiver.bodies().map(({ n }) => n);
/** Lets retries come due, one after the other, until nothing is pending. */
async function passTime(t: TestApp, step: number, most = 400): Promise<void> {
  for (let i = 0; i < most; i++) {
    const [head] = await t.store.outbox.list({ where: eq("state", "pending"), limit: 1 });
    if (!head) return;
    t.clock.advance(Math.max(step, Date.parse(head.next_attempt_at) - t.clock.now()));
    await look(t);
    await until(async () => {
      const now = await t.store.outbox.get(head.id);
      return now?.state !== "pending" || now.attempts > head.attempts;
    });
  }
  throw new Error("there was no end to it");
}

describe.each(["lowdb", "postgres"] as const)("the outbox on %s", (engine) => {
  it("delivers what was written once it is committed, in order, signed, under an id of its own", async () => {
    const receiver = await startReceiver();
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2), webhook(receiver.url, 3));
    await receiver.got(3);
    expect(numbers(receiver)).toEqual([1, 2, 3]);
    await allDelivered(t);
    const { signing_secret: secret } = await destinationOf(t.services, receiver.url);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    for (const request of receiver.received) {
      expect(isSigned(request, secret)).toBe(true);
      expect(request.headers["content-type"]).toBe("application/json");
      expect(Number(request.headers["webhook-timestamp"])).toBe(Math.floor(t.clock.now() / 1000));
    }
    const kept = await rows(t);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(kept.map((row) => row.message_id));
    expect(new Set(kept.map((row) => row.message_id)).size).toBe(3);
    expect(kept[0]).toMatchObject({ attempts: 1, last_status: 200, last_error: null, delivered_at: t.clock.iso() });
  });

  it("sends nothing of a transaction that did not commit", async () => {
    const receiver = await startReceiver();
    const t = await startApp({ engine, settings });
    const failing = t.store.tx(async (tx) => {
      await enqueue(tx, t.services, webhook(receiver.url, 1));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await send(t, webhook(receiver.url, 2));
    await receiver.got(1);
    expect(numbers(receiver)).toEqual([2]);
  });

  it("tries again in 1 to 5 seconds, then ever later, under the same id; those behind it wait, other destinations do not", async () => {
    const bad = await startReceiver({ answer: () => ({ status: 500, body: "secret of the receiver" }) });
    const good = await startReceiver();
    const t = await startApp({ engine, settings });
    await send(t, webhook(bad.url, 1), webhook(bad.url, 2), webhook(good.url, 3));
    await good.got(1);
    await bad.got(1);
    const [first] = await rows(t);
    await until(async () => (await attempts(t, first!.id)) === 1);
    const tried = (await t.store.outbox.get(first!.id))!;
    expect(tried).toMatchObject({ state: "pending", last_status: 500, last_error: "the destination answered 500" });
    const wait = Date.parse(tried.next_attempt_at) - t.clock.now();
    expect(wait).toBeGreaterThanOrEqual(seconds(1));
    expect(wait).toBeLessThanOrEqual(seconds(5));
    await look(t);
    expect(bad.received).toHaveLength(1);
    t.clock.advance(wait);
    await look(t);
    await bad.got(2);
    bad.answer = () => ({});
    await passTime(t, seconds(5));
    expect(numbers(bad)).toEqual([1, 1, 1, 2]);
    expect(new Set(bad.received.slice(0, 3).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("does not come back before Retry-After", async () => {
    let asked = 0;
    const busy = () => ({ status: 429, headers: { "retry-after": "3600" } });
    const receiver = await startReceiver({ answer: () => (asked++ === 0 ? busy() : {}) });
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1));
    await until(async () => (await rows(t))[0]!.attempts === 1);
    expect((await rows(t))[0]).toMatchObject({
      state: "pending",
      last_status: 429,
      next_attempt_at: new Date(t.clock.now() + hours(1)).toISOString(),
    });
    t.clock.advance(minutes(59));
    await look(t);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(asked).toBe(1);
    t.clock.advance(minutes(1));
    await look(t);
    await receiver.got(2);
  });

  it("gives up after 24 hours, and then the next one goes", async () => {
    const receiver = await startReceiver({ answer: ({ text }) => ({ status: text === '{"n":1}' ? 422 : 200 }) });
    const t = await startApp({ engine, settings });
    const began = t.clock.now();
    await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2));
    await receiver.got(1);
    const [first] = await rows(t);
    await until(async () => (await attempts(t, first!.id)) === 1);
    await passTime(t, seconds(1));
    expect(t.clock.now() - began).toBeGreaterThanOrEqual(hours(24));
    expect(t.clock.now() - began).toBeLessThan(hours(24) + minutes(11));
    expect(await states(t)).toEqual(["dead", "delivered"]);
    const tries = numbers(receiver).filter((n) => n === 1).length;
    expect(tries).toBeGreaterThan(100);
    expect((await rows(t))[0]).toMatchObject({ attempts: tries, last_error: "the destination answered 422" });
  });

  it("gives up what waited as long behind it when nobody answers at all", async () => {
    const receiver = await startReceiver();
    await receiver.stop();
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2), webhook(receiver.url, 3));
    const [first] = await rows(t);
    await until(async () => (await attempts(t, first!.id)) === 1);
    t.clock.advance(hours(25));
    await send(t, webhook(receiver.url, 4));
    await until(async () => (await states(t))[0] === "dead");
    expect(await states(t)).toEqual(["dead", "dead", "dead", "pending"]);
    const [one, two] = await rows(t);
    expect(one!.last_error).toBe("127.0.0.1 refused the connection");
    expect([two!.attempts, two!.last_error]).toEqual([0, expect.stringMatching(/^given up untried/)]);
  });

  it("holds against answers that never come, break off, or have no end; redirects go nowhere private", async () => {
    const receiver = await startReceiver({ answer: () => "cut" });
    const t = await startApp({ engine, settings });
    // Whoever has answered 2xx has it, whatever else of the answer is missing.
    await send(t, webhook(receiver.url, 1));
    await until(async () => (await states(t))[0] === "delivered");
    receiver.answer = () => ({ body: Buffer.alloc(10_000_000, "x") });
    await send(t, webhook(receiver.url, 2));
    await until(async () => (await states(t))[1] === "delivered");
    const cases = [
      ["reset", "127.0.0.1 closed the connection"],
      [{ status: 302, headers: { location: "http://127.0.0.1/" } }, "the destination answered 302"],
      [{ status: 307, headers: { location: "http://169.254.169.254/x?key=1" } }, /^169.254.169.254 is an address that/],
      [{ status: 307, headers: { location: "https://127.0.0.1:1/" } }, "127.0.0.1 redirects from http: to https:"],
    ] as const;
    for (const [answer, told] of cases) {
      receiver.answer = () => answer;
      const row = await t.store.tx((tx) => enqueue(tx, t.services, webhook(receiver.url, 3)));
      await until(async () => (await attempts(t, row.id)) === 1);
      const { last_error: error, state } = (await t.store.outbox.get(row.id))!;
      expect([error, state]).toEqual([typeof told === "string" ? told : expect.stringMatching(told), "pending"]);
      await t.store.outbox.delete(eq("id", row.id));
      t.clock.advance(minutes(11));
      await look(t);
    }
  });

  it("goes on after a restart with what was left, and does not send twice what was delivered", async () => {
    const receiver = await startReceiver({ answer: (_, i) => ({ status: i === 1 ? 503 : 200 }) });
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2));
    await until(async () => (await rows(t))[1]!.attempts === 1);
    const { startOutbox } = await import("../../src/server/outbox/sender.ts");
    t.clock.advance(minutes(1));
    // On the embedded store another one leads at once; on Postgres the first one leads on until it is stopped.
    const second = await startOutbox(t.services);
    await look(t);
    await allDelivered(t);
    await second.stop();
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    const [one, two] = await rows(t);
    expect(ids[0]).toBe(one!.message_id);
    expect(new Set(ids.slice(1))).toEqual(new Set([two!.message_id]));
  });

  it("does not send again what the store could not note as delivered, once it can", async () => {
    const t = await startApp({ engine, settings });
    const { tx } = t.store;
    let refused = 0;
    const away = () => {
      refused++;
      return Promise.reject(new StoreUnavailable("away"));
    };
    const receiver = await startReceiver({
      answer: () => {
        Object.assign(t.store, { tx: away });
        return {};
      },
    });
    await send(t, webhook(receiver.url, 1));
    await until(async () => refused >= 2);
    expect(await states(t)).toEqual(["pending"]);
    Object.assign(t.store, { tx });
    receiver.answer = () => ({});
    await allDelivered(t);
    await send(t, webhook(receiver.url, 2));
    await receiver.got(2);
    expect(numbers(receiver)).toEqual([1, 2]);
  });

  it("sends hundreds in order while others are being written", async () => {
    const receiver = await startReceiver();
    const t = await startApp({ engine, settings });
    for (let i = 0; i < 30; i++)
      await send(t, ...Array.from({ length: 10 }, (_, k) => webhook(receiver.url, i * 10 + k)));
    await receiver.got(300, 20_000);
    expect(numbers(receiver)).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });
});

describe("waits between tries", () => {
  const random = { int: (max: number) => Math.floor(Math.random() * max) };
  it("grow to ten minutes", () => {
    for (let i = 0; i < 200; i++) {
      expect(retryDelay(1, random)).toBeGreaterThanOrEqual(seconds(1));
      expect(retryDelay(1, random)).toBeLessThanOrEqual(seconds(5));
      expect(retryDelay(4, random)).toBeGreaterThanOrEqual(seconds(20));
      expect(retryDelay(4, random)).toBeLessThanOrEqual(seconds(40));
      expect(retryDelay(500, random)).toBeLessThanOrEqual(minutes(10));
      expect(retryDelay(500, random)).toBeGreaterThanOrEqual(minutes(5));
    }
  });
  it("are read from Retry-After in both forms", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(retryAfterOf("120", now)).toBe(minutes(2));
    expect(retryAfterOf("Sun, 01 Mar 2026 12:01:00 GMT", now)).toBe(minutes(1));
    expect(retryAfterOf("Sun, 01 Mar 2020 12:01:00 GMT", now)).toBe(0);
    for (const nonsense of [null, "", "soon", "-5", "1e9", "99999999999"]) expect(retryAfterOf(nonsense, now)).toBe(0);
  });
});
