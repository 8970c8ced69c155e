// Agents with invalid results of live queries.
import { describe, expect, test } from "vitest";
import { CELL_MAX, HOST_ROWS_MAX } from "../../../src/server/inventory/live-queries/limits.ts";
import { LIVE_PREFIX } from "../../../src/server/platform/agent-protocol/names.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { isRunning, type LiveHost, makeLiveHost } from "../../support/live.ts";
import { makeSecret, SimulatedAgent, throughApp } from "./agents.ts";

async function started(
  t: TestApp,
  hosts: readonly { id: number }[],
  more: Record<string, unknown> = {},
): Promise<number> {
  const res = await t.post("/queries/live", {
    query: "SELECT 1",
    selected: { hosts: hosts.map(({ id }) => id) },
    ...more,
  });
  const { live_query } = (await res.json()) as { live_query: { id: number } };
  await isRunning(t, live_query.id);
  return live_query.id;
}
const outcome = async (t: TestApp, campaign: number, host: LiveHost) =>
  (await t.store.campaignHosts.list({ where: eq("campaign_id", campaign) })).find(
    ({ host_id }) => host_id === host.id,
  )!;

describe.each(bothEngines)("live results on %s", (engine) => {
  const start = () => startApp({ engine, settings: { live_query_rest_period: "100ms" } });

  test("keep every digit of numbers that are not text, in bodies of any size", async () => {
    const t = await start();
    const cells = '"a":9223372036854775807,"b":-18446744073709551616,"c":[1],"d":1e400,"e":"\\"1\\\\","f":1.5';
    for (const filler of ["", "x".repeat(3 * 1024 * 1024)]) {
      const host = await makeLiveHost(t);
      const id = await started(t, [host]);
      const queries = `{"${LIVE_PREFIX}${id}":[{${cells}}],"svc_detail_query_unknown":[{"x":"${filler}"}]}`;
      const { json } = await host.send("distributed/write", `{"node_key":"${host.key}","queries":${queries}}`);
      expect(json).toEqual({});
      expect((await outcome(t, id, host)).rows).toEqual([
        { a: "9223372036854775807", b: "-18446744073709551616", c: "[1]", d: "1e400", e: '"1\\', f: "1.5" },
      ]);
    }
  });

  test("beyond the limit of one live query become errors", async () => {
    const t = await start();
    const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
    const id = await started(t, [a, b]);
    await t.store.campaigns.update({ where: eq("id", id), set: { bytes: 128 * 1024 * 1024 - 100 } });
    await a.answer(id, { rows: [{ a: "x".repeat(200) }] });
    await b.answer(id, { rows: [{ a: "x" }] });
    expect(await outcome(t, id, a)).toMatchObject({
      state: "error",
      error: expect.stringContaining("has reached its size limit"),
    });
    expect(await outcome(t, id, b)).toMatchObject({ state: "answered", rows: [{ a: "x" }] });
  });

  test("with bytes that are not UTF-8 are kept as far as they are text", async () => {
    const t = await start();
    const host = await makeLiveHost(t);
    const id = await started(t, [host]);
    const name = LIVE_PREFIX + id;
    const body = Buffer.concat([
      Buffer.from(`{"node_key":"${host.key}","queries":{"${name}":[{"a":"x`),
      Buffer.of(0xff, 0xfe, 0xc3),
      Buffer.from(`y"}]},"statuses":{"${name}":0}}`),
    ]);
    expect(await host.send("distributed/write", body)).toEqual({ status: 200, json: {} });
    expect((await outcome(t, id, host)).rows).toEqual([{ a: "x\ufffd\ufffd\ufffdy" }]);
  });

  test("count once: the first, however often and concurrently they are sent", async () => {
    const t = await start();
    const [host, other] = [await makeLiveHost(t), await makeLiveHost(t)];
    const id = await started(t, [host, other]);
    const sent = Array.from({ length: 20 }, (_, i) => host.answer(id, { rows: [{ i: String(i) }] }));
    for (const { json } of await Promise.all(sent)) expect(json).toEqual({});
    await host.answer(id, { rows: [{ i: "late" }] });
    expect(await t.store.campaigns.get(id)).toMatchObject({
      answered_count: 1,
      last_seq: 1,
      expected_count: 1,
      status: 0,
    });
    expect((await outcome(t, id, host)).rows).toEqual([{ i: "0" }]);
  });

  test("are numbered without gaps however many are sent at once", async () => {
    const t = await start();
    const hosts: LiveHost[] = [];
    for (let i = 0; i < 100; i++) hosts.push(await makeLiveHost(t));
    const id = await started(t, hosts);
    await Promise.all(
      hosts.map((host, i) => host.answer(id, i % 10 === 0 ? { status: 1 } : { rows: [{ i: String(i) }] })),
    );
    const rows = await t.store.campaignHosts.list({
      where: eq("campaign_id", id),
      order: [{ column: "place", direction: "asc" }],
    });
    expect(rows.map(({ place }) => place! % 2 ** 22)).toEqual(hosts.map((_, i) => i + 1));
    expect(await t.store.campaigns.get(id)).toMatchObject({
      answered_count: 90,
      error_count: 10,
      status: 2,
      ended_by: "answered",
    });
  });

  if (!rulesEngines.includes(engine)) return;

  test("with invalid types are converted as far as possible", async () => {
    const t = await start();
    const cases: [unknown, unknown, unknown][] = [
      // rows, status, the stored value
      ["", 0, null],
      [null, 0, null],
      [7, 0, null],
      [{ a: 1 }, 0, null],
      [[null, 7, "x", [], { a: "1" }], 0, [{ a: "1" }]],
      [
        [{ a: 1, b: true, c: null, d: 1.5, e: { f: [1] }, g: [] }],
        "0",
        [{ a: "1", b: "true", c: "", d: "1.5", e: '{"f":[1]}', g: "[]" }],
      ],
      [[{}], null, [{}]],
      [[{ __proto__: "x", constructor: "y", "": "z" }], 0, [{ constructor: "y", "": "z" }]],
      [[{ n: "9223372036854775807", m: "-0", e: "1e400" }], 0, [{ n: "9223372036854775807", m: "-0", e: "1e400" }]],
      [[{ "\ud800": "a\u0000b\udfff" }], 0, [{ "\ufffd": "a\ufffdb\ufffd" }]],
    ];
    for (const [rows, status, kept] of cases) {
      const host = await makeLiveHost(t);
      const id = await started(t, [host]);
      expect(await host.answer(id, { rows, status, message: 7, stats: "none" })).toEqual({ status: 200, json: {} });
      expect(await outcome(t, id, host), JSON.stringify(rows)).toMatchObject({
        state: "answered",
        rows: kept,
        stats: null,
      });
    }
  });

  test("with too deep nesting become errors", async () => {
    const t = await start();
    const host = await makeLiveHost(t);
    const id = await started(t, [host]);
    const cell = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const queries = `{"${LIVE_PREFIX}${id}":[{"a":${cell}}]}`;
    const { json } = await host.send("distributed/write", `{"node_key":"${host.key}","queries":${queries}}`);
    expect(json).toEqual({});
    const error = "the result was not stored: a cell is nested too deeply";
    expect(await outcome(t, id, host)).toMatchObject({ state: "error", error, rows: null });
  });

  test("that failed become errors, with the agent's message or ours", async () => {
    const t = await start();
    const cases: [unknown, unknown, string][] = [
      [1, "no such table: x", "no such table: x"],
      ["1", "", "the query failed"],
      [1, { not: "text" }, "the query failed"],
      [{}, "odd status", "odd status"],
      [1, `\u0000${"m".repeat(100_000)}`, `\ufffd${"m".repeat(4095)}`],
    ];
    for (const [status, message, error] of cases) {
      const host = await makeLiveHost(t);
      const id = await started(t, [host]);
      await host.answer(id, { rows: [{ a: "ignored" }], status, message });
      expect(await outcome(t, id, host)).toMatchObject({ state: "error", error, rows: null, row_count: 0 });
    }
  });

  test("that are too large are reported as errors", async () => {
    const t = await start();
    const cases: [unknown, string | null][] = [
      [[{ big: "x".repeat(CELL_MAX) }], null],
      [[{ big: "x".repeat(CELL_MAX + 1) }], "the result was not stored: a cell is larger than 1 MiB"],
      [[{ big: "é".repeat(CELL_MAX / 2 + 1) }], "the result was not stored: a cell is larger than 1 MiB"],
      [
        Array.from({ length: 5 }, () => ({ big: "x".repeat(CELL_MAX) })),
        "the result was not stored: the rows are larger than 4 MiB",
      ],
      [Array.from({ length: HOST_ROWS_MAX }, (_, i) => ({ i: String(i) })), null],
      [
        Array.from({ length: HOST_ROWS_MAX + 1 }, (_, i) => ({ i: String(i) })),
        `the result was not stored: ${HOST_ROWS_MAX + 1} rows exceed the limit of ${HOST_ROWS_MAX}`,
      ],
    ];
    for (const [rows, error] of cases) {
      const host = await makeLiveHost(t);
      const id = await started(t, [host]);
      expect((await host.answer(id, { rows })).json).toEqual({});
      const kept = await outcome(t, id, host);
      expect(kept).toMatchObject({ state: error === null ? "answered" : "error", error });
      expect(kept.row_count).toBe(error === null ? (rows as unknown[]).length : 0);
    }
  });

  test("that are too large to be read at all are errors too", async () => {
    const t = await start();
    const host = await makeLiveHost(t);
    const id = await started(t, [host]);
    const rows = Array.from({ length: 25 }, () => ({ big: "x".repeat(CELL_MAX) }));
    expect((await host.answer(id, { rows })).json).toEqual({});
    const error = "the result was not stored: it has too many rows";
    expect(await outcome(t, id, host)).toMatchObject({ state: "error", error, rows: null });
  });

  test("of queries that were not sent are accepted and dropped", async () => {
    const t = await start();
    const [host, other] = [await makeLiveHost(t), await makeLiveHost(t)];
    const foreign = await started(t, [other]);
    for (const id of [foreign, foreign + 1, 0, 999_999_999_999_999])
      expect(await host.answer(id, { rows: [{ a: "forged" }] })).toEqual({ status: 200, json: {} });
    expect(await t.store.campaignHosts.list({ where: eq("state", "answered") })).toEqual([]);
    const body = { node_key: host.key, queries: {} as Record<string, unknown> };
    for (const odd of ["", "x", "-1", "1.5", "01", "1e3", "constructor", "99999999999999999999"])
      body.queries[LIVE_PREFIX + odd] = [{ a: "1" }];
    expect(await host.send("distributed/write", body)).toEqual({ status: 200, json: {} });
    // A number that was guessed before it was assigned does not prevent results of its query.
    const next = await started(t, [host]);
    expect(next).toBe(foreign + 1);
    await host.answer(next, { rows: [{ a: "true" }] });
    expect(await outcome(t, next, host)).toMatchObject({ state: "answered", rows: [{ a: "true" }] });
  });
});

describe("a host with a live query", () => {
  test("gets only this query, and its result does not count as the inventory that was due", async () => {
    const t = await startApp({ settings: { max_jitter_percent: 0 } });
    await makeSecret(t);
    const agent = new SimulatedAgent(throughApp(t), "linux");
    await agent.enroll();
    await agent.poll();
    const [host] = await t.store.hosts.list();
    await t.post(`/hosts/${host!.id}/refetch`);
    const id = await started(t, [host!]);
    const work = await agent.read();
    expect(Object.keys(work.queries)).toEqual([LIVE_PREFIX + id]);
    expect(work.discovery).toEqual({ [LIVE_PREFIX + id]: "SELECT 1;" });
    await agent.send("/api/v1/qengine/distributed/write", agent.answers(work));
    expect((await t.store.hosts.get(host!.id))?.refetch_requested).toBe(true);
    const rest = Object.keys((await agent.read()).queries);
    expect(rest.length).toBeGreaterThan(5);
    expect(rest).not.toContain(LIVE_PREFIX + id);
    await agent.poll();
    expect((await t.store.hosts.get(host!.id))?.refetch_requested).toBe(false);
  });

  test("gets its other work and other live queries, even if it never sends a result", async () => {
    const t = await startApp({ settings: { max_jitter_percent: 0 } });
    await makeSecret(t);
    const agent = new SimulatedAgent(throughApp(t), "linux");
    await agent.enroll();
    const [host] = await t.store.hosts.list();
    const [a, b] = [await started(t, [host!]), await started(t, [host!])];
    const turns: string[] = [];
    for (let i = 0; i < 4; i++) {
      const names = Object.keys((await agent.read()).queries);
      turns.push(names.length === 1 ? names[0]! : "details");
    }
    expect(turns).toEqual([LIVE_PREFIX + a, "details", LIVE_PREFIX + b, "details"]);
  });

  test("runs real SQL, and returns its error", async () => {
    const t = await startApp({ settings: { live_query_rest_period: "60s", max_jitter_percent: 0 } });
    await makeSecret(t);
    const agent = new SimulatedAgent(throughApp(t), "darwin");
    await agent.enroll();
    await agent.poll();
    const [host] = await t.store.hosts.list();
    const ask = async (query: string) => {
      const reply = t.post(`/hosts/${host!.id}/query`, { query });
      await expect.poll(async () => (await agent.poll()).length).toBeGreaterThan(0);
      return (await (await reply).json()) as { rows: unknown; error: string | null };
    };
    expect(await ask("SELECT name, platform FROM os_version")).toMatchObject({
      rows: [{ name: "macOS", platform: "darwin" }],
      error: null,
    });
    expect(await ask("SELECT * FROM nonsense")).toMatchObject({ rows: [], error: "no such table: nonsense" });
  });
});
