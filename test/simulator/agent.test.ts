import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SimulationOptions } from "../../src/simulator/options.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { FakeServer } from "./fake-server.ts";

let server: FakeServer;
let running: Simulation[] = [];

beforeEach(async () => {
  server = await FakeServer.start();
});
afterEach(async () => {
  for (const simulation of running) {
    const stopped = simulation.stop();
    let over = false;
    void stopped.finally(() => {
      over = true;
    });
    await server.until(() => over);
  }
  running = [];
  await server.close();
});

function simulate(options: Partial<SimulationOptions> = {}): Simulation {
  const simulation = new Simulation(
    {
      serverUrl: server.url,
      enrollSecret: "s3cret",
      hosts: 1,
      spread: 0,
      platforms: ["ubuntu"],
      statusLinesPerHour: 0,
      ...options,
    },
    { wheel: server.wheel, wallClock: server.wallClock },
  );
  // Only the test advances the wheel.
  simulation.start();
  server.wheel.stop();
  running.push(simulation);
  return simulation;
}

const gaps = (endpoint: string) => {
  const times = server.of(endpoint).map((seen) => seen.at);
  return times.slice(1).map((at, i) => at - times[i]!);
};
const near = (actual: number | undefined, expected: number) => {
  expect(actual).toBeGreaterThanOrEqual(expected - 100);
  expect(actual).toBeLessThanOrEqual(expected + 300);
};

describe("an agent that starts", () => {
  it("enrolls, fetches its config and polls for queries, with the same bytes as osquery", async () => {
    simulate({ seed: 4 });
    await server.until(() => server.of("distributed/read").length === 1);
    expect(server.seen.map((seen) => seen.endpoint)).toEqual(["enroll", "config", "distributed/read"]);
    const [enroll, config, read] = server.seen;
    expect(enroll!.body).toMatchObject({ enroll_secret: "s3cret", platform_type: "9" });
    const details = enroll!.body.host_details as Record<string, Record<string, string>>;
    expect(Object.keys(details)).toEqual(["os_version", "osquery_info", "system_info", "platform_info"]);
    expect(enroll!.body.host_identifier).toBe(details.osquery_info!.uuid);
    for (const row of Object.values(details))
      for (const value of Object.values(row)) expect(typeof value).toBe("string");
    expect(config!.body).toEqual({ node_key: "key-1" });
    expect(config!.headers["content-type"]).toBe("application/json");
    expect(config!.headers["user-agent"]).toBe(`osquery/${details.osquery_info!.version}`);
    expect(config!.headers.host).toBe(new URL(server.url).host);
    expect(read!.port).not.toBe(config!.port);
  });

  it("sends the node key as a header from 5.23 on, and not before", async () => {
    simulate({ hosts: 30 });
    await server.until(() => server.of("distributed/read").length === 30);
    for (const enroll of server.of("enroll")) expect(enroll.headers.authorization).toBeUndefined();
    const versions = new Set<string>();
    for (const { headers, body } of server.of("config")) {
      const version = headers["user-agent"]!.split("/")[1]!;
      versions.add(version);
      expect(headers.authorization).toBe(version === "5.23.0" ? `NodeKey ${body.node_key}` : undefined);
    }
    expect(versions.size).toBeGreaterThan(2);
  });

  it("polls every 10 s, refreshes its config every 60 s, each thread over one connection", async () => {
    simulate();
    await server.until(() => server.of("config").length === 3);
    for (const gap of gaps("distributed/read")) near(gap, 10_000);
    for (const gap of gaps("config")) near(gap, 60_000);
    expect(new Set(server.of("distributed/read").map((seen) => seen.port)).size).toBe(1);
    expect(new Set(server.of("config").map((seen) => seen.port)).size).toBe(1);
  });

  it("waits n² seconds between enrollments, in one series for all threads", async () => {
    server.script = ({ endpoint }, nth) =>
      endpoint === "enroll" && nth < 4 ? { status: 401, body: `{"error":"no","node_invalid":true}` } : undefined;
    simulate();
    await server.until(() => server.of("config").length === 1);
    const [one, four, nine] = gaps("enroll");
    near(one, 1000);
    near(four, 4000);
    near(nine, 9000);
  });
});

describe("an agent evaluates only the body", () => {
  /** Replies to the first write in the given way; returns whether the agent considers it delivered. */
  async function delivered(act: ReturnType<FakeServer["script"]>): Promise<boolean> {
    server.script = ({ endpoint }, nth) => {
      if (endpoint === "distributed/read" && nth === 1) return `{"queries":{"q":"SELECT 1"},"discovery":{}}`;
      return endpoint === "distributed/write" && nth === 1 ? act : undefined;
    };
    simulate();
    await server.until(() => server.of("distributed/read").length === 2);
    return server.of("distributed/write").length === 1;
  }

  it.each<[string, { status: number; body: string }, boolean]>([
    ["an empty 500", { status: 500, body: "" }, true],
    ["an empty 413", { status: 413, body: "" }, true],
    ["an empty 200", { status: 200, body: "" }, true],
    ["a 500 with an object", { status: 500, body: `{"message":"x","errors":[]}` }, true],
    ["node_invalid false", { status: 401, body: `{"node_invalid":false}` }, true],
    ["an error", { status: 200, body: `{"error":"no"}` }, false],
    ["a null error", { status: 200, body: `{"error":null}` }, false],
    ["an HTML page", { status: 200, body: "<html>502</html>" }, false],
    ["an array", { status: 200, body: "[]" }, false],
    ["an odd node_invalid", { status: 200, body: `{"node_invalid":"true"}` }, false],
    ["a redirect to nowhere", { status: 302, body: "{}" }, false],
  ])("%s", async (_name, act, expected) => {
    expect(await delivered(act)).toBe(expected);
    if (!expected) near(gaps("distributed/write")[0], 1000);
  });

  it("treats a broken connection as a failure", async () => {
    expect(await delivered((res) => res.destroy())).toBe(false);
  });

  it("enrolls within the retry when its key is refused, once for all threads", async () => {
    server.script = ({ body, endpoint }) =>
      endpoint !== "enroll" && body.node_key === "key-1" && server.now > 30_000
        ? { status: 401, body: `{"error":"unknown","node_invalid":true}` }
        : undefined;
    const simulation = simulate();
    await server.until(() => server.now > 90_000);
    expect(server.of("enroll")).toHaveLength(2);
    expect(server.of("config").at(-1)!.body.node_key).toBe("key-2");
    expect(server.of("distributed/read").at(-1)!.body.node_key).toBe("key-2");
    expect(simulation.report()).toMatchObject({ enrolled: 1, reEnrolled: 1, nodeInvalid: 1 });
  });

  it("enrolls once when two threads are refused at the same moment", async () => {
    const simulation = simulate();
    await server.until(() => server.of("distributed/read").length === 1);
    server.script = ({ body }) => (body.node_key === "key-1" ? `{"error":"unknown","node_invalid":true}` : undefined);
    let good: boolean | undefined;
    void simulation.agents[0]!.checkIn().then((answer) => {
      good = answer;
    });
    await server.until(() => good !== undefined);
    expect(good).toBe(true);
    expect(simulation.report()).toMatchObject({ nodeInvalid: 2, reEnrolled: 1 });
  });

  it("accepts a node_key from an enroll reply that also contains error", async () => {
    server.script = ({ endpoint }) =>
      endpoint === "enroll" ? `{"error":"x","node_invalid":true,"node_key":"odd"}` : undefined;
    simulate();
    await server.until(() => server.of("config").length === 1);
    expect(server.of("config")[0]!.body.node_key).toBe("odd");
  });

  it.each([301, 302, 303, 305, 307, 308])("repeats method and body at the location of a %i", async (status) => {
    server.script = ({ url }) =>
      url.includes("/qengine/config") ? { status, headers: { location: "/elsewhere?x=1" } } : undefined;
    simulate();
    await server.until(() => server.seen.some((seen) => seen.url === "/elsewhere?x=1"));
    expect(server.seen.find((seen) => seen.url === "/elsewhere?x=1")!.body).toEqual({ node_key: "key-1" });
  });

  it("follows at most ten redirects", async () => {
    server.script = ({ url }) =>
      /config|again/.test(url) ? { status: 307, headers: { location: "/again" } } : undefined;
    simulate();
    await server.until(() => server.of("config").length === 2);
    const second = server.seen.findLastIndex((seen) => seen.endpoint === "config");
    expect(server.seen.slice(0, second).filter((seen) => seen.url === "/again")).toHaveLength(10);
  });

  it("gives up after 16 s, and tries again a second later", async () => {
    server.script = ({ endpoint }, nth) => (endpoint === "config" && nth === 1 ? () => {} : undefined);
    const simulation = simulate();
    await server.until(() => server.of("config").length === 2);
    near(gaps("config")[0], 17_000);
    expect(simulation.report().timeouts).toBe(1);
  });

  it("repeats a request once immediately if a used connection breaks", async () => {
    server.script = ({ endpoint }, nth) =>
      endpoint === "distributed/read" && nth === 2 ? (res) => res.destroy() : undefined;
    const simulation = simulate();
    await server.until(() => server.of("distributed/read").length === 3);
    expect(gaps("distributed/read")[1]).toBeLessThan(300);
    expect(simulation.report().errors).toBe(0);
  });
});

describe("config", () => {
  it("is tried three times, then after the accelerated refresh", async () => {
    server.script = ({ endpoint }, nth) =>
      endpoint === "config" && nth > 1 && nth < 5 ? `{"error":"down"}` : undefined;
    simulate({ flags: { config_accelerated_refresh: "300" } });
    await server.until(() => server.of("config").length === 6);
    const [refresh, first, second, accelerated, again] = gaps("config");
    near(refresh, 60_000);
    near(first, 1000);
    near(second, 4000);
    near(accelerated, 300_000);
    near(again, 60_000);
  });

  it("sets options that remain after they are removed, and an empty body empties the schedule", async () => {
    const config = {
      options: { distributed_interval: 20, logger_tls_compress: false },
      schedule: { up: { query: "SELECT 1 AS x", interval: 20, snapshot: true } },
    };
    server.script = ({ endpoint }, nth) =>
      endpoint === "config" ? (nth === 1 ? JSON.stringify(config) : { status: 503, body: "" }) : undefined;
    simulate();
    await server.until(() => server.of("config").length === 2);
    const lines = server.of("log").length;
    expect(lines).toBeGreaterThan(0);
    expect(server.of("log")[0]!.headers["content-encoding"]).toBeUndefined();
    await server.pass(120_000);
    expect(server.of("log").length - lines).toBeLessThanOrEqual(1);
    near(gaps("distributed/read").at(-1), 20_000);
  });
});

describe("distributed queries", () => {
  const reads = (...answers: unknown[]) => {
    server.script = ({ endpoint }, nth) => {
      const answer = answers[nth - 1];
      return endpoint === "distributed/read" && answer ? JSON.stringify(answer) : undefined;
    };
  };

  it("sends one write, in order of names, with statuses, messages and stats", async () => {
    reads({
      queries: { b: "SELECT 2 AS x", a: "SELECT * FROM no_table", c: "SELECT 1 WHERE 0" },
      discovery: { b: "SELECT 1" },
    });
    simulate({ seed: 4 });
    await server.until(() => server.of("distributed/write").length === 1);
    const { body } = server.of("distributed/write")[0]!;
    expect(body).toMatchObject({
      queries: { a: [], b: [{ x: "2" }], c: [] },
      statuses: { a: 1, b: 0, c: 0 },
      messages: { a: "no such table: no_table", b: "", c: "" },
    });
    expect(Object.keys(body.queries as object)).toEqual(["a", "b", "c"]);
    expect((body.stats as Record<string, object>).b).toMatchObject({ memory: 8192 });
  });

  it("skips queries whose discovery finds nothing, and all if a discovery query fails", async () => {
    reads(
      { queries: { a: "SELECT 1", b: "SELECT 1" }, discovery: { a: "SELECT 1 WHERE 0" } },
      { queries: { a: "SELECT 1", b: "SELECT 1" }, discovery: { a: "SELECT 1 FROM no_table" } },
    );
    simulate();
    await server.until(() => server.of("distributed/read").length === 3);
    expect(server.of("distributed/write").map((seen) => Object.keys(seen.body.queries as object))).toEqual([["b"]]);
  });

  it("never polls twice at the same time", async () => {
    const simulation = simulate();
    await server.until(() => server.of("distributed/read").length === 1);
    const [agent] = simulation.agents;
    const both = Promise.all([agent!.pollOnce(), agent!.pollOnce()]);
    let over = false;
    void both.then(() => {
      over = true;
    });
    await server.until(() => over);
    expect(await both).toEqual([true, true]);
    expect(server.of("distributed/read")).toHaveLength(2);
  });

  it("stops at an empty query and loses the ones behind it", async () => {
    reads({ queries: { a: "SELECT 1", b: "", c: "SELECT 1" }, discovery: {}, accelerate: 60 });
    simulate();
    await server.until(() => server.of("distributed/read").length === 3);
    expect(server.of("distributed/write")[0]!.body.queries).toEqual({ a: [{ "1": "1" }] });
    near(gaps("distributed/read")[0], 10_000);
  });

  it("polls every 5 s while accelerated, only by an integer", async () => {
    reads({ queries: {}, discovery: {}, accelerate: 12 }, {}, {}, {}, { accelerate: "60" });
    simulate();
    await server.until(() => server.of("distributed/read").length === 7);
    expect(gaps("distributed/read").map((gap) => Math.round(gap / 1000))).toEqual([5, 5, 5, 10, 10, 10]);
  });

  it("keeps a failed write, merges newer results and sends all until they are accepted", async () => {
    server.script = ({ endpoint }, nth) => {
      if (endpoint === "distributed/read" && nth === 1)
        return `{"queries":{"a":"SELECT 1 AS x","b":"SELECT 1 AS x"},"discovery":{}}`;
      if (endpoint === "distributed/read" && nth === 2)
        return `{"queries":{"b":"SELECT 2 AS x","c":"SELECT 3 AS x"},"discovery":{}}`;
      return endpoint === "distributed/write" && nth <= 3 ? { status: 200, body: `{"error":"store down"}` } : undefined;
    };
    const simulation = simulate();
    await server.until(() => server.of("distributed/write").length === 4);
    const [first, second, merged] = gaps("distributed/write");
    near(first, 1000);
    near(second, 4000);
    near(merged, 10_000);
    expect(server.of("distributed/write")[2]!.body.queries).toEqual({ a: [{ x: "1" }], b: [{ x: "1" }] });
    expect(server.of("distributed/write")[3]!.body.queries).toEqual({
      a: [{ x: "1" }],
      b: [{ x: "2" }],
      c: [{ x: "3" }],
    });
    await server.pass(15_000);
    expect(server.of("distributed/write")).toHaveLength(4);
    expect(simulation.report()).toMatchObject({ deliveredResults: 3, lostResults: 0 });
  });

  it("sends the old formats from an old agent", async () => {
    reads({ queries: { a: "SELECT 1 WHERE 0", b: "SELECT 1" }, discovery: { a: "SELECT 1", b: "SELECT 1" } });
    simulate({ hosts: 60, quirks: true, platforms: ["macos"] });
    server.script = ({ endpoint, headers }) =>
      endpoint === "distributed/read" && headers["user-agent"] === "osquery/4.3.0"
        ? `{"queries":{"a":"SELECT 1 WHERE 0","b":"SELECT 1"},"discovery":{}}`
        : undefined;
    await server.until(() => server.of("distributed/write").length >= 1);
    const { body } = server.of("distributed/write")[0]!;
    expect(body).toEqual({
      node_key: body.node_key,
      queries: { a: "", b: [{ "1": "1" }] },
      statuses: { a: "0", b: "0" },
    });
  });
});

describe("logs", () => {
  const lines = () => server.of("log").map((seen) => (seen.body.data as unknown[]).length);

  it("are sent gzipped every 10 s, only if there are lines", async () => {
    simulate({ logLinesPerMinute: 12 });
    await server.until(() => server.of("log").length === 4);
    expect(server.of("log")[0]!.headers["content-encoding"]).toBe("gzip");
    expect(server.of("log")[0]!.body).toMatchObject({
      log_type: "result",
      data: [{ name: "simulated_events", action: "added", numerics: false }, {}],
    });
    for (const gap of gaps("log")) near(gap, 10_000);
  });

  it("are delayed by n² periods while refused, and sent later", async () => {
    server.script = ({ endpoint }, nth) =>
      endpoint === "log" && nth <= 3 ? { status: 413, body: `{"error":"full"}` } : undefined;
    const simulation = simulate({ logLinesPerMinute: 6 });
    await server.until(() => server.of("log").length === 4);
    const [one, four, nine] = gaps("log");
    near(one, 10_000);
    near(four, 40_000);
    near(nine, 90_000);
    expect(lines()[3]).toBeGreaterThanOrEqual(14);
    const pending = simulation.report().pendingLines;
    expect(simulation.report().acknowledgedLines).toBe(lines()[3]!);
    expect(pending).toBeLessThanOrEqual(1);
  });

  it("have at most 1024 lines per request", async () => {
    simulate({ logLinesPerMinute: 9000 });
    await server.until(() => server.of("log").length === 2);
    expect(lines()).toEqual([1024, 1024]);
  });

  it("contain scheduled queries under their result names, with decorations", async () => {
    const config = {
      options: { pack_delimiter: "/" },
      decorators: { load: ["SELECT hostname AS host FROM system_info"] },
      packs: { Global: { queries: { os: { query: "SELECT name FROM os_version", interval: 10, snapshot: true } } } },
      schedule: { uptime: { query: "SELECT total_seconds FROM uptime", interval: 10 } },
    };
    server.script = ({ endpoint }) => (endpoint === "config" ? JSON.stringify(config) : undefined);
    simulate();
    await server.until(() => server.of("log").length === 3);
    const all = server.of("log").flatMap((seen) => seen.body.data as Record<string, never>[]);
    const snapshot = all.find((line) => line.action === "snapshot");
    expect(snapshot).toMatchObject({ name: "pack/Global/os", snapshot: [{ name: "Ubuntu" }], counter: 0, epoch: 0 });
    expect(snapshot!.decorations).toEqual({ host: expect.stringMatching(/^ubuntu-00001/) });
    const uptime = all.filter((line) => line.name === "uptime");
    expect(uptime[0]).toMatchObject({ action: "added", counter: 0 });
    expect(uptime.slice(1, 3).map((line) => [line.action, line.counter])).toEqual([
      ["removed", 1],
      ["added", 1],
    ]);
  });
});
