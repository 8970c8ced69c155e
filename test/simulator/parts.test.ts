import { describe, expect, it } from "vitest";
import { discover, readWork } from "../../src/agent-wire/work.ts";
import { type HostFacts, platformMatches, readConfig, selectQueries } from "../../src/simulator/agent/config.ts";
import { LogBuffer } from "../../src/simulator/agent/log-buffer.ts";
import { calendarTime, Schedule } from "../../src/simulator/agent/schedule.ts";
import { Histogram } from "../../src/simulator/histogram.ts";
import { Random } from "../../src/simulator/random.ts";
import type { SqlAnswer, TextRow } from "../../src/simulator/sql/answer.ts";
import { Wheel } from "../../src/simulator/wheel.ts";

describe("the histogram", () => {
  it("returns quantiles within 4 % of the sorted values", () => {
    const random = new Random(1);
    const values = Array.from({ length: 20_000 }, () => Math.exp(random.next() * 9) / 10);
    const histogram = new Histogram();
    for (const value of values) histogram.record(value);
    const sorted = values.toSorted((a, b) => a - b);
    for (const q of [0.01, 0.5, 0.95, 0.99, 1]) {
      const exact = sorted[Math.ceil(q * values.length) - 1]!;
      expect(histogram.quantile(q)).toBeGreaterThanOrEqual(exact * 0.999 - 0.001);
      expect(histogram.quantile(q)).toBeLessThanOrEqual(exact * 1.04 + 0.002);
    }
    expect(histogram.maxMs).toBe(sorted.at(-1));
  });

  it("adds the values of another one", () => {
    const [small, large, both] = [new Histogram(), new Histogram(), new Histogram()];
    for (let i = 1; i <= 100; i++) {
      small.record(i);
      large.record(1000 + i);
    }
    both.add(large);
    both.add(small);
    expect([both.count, both.maxMs]).toEqual([200, 1100]);
    expect(both.quantile(0.25)).toBe(small.quantile(0.5));
    expect(both.quantile(0.75)).toBe(large.quantile(0.5));
  });
});

describe("the wheel", () => {
  it("fires each timer once, not early, in any order of arming, and skips disarmed ones", () => {
    let now = 0;
    const wheel = new Wheel(() => now);
    const fired: [number, number][] = [];
    const random = new Random(2);
    const delays = Array.from({ length: 500 }, () => random.int(0, 300_000));
    const timers = delays.map((delay, i) => wheel.after(delay, () => fired.push([i, now])));
    for (let i = 0; i < 500; i += 5) wheel.disarm(timers[i]!);
    for (; now < 310_000; now += random.int(1, 400)) wheel.advance();
    expect(fired).toHaveLength(400);
    for (const [i, at] of fired) {
      expect(at).toBeGreaterThanOrEqual(delays[i]!);
      expect(at).toBeLessThan(delays[i]! + 450);
    }
  });

  it("catches up after a stall longer than its round", () => {
    let now = 0;
    const wheel = new Wheel(() => now);
    let fired = 0;
    for (const ms of [10, 5000, 70_000, 500_000]) wheel.after(ms, () => fired++);
    now = 200_000;
    wheel.advance();
    expect(fired).toBe(3);
    now = 500_010;
    wheel.advance();
    expect(fired).toBe(4);
  });
});

describe("the log buffer", () => {
  const filled = (results: number, statuses: number, limit?: number) => {
    const dropped: string[] = [];
    const buffer = new LogBuffer((line) => dropped.push(line.text), limit);
    for (let i = 0; i < results; i++) buffer.add("result", `r${i}`, null);
    for (let i = 0; i < statuses; i++) buffer.add("status", `s${i}`, null);
    return { buffer, dropped };
  };
  const counts = (batches: { type: string; lines: unknown[] }[]) =>
    batches.map(({ type, lines }) => [type, lines.length]);

  it("sends results first, and no statuses while there are too many results", () => {
    expect(counts(filled(10, 5).buffer.due(0, 12))).toEqual([
      ["result", 10],
      ["status", 2],
    ]);
    expect(counts(filled(20, 5).buffer.due(0, 12))).toEqual([["result", 12]]);
    expect(counts(filled(0, 5).buffer.due(0, 12))).toEqual([["status", 5]]);
  });

  it("delays per type, up to the limit, until a success", () => {
    const { buffer } = filled(1, 1);
    buffer.refused("result", 0, 10, 1000);
    expect(counts(buffer.due(9, 12))).toEqual([["status", 1]]);
    expect(counts(buffer.due(10, 12))).toEqual([
      ["result", 1],
      ["status", 1],
    ]);
    buffer.refused("result", 10, 10, 1000);
    expect(counts(buffer.due(49, 12))).toEqual([["status", 1]]);
    for (let n = 0; n < 20; n++) buffer.refused("result", 100, 10, 1000);
    expect(counts(buffer.due(1100, 12))).toHaveLength(2);
  });

  it("drops the oldest lines of both types beyond its limit, and lines over 1 MiB", () => {
    const { buffer, dropped } = filled(3, 2, 4);
    expect(dropped).toEqual(["r0"]);
    buffer.add("status", "x".repeat(1024 * 1024 + 1), null);
    expect(dropped).toHaveLength(2);
    expect(buffer.size).toBe(4);
  });

  it("removes the sent lines even if the oldest were dropped in the meantime", () => {
    const { buffer } = filled(3, 0, 3);
    const [batch] = buffer.due(0, 2);
    buffer.add("result", "r3", null);
    buffer.accepted("result", batch!.lines);
    expect(buffer.all("result").map((line) => line.text)).toEqual(["r2", "r3"]);
  });
});

describe("the config", () => {
  const host = (facts: Partial<HostFacts> = {}): HostFacts => ({
    family: "linux",
    agentVersion: "5.21.0",
    identifier: "h1",
    delimiter: "_",
    ...facts,
  });
  const names = (json: Record<string, unknown>, facts: Partial<HostFacts> = {}) =>
    selectQueries(readConfig(JSON.stringify(json), json)!, host(facts), (sql) => sql === "yes").map(
      (selected) => selected.name,
    );
  const query = (more: object = {}) => ({ query: "SELECT 1", interval: 60, ...more });

  it("names queries of packs with the delimiter, and skips packs whose discovery fails", () => {
    const json = {
      schedule: { a: query() },
      packs: {
        p: { queries: { b: query() }, discovery: ["yes"] },
        q: { queries: { c: query() }, discovery: ["yes", "no"] },
        r: "/etc/pack",
      },
    };
    expect(names(json, { delimiter: "/" })).toEqual(["a", "pack/p/b"]);
  });

  it("drops intervals out of range, accepts numbers as text, and defaults to an hour", () => {
    const schedule = {
      a: query({ interval: 0 }),
      b: query({ interval: 604_801 }),
      c: query({ interval: "60" }),
      d: { query: "x" },
      e: { interval: 60 },
    };
    expect(names({ schedule })).toEqual(["c", "d"]);
  });

  it("respects version, shard and reserved names", () => {
    expect(
      names({
        schedule: { a: query({ version: "5.22.0" }), b: query({ version: "5.9.0" }), c: query({ shard: "0" }) },
      }),
    ).toEqual(["b"]);
    const schedule = { "query.x": query(), "cache.y": query(), my_epoch: query(), counter: query(), fine: query() };
    expect(names({ schedule })).toEqual(["fine"]);
    expect(names({ schedule }, { agentVersion: "5.17.0" })).toHaveLength(5);
  });

  it.each([
    ["", "windows", true],
    ["linux", "linux", true],
    ["centos", "linux", true],
    ["debian", "linux", false],
    ["posix", "darwin", true],
    ["posix", "windows", false],
    ["darwin,windows", "windows", true],
    ["darwin", "linux", false],
    ["any", "windows", true],
  ] as const)("finds platform %j on %s: %s", (platform, family, expected) => {
    expect(platformMatches(platform, family)).toBe(expected);
  });

  it("refuses more than 32 levels of nesting", () => {
    const deep = (n: number): Record<string, unknown> => (n === 0 ? {} : { a: deep(n - 1) });
    expect(readConfig("deep 31", deep(31))).not.toBeNull();
    expect(readConfig("deep 33", deep(33))).toBeNull();
  });
});

describe("distributed work of agents before 5.8", () => {
  const answer = (sql: string): SqlAnswer => ({ status: 0, message: "", rows: sql === "yes" ? [{ x: "1" }] : [] });
  const run = (json: Record<string, unknown>, version: string) =>
    discover(readWork(json), version, answer).map(([name]) => name);

  it("skips names without an entry once any discovery matched", () => {
    const json = { queries: { a: "1", b: "1" }, discovery: { a: "yes" } };
    expect(run(json, "5.7.0")).toEqual(["a"]);
    expect(run(json, "5.8.0")).toEqual(["a", "b"]);
    expect(run({ queries: { a: "1", b: "1" }, discovery: { a: "no" } }, "5.7.0")).toEqual(["a", "b"]);
  });

  it("does nothing if queries or discovery is null", () => {
    expect(run({ queries: null, discovery: {} }, "5.20.0")).toEqual([]);
    expect(run({ queries: { a: "1" }, discovery: null }, "5.20.0")).toEqual([]);
  });
});

describe("the schedule", () => {
  const common = { hostIdentifier: "h1", unixTime: 1_412_098_650 };
  const forms = { eventType: true, snapshotEventType: false, epoch: 3, old: false };
  const ms = (seconds: number) => seconds * 1000;

  function lines(
    sql: string,
    results: TextRow[][],
    options: { snapshot?: boolean; removed?: boolean } = {},
    how: Partial<typeof forms> = {},
  ) {
    const schedule = new Schedule("h1");
    const query = {
      name: "q",
      query: sql,
      interval: 5,
      snapshot: false,
      removed: true,
      platform: "",
      version: "",
      shard: 100,
      ...options,
    };
    schedule.replace([{ name: "q", query }], 0, 0, ms);
    return results.map((rows, i) =>
      schedule.run((i + 1) * 5000, common, { ...forms, ...how }, ms, () => ({ status: 0, message: "", rows })),
    );
  }

  it("produces one line per changed row and counts changed runs", () => {
    const [first, same, changed] = lines("SELECT x FROM t", [
      [{ x: "1" }, { x: "2" }],
      [{ x: "2" }, { x: "1" }],
      [{ x: "1" }, { x: "3" }],
    ]);
    expect(first).toHaveLength(2);
    expect(first![0]).toEqual({
      name: "q",
      hostIdentifier: "h1",
      calendarTime: "Tue Sep 30 17:37:30 2014 UTC",
      unixTime: 1_412_098_650,
      epoch: 3,
      counter: 0,
      numerics: false,
      columns: { x: "1" },
      action: "added",
    });
    expect(same).toEqual([]);
    expect(changed!.map((line) => [line.action, line.columns, line.counter])).toEqual([
      ["removed", { x: "2" }, 1],
      ["added", { x: "3" }, 1],
    ]);
  });

  it("omits removals on request", () => {
    const [, changed] = lines("SELECT x FROM t", [[{ x: "1" }], []], { removed: false });
    expect(changed).toEqual([]);
  });

  it("starts event tables at 1 and only adds", () => {
    const runs = lines("SELECT * FROM process_events", [[{ x: "1" }], [], [{ x: "1" }]]);
    expect(runs.map((run) => run.map((line) => [line.action, line.counter]))).toEqual([
      [["added", 1]],
      [],
      [["added", 2]],
    ]);
  });

  it("writes batches if single events are off, including empty ones", () => {
    const runs = lines("SELECT x FROM t", [[], [{ x: "1" }]], {}, { eventType: false });
    expect(runs.map((run) => run.map((line) => [line.diffResults, line.counter]))).toEqual([
      [[{ removed: [], added: [] }, 0]],
      [[{ removed: [], added: [{ x: "1" }] }, 1]],
    ]);
  });

  it("writes snapshots completely, or row by row", () => {
    const results = [[], [{ x: "1" }, { x: "2" }]];
    const whole = lines("SELECT x FROM t", results, { snapshot: true });
    expect(whole.map((run) => run.map((line) => [line.action, line.snapshot, line.counter]))).toEqual([
      [["snapshot", [], 0]],
      [["snapshot", [{ x: "1" }, { x: "2" }], 0]],
    ]);
    const rows = lines("SELECT x FROM t", results, { snapshot: true }, { snapshotEventType: true });
    expect(rows.map((run) => run.map((line) => [line.action, line.columns]))).toEqual([
      [],
      [
        ["snapshot", { x: "1" }],
        ["snapshot", { x: "2" }],
      ],
    ]);
  });

  it("sends numbers as text from an old agent", () => {
    const [[line]] = lines("SELECT x FROM t", [[{ x: "1" }]], {}, { old: true }) as [[Record<string, unknown>]];
    expect([line.unixTime, line.epoch, line.counter]).toEqual(["1412098650", "3", "0"]);
  });

  it("pads the day of the month like asctime", () => {
    expect(calendarTime(1_412_098_650 + 86_400)).toBe("Wed Oct  1 17:37:30 2014 UTC");
  });
});
