import { describe, expect, it } from "vitest";
import { destinationOf } from "../../src/server/automations/webhooks/destinations.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { hours, minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { retryAfterOf, retryDelay } from "../../src/server/platform/outbox/outcome.ts";
import { enqueue, enqueueMany, type Outgoing } from "../../src/server/platform/outbox/service.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { StoreUnavailable } from "../../src/server/platform/store/store.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
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
/** Makes the sender process what is due by now. */
const look = (t: TestApp) => t.store.notify(channels.outbox, "");
const rows = (t: TestApp) => t.store.outbox.list({ order: [{ column: "id", direction: "asc" }] });
const states = async (t: TestApp) => (await rows(t)).map(({ state }) => state);
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
const allDelivered = (t: TestApp) => until(async () => (await states(t)).every((state) => state === "delivered"));
const allButFirst = (t: TestApp) =>
  until(async () => (await states(t)).slice(1).every((state) => state === "delivered"));
const attempts = async (t: TestApp, id: number) => (await t.store.outbox.get(id))?.attempts;
const numbers = (receiver: Receiver) => receiver.bodies().map(({ n }) => n);
/** Advances the time for retries until nothing is pending or this many were made. */
async function passTime(t: TestApp, step: number, most?: number): Promise<void> {
  for (let i = 0; i < (most ?? 400); i++) {
    const [head] = await t.store.outbox.list({ where: eq("state", "pending"), limit: 1 });
    if (!head) return;
    t.clock.advance(Math.max(step, Date.parse(head.next_attempt_at) - t.clock.now()));
    await look(t);
    await until(async () => {
      const now = await t.store.outbox.get(head.id);
      return now?.state !== "pending" || now.attempts > head.attempts;
    });
  }
  if (most === undefined) throw new Error("there was no end to it");
}

describe.each(bothEngines)("the outbox on %s", (engine) => {
  it("delivers committed requests in order, signed, each with its own id", async () => {
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

  it("continues after a restart, and does not send delivered requests twice", async () => {
    const receiver = await startReceiver({ answer: (_, i) => ({ status: i === 1 ? 503 : 200 }) });
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2));
    await until(async () => (await rows(t))[1]!.attempts === 1);
    const { outbox } = await import("../../src/server/platform/outbox/sender.ts");
    t.clock.advance(minutes(1));
    // On the embedded store another one leads immediately; on Postgres the first one leads until it is stopped.
    const second = await outbox.start(t.services);
    await look(t);
    await allDelivered(t);
    await second.stop();
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    const [one, two] = await rows(t);
    expect(ids[0]).toBe(one!.message_id);
    expect(new Set(ids.slice(1))).toEqual(new Set([two!.message_id]));
  });

  it("does not send again what was delivered while the store could not record it", async () => {
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

  it("sends what was written while the clock was ahead, once it is right", async () => {
    const receiver = await startReceiver();
    const t = await startApp({ engine, settings });
    t.clock.advance(hours(10));
    const held = t.store.tx(async (tx) => {
      await enqueue(tx, t.services, webhook(receiver.url, 1));
      t.clock.advance(-hours(10));
    });
    await held;
    await receiver.got(1);
    await allDelivered(t);
  });

  it("sends hundreds in order while others are being written", async () => {
    const receiver = await startReceiver();
    const t = await startApp({ engine, settings });
    for (let i = 0; i < 30; i++)
      await send(t, ...Array.from({ length: 10 }, (_, k) => webhook(receiver.url, i * 10 + k)));
    await receiver.got(300);
    expect(numbers(receiver)).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });

  if (!rulesEngines.includes(engine)) return;

  it("retries after 1 to 5 seconds, then at increasing intervals, with the same id; the requests behind wait, other destinations do not", async () => {
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

  it("does not retry before Retry-After", async () => {
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
    // The sender has looked at what is due when a request to another destination arrives.
    const other = await startReceiver();
    await send(t, webhook(other.url, 2));
    await other.got(1);
    expect([asked, (await rows(t))[0]!.attempts]).toEqual([1, 1]);
    t.clock.advance(minutes(1));
    await look(t);
    await receiver.got(2);
  });

  it("gives up after 24 hours, and then sends the next one", async () => {
    const receiver = await startReceiver({ answer: ({ text }) => ({ status: text === '{"n":1}' ? 302 : 200 }) });
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
    expect((await rows(t))[0]).toMatchObject({ attempts: tries, last_error: "the destination answered 302" });
  });

  it("gives up a refused request after 15 minutes, and only that: the next ones are sent, and it can be replayed", async () => {
    for (const status of [400, 404, 410, 422]) {
      const receiver = await startReceiver({ answer: ({ text }) => ({ status: text === '{"n":1}' ? status : 200 }) });
      const t = await startApp({ engine, settings });
      const began = t.clock.now();
      await send(t, webhook(receiver.url, 1), webhook(receiver.url, 2), webhook(receiver.url, 3));
      const [first] = await rows(t);
      await until(async () => (await attempts(t, first!.id)) === 1);
      expect(await states(t)).toEqual(["pending", "pending", "pending"]);
      await passTime(t, 1);
      await allButFirst(t);
      const [dead] = await rows(t);
      expect(Date.parse(dead!.last_attempt_at!) - began).toBe(minutes(15));
      expect(dead).toMatchObject({
        state: "dead",
        last_status: status,
        last_error: `the destination answered ${status}`,
      });
      expect(dead!.attempts).toBeGreaterThan(5);
      expect(numbers(receiver).slice(-2)).toEqual([2, 3]);

      receiver.answer = () => ({});
      expect((await t.post(`/webhooks/deliveries/${dead!.id}/replay`)).status).toBe(200);
      await allDelivered(t);
      expect(receiver.received.at(-1)!.headers["webhook-id"]).toBe(dead!.message_id);
    }
  });

  it("retries after 408, 425 and 429 for 24 hours, and requests that were refused temporarily", async () => {
    let answers = [404, 408, 425, 429, 503];
    const receiver = await startReceiver({ answer: () => ({ status: answers.shift() ?? 503 }) });
    const t = await startApp({ engine, settings });
    const began = t.clock.now();
    await send(t, webhook(receiver.url, 1));
    await until(async () => (await rows(t))[0]!.attempts === 1);
    await passTime(t, minutes(20), 12);
    expect(await states(t)).toEqual(["pending"]);
    expect(t.clock.now() - began).toBeGreaterThan(hours(3));
    answers = [404];
    await passTime(t, minutes(20), 2);
    expect(await states(t)).toEqual(["dead"]);
  });

  it("makes the last attempt at the very end, even if the previous one failed within the last second", async () => {
    const receiver = await startReceiver({ answer: () => ({ status: 503 }) });
    const t = await startApp({ engine, settings });
    await send(t, webhook(receiver.url, 1));
    const [row] = await rows(t);
    await until(async () => (await attempts(t, row!.id)) === 1);
    const end = Date.parse(row!.give_up_at);
    t.clock.advance(end - 250 - t.clock.now());
    await look(t);
    await until(async () => (await attempts(t, row!.id)) === 2);
    expect((await rows(t))[0]).toMatchObject({ state: "pending", next_attempt_at: row!.give_up_at });
    t.clock.advance(250);
    await look(t);
    await until(async () => (await states(t))[0] === "dead");
    expect(await attempts(t, row!.id)).toBe(3);
  });

  it("gives up requests that waited behind it for as long, if there is no reply at all", async () => {
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
    expect([two!.attempts, two!.last_error]).toEqual([0, expect.stringMatching(/^given up without an attempt/)]);
  });

  it("handles replies that never come, are interrupted, or have no end; redirects go to no private address", async () => {
    const receiver = await startReceiver({ answer: () => "cut" });
    const t = await startApp({ engine, settings });
    // A receiver that has replied 2xx has the request, even if the rest of the reply is missing.
    await send(t, webhook(receiver.url, 1));
    await until(async () => (await states(t))[0] === "delivered");
    receiver.answer = () => ({ body: Buffer.alloc(10_000_000, "x") });
    await send(t, webhook(receiver.url, 2));
    await until(async () => (await states(t))[1] === "delivered");
    const cases = [
      ["reset", "127.0.0.1 closed the connection"],
      [{ status: 302, headers: { location: "http://127.0.0.1/" } }, "the destination answered 302"],
      [{ status: 307, headers: { location: "http://169.254.169.254/x?key=1" } }, /^Cannot send to 169.254.169.254: /],
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
});

describe("delays between attempts", () => {
  const random = { int: (max: number) => Math.floor(Math.random() * max) };
  it("increase to ten minutes", () => {
    for (let i = 0; i < 200; i++) {
      expect(retryDelay(1, random)).toBeGreaterThanOrEqual(seconds(1));
      expect(retryDelay(1, random)).toBeLessThanOrEqual(seconds(5));
      expect(retryDelay(4, random)).toBeGreaterThanOrEqual(seconds(20));
      expect(retryDelay(4, random)).toBeLessThanOrEqual(seconds(40));
      expect(retryDelay(500, random)).toBeLessThanOrEqual(minutes(10));
      expect(retryDelay(500, random)).toBeGreaterThanOrEqual(minutes(5));
    }
  });
  it("are parsed from Retry-After in both forms", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(retryAfterOf("120", now)).toBe(minutes(2));
    expect(retryAfterOf("Sun, 01 Mar 2026 12:01:00 GMT", now)).toBe(minutes(1));
    expect(retryAfterOf("Sun, 01 Mar 2020 12:01:00 GMT", now)).toBe(0);
    for (const nonsense of [null, "", "soon", "-5", "1e9", "99999999999"]) expect(retryAfterOf(nonsense, now)).toBe(0);
  });
});
