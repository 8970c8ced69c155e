import { describe, expect, it } from "vitest";
import type { LiveQuery } from "../../src/api/inventory/live-queries.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { liveQueries } from "../../src/server/inventory/live-queries/hub.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { eventsOf, isRunning, makeLiveHost, readUntil } from "../support/live.ts";
import { makeHost, makeLabel, makeSession, makeTeam, makeUser } from "../support/make.ts";

/** If hosts should answer in time: no test waits this long. */
const REST_PERIOD = "60s";
const start = (engine: "lowdb" | "postgres", period = REST_PERIOD) =>
  startApp({ engine, settings: { live_query_rest_period: period } });

// biome-ignore lint/suspicious/noExplicitAny: replies of many shapes
const json = async (res: Response | Promise<Response>): Promise<any> => (await res).json();
const reasonOf = async (res: Response | Promise<Response>) => (await json(res)).errors?.[0]?.reason;

/** Created, and known to this server's cache unless it has already ended. */
async function live(t: TestApp, body: unknown, caller: Pick<Caller, "post"> = t): Promise<LiveQuery> {
  const res = await caller.post("/queries/live", body);
  expect(res.status, await res.clone().text()).toBe(200);
  const query: LiveQuery = (await json(res)).live_query;
  if (query.status !== "complete") await isRunning(t, query.id);
  return query;
}
const got = async (caller: Pick<Caller, "get">, id: number): Promise<LiveQuery> =>
  (await json(caller.get(`/queries/live/${id}`))).live_query;
const states = async (t: TestApp, id: number) =>
  Object.fromEntries(
    (await t.store.campaignHosts.list({ where: eq("campaign_id", id) })).map(({ host_id, state }) => [host_id, state]),
  );

async function saved(t: TestApp, given: { name?: string; observer_can_run?: boolean; team_id?: number | null } = {}) {
  return t.store.queries.insert({
    created_at: t.clock.iso(),
    updated_at: t.clock.iso(),
    name: given.name ?? `query ${Math.random()}`,
    query: "SELECT 1",
    observer_can_run: given.observer_can_run ?? false,
    team_id: given.team_id ?? null,
  });
}
const disable = async (t: TestApp) =>
  expect((await t.patch("/config", { server_settings: { live_query_disabled: true } })).status).toBe(200);

describe.each(rulesEngines)("live queries on %s", (engine) => {
  describe("on one host", () => {
    it("waits for the result and returns its rows, by id and by each name of the host", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t, { hostname: "one.example.com" });
      const asked = json(t.post(`/hosts/${host.id}/query`, { query: "  SELECT 1 AS a  " }));
      await host.serve({ rows: [{ a: "1" }, { a: "9223372036854775807" }] });
      expect(await asked).toEqual({
        host_id: host.id,
        query: "SELECT 1 AS a",
        status: "online",
        error: null,
        rows: [{ a: "1" }, { a: "9223372036854775807" }],
      });
      const { hostname, uuid, hardware_serial, identifier } = host.row;
      for (const name of [hostname, uuid, hardware_serial, identifier, host.key]) {
        const again = json(t.post(`/hosts/identifier/${encodeURIComponent(name)}/query`, { query: "SELECT 2" }));
        await host.serve({ rows: [{ b: "2" }] });
        expect(await again, name).toMatchObject({ host_id: host.id, rows: [{ b: "2" }], error: null });
      }
      const feed = await json(t.get("/activities?activity_type=live_query"));
      expect(feed.activities).toHaveLength(6);
      expect(feed.activities[0]).toMatchObject({
        type: "live_query",
        actor_email: "ada@example.com",
        details: { targets_count: 1, query_sql: "SELECT 1 AS a" },
      });
      expect(feed.activities[0].details).not.toHaveProperty("query_name");
    });

    it("gives the agent's message as the error", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const asked = json(t.post(`/hosts/${host.id}/query`, { query: "SELECT * FROM no_such_table" }));
      await host.serve({ rows: [], status: 1, message: "no such table: no_such_table" });
      expect(await asked).toMatchObject({ status: "online", rows: [], error: "no such table: no_such_table" });
    });

    it("replies immediately for an offline host, without sending the query", async () => {
      const t = await start(engine, "30s");
      const host = await makeLiveHost(t, {}, { online: false });
      expect(await json(t.post(`/hosts/${host.id}/query`, { query: "SELECT 1" }))).toEqual({
        host_id: host.id,
        query: "SELECT 1",
        status: "offline",
        rows: null,
        error: null,
      });
      expect(await t.store.campaigns.count()).toBe(0);
      expect(await host.asked()).toEqual([]);
    });

    it("reports that the host did not answer in time, and does not send the query again", async () => {
      const t = await start(engine, "150ms");
      const host = await makeLiveHost(t);
      expect(await json(t.post(`/hosts/${host.id}/query`, { query: "SELECT 1" }))).toEqual({
        host_id: host.id,
        query: "SELECT 1",
        status: "online",
        rows: null,
        error: "timeout waiting for results",
      });
      expect(await host.asked()).toEqual([]);
      const [row] = await t.store.campaigns.list();
      expect(row).toMatchObject({ status: 2, ended_by: "time", timed_out_count: 1, answered_count: 0 });
      expect(await states(t, row!.id)).toEqual({ [host.id]: "timed_out" });
    });

    it("refuses blank SQL and unknown hosts", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      for (const body of [{}, { query: "" }, { query: "  \n" }]) {
        const res = await t.post(`/hosts/${host.id}/query`, body);
        expect(res.status).toBe(400);
        expect((await json(res)).errors).toEqual([{ name: "query", reason: "query is required" }]);
      }
      const unknown = await t.post("/hosts/99999/query", { query: "SELECT 1" });
      expect(unknown.status).toBe(400);
      expect(await reasonOf(unknown)).toContain("host not found: 99999");
      expect((await t.post("/hosts/identifier/nobody/query", { query: "SELECT 1" })).status).toBe(400);
    });

    it("requires the right to run new queries on the host", async () => {
      const t = await start(engine, "50ms");
      const team = await makeTeam(t);
      const other = await makeTeam(t);
      const host = await makeLiveHost(t, { team_id: team.id });
      const statusOf = async (role: Parameters<typeof makeUser>[1]) =>
        (await (await makeUser(t, role)).post(`/hosts/${host.id}/query`, { query: "SELECT 1" })).status;
      for (const role of ["admin", "maintainer", "observer_plus", "technician"] as const) {
        expect(await statusOf(role), role).toBe(200);
        expect(await statusOf({ teams: [{ id: team.id, role }] }), role).toBe(200);
        expect(await statusOf({ teams: [{ id: other.id, role }] }), role).toBe(400);
      }
      for (const role of ["observer", "gitops"] as const) {
        expect(await statusOf(role), role).toBe(403);
        expect(await statusOf({ teams: [{ id: team.id, role }] }), role).toBe(403);
      }
      const mixed = {
        teams: [
          { id: team.id, role: "observer" as const },
          { id: other.id, role: "admin" as const },
        ],
      };
      expect(await statusOf(mixed)).toBe(403);
      const byName = await (await makeUser(t, mixed)).post(`/hosts/identifier/${host.row.uuid}/query`, {
        query: "SELECT 1",
      });
      expect(byName.status).toBe(403);
    });
  });

  describe("a saved query", () => {
    it("runs on hosts, and ends when all online ones have answered", async () => {
      const t = await start(engine);
      const query = await saved(t, { name: "uptime" });
      const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
      const off = await makeLiveHost(t, {}, { online: false });
      const began = performance.now();
      const asked = json(t.post(`/queries/${query.id}/run`, { host_ids: [a.id, b.id, b.id, off.id, 999_999] }));
      await a.serve({ rows: [{ x: "a" }] });
      await b.serve({ status: 1, message: "boom" });
      expect(await asked).toEqual({
        query_id: query.id,
        targeted_host_count: 3,
        responded_host_count: 2,
        results: [
          { host_id: a.id, rows: [{ x: "a" }], error: null },
          { host_id: b.id, rows: [], error: "boom" },
        ],
      });
      expect(performance.now() - began).toBeLessThan(50_000);
      const [row] = await t.store.campaigns.list();
      expect(await states(t, row!.id)).toEqual({ [a.id]: "answered", [b.id]: "error", [off.id]: "offline" });
      expect(row).toMatchObject({ answered_count: 1, error_count: 1, offline_count: 1, timed_out_count: 0 });
      const { activities } = await json(t.get("/activities?activity_type=live_query"));
      expect(activities[0].details).toMatchObject({
        targets_count: 3,
        query_sql: "SELECT 1",
        query_name: "uptime",
        stats: {},
      });
    });

    it("refuses requests without hosts, with invalid hosts, and unknown queries", async () => {
      const t = await start(engine, "50ms");
      const query = await saved(t);
      for (const body of [{}, { host_ids: [] }])
        expect((await t.post(`/queries/${query.id}/run`, body)).status).toBe(400);
      expect(await reasonOf(t.post(`/queries/${query.id}/run`, { host_ids: [99_999] }))).toBe("no hosts targeted");
      const host = await makeLiveHost(t);
      expect((await t.post("/queries/99999/run", { host_ids: [host.id] })).status).toBe(404);
      expect(await t.store.campaigns.count()).toBe(0);
    });

    it("can be run by observers if it allows that, on hosts of their teams only", async () => {
      const t = await start(engine, "50ms");
      const [team, other] = [await makeTeam(t), await makeTeam(t)];
      const [own, foreign] = [
        await makeLiveHost(t, { team_id: team.id }),
        await makeLiveHost(t, { team_id: other.id }),
      ];
      const open = await saved(t, { observer_can_run: true });
      const closed = await saved(t);
      const ofTeam = await saved(t, { observer_can_run: true, team_id: team.id });
      const ofOther = await saved(t, { observer_can_run: true, team_id: other.id });
      const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
      const run = (by: Caller, id: number, hosts: number[]) => by.post(`/queries/${id}/run`, { host_ids: hosts });
      const ran = await json(run(observer, open.id, [own.id, foreign.id]));
      expect(ran.targeted_host_count).toBe(1);
      expect((await json(run(observer, ofTeam.id, [own.id]))).targeted_host_count).toBe(1);
      expect((await run(observer, closed.id, [own.id])).status).toBe(403);
      expect((await run(observer, ofOther.id, [own.id])).status).toBe(404);
      expect(await reasonOf(run(observer, open.id, [foreign.id]))).toBe("no hosts targeted");
      const global = await makeUser(t, "observer");
      expect((await json(run(global, open.id, [own.id, foreign.id]))).targeted_host_count).toBe(2);
      expect((await run(global, closed.id, [own.id])).status).toBe(403);
      expect((await run(await makeUser(t, "gitops"), open.id, [own.id])).status).toBe(403);
      const mixed = await makeUser(t, {
        teams: [
          { id: team.id, role: "maintainer" },
          { id: other.id, role: "observer" },
        ],
      });
      expect((await json(run(mixed, closed.id, [own.id, foreign.id]))).targeted_host_count).toBe(1);
      // Who writes queries for one team does not decide what runs on hosts that they only observe.
      const byMixed = await saved(t, { observer_can_run: true, team_id: team.id });
      expect((await json(run(mixed, byMixed.id, [own.id, foreign.id]))).targeted_host_count).toBe(1);
      expect(await reasonOf(run(mixed, byMixed.id, [foreign.id]))).toBe("no hosts targeted");
      const several = await json(mixed.get(`/queries/run?query_ids=${byMixed.id}&host_ids=${own.id},${foreign.id}`));
      expect(several.summary.targeted_host_count).toBe(1);
      const inTeam = { query_id: byMixed.id, selected: { teams: [other.id] } };
      for (const path of ["/queries/run", "/queries/live"])
        expect((await mixed.post(path, inTeam)).status, path).toBe(403);
      const counted = await json(
        mixed.post("/targets/count", { ...inTeam, selected: { hosts: [own.id, foreign.id] } }),
      );
      expect(counted.targets_count).toBe(1);
    });

    it("several at once, as with the deprecated GET, report failures one by one", async () => {
      const t = await start(engine);
      const [one, two] = [await saved(t), await saved(t)];
      const host = await makeLiveHost(t);
      const path = `/queries/run?query_ids=${one.id},${two.id},99999&host_ids=${host.id}`;
      const asked = json(t.get(path));
      const first = await host.serve({ rows: [{ n: "1" }] });
      expect(await host.serve({ rows: [{ n: "2" }] })).not.toBe(first);
      const reply = await asked;
      expect(reply.summary).toEqual({ targeted_host_count: 1, responded_host_count: 1 });
      expect(reply.live_query_results[0]).toMatchObject({
        query_id: one.id,
        results: [{ host_id: host.id, error: null }],
      });
      expect(reply.live_query_results[1]).toMatchObject({
        query_id: two.id,
        results: [{ host_id: host.id, error: null }],
      });
      expect(reply.live_query_results[2]).toMatchObject({
        query_id: 99999,
        error: expect.stringContaining("was not found"),
      });
      for (const bad of ["", "?query_ids=1", "?host_ids=1", "?query_ids=&host_ids=1"]) {
        const res = await t.get(`/queries/run${bad}`);
        expect(res.status, bad).toBe(400);
        expect(await reasonOf(res)).toBe("query_ids and host_ids are required");
      }
      expect((await t.get("/queries/run?query_ids=x&host_ids=1")).status).toBe(400);
      const observer = await makeUser(t, "observer");
      expect((await observer.get(`/queries/run?query_ids=${one.id}&host_ids=${host.id}`)).status).toBe(403);
    });
  });

  it("refuses everything while live queries are turned off, and creates nothing", async () => {
    const t = await start(engine);
    const query = await saved(t);
    const host = await makeLiveHost(t);
    await disable(t);
    const selected = { hosts: [host.id] };
    const calls: [string, unknown][] = [
      [`/hosts/${host.id}/query`, { query: "SELECT 1" }],
      [`/hosts/identifier/${host.row.uuid}/query`, { query: "SELECT 1" }],
      [`/queries/${query.id}/run`, { host_ids: [host.id] }],
      ["/queries/run", { query: "SELECT 1", selected }],
      ["/queries/run_by_identifiers", { query: "SELECT 1", selected: { hosts: [host.row.hostname] } }],
      ["/queries/live", { query: "SELECT 1", selected }],
    ];
    for (const [path, body] of calls) {
      const res = await t.post(path, body);
      expect(res.status, path).toBe(403);
      expect((await json(res)).message).toBe("Permission Denied");
    }
    expect((await t.get(`/queries/run?query_ids=${query.id}&host_ids=${host.id}`)).status).toBe(403);
    expect((await t.get("/status/live_query")).status).toBe(403);
    expect(await json(t.get("/status/result_store"))).toEqual({});
    expect(await t.store.campaigns.count()).toBe(0);
  });

  it("reports that live queries can be run", async () => {
    const t = await start(engine);
    expect(await json(t.get("/status/live_query"))).toEqual({});
    expect(await json(t.get("/status/result_store"))).toEqual({});
  });

  describe("over many hosts", () => {
    it("streams results as they arrive and counts every target", async () => {
      const t = await start(engine);
      const hosts = [
        await makeLiveHost(t, { hostname: "a", display_name: "A" }),
        await makeLiveHost(t),
        await makeLiveHost(t),
      ];
      const off = await makeLiveHost(t, {}, { online: false });
      const ids = [...hosts.map(({ id }) => id), off.id];
      const query = await live(t, { query: "SELECT 1", selected: { hosts: ids } });
      expect(query).toMatchObject({
        status: "waiting",
        online_count: 3,
        counts: { targets: 4, waiting: 4, answered: 0, error: 0, offline: 0, timed_out: 0, cancelled: 0 },
      });
      const events = eventsOf(await t.get(`/queries/live/${query.id}/stream`));
      const [totals, status] = await readUntil(events, ({ event }) => event === "status");
      expect(totals).toMatchObject({
        event: "totals",
        data: { count: 4, online: 3, offline: 1, missing_in_action: 0 },
      });
      expect(status!.data).toMatchObject({ expected_results: 3, actual_results: 0, status: "pending" });
      expect((await got(t, query.id)).status).toBe("running");

      await hosts[0]!.serve({ rows: [{ v: "1" }], stats: { wall_time_ms: 3, memory: "4096", junk: {} } });
      const [first] = (await readUntil(events, ({ event }) => event === "result")).slice(-1);
      expect(first).toEqual({
        id: 1,
        event: "result",
        data: {
          distributed_query_execution_id: query.id,
          host: { id: hosts[0]!.id, hostname: "a", display_name: "A" },
          rows: [{ v: "1", host_hostname: "a", host_display_name: "A" }],
          error: null,
          stats: { wall_time_ms: 3, memory: 4096 },
        },
      });
      await hosts[1]!.serve({ rows: [] });
      await hosts[2]!.serve({ status: "1", message: "no" });
      const rest = await readUntil(events, ({ event, data }) => event === "status" && data.status === "finished");
      expect(rest.filter(({ event }) => event === "result").map(({ id, data }) => [id, data.error])).toEqual([
        [2, null],
        [3, "no"],
      ]);
      expect(rest.at(-1)!.data).toEqual({
        expected_results: 3,
        actual_results: 3,
        count_of_hosts_with_results: 1,
        count_of_hosts_with_no_results: 1,
        status: "finished",
        expected_left: 0,
        counts: { targets: 4, waiting: 0, answered: 2, error: 1, offline: 1, timed_out: 0, cancelled: 0 },
      });
      expect((await events.next()).done).toBe(true);
      expect(await got(t, query.id)).toMatchObject({ status: "complete", ended_by: "answered" });
      expect((await states(t, query.id))[off.id]).toBe("offline");
    });

    it("resumes after the last event that was read, also after the end", async () => {
      const t = await start(engine);
      const hosts = [await makeLiveHost(t), await makeLiveHost(t), await makeLiveHost(t)];
      const query = await live(t, { query: "SELECT 1", selected: { hosts: hosts.map(({ id }) => id) } });
      for (const [i, host] of hosts.entries()) await host.serve({ rows: [{ i: String(i) }] });
      const read = async (last?: string) => {
        const res = await t.get(
          `/queries/live/${query.id}/stream`,
          last === undefined ? {} : { "last-event-id": last },
        );
        return (await readUntil(eventsOf(res), ({ data }) => data.status === "finished"))
          .filter(({ event }) => event === "result")
          .map(({ id }) => id);
      };
      expect(await read()).toEqual([1, 2, 3]);
      expect(await read("0")).toEqual([1, 2, 3]);
      expect(await read("2")).toEqual([3]);
      expect(await read("3")).toEqual([]);
      // 4 was never sent: continuing after it would omit results.
      for (const bad of ["x", "4", "9999999", "1".repeat(16)])
        expect((await t.get(`/queries/live/${query.id}/stream`, { "last-event-id": bad })).status, bad).toBe(400);
    });

    it("belongs to its creator", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
      const other = await makeUser(t, "admin");
      expect((await other.get(`/queries/live/${query.id}`)).status).toBe(404);
      expect((await other.get(`/queries/live/${query.id}/stream`)).status).toBe(404);
      expect((await other.post(`/queries/live/${query.id}/cancel`)).status).toBe(404);
      expect((await json(other.get("/queries/live"))).live_queries).toEqual([]);
      const own = await json(t.get("/queries/live?order_key=id&order_direction=desc"));
      expect(own.live_queries.map(({ id }: LiveQuery) => id)).toEqual([query.id]);
    });

    it("is cancelled: hosts do not get it any more, and a late result is accepted and dropped", async () => {
      const t = await start(engine);
      const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [a.id, b.id] } });
      await a.serve({ rows: [{ x: "1" }] });
      expect(await b.asked()).toEqual([query.id]);
      const cancelled = (await json(t.post(`/queries/live/${query.id}/cancel`))).live_query;
      expect(cancelled).toMatchObject({
        status: "complete",
        ended_by: "cancelled",
        counts: { targets: 2, waiting: 0, answered: 1, cancelled: 1, timed_out: 0, offline: 0 },
      });
      expect(await b.asked()).toEqual([]);
      expect(await b.answer(query.id, { rows: [{ x: "2" }] })).toEqual({ status: 200, json: {} });
      expect(await states(t, query.id)).toEqual({ [a.id]: "answered", [b.id]: "cancelled" });
      expect((await json(t.post(`/queries/live/${query.id}/cancel`))).live_query).toEqual(cancelled);
    });

    it("is cancelled a minute after the last reader left, and ends a day after its start", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const unread = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
      t.clock.advance(59_000);
      await t.services.running.of(liveQueries).tick();
      expect((await got(t, unread.id)).status).toBe("waiting");
      t.clock.advance(1_000);
      await t.services.running.of(liveQueries).tick();
      expect(await got(t, unread.id)).toMatchObject({
        status: "complete",
        ended_by: "unread",
        counts: { cancelled: 1 },
      });

      t.clock.advance(-60_000);
      const read = await live(t, { query: "SELECT 2", selected: { hosts: [host.id] } });
      const res = await t.get(`/queries/live/${read.id}/stream`);
      await readUntil(eventsOf(res), ({ event }) => event === "status");
      t.clock.advance(24 * 3_600_000 - 1);
      expect((await got(t, read.id)).status).toBe("running");
      t.clock.advance(1);
      await t.services.running.of(liveQueries).tick();
      expect(await got(t, read.id)).toMatchObject({ ended_by: "time", counts: { timed_out: 1 } });
    });

    it("ends after its own timeout", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] }, timeout: "30s" });
      const events = eventsOf(await t.get(`/queries/live/${query.id}/stream`));
      await readUntil(events, ({ event }) => event === "status");
      t.clock.advance(30_000);
      await t.services.running.of(liveQueries).tick();
      const last = (await readUntil(events, ({ data }) => data.status === "finished")).at(-1)!;
      expect(last.data.counts).toMatchObject({ timed_out: 1, answered: 0 });
    });

    it("waits for hosts until queue_until, without a reader", async () => {
      const t = await start(engine);
      const up = await makeLiveHost(t);
      const [later, never] = [
        await makeLiveHost(t, {}, { online: false }),
        await makeLiveHost(t, {}, { online: false }),
      ];
      const query = await live(t, {
        query: "SELECT 1",
        selected: { hosts: [up.id, later.id, never.id] },
        queue_until: "24h",
      });
      expect(query.queue_until).toBe("2026-03-02T12:00:00.000Z");
      await up.serve({ rows: [{ a: "1" }] });
      t.clock.advance(3 * 3_600_000);
      await t.services.running.of(liveQueries).tick();
      expect((await got(t, query.id)).counts).toMatchObject({ waiting: 2, answered: 1 });
      const now = t.clock.iso();
      for (const { id } of [later])
        await t.store.hosts.updateEach([{ id, detail_updated_at: now, label_updated_at: now, policy_updated_at: now }]);
      await later.serve({ rows: [{ a: "2" }] });
      expect((await got(t, query.id)).counts).toMatchObject({ waiting: 1, answered: 2 });
      t.clock.advance(21 * 3_600_000);
      await t.services.running.of(liveQueries).tick();
      expect(await got(t, query.id)).toMatchObject({
        status: "complete",
        ended_by: "time",
        counts: { targets: 3, waiting: 0, answered: 2, offline: 1, timed_out: 0 },
      });
      const events = eventsOf(await t.get(`/queries/live/${query.id}/stream`));
      const all = await readUntil(events, ({ data }) => data.status === "finished");
      expect(all.filter(({ event }) => event === "result")).toHaveLength(2);
    });

    it("ends when the hosts that it waits for are deleted", async () => {
      const t = await start(engine);
      const [up, gone] = [await makeLiveHost(t), await makeLiveHost(t, {}, { online: false })];
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [up.id, gone.id] }, queue_until: "24h" });
      await up.serve({ rows: [{ a: "1" }] });
      await t.services.running.of(liveQueries).reconcile();
      expect((await got(t, query.id)).counts).toMatchObject({ waiting: 1, answered: 1 });
      expect((await t.delete(`/hosts/${gone.id}`)).status).toBe(200);
      await t.services.running.of(liveQueries).reconcile();
      expect(await got(t, query.id)).toMatchObject({
        status: "complete",
        ended_by: "answered",
        counts: { targets: 2, waiting: 0, answered: 1, offline: 1 },
      });
    });

    it("is only sent to hosts that its user may still query, and ends when that user is deleted", async () => {
      const t = await start(engine);
      const [team, other] = [await makeTeam(t), await makeTeam(t)];
      const [stays, moves] = [await makeLiveHost(t, { team_id: team.id }), await makeLiveHost(t, { team_id: team.id })];
      const user = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
      const selected = { hosts: [stays.id, moves.id] };
      const query = await live(t, { query: "SELECT 1", selected, queue_until: "24h" }, user);
      expect(await moves.asked()).toEqual([query.id]);
      expect((await t.post("/hosts/transfer", { team_id: other.id, hosts: [moves.id] })).status).toBe(200);
      await expect.poll(() => moves.asked()).toEqual([]);
      expect(await stays.asked()).toEqual([query.id]);
      await t.store.userTeams.update({ where: eq("user_id", user.id), set: { role: "observer" } });
      await t.services.running.of(liveQueries).reconcile();
      expect(await stays.asked()).toEqual([]);
      expect((await got(user, query.id)).counts).toMatchObject({ targets: 2, waiting: 2 });
      await t.store.users.delete(eq("id", user.id));
      await t.services.running.of(liveQueries).reconcile();
      expect(await t.store.campaigns.get(query.id)).toMatchObject({ status: 2, cancelled_count: 2 });
    });

    it("ends when live queries are turned off", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] }, queue_until: "24h" });
      await disable(t);
      await expect.poll(() => got(t, query.id)).toMatchObject({ ended_by: "cancelled", counts: { cancelled: 1 } });
      await expect.poll(() => host.asked()).toEqual([]);
    });

    it("counts a host that came online, got the query and never answered as timed out", async () => {
      const t = await start(engine);
      const late = await makeLiveHost(t, {}, { online: false });
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [late.id] }, queue_until: "1h" });
      await expect.poll(() => late.asked()).toEqual([query.id]);
      await t.services.running.of(liveQueries).tick();
      t.clock.advance(3_600_000);
      await t.services.running.of(liveQueries).tick();
      expect((await got(t, query.id)).counts).toMatchObject({ timed_out: 1, offline: 0 });
    });

    it("ends immediately if no target is online, and soon after the remaining ones went offline", async () => {
      const t = await start(engine);
      const off = await makeLiveHost(t, {}, { online: false });
      const none = await live(t, { query: "SELECT 1", selected: { hosts: [off.id] } });
      expect(none).toMatchObject({ status: "complete", ended_by: "answered", counts: { offline: 1 } });

      const host = await makeLiveHost(t);
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
      const events = eventsOf(await t.get(`/queries/live/${query.id}/stream`));
      await readUntil(events, ({ event }) => event === "status");
      t.clock.advance(3_600_000);
      await t.store.campaigns.update({ where: eq("id", query.id), set: { reader_until: "2026-04-01T00:00:00.000Z" } });
      const last = (await readUntil(events, ({ data }) => data.status === "finished")).at(-1)!;
      expect(last.data.counts).toMatchObject({ timed_out: 1 });
    });

    it("handles deleted hosts, and still counts all targets", async () => {
      const t = await start(engine);
      const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
      const query = await live(t, { query: "SELECT 1", selected: { hosts: [a.id, b.id] } });
      expect((await t.delete(`/hosts/${b.id}`)).status).toBe(200);
      await a.serve({});
      await t.post(`/queries/live/${query.id}/cancel`);
      expect((await got(t, query.id)).counts).toMatchObject({ targets: 2, answered: 1, cancelled: 1 });
    });
  });

  describe("started for a websocket", () => {
    it("returns the campaign with the states of its targets", async () => {
      const t = await start(engine);
      const now = t.clock.iso();
      const up = await makeLiveHost(t);
      const fresh = await makeHost(t, { created_at: now }, { seen: now });
      const mia = await makeHost(t, { created_at: "2025-01-01T00:00:00.000Z" }, { seen: "2025-06-01T00:00:00.000Z" });
      const { campaign } = await json(
        t.post("/queries/run", { query: "SELECT 1", selected: { hosts: [up.id, fresh.id, mia.id] } }),
      );
      expect(campaign).toMatchObject({
        query_id: null,
        status: 0,
        Metrics: { TotalHosts: 3, OnlineHosts: 2, OfflineHosts: 1, MissingInActionHosts: 1, NewHosts: 1 },
      });
      await expect.poll(() => up.asked()).toEqual([campaign.id]);
    });

    it("accepts a saved query, and refuses requests with neither", async () => {
      const t = await start(engine);
      const host = await makeLiveHost(t);
      const query = await saved(t);
      const selected = { hosts: [host.id] };
      const { campaign } = await json(t.post("/queries/run", { query_id: query.id, selected }));
      expect(campaign.query_id).toBe(query.id);
      for (const body of [{ selected }, { query: " ", selected }]) {
        const res = await t.post("/queries/run", body);
        expect(res.status).toBe(422);
        expect((await json(res)).errors).toEqual([
          { name: "query", reason: "one of query or query_id must be specified" },
        ]);
      }
      expect((await t.post("/queries/run", { query: "SELECT 1" })).status).toBe(422);
      expect((await t.post("/queries/run", { query_id: 99_999, selected })).status).toBe(404);
      for (const none of [{}, { hosts: [] }, { hosts: [99_999] }, { labels: [99_999] }])
        expect(await reasonOf(t.post("/queries/run", { query: "SELECT 1", selected: none }))).toBe("no hosts targeted");
    });

    it("finds hosts and labels by name, under both paths", async () => {
      const t = await start(engine);
      await makeLiveHost(t, { hostname: "a.example.com" });
      await makeLiveHost(t, { uuid: "UUID-B" });
      const c = await makeLiveHost(t, { hardware_serial: "SER-C" });
      await makeLabel(t, "some", [c.id]);
      const run = (path: string, selected: unknown) => t.post(path, { query: "SELECT 1", selected });
      for (const path of ["/queries/run_by_identifiers", "/queries/run_by_names"]) {
        const reply = await json(run(path, { hosts: ["a.example.com", "UUID-B", "nobody"], labels: ["some"] }));
        expect(reply.campaign.Metrics.TotalHosts).toBe(3);
      }
      expect((await json(run("/queries/run_by_names", { hosts: ["SER-C"] }))).campaign.Metrics.TotalHosts).toBe(1);
      const blank = await json(run("/queries/run_by_names", { hosts: ["SER-C", " "], labels: [""] }));
      expect(blank.campaign.Metrics.TotalHosts).toBe(1);
      const res = await run("/queries/run_by_names", { labels: ["some", "none", "other"] });
      expect(res.status).toBe(400);
      expect(await reasonOf(res)).toBe("Invalid label name(s): none, other.");
    });
  });

  describe("targets", () => {
    it("are selected by targets, among the caller's teams", async () => {
      const t = await start(engine);
      const [one, two] = [await makeTeam(t), await makeTeam(t)];
      const a = await makeHost(t, { team_id: one.id });
      const b = await makeHost(t, { team_id: one.id });
      const c = await makeHost(t, { team_id: two.id });
      const d = await makeHost(t);
      const red = await makeLabel(t, "red", [a.id, c.id]);
      const blue = await makeLabel(t, "blue", [b.id, d.id]);
      const [macs] = await t.store.labels.list({ where: eq("name", "macOS") });
      const [all] = await t.store.labels.list({ where: eq("name", "All Hosts") });
      await t.store.labelMembers.insertMany([a, b].map(({ id }) => ({ label_id: macs!.id, host_id: id })));
      const targets = async (by: Caller, body: Record<string, unknown>) => {
        const res = await by.post("/queries/live", { query: "SELECT 1", ...body });
        if (res.status !== 200) return res.status === 400 ? [] : res.status;
        const { live_query } = await json(res);
        return Object.keys(await states(t, live_query.id)).map(Number);
      };
      const pick = (selected: unknown, by: Caller = t) => targets(by, { selected });
      expect(await pick({ hosts: [d.id, a.id] })).toEqual([a.id, d.id]);
      expect(await pick({ labels: [red.id] })).toEqual([a.id, c.id]);
      expect(await pick({ labels: [red.id, blue.id] })).toEqual([a.id, b.id, c.id, d.id]);
      expect(await pick({ labels: [red.id, macs!.id] })).toEqual([a.id]);
      expect(await pick({ labels: [red.id], teams: [two.id] })).toEqual([c.id]);
      expect(await pick({ labels: [red.id, blue.id], teams: [0, two.id] })).toEqual([c.id, d.id]);
      expect(await pick({ teams: [one.id] })).toEqual([a.id, b.id]);
      expect(await pick({ labels: [red.id, macs!.id], hosts: [d.id] })).toEqual([a.id, d.id]);
      expect(await pick({ labels: [all!.id, red.id], teams: [two.id] })).toEqual([a.id, b.id, c.id, d.id]);
      expect(await targets(t, { where: `hostname = "${b.hostname}"` })).toEqual([b.id]);
      expect(await targets(t, { where: 'platform = "ubuntu"', selected: { teams: [one.id] } })).toEqual([a.id, b.id]);

      const member = await makeUser(t, {
        teams: [
          { id: one.id, role: "maintainer" },
          { id: two.id, role: "observer" },
        ],
      });
      expect(await pick({ labels: [all!.id] }, member)).toEqual([a.id, b.id]);
      expect(await pick({ labels: [red.id] }, member)).toEqual([a.id]);
      expect(await pick({ hosts: [c.id, d.id] }, member)).toEqual([]);
      expect(await targets(member, { where: 'platform = "ubuntu"' })).toEqual([a.id, b.id]);
      expect(await pick({ teams: [one.id] }, member)).toEqual([a.id, b.id]);
      for (const teams of [[two.id], [one.id, two.id], [0], [99_999]]) expect(await pick({ teams }, member)).toBe(403);
      const open = await saved(t, { observer_can_run: true });
      const run = await json(member.post("/queries/live", { query_id: open.id, selected: { labels: [red.id] } }));
      expect(run.live_query.counts.targets).toBe(2);
      const observer = await makeUser(t, "observer");
      expect(await pick({ hosts: [a.id] }, observer)).toBe(403);
    });

    it("are refused if they are invalid, with the reason", async () => {
      const t = await start(engine);
      const host = await makeHost(t);
      const selected = { hosts: [host.id] };
      const send = (body: unknown) => t.post("/queries/live", body);
      const cases: [unknown, number, string][] = [
        [{ query: "SELECT 1" }, 422, "selected"],
        [{ selected }, 422, "query"],
        [{ query: "x".repeat(200_001), selected }, 422, "query"],
        [{ query: "SELECT 1", where: "nonsense =" }, 400, "where"],
        [{ query: "SELECT 1", selected, timeout: "soon" }, 422, "timeout"],
        [{ query: "SELECT 1", selected, queue_until: -1 }, 422, "queue_until"],
        [{ query: "SELECT 1", selected, queue_until: "8d" }, 422, "queue_until"],
        [{ query: "SELECT 1", selected: { hosts: ["1"] } }, 422, "selected.hosts.0"],
        [{ query: 7, selected }, 422, "query"],
      ];
      for (const [body, status, name] of cases) {
        const res = await send(body);
        expect(res.status, name).toBe(status);
        expect((await json(res)).errors[0].name).toBe(name);
      }
      expect(await t.store.campaigns.count()).toBe(0);
    });
  });

  it("are deleted with their results when they are old, and completed if a server was killed during their end", async () => {
    const t = await start(engine);
    const host = await makeLiveHost(t);
    const query = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
    await host.serve({ rows: [{ a: "1" }] });
    const torn = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
    await t.store.campaigns.update({
      where: eq("id", torn.id),
      set: { status: 2, ended_by: "time", finished_at: t.clock.iso() },
    });
    await runJob(t.services, "live_query_cleanup");
    expect(await states(t, torn.id)).toEqual({ [host.id]: "timed_out" });
    expect(await t.store.campaigns.count()).toBe(2);
    t.clock.advance(24 * 3_600_000 + 1000);
    await runJob(t.services, "live_query_cleanup");
    expect(await t.store.campaigns.count()).toBe(0);
    expect(await t.store.campaignHosts.count()).toBe(0);
    expect((await t.get(`/queries/live/${query.id}`)).status).toBe(404);
  });

  it("are deleted earlier, oldest first, if together they are too large", async () => {
    const t = await start(engine);
    const host = await makeLiveHost(t);
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) {
      const { id } = await live(t, { query: "SELECT 1", selected: { hosts: [host.id] } });
      await t.store.campaigns.update({ where: eq("id", id), set: { bytes: 100 * 1024 * 1024 } });
      expect(await host.serve()).toBe(id);
      ids.push(id);
      t.clock.advance(1_000);
    }
    const left = async () => {
      await runJob(t.services, "live_query_cleanup");
      return (await t.store.campaigns.pick(["id"])).map(({ id }) => id);
    };
    expect(await left()).toEqual(ids);
    t.clock.advance(10 * 60_000);
    expect(await left()).toEqual(ids.slice(1));
  });

  it("survive the deletion of their query, their user and their label", async () => {
    const t = await start(engine);
    const host = await makeLiveHost(t);
    const query = await saved(t);
    const user = await makeUser(t, "admin");
    const token = await makeSession(t, user.id);
    const run = await live(t, { query_id: query.id, selected: { hosts: [host.id] } }, t.as(token));
    await t.store.queries.delete(eq("id", query.id));
    await t.store.users.delete(eq("id", user.id));
    expect(await host.serve({ rows: [{ a: "1" }] })).toBe(run.id);
    expect(await t.store.campaigns.get(run.id)).toMatchObject({ status: 2, user_id: null, query_id: null });
  });
});

it("cause no store operation when an idle host polls, with or without live queries of others", async () => {
  const t = await start("lowdb");
  const [host, other] = [await makeLiveHost(t), await makeLiveHost(t)];
  await host.read();
  await live(t, { query: "SELECT 1", selected: { hosts: [other.id] } });
  const reply = t.agent.replyTo("distributed/read", {
    body: Buffer.from(JSON.stringify({ node_key: host.key })),
    authorization: undefined,
    address: "127.0.0.1",
  });
  expect(reply).not.toBeInstanceOf(Promise);
  await other.read();
  const polled = t.agent.replyTo("distributed/read", {
    body: Buffer.from(JSON.stringify({ node_key: other.key })),
    authorization: undefined,
    address: "127.0.0.1",
  });
  expect(polled).not.toBeInstanceOf(Promise);
  expect(polled).toMatchObject({ body: expect.stringContaining("svc_distributed_query_") });
});
