import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { FailureLimit } from "../../../src/server/platform/rate-limits/failures.ts";
import {
  countLogin,
  LOGINS_PER_MINUTE_OF_ALL,
  loginSucceeded,
} from "../../../src/server/platform/rate-limits/logins.ts";
import type { LimitedBy } from "../../../src/server/platform/rate-limits/shared.ts";
import { type Hit, isAhead, recent, waitOf, withHit } from "../../../src/server/platform/rate-limits/windows.ts";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { errorOf, login } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { runningOf } from "../../support/running.ts";

/** Another server on the store of the test, with an empty memory. */
const anotherServer = (t: TestApp): LimitedBy => ({
  store: t.store,
  clock: t.clock,
  running: runningOf({}),
});

const passes = (server: LimitedBy, address: string, email: string): Promise<boolean> =>
  countLogin(server, address, email).then(
    () => true,
    () => false,
  );

const attempts = async (t: TestApp, count: number, headers: (i: number) => Record<string, string>) => {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++)
    statuses.push((await login(t, `guess${i}@example.com`, "wrong-Password-77", headers(i))).status);
  return statuses;
};

describe("sign-ins over HTTP", () => {
  it("are refused from the 11th within a minute, with the seconds to wait, with the right password too", async () => {
    const t = await startApp();
    for (let i = 0; i < 10; i++) expect((await login(t, "x@example.com", "wrong-Password-77")).status).toBe(401);
    const refused = await login(t, ADMIN.email, ADMIN.password);
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await errorOf(refused)).toMatchObject({
      message: `limit exceeded, retry after: ${wait}s`,
      errors: [{ name: "base", reason: `limit exceeded, retry after: ${wait}s` }],
    });
    t.clock.advance(wait * 1000 - 1001);
    expect((await login(t, ADMIN.email, ADMIN.password)).status).toBe(429);
    t.clock.advance(1001);
    expect((await login(t, ADMIN.email, ADMIN.password)).status).toBe(200);
  });

  it("are counted by the peer, whatever forwarding headers contain", async () => {
    const t = await startApp();
    const statuses = await attempts(t, 100, (i) => ({
      "x-forwarded-for": `203.0.113.${i}`,
      "x-real-ip": `203.0.113.${i}`,
      forwarded: `for=203.0.113.${i}`,
      "true-client-ip": `203.0.113.${i}`,
    }));
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual(Array(90).fill(429));
  });

  it("are refused before a password is hashed or an activity is written", async () => {
    const t = await startApp();
    await attempts(t, 30, () => ({}));
    const failed = await t.store.activities.count({ op: "eq", column: "type", value: "user_failed_login" });
    expect(failed).toBe(10);
  });
});

describe("login limits", () => {
  const limits = async () => {
    const t = await startApp();
    return { t, server: anotherServer(t) };
  };

  it("do not affect other addresses when one is used up", async () => {
    const { server } = await limits();
    for (let i = 0; i < 10; i++) expect(await passes(server, "198.51.100.1", `u${i}`)).toBe(true);
    expect(await passes(server, "198.51.100.1", "u")).toBe(false);
    expect(await passes(server, "198.51.100.2", "u")).toBe(true);
  });

  it("apply to one account from any number of addresses", async () => {
    const { server, t } = await limits();
    for (let i = 0; i < 10; i++) expect(await passes(server, `198.51.100.${i}`, "ada")).toBe(true);
    expect(await passes(server, "198.51.100.99", "ada")).toBe(false);
    expect(await passes(server, "198.51.100.99", "bo")).toBe(true);
    t.clock.advance(60_000);
    expect(await passes(server, "198.51.100.99", "ada")).toBe(true);
  });

  it("keep an account open for the address it signed in from, while strangers guess, on every server", async () => {
    const { server, t } = await limits();
    expect(await passes(server, "192.0.2.1", "ada")).toBe(true);
    await loginSucceeded(server, "192.0.2.1", "ada");
    t.clock.advance(61_000);
    for (let i = 0; i < 20; i++) await passes(server, `198.51.100.${i}`, "ada");
    expect(await passes(server, "198.51.100.99", "ada")).toBe(false);
    for (const [i, email] of ["ada\n192.0.2.1", "pair 192.0.2.1\nada", "192.0.2.1\nada"].entries())
      for (let j = 0; j < 10; j++) await passes(server, `203.0.113.${10 * i + j}`, email);
    expect(await passes(anotherServer(t), "192.0.2.1", "ada")).toBe(true);
  });

  it("do not count right passwords for the account", async () => {
    const { server } = await limits();
    for (let i = 0; i < 30; i++) {
      expect(await passes(server, `198.51.100.${i}`, "ada")).toBe(true);
      await loginSucceeded(server, `198.51.100.${i}`, "ada");
    }
  });

  it("count an IPv6 network of 64 bits as one address", async () => {
    const { server } = await limits();
    const spellings = ["2001:db8::1", "2001:DB8:0:0::2", "2001:0db8::3:4", "2001:db8:0:0:ffff:1:2:3"];
    for (let i = 0; i < 10; i++) expect(await passes(server, spellings[i % 4]!, `u${i}`)).toBe(true);
    for (const spelling of spellings) expect(await passes(server, spelling, "u")).toBe(false);
    expect(await passes(server, "2001:db8:0:1::1", "u")).toBe(true);
    expect(await passes(server, "2001:db9::1", "u")).toBe(true);
  });

  it("limit the checks of all servers, and the rows that strangers can create", async () => {
    const { server, t } = await limits();
    for (let minute = 0; minute < 2; minute++) {
      let passed = 0;
      for (let i = 0; i < 500; i++)
        if (await passes(server, `10.${minute}.${i >> 8}.${i & 255}`, `u${minute}-${i}`)) passed++;
      expect(passed).toBe(LOGINS_PER_MINUTE_OF_ALL);
      expect(await t.store.rateLimits.count()).toBeLessThanOrEqual((minute + 1) * 2 * LOGINS_PER_MINUTE_OF_ALL + 1);
      t.clock.advance(60_000);
    }
    await runJob(t.services, "rate_limit_cleanup");
    expect(await t.store.rateLimits.count()).toBe(0);
  });

  it("never allow more within a period than the limit, nor a longer wait than one period, even if the clock jumps", () => {
    const window = { most: 10, span: 60_000 };
    const step = fc.record({
      by: fc.integer({ min: -7_200_000, max: 90_000 }),
      forward: fc.integer({ min: 0, max: 9_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(10, 100), (steps, most) => {
        const limit = { ...window, most };
        let hits: readonly Hit[] = [];
        let now = 1_000_000;
        const passed: number[] = [];
        const attempt = (): boolean => {
          if (isAhead(hits, now)) hits = recent(hits, now, limit);
          if (waitOf(hits, now, limit) > 0) return false;
          hits = withHit(hits, now, limit);
          passed.push(now);
          return true;
        };
        for (const { forward } of steps) {
          now += forward;
          while (passed.length % 7 !== 6 && attempt());
          attempt();
        }
        for (let i = most; i < passed.length; i++)
          expect(passed[i]! - passed[i - most]!).toBeGreaterThanOrEqual(60_000);
        expect(hits.length).toBeLessThanOrEqual(most === 10 ? 10 : 21);
        for (const { by } of steps.slice(0, 5)) {
          now += by;
          attempt();
          // Clocks of servers may differ by five seconds.
          now += waitOf(hits, now, limit) + 5_000;
          expect(attempt()).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe.each(bothEngines)("limits of several servers on %s", (engine) => {
  it("are common to all of them", async () => {
    const t = await startApp({ engine });
    const servers = [anotherServer(t), anotherServer(t), anotherServer(t)];
    const tries = await Promise.all(
      Array.from({ length: 30 }, (_, i) => passes(servers[i % 3]!, "198.51.100.1", `u${i}`)),
    );
    expect(tries.filter(Boolean)).toHaveLength(10);
    const accounts = await Promise.all(
      Array.from({ length: 30 }, (_, i) => passes(servers[i % 3]!, `203.0.113.${i}`, "ada")),
    );
    expect(accounts.filter(Boolean)).toHaveLength(10);
    t.clock.advance(60_000);
    for (const server of servers) expect(await passes(server, "198.51.100.1", "u")).toBe(true);
  });

  it("count failures of one address on all servers", async () => {
    const t = await startApp({ engine });
    const limit = () => new FailureLimit(t.services, { scope: "test", most: 6 });
    const [one, other] = [limit(), limit()];
    const caller = { address: "192.0.2.1" };
    for (let i = 0; i < 6; i++) expect(one.fail(caller)).toBe(0);
    await one.settled();
    other.fail(caller);
    await other.settled();
    expect(other.fail(caller)).toBe(60);
    expect(other.fail({ address: "192.0.2.2" })).toBe(0);
    t.clock.advance(60_000);
    expect(other.fail(caller)).toBe(0);
    await other.settled();
    expect(one.fail(caller)).toBe(0);
    await one.settled();
  });

  it("store a limited number of failing addresses", async () => {
    const t = await startApp({ engine });
    const limit = new FailureLimit(t.services, { scope: "test", most: 6 });
    for (let i = 0; i < 10_500; i++) limit.fail({ address: `10.0.${i >> 8}.${i & 255}` });
    await limit.settled();
    expect(await t.store.rateLimits.count()).toBeLessThanOrEqual(10_000);
  });
});

describe("failures", () => {
  it("count an IPv6 network of 64 bits as one address, and this machine never", async () => {
    const limit = new FailureLimit((await startApp()).services, { scope: "test", most: 2 });
    const fail = (address: string) => limit.fail({ address });
    expect(["2001:db8::1", "2001:DB8::2", "2001:db8:0:0:1::3", "2001:db8:0:1::1", "192.0.2.1"].map(fail)).toEqual([
      0, 0, 60, 0, 0,
    ]);
    expect(["::1", "127.0.0.1", "::1", "127.0.0.1", "::1"].map(fail)).toEqual([0, 0, 0, 0, 0]);
    await limit.settled();
  });

  it("count all requests that an untrusted proxy on this machine forwards as one caller", async () => {
    const limit = new FailureLimit((await startApp()).services, { scope: "test", most: 2 });
    const fail = () => limit.fail({ address: "127.0.0.1", forwarded: true });
    expect([fail(), fail(), fail()]).toEqual([0, 0, 60]);
    expect(limit.fail({ address: "127.0.0.1" })).toBe(0);
    await limit.settled();
  });

  it("are no longer added to the store once the server stops, also if it was away", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { services } = await startApp();
    const add = vi.fn().mockRejectedValue(new StoreUnavailable("the store is away"));
    const store = { ...services.store, tx: add };
    const limit = new FailureLimit({ clock: services.clock, store }, { scope: "test", most: 2 });
    limit.fail({ address: "192.0.2.1" });
    await vi.advanceTimersByTimeAsync(3_500);
    expect(add).toHaveBeenCalledTimes(4);
    limit.stop();
    limit.fail({ address: "192.0.2.2" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(add).toHaveBeenCalledTimes(4);
    expect([1, 2].map(() => limit.fail({ address: "192.0.2.2" }))).toEqual([0, 60]);
  });
});
