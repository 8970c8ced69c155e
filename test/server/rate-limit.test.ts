import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFailureLimit } from "../../src/server/agent/failure-limit.ts";
import { LOGINS_PER_MINUTE_OF_SERVER, LoginLimits } from "../../src/server/core/rate-limit.ts";
import { errorOf, login } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp, TestClock } from "../support/app.ts";

/** Limits on a clock of their own, and whether an attempt passes. */
function limits() {
  const clock = { time: 1_000_000, now: () => clock.time };
  const held = new LoginLimits(clock);
  const passes = (address: string, email: string): boolean => {
    try {
      held.attempt(address, email);
      return true;
    } catch {
      return false;
    }
  };
  return { clock, held, passes };
}

const attempts = async (t: TestApp, count: number, headers: (i: number) => Record<string, string>) => {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++)
    statuses.push((await login(t, `guess${i}@example.com`, "wrong-Password-77", headers(i))).status);
  return statuses;
};

describe("sign-ins over HTTP", () => {
  it("are refused from no. 11 within a minute, with the seconds to wait, right password or not", async () => {
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

  it("are counted by the peer, whatever forwarding headers say", async () => {
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
  it("leave other addresses alone when one is used up", () => {
    const { passes } = limits();
    for (let i = 0; i < 10; i++) expect(passes("198.51.100.1", `u${i}`)).toBe(true);
    expect(passes("198.51.100.1", "u")).toBe(false);
    expect(passes("198.51.100.2", "u")).toBe(true);
  });

  it("hold for one account from however many addresses", () => {
    const { passes, clock } = limits();
    for (let i = 0; i < 10; i++) expect(passes(`198.51.100.${i}`, "ada")).toBe(true);
    expect(passes("198.51.100.99", "ada")).toBe(false);
    expect(passes("198.51.100.99", "bo")).toBe(true);
    clock.time += 60_000;
    expect(passes("198.51.100.99", "ada")).toBe(true);
  });

  it("keep an account open to the address it signed in from, while strangers guess", () => {
    const { passes, held, clock } = limits();
    expect(passes("192.0.2.1", "ada")).toBe(true);
    held.succeeded("192.0.2.1", "ada");
    clock.time += 61_000;
    for (let i = 0; i < 20; i++) passes(`198.51.100.${i}`, "ada");
    expect(passes("198.51.100.99", "ada")).toBe(false);
    for (const [i, email] of ["ada\n192.0.2.1", "pair 192.0.2.1\nada", "192.0.2.1\nada"].entries())
      for (let j = 0; j < 10; j++) passes(`203.0.113.${10 * i + j}`, email);
    expect(passes("192.0.2.1", "ada")).toBe(true);
  });

  it("do not count right passwords against the account", () => {
    const { passes, held } = limits();
    for (let i = 0; i < 30; i++) {
      expect(passes(`198.51.100.${i}`, "ada")).toBe(true);
      held.succeeded(`198.51.100.${i}`, "ada");
    }
  });

  it("count an IPv6 network of 64 bits as one address", () => {
    const { passes } = limits();
    const spellings = ["2001:db8::1", "2001:DB8:0:0::2", "2001:0db8::3:4", "2001:db8:0:0:ffff:1:2:3"];
    for (let i = 0; i < 10; i++) expect(passes(spellings[i % 4]!, `u${i}`)).toBe(true);
    for (const spelling of spellings) expect(passes(spelling, "u")).toBe(false);
    expect(passes("2001:db8:0:1::1", "u")).toBe(true);
    expect(passes("2001:db9::1", "u")).toBe(true);
  });

  it("count it so too where agents and devices guess", () => {
    const { fail } = createFailureLimit(new TestClock(), 2);
    expect(["2001:db8::1", "2001:DB8::2", "2001:db8:0:0:1::3", "2001:db8:0:1::1", "192.0.2.1"].map(fail)).toEqual([
      0, 0, 60, 0, 0,
    ]);
    expect(["::1", "127.0.0.1", "::1", "127.0.0.1", "::1"].map(fail)).toEqual([0, 0, 0, 0, 0]);
  });

  it("bound what the whole server checks, and what it remembers", () => {
    const { passes, held, clock } = limits();
    for (let minute = 0; minute < 5; minute++) {
      let passed = 0;
      for (let i = 0; i < 2000; i++) if (passes(`10.${minute}.${i >> 8}.${i & 255}`, `u${minute}-${i}`)) passed++;
      expect(passed).toBe(LOGINS_PER_MINUTE_OF_SERVER);
      expect(held.size).toBeLessThanOrEqual(4 * LOGINS_PER_MINUTE_OF_SERVER);
      clock.time += 60_000;
    }
    for (let i = 0; i < 30_000; i++) held.succeeded("192.0.2.1", `u${i}`);
    expect(held.size).toBeLessThan(12_000);
  });

  it("never let more than ten through within a minute, nor make anyone wait longer than one, even when the clock jumps", () => {
    const step = fc.record({
      by: fc.integer({ min: -7_200_000, max: 90_000 }),
      forward: fc.integer({ min: 0, max: 9_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, passes } = limits();
        const passed: number[] = [];
        for (const { forward } of steps) {
          clock.time += forward;
          if (passes("192.0.2.1", `u${passed.length}`)) passed.push(clock.time);
        }
        for (let i = 10; i < passed.length; i++) expect(passed[i]! - passed[i - 10]!).toBeGreaterThanOrEqual(60_000);
        for (const { by } of steps.slice(0, 5)) {
          clock.time += by;
          passes("192.0.2.1", "x");
          clock.time += 60_000;
          expect(passes("192.0.2.1", "y")).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
