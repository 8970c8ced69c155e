import { describe, expect, it } from "vitest";
import { HOUR_MS, hasTurn, isDue, jitterMs } from "../../../../src/server/edge/agent/inventory/due.ts";
import { seenRow } from "../../../../src/server/hosts/hosts/seen.ts";
import { builtinLabels } from "../../../../src/server/hosts/labels/builtin-labels.ts";

const T = Date.parse("2026-03-01T12:00:00.000Z");
const at = (ms: number) => new Date(T + ms).toISOString();

describe("how long a host counts as online", () => {
  const until = (distributed_interval: number, config_tls_refresh: number, now = T) =>
    seenRow({ id: 1, distributed_interval, config_tls_refresh }, now).online_until;

  it("is the shorter interval plus a minute", () => {
    expect(seenRow({ id: 1, distributed_interval: 10, config_tls_refresh: 60 }, T)).toEqual({
      id: 1,
      seen_time: "2026-03-01T12:00:00.000Z",
      online_until: "2026-03-01T12:01:10.000Z",
    });
    expect(until(600, 60)).toBe("2026-03-01T12:02:00.000Z");
  });
  it("is a minute while the intervals are unknown, or are no intervals", () => {
    expect(until(0, 60)).toBe("2026-03-01T12:01:00.000Z");
    expect(until(-5, 60)).toBe("2026-03-01T12:01:00.000Z");
  });
  it("ends at the latest with the last time that can be stored", () => {
    expect(until(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toBe("9999-12-31T23:59:59.999Z");
  });
});

describe("what is due", () => {
  const hosts = Array.from({ length: 6000 }, (_, i) => i + 1);

  it("is what was never done", () => expect(isDue(null, T, HOUR_MS, 1)).toBe(true));
  it("is delayed by 0 to 5 whole minutes per hour, evenly", () => {
    const counts = new Map<number, number>();
    for (const id of hosts) {
      const minutes = jitterMs(id, HOUR_MS) / 60_000;
      counts.set(minutes, (counts.get(minutes) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
  it("is not delayed if there is room for fewer than two buckets", () => {
    expect(hosts.every((id) => jitterMs(id, 19 * 60_000) === 0)).toBe(true);
    expect(hosts.some((id) => jitterMs(id, 20 * 60_000) > 0)).toBe(true);
    expect(hosts.every((id) => jitterMs(id, HOUR_MS, 0) === 0)).toBe(true);
  });
  it("is due just after interval and delay", () => {
    for (const id of [1, 2, 3, 4, 5, 10_000, 2 ** 40]) {
      const wait = HOUR_MS + jitterMs(id, HOUR_MS);
      expect(isDue(at(-wait), T, HOUR_MS, id)).toBe(false);
      expect(isDue(at(-wait - 1), T, HOUR_MS, id)).toBe(true);
    }
  });
  it("does not wait for a time in the future, which remains after a clock was set back", () => {
    expect(isDue(at(HOUR_MS), T, HOUR_MS, 1)).toBe(false);
    expect(isDue(at(HOUR_MS + 1), T, HOUR_MS, 1)).toBe(true);
  });
});

describe("the built-in labels", () => {
  it("are the reserved names, once each", () => {
    expect(builtinLabels.map(({ name }) => name)).toEqual([
      "All Hosts",
      "macOS",
      "Ubuntu Linux",
      "CentOS Linux",
      "MS Windows",
      "Red Hat Linux",
      "Fedora Linux",
      "All Linux",
      "chrome",
      "macOS 14+ (Sonoma+)",
      "iOS",
      "iPadOS",
      "Android",
    ]);
  });
  it("have a query exactly when they are dynamic", () => {
    for (const label of builtinLabels) expect(label.query !== "").toBe(label.label_membership_type === "dynamic");
  });
});

describe("the turn of a query with an interval of its own", () => {
  it("comes once in each interval, whenever the details of the host come, and at different times for different hosts", () => {
    const day = 24 * HOUR_MS;
    const start = Date.parse("2026-03-01T00:00:00.000Z");
    const firstTurns = new Set<number>();
    for (let host = 1; host <= 50; host++) {
      const turns: number[] = [];
      for (let hour = 1; hour <= 240; hour++) {
        const now = start + hour * HOUR_MS;
        if (hasTurn(new Date(now - HOUR_MS).toISOString(), now, day, host)) turns.push(hour);
      }
      expect(turns).toHaveLength(10);
      expect(turns.slice(1).map((hour, i) => hour - turns[i]!)).toEqual(Array(9).fill(24));
      firstTurns.add(turns[0]!);
    }
    expect(firstTurns.size).toBeGreaterThan(10);
  });

  it("has come for a host that has never reported, or was away for longer than the interval", () => {
    const now = Date.parse("2026-03-01T00:00:00.000Z");
    expect(hasTurn(null, now, HOUR_MS, 1)).toBe(true);
    expect(hasTurn(new Date(now - HOUR_MS).toISOString(), now, HOUR_MS, 1)).toBe(true);
    expect(hasTurn(new Date(now).toISOString(), now, HOUR_MS, 1)).toBe(false);
  });
});
