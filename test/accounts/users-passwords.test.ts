import { describe, expect, it, vi } from "vitest";
import { hashPassword, passwordProblem, verifyPassword } from "../../src/server/platform/core/security/passwords.ts";

const seen = vi.hoisted(() => ({ running: 0, most: 0, stored: [] as string[] }));
/** This password is verified without work, for tests of the queue. */
const REFUSED_IMMEDIATELY = vi.hoisted(() => "at-once");

// The real library, observed.
vi.mock("@node-rs/argon2", async (original) => {
  const real = await original<typeof import("@node-rs/argon2")>();
  const watched =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      seen.running++;
      seen.most = Math.max(seen.most, seen.running);
      try {
        return await work(...args);
      } finally {
        seen.running--;
      }
    };
  return {
    ...real,
    hash: watched(real.hash),
    verify: watched((stored: string, plain: string) => {
      seen.stored.push(stored);
      return plain === REFUSED_IMMEDIATELY ? Promise.resolve(false) : real.verify(stored, plain);
    }),
  };
});

const costOf = (stored: string) => stored.split("$").slice(0, 4).join("$");

describe("password hashes", () => {
  it("are argon2id at 19 MiB, two passes and one lane, each with its own salt", async () => {
    const [one, two] = await Promise.all([hashPassword("same-Password-1"), hashPassword("same-Password-1")]);
    expect(costOf(one)).toBe("$argon2id$v=19$m=19456,t=2,p=1");
    expect(one).not.toBe(two);
    expect(await verifyPassword(one, "same-Password-1")).toBe(true);
    expect(await verifyPassword(one, "same-Password-2")).toBe(false);
  });

  it("are verified at the same cost for unknown accounts, and never match", async () => {
    seen.stored.length = 0;
    expect(await verifyPassword(null, "same-Password-1")).toBe(false);
    expect(seen.stored.map(costOf)).toEqual(["$argon2id$v=19$m=19456,t=2,p=1"]);
  });

  it("are computed two at a time, however many are requested", async () => {
    seen.most = 0;
    const all = await Promise.all(Array.from({ length: 9 }, (_, i) => hashPassword(`password-${i}`)));
    expect(new Set(all).size).toBe(9);
    expect(seen.most).toBe(2);
  });

  it("are charged to a caller whose identity is not proved, without the time that they wait", async () => {
    const charged: number[] = [];
    const cost = { charge: (milliseconds: number) => void charged.push(milliseconds) };
    await Promise.all(Array.from({ length: 6 }, () => verifyPassword(null, "same-Password-1", { cost })));
    expect(charged).toHaveLength(6);
    for (const milliseconds of charged) expect(milliseconds).toBeGreaterThan(1);
    expect(Math.max(...charged)).toBeLessThanOrEqual(50);
  });

  it("are refused if too many wait, and accepted again afterwards", async () => {
    const all = await Promise.allSettled(Array.from({ length: 210 }, () => verifyPassword(null, REFUSED_IMMEDIATELY)));
    const refused = all.filter((one) => one.status === "rejected");
    expect(refused).toHaveLength(8);
    expect(refused[0]!.reason).toMatchObject({ status: 503, retryAfter: expect.any(Number) });
    expect(await verifyPassword(await hashPassword("a"), "a")).toBe(true);
  });
});

describe("the rules of passwords", () => {
  it.each([
    ["aaaaaaaaaa-1", null],
    ["\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u20ac\u0663", null],
    [`${"\u{1F600}".repeat(46)}1-`, null],
    ["aaaaaaaaa-1", /at least 12/],
    [`-1${"a".repeat(47)}`, /at most 48/],
    ["aaaaaaaaaaa-", /digit/],
    ["aaaaaaaaaaa1", /symbol/],
    ["aaaa aaaa aa1", /symbol/],
    ["", /at least 12/],
  ])("say of %j: %s", (password, problem) => {
    if (problem === null) expect(passwordProblem(password)).toBeNull();
    else expect(passwordProblem(password)).toMatch(problem);
  });
});
