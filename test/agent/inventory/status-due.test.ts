import { describe, expect, it } from "vitest";
import { HOUR_MS, isDue, jitterMs } from "../../../src/server/agent/inventory/due.ts";
import { hasStatus, hostStatus, onlineUntil, statusOf } from "../../../src/server/agent/inventory/status.ts";
import { builtinLabels } from "../../../src/server/labels/builtin-labels.ts";

const T = Date.parse("2026-03-01T12:00:00.000Z");
const at = (ms: number) => new Date(T + ms).toISOString();
const DAY = 86_400_000;

describe("a host's status", () => {
  const host = (seen: number | null, created = -100 * DAY, distributed_interval = 10, config_tls_refresh = 60) => ({
    seen_time: seen === null ? null : at(seen),
    created_at: at(created),
    distributed_interval,
    config_tls_refresh,
  });

  it("is online for the shorter interval plus a minute", () => {
    expect(onlineUntil(at(0), 10, 60)).toBe("2026-03-01T12:01:10.000Z");
    expect(onlineUntil(at(0), 600, 60)).toBe("2026-03-01T12:02:00.000Z");
    expect(statusOf(host(-69_999), T)).toBe("online");
    expect(statusOf(host(-70_000), T)).toBe("offline");
  });
  it("is online for a minute while the intervals are unknown", () => {
    expect(statusOf(host(-59_999, 0, 0, 0), T)).toBe("online");
    expect(statusOf(host(-60_000, 0, 0, 60), T)).toBe("offline");
  });
  it("counts from its creation if it was never seen", () => {
    expect(statusOf(host(null, -30_000), T)).toBe("online");
    expect(hostStatus(host(null, -31 * DAY), T)).toEqual({ online: false, missing: true, new: false });
  });
  it("is missing after 30 days and new for 24 hours, independently of the other states", () => {
    expect(hostStatus(host(-30 * DAY), T).missing).toBe(true);
    expect(hostStatus(host(-30 * DAY + 1), T)).toEqual({ online: false, missing: false, new: false });
    expect(hostStatus(host(0, -DAY), T)).toEqual({ online: true, missing: false, new: true });
    expect(hostStatus(host(0, -DAY - 1), T).new).toBe(false);
  });
  it("has five values", () => {
    const words = ["new", "online", "offline", "mia", "missing"] as const;
    const of = (made: ReturnType<typeof host>) => words.filter((word) => hasStatus(made, word, T));
    expect(of(host(0, 0))).toEqual(["new", "online"]);
    expect(of(host(-31 * DAY))).toEqual(["offline", "mia", "missing"]);
    expect(of(host(-DAY))).toEqual(["offline"]);
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
