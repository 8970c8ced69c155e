import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkLedger } from "../../src/simulator/ledger.ts";
import type { SimulationOptions } from "../../src/simulator/options.ts";
import { nothingLost, renderProgress, renderReport, type SimulationReport } from "../../src/simulator/report.ts";
import { runSimulation } from "../../src/simulator/run.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { DETAIL_QUERIES } from "./detail-queries.ts";
import { FakeServer } from "./fake-server.ts";

let server: FakeServer;
let folder: string;

beforeEach(async () => {
  server = await FakeServer.start();
  folder = mkdtempSync(join(tmpdir(), "simulator-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function simulation(options: Partial<SimulationOptions> = {}): Simulation {
  const made = new Simulation(
    { serverUrl: server.url, enrollSecret: "s", hosts: 20, spread: 5, statusLinesPerHour: 0, ...options },
    { wheel: server.wheel, wallClock: server.wallClock },
  );
  made.start();
  server.wheel.stop();
  return made;
}

async function finish<T>(work: Promise<T>): Promise<T> {
  let over = false;
  void work.then(
    () => (over = true),
    () => (over = true),
  );
  await server.until(() => over);
  return work;
}

const stop = (made: Simulation): Promise<SimulationReport> => finish(made.stop());

describe("a simulation", () => {
  it("sends the same requests for the same seed", async () => {
    const bodies = async (seed: number) => {
      const from = server.seen.length;
      const made = simulation({ seed, hosts: 10 });
      await server.until(() => server.seen.length >= from + 30);
      await stop(made);
      const enrolls = server.seen.slice(from).filter((seen) => seen.endpoint === "enroll");
      return enrolls.map((seen) => (seen.body.host_details as Record<string, unknown>).system_info);
    };
    const first = await bodies(1);
    expect(first).toHaveLength(10);
    expect(await bodies(1)).toEqual(first);
    expect(await bodies(2)).not.toEqual(first);
  });

  it("distributes the starts", async () => {
    const made = simulation({ hosts: 50, spread: 20 });
    await server.until(() => server.of("enroll").length === 50);
    const times = server.of("enroll").map((seen) => seen.at - 1000);
    expect(times.filter((at) => at < 10_000).length).toBeGreaterThan(12);
    expect(times.filter((at) => at > 10_000).length).toBeGreaterThan(12);
    await stop(made);
  });

  it("checks in with stored node keys in the next run, and drops refused ones", async () => {
    const identityFile = join(folder, "identities.json");
    const first = simulation({ identityFile });
    await server.until(() => server.of("config").length === 20);
    await stop(first);
    expect(statSync(identityFile).mode & 0o777).toBe(0o600);

    const second = simulation({ identityFile });
    await server.until(() => server.of("config").length === 40);
    expect(await stop(second)).toMatchObject({ enrolled: 0, reEnrolled: 0 });
    expect(server.of("enroll")).toHaveLength(20);

    server.script = ({ endpoint, body }) =>
      endpoint !== "enroll" && body.node_key === "key-3" ? `{"error":"x","node_invalid":true}` : undefined;
    const third = simulation({ identityFile });
    await server.until(() => server.of("config").length === 61);
    expect(await stop(third)).toMatchObject({ enrolled: 0, reEnrolled: 1 });
  });

  it("refuses a damaged identity file", () => {
    const identityFile = join(folder, "identities.json");
    writeFileSync(identityFile, "{oops");
    expect(() => new Simulation({ serverUrl: server.url, enrollSecret: "s", hosts: 1, identityFile })).toThrow(
      /not an identity file/,
    );
  });

  it("delivers buffered data when it stops", async () => {
    server.script = ({ endpoint }, nth) =>
      endpoint === "distributed/read" && nth === 1 ? `{"queries":{"a":"SELECT 1"},"discovery":{}}` : undefined;
    const made = simulation({ hosts: 3, logLinesPerMinute: 600, scale: 1 });
    await server.until(() => server.of("log").length === 1);
    const report = await stop(made);
    const received = server.of("log").reduce((sum, seen) => sum + (seen.body.data as unknown[]).length, 0);
    expect(report).toMatchObject({ pendingLines: 0, acknowledgedLines: received, lostResults: 0, deliveredResults: 1 });
    expect(nothingLost(report)).toBe(true);
  });

  it("reports what was never accepted", async () => {
    server.script = ({ endpoint }, nth) => {
      if (endpoint === "distributed/read" && nth === 1)
        return `{"queries":{"a":"SELECT 1","b":"SELECT 1"},"discovery":{}}`;
      return endpoint === "distributed/write" || endpoint === "log" ? `{"error":"down"}` : undefined;
    };
    const made = simulation({ hosts: 1, logLinesPerMinute: 60 });
    await server.until(() => server.of("log").length === 1);
    const report = await stop(made);
    expect(report.lostResults).toBe(2);
    expect(report.pendingLines).toBeGreaterThanOrEqual(10);
    expect(nothingLost(report)).toBe(false);
    expect(report.recentErrors).toContain("log: error: down");
  });

  it("counts refused connections", async () => {
    await server.close();
    const made = simulation({ hosts: 1 });
    await server.until(() => made.stats.connectFailures > 2);
    expect((await stop(made)).enrolled).toBe(0);
    server = await FakeServer.start();
  });

  it("waits while paused, and doubles its rate on request", async () => {
    const made = simulation({ hosts: 10 });
    await server.until(() => server.of("distributed/read").length >= 30);
    made.pause();
    await server.pass(1000);
    const before = server.seen.length;
    await server.pass(30_000);
    expect(server.seen).toHaveLength(before);
    made.resume();
    made.setRateFactor(5);
    await server.pass(15_000);
    const from = server.of("distributed/read").length;
    await server.pass(20_000);
    expect(server.of("distributed/read").length - from).toBeGreaterThan(85);
    await stop(made);
  });

  it("reconnects all agents at once", async () => {
    const made = simulation({ hosts: 30, connections: "own" });
    await server.until(() => server.of("distributed/read").length >= 60);
    const ports = new Set(server.seen.map((seen) => seen.port));
    const from = server.seen.length;
    const outcome = await finish(made.reconnectAll());
    expect(outcome).toMatchObject({ hosts: 30, answered: 30 });
    const fresh = server.seen.slice(from);
    expect(fresh.length).toBeGreaterThanOrEqual(60);
    expect(fresh.filter((seen) => ports.has(seen.port))).toEqual([]);
    await stop(made);
  });

  it("gives each agent one connection on request", async () => {
    const made = simulation({ hosts: 9, connections: "single", logLinesPerMinute: 12 });
    await server.until(() => server.of("log").length >= 9);
    const portsOf = new Map<unknown, Set<number>>();
    for (const { body, port } of server.seen.filter((seen) => seen.endpoint !== "enroll")) {
      portsOf.set(body.node_key, (portsOf.get(body.node_key) ?? new Set()).add(port));
    }
    expect([...portsOf.values()].map((ports) => ports.size)).toEqual(Array(9).fill(1));
    await stop(made);
  });

  it("shares a bounded pool in load mode", async () => {
    const made = simulation({ hosts: 100, spread: 0, connections: "shared", maxConnections: 7 });
    await server.until(() => server.of("distributed/read").length >= 300);
    expect(new Set(server.seen.map((seen) => seen.port)).size).toBeLessThanOrEqual(7);
    expect(made.connections).toBeLessThanOrEqual(7);
    expect((await stop(made)).errors).toBe(0);
  });
});

describe("the mode that only enrolls", () => {
  it("delivers a complete first inventory for every host and measures it", async () => {
    const asked = new Set<unknown>();
    const queries = Object.fromEntries(Object.entries(DETAIL_QUERIES).map(([name, query]) => [name, query.sql]));
    const discovery = Object.fromEntries(
      Object.entries(DETAIL_QUERIES).flatMap(([name, q]) => (q.discovery ? [[name, q.discovery]] : [])),
    );
    server.script = ({ endpoint, body }) => {
      if (endpoint !== "distributed/read" || asked.has(body.node_key)) return undefined;
      asked.add(body.node_key);
      return JSON.stringify({ queries, discovery: { ...discovery, diskenc_windows: "SELECT 1" } });
    };
    const options: SimulationOptions = {
      serverUrl: server.url,
      enrollSecret: "s",
      hosts: 12,
      mode: "enroll",
      concurrency: 4,
    };
    const report = await runSimulation(options);
    expect(report).toMatchObject({ enrolled: 12, lostResults: 0, errors: 0, enrollment: { hosts: 12 } });
    expect(server.of("distributed/write")).toHaveLength(12);
    for (const { body } of server.of("distributed/write"))
      expect((body.statuses as Record<string, number>).os_version).toBe(0);
    expect(renderReport(report)).toContain("12 hosts with inventory");
  });

  it("makes the same inventories before the clock starts, with one more host of each platform", async () => {
    const asked = new Set<unknown>();
    const queries = { svc_detail_query_software_homebrew: "SELECT name, version FROM homebrew_packages" };
    server.script = ({ endpoint, body }) => {
      if (endpoint !== "distributed/read" || asked.has(body.node_key)) return undefined;
      asked.add(body.node_key);
      return JSON.stringify({ queries });
    };
    const options: SimulationOptions = {
      serverUrl: server.url,
      enrollSecret: "s",
      hosts: 6,
      platforms: ["macos"],
      mode: "enroll",
    };
    const sent = () => server.of("distributed/write").map(({ body }) => JSON.stringify(body.queries));
    await runSimulation(options);
    const plain = sent();
    let before = -1;
    const onEnrollment = () => {
      before = sent().length - plain.length;
    };
    const report = await runSimulation({ ...options, prepared: true, onEnrollment });
    expect(report).toMatchObject({ errors: 0, enrollment: { hosts: 6 } });
    expect(before).toBe(1);
    expect(
      sent()
        .slice(plain.length + 1)
        .sort(),
    ).toEqual(plain.sort());
    expect(plain[0]).toContain('"name"');
  });
});

describe("the ledger", () => {
  it("finds acknowledged lines that were lost or are duplicated in the log", async () => {
    const ledgerFile = join(folder, "ledger");
    const made = simulation({ hosts: 2, logLinesPerMinute: 30, ledgerFile });
    server.script = ({ endpoint }, nth) =>
      endpoint === "log" && (nth === 2 || nth === 3) ? (res) => res.destroy() : undefined;
    await server.until(() => server.of("log").length >= 6);
    const report = await stop(made);
    // Connections broke after lines had arrived, on a fresh and on a used one: these lines were correctly sent again.
    const lines = server.of("log").flatMap((seen) => (seen.body.data as unknown[]).map((line) => JSON.stringify(line)));
    const logFile = join(folder, "results.log");
    const check = (content: string[]) => {
      writeFileSync(logFile, content.join("\n"));
      return checkLedger(ledgerFile, [logFile]);
    };
    const once = [...new Set(lines)];
    expect(lines.length).toBeGreaterThan(once.length);
    expect(await check(lines)).toMatchObject({ acknowledged: report.acknowledgedLines, lost: [], doubled: [] });
    expect(await check(once)).toMatchObject({ acknowledged: report.acknowledgedLines, lost: [], doubled: [] });
    expect((await check(once.slice(1))).lost).toHaveLength(1);
    expect((await check([...once, once.at(-1)!])).doubled).toHaveLength(1);
    expect(readFileSync(ledgerFile, "utf8").trim().split("\n")).toHaveLength(report.acknowledgedLines);
  });
});

describe("options and reports", () => {
  it.each([
    [{ hosts: 0 }, /hosts/],
    [{ scale: 0 }, /scale/],
    [{ managed: 2 }, /managed/],
    [{ platforms: ["beos"] }, /unknown platform/],
    [{ serverUrl: "ftp://x" }, /not an http/],
  ])("refuses %o", (wrong, message) => {
    expect(() => new Simulation({ serverUrl: "http://127.0.0.1:1", enrollSecret: "s", hosts: 1, ...wrong })).toThrow(
      message,
    );
  });

  it("renders a report in aligned columns", async () => {
    const made = simulation({ hosts: 2 });
    await server.until(() => server.of("distributed/read").length >= 4);
    const text = renderReport(await stop(made)).split("\n");
    expect(text[0]).toMatch(/^endpoint +requests +errors +p50 ms/);
    const table = text.slice(0, 6);
    expect(new Set(table.map((line) => line.length)).size).toBe(1);
    expect(text).toContainEqual(expect.stringMatching(/^hosts +2, 2 enrolled, 0 enrolled again$/));
  });

  it("renders progress in one line", () => {
    const progress = {
      seconds: 3,
      started: 1,
      hosts: 2,
      requests: 9,
      requestsPerSecond: 2.7,
      errors: 0,
      enrolled: 1,
      connections: 3,
      acknowledgedLines: 0,
    };
    expect(renderProgress(progress)).toBe(
      "3 s  1/2 hosts started, 1 enrolled  9 requests (3/s)  0 errors  3 connections",
    );
  });
});
