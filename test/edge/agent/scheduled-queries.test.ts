// From a saved query to the agent's configuration, its log lines, and the report: with an agent that runs its schedule.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Query } from "../../../src/api/checks/queries.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { BadRow } from "../../../src/server/platform/store/rows.ts";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { readConfig, selectQueries } from "../../../src/simulator/agent/config.ts";
import { type Line, type LineForms, Schedule } from "../../../src/simulator/agent/schedule.ts";
import { answerSql } from "../../../src/simulator/sql/answer.ts";
import { type StartOptions, startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../../support/make.ts";
import { enroll, makeSecret, type Send, SimulatedAgent, throughApp } from "./agents.ts";

const SQL = "SELECT uid, username FROM users";
const forms: LineForms = { eventType: true, snapshotEventType: false, epoch: 0, old: false };

/** An enrolled machine that fetches its configuration, runs due queries and logs the results. */
class Scheduler extends SimulatedAgent {
  readonly schedule = new Schedule("h");
  now = 0;
  delimiter = "/";

  async config() {
    return (await this.send("/api/v1/qengine/config", { node_key: this.key })).json;
  }
  async refresh(): Promise<string[]> {
    const { text, json } = await this.send("/api/v1/qengine/config", { node_key: this.key });
    const facts = {
      family: this.machine.platform.family,
      agentVersion: "5.19.0",
      identifier: "h",
      delimiter: this.delimiter,
    };
    const selected = selectQueries(readConfig(text, json)!, facts, () => true);
    this.schedule.replace(selected, this.now, 0, (seconds) => seconds * 1000);
    return selected.map(({ name }) => name);
  }
  /** Advances the time, and logs what has run since. */
  async run(seconds: number, more: Partial<LineForms> = {}): Promise<Line[]> {
    this.now += seconds * 1000;
    const common = { hostIdentifier: "h", unixTime: 1_772_366_400 + this.now / 1000 };
    const answer = (sql: string) => answerSql(sql, this.view);
    const lines = this.schedule.run(this.now, common, { ...forms, ...more }, (s) => s * 1000, answer);
    if (lines.length > 0) await this.log(lines);
    return lines;
  }
  async log(lines: readonly unknown[]): Promise<void> {
    const { status, text } = await this.send("/api/v1/qengine/log", {
      node_key: this.key,
      log_type: "result",
      data: lines,
    });
    expect({ status, text }).toEqual({ status: 200, text: "{}" });
  }
}

interface Report {
  report_clipped: boolean;
  results: { host_id: number; host_name: string; last_fetched: string; columns: Record<string, string> }[];
}

async function start(options: StartOptions = {}) {
  const t = await startApp(options);
  const send = throughApp(t);
  await makeSecret(t);
  const agents: Scheduler[] = [];
  const agent = async (secret?: string, family: "linux" | "darwin" | "windows" = "linux") => {
    const made = new Scheduler(send, family, agents.length, 5);
    agents.push(made);
    await made.enroll(secret);
    return made;
  };
  const query = async (name: string, more: object = {}): Promise<Query> => {
    const res = await t.post("/queries", { name, query: SQL, interval: 60, ...more });
    expect(res.status, await res.clone().text()).toBe(200);
    return ((await res.json()) as { query: Query }).query;
  };
  const report = async (id: number, caller: Pick<TestApp, "get"> = t, search = ""): Promise<Report> => {
    const res = await caller.get(`/queries/${id}/report${search}`);
    expect(res.status, await res.clone().text()).toBe(200);
    return (await res.json()) as Report;
  };
  const hostIds = async () => (await t.store.hosts.list()).map(({ id }) => id);
  return { t, send, agent, query, report, hostIds };
}

/** A snapshot line in the agents' format. */
const line = (name: string, rows: unknown, more: object = {}) => ({
  name,
  action: "snapshot",
  snapshot: rows,
  unixTime: 1_772_366_400,
  epoch: 0,
  counter: 0,
  numerics: false,
  hostIdentifier: "h",
  ...more,
});
const rowsOf = (n: number, prefix = "r") => Array.from({ length: n }, (_, i) => ({ a: `${prefix}${i}` }));
const packsIn = (config: { packs?: Record<string, { queries: Record<string, object> }> }) =>
  Object.fromEntries(Object.entries(config.packs ?? {}).map(([name, pack]) => [name, Object.keys(pack.queries)]));

describe.each(rulesEngines)("scheduled queries on %s", (engine) => {
  test("a query is sent, runs on the host, and its rows become the report", async () => {
    const { t, agent, query, report } = await start({ engine });
    const users = await query("local users");
    const host = await agent();
    expect(await host.refresh()).toEqual(["pack/Global/local users"]);
    t.clock.advance(60_000);
    const lines = await host.run(60);
    const expected = (lines[0] as { snapshot: Record<string, string>[] }).snapshot;
    expect(expected.length).toBeGreaterThan(1);
    await expect.poll(async () => (await report(users.id)).results.length).toBe(expected.length);
    const [row] = await t.store.hosts.list();
    expect(await report(users.id)).toEqual({
      query_id: users.id,
      report_clipped: false,
      results: expected.map((columns) => ({
        host_id: row!.id,
        host_name: row!.display_name,
        last_fetched: t.clock.iso(),
        columns,
      })),
    });
    const ofHost = await (await t.get(`/hosts/${row!.id}/queries/${users.id}`)).json();
    expect(ofHost).toEqual({
      query_id: users.id,
      host_id: row!.id,
      host_name: row!.display_name,
      last_fetched: t.clock.iso(),
      report_clipped: false,
      results: expected.map((columns) => ({ columns })),
    });
    const csv = await t.raw(`/api/v1/svc/queries/${users.id}/report/csv`, {
      headers: { authorization: `Bearer ${t.token}` },
    });
    expect(csv.headers.get("content-type")).toBe("text/csv");
    const text = (await csv.text()).trimEnd().split("\n");
    expect(text[0]).toBe("host_id,host_name,last_fetched,uid,username");
    expect(text).toHaveLength(expected.length + 1);
  });

  test("the configuration contains queries whose results are used, with their limits", async () => {
    const { t, agent, query } = await start({ engine });
    const host = await agent();
    await query("b", { platform: "darwin,linux", min_qengine_version: "5.1.0" });
    await query("a", { logging: "differential", automations_enabled: true, query: "SELECT 1" });
    await query("c", { logging: "differential_ignore_removals", automations_enabled: true, query: "SELECT 2" });
    await query("not scheduled", { interval: 0, automations_enabled: true });
    await query("nobody wants it", { logging: "differential" });
    await query("discarded", { discard_data: true });
    await query("discarded, but wanted", { discard_data: true, automations_enabled: true, query: "SELECT 3" });
    const { packs } = await host.config();
    expect(packs).toEqual({
      Global: {
        queries: {
          a: { query: "SELECT 1", interval: 60 },
          b: { query: SQL, interval: 60, snapshot: true, platform: "darwin,linux", version: "5.1.0" },
          c: { query: "SELECT 2", interval: 60, removed: false },
          "discarded, but wanted": { query: "SELECT 3", interval: 60, snapshot: true },
        },
      },
    });
    expect(Object.keys(packs.Global.queries)).toEqual(["a", "b", "c", "discarded, but wanted"]);
    await t.patch("/config", { server_settings: { query_reports_disabled: true } });
    await expect
      .poll(async () => Object.keys((await host.config()).packs.Global.queries))
      .toEqual(["a", "c", "discarded, but wanted"]);
  });

  test("a team's hosts also get the team's queries; all options of a platform are kept", async () => {
    const { t, agent, query } = await start({ engine });
    const team = await makeTeam(t);
    await makeSecret(t, "team-secret", team.id);
    const options = { pack_delimiter: ":" };
    await t.patch("/config", {
      agent_options: {
        config: { options, packs: { mine: { queries: { q: { query: "SELECT 7", interval: 5 } } } } },
        overrides: { platforms: { darwin: { options: { pack_delimiter: "D" } } } },
      },
    });
    await query("global");
    await query("own", { team_id: team.id });
    const outside = await agent();
    const inside = await agent("team-secret", "darwin");
    await expect.poll(async () => packsIn(await outside.config())).toEqual({ mine: ["q"], Global: ["global"] });
    expect((await outside.config()).options).toEqual(options);
    expect(packsIn(await inside.config())).toEqual({ Global: ["global"], [`team-${team.id}`]: ["own"] });
    expect((await inside.config()).options).toEqual({ pack_delimiter: "D" });
    // A transferred host gets the schedule of its new team.
    const [, row] = await t.store.hosts.list();
    await t.store.tx(async (tx) => {
      await tx.hosts.updateEach([{ id: row!.id, team_id: null }]);
      await tx.notify("svc_hosts", JSON.stringify([row!.id]));
    });
    await expect.poll(async () => packsIn(await inside.config())).toEqual({ Global: ["global"] });
  });

  test("names that agents skip are replaced by others, and results are mapped back to the query", async () => {
    const { agent, query, report } = await start({ engine });
    const names = ["login counter", "login counter_", "query.x", "cache.counter", "fine"];
    const made = [];
    for (const name of names) made.push(await query(name));
    const host = await agent();
    const sent = await host.refresh();
    expect(sent).toHaveLength(names.length);
    expect(sent).toContain("pack/Global/login counter_");
    expect(sent).toContain("pack/Global/login counter__");
    await host.run(60);
    for (const { id, name } of made)
      await expect.poll(async () => (await report(id)).results.length, { message: name }).toBeGreaterThan(0);
  });

  test("a query for labels is sent only to their members, and follows changes of label and query", async () => {
    const { t, agent, query, hostIds } = await start({ engine });
    const [a, b] = [await agent(), await agent()];
    const [idA, idB] = (await hostIds()) as [number, number];
    const label = await makeLabel(t, "A", [idA]);
    await query("for all");
    const scoped = await query("for A", { labels_include_any: ["A"] });
    await expect.poll(async () => packsIn(await a.config())).toEqual({ Global: ["for A", "for all"] });
    expect(packsIn(await b.config())).toEqual({ Global: ["for all"] });

    // The labels of a host are looked up once, and again after a minute.
    const look = vi.spyOn(t.store.labelMembers, "pick");
    for (let i = 0; i < 5; i++) await Promise.all([a.config(), b.config()]);
    expect(look).not.toHaveBeenCalled();
    await t.store.labelMembers.insert({ label_id: label.id, host_id: idB });
    t.clock.advance(60_000);
    expect(packsIn(await b.config())).toEqual({ Global: ["for A", "for all"] });
    look.mockRestore();

    await t.patch(`/queries/${scoped.id}`, { labels_include_any: ["All Hosts"] });
    await t.store.labelMembers.delete({ op: "all" });
    await expect.poll(async () => packsIn(await b.config())).toEqual({ Global: ["for A", "for all"] });
    await t.patch(`/queries/${scoped.id}`, { labels_include_any: ["A"] });
    await expect.poll(async () => packsIn(await b.config())).toEqual({ Global: ["for all"] });
    // Without its label it would apply to every host.
    expect((await t.delete(`/labels/id/${label.id}`)).status).toBe(422);
    await t.patch(`/queries/${scoped.id}`, { labels_include_any: [] });
    await expect.poll(async () => packsIn(await b.config())).toEqual({ Global: ["for A", "for all"] });
    await t.delete(`/queries/id/${scoped.id}`);
    await expect.poll(async () => packsIn(await a.config())).toEqual({ Global: ["for all"] });
  });

  test("nothing is read from the store for hosts that only have queries for all hosts", async () => {
    const { t, agent, query } = await start({ engine });
    await query("for all");
    const hosts = [await agent(), await agent("enroll-me-please", "darwin")];
    const texts = await Promise.all(hosts.map(async (host) => JSON.stringify(await host.config())));
    expect(texts[0]).toBe(texts[1]);
    const tables = [t.store.queries, t.store.packs, t.store.labelMembers, t.store.hosts, t.store.teams] as const;
    const looks = tables.flatMap((table) => [vi.spyOn(table, "pick"), vi.spyOn(table, "list"), vi.spyOn(table, "get")]);
    for (let i = 0; i < 3; i++)
      for (const [at, host] of hosts.entries()) expect(JSON.stringify(await host.config())).toBe(texts[at]);
    for (const look of looks) expect(look).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  test("legacy packs are sent to their hosts, labels and teams", async () => {
    const { t, agent, query, hostIds } = await start({ engine });
    const team = await makeTeam(t);
    await makeSecret(t, "team-secret", team.id);
    const hosts = [await agent(), await agent(), await agent("team-secret")];
    const [one, two] = (await hostIds()) as [number, number];
    const label = await makeLabel(t, "L", [two]);
    const { id: queryId } = await query("users", { interval: 0 });
    const all = (await t.store.labels.list()).find(({ name }) => name === "All Hosts")!;
    const packs = {
      byHost: { host_ids: [one] },
      byLabel: { label_ids: [label.id] },
      byTeam: { team_ids: [team.id] },
      every: { label_ids: [all.id] },
      none: {},
    };
    for (const [name, body] of Object.entries(packs)) {
      const { pack } = (await (await t.post("/packs", { name, platform: "linux", ...body })).json()) as {
        pack: { id: number };
      };
      const entry = { pack_id: pack.id, query_id: queryId, interval: 30, snapshot: false, removed: false, shard: 50 };
      expect((await t.post("/schedule", entry)).status).toBe(200);
    }
    const names = async (at: number) => Object.keys((await hosts[at]!.config()).packs ?? {}).sort();
    await expect.poll(() => names(0)).toEqual(["byHost", "every"]);
    expect(await names(1)).toEqual(["byLabel", "every"]);
    expect(await names(2)).toEqual(["byTeam", "every"]);
    expect((await hosts[0]!.config()).packs.every).toEqual({
      platform: "linux",
      queries: { users: { query: SQL, interval: 30, removed: false, shard: 50 } },
    });
    const every = (await t.store.packs.list()).find(({ name }) => name === "every")!;
    await t.patch(`/packs/${every.id}`, { disabled: true });
    await expect.poll(() => names(0)).toEqual(["byHost"]);
  });

  test("queries that would make the configuration too large for agents are left out", async () => {
    const { agent, query } = await start({ engine });
    const long = (name: string) => `SELECT '${name.repeat(190_000)}'`;
    for (let i = 0; i < 25; i++) {
      const letter = String.fromCharCode(97 + i);
      await query(`q${letter}`, { query: long(letter) });
    }
    const host = await agent();
    const { text, json } = await host.send("/api/v1/qengine/config", { node_key: host.key });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(Object.keys(json.packs.Global.queries)).toHaveLength(22);
    expect(readConfig(text, json)).not.toBeNull();
  });
});

describe.each(bothEngines)("reports on %s", (engine) => {
  let bed: Awaited<ReturnType<typeof start>>;
  let host: Scheduler;
  let users: Query;
  beforeEach(async () => {
    bed = await start({ engine });
    users = await bed.query("u");
    host = await bed.agent();
    await host.config();
  });
  const cells = async (id = users.id) => (await bed.report(id)).results.map(({ columns }) => columns.a);
  const eventually = (expected: unknown[], id = users.id) => expect.poll(() => cells(id)).toEqual(expected);
  const cap = (query_report_cap: number) => bed.t.patch("/config", { server_settings: { query_report_cap } });

  test("contain the host's latest result completely", async () => {
    await host.log([line("pack/Global/u", rowsOf(3))]);
    await eventually(["r0", "r1", "r2"]);
    await host.log([
      line("pack/Global/u", rowsOf(1, "old"), { unixTime: "1772366500" }),
      line("pack/Global/u", rowsOf(2, "new"), { unixTime: 1_772_366_600 }),
      line("pack/Global/u", rowsOf(1, "older"), { unixTime: 1_772_366_400 }),
    ]);
    await eventually(["new0", "new1"]);
    const events = rowsOf(2, "e").map((columns) => line("pack/Global/u", undefined, { columns }));
    await host.log([...events, line("pack/Global/u", undefined, { unixTime: 5, columns: { a: "past" } })]);
    await eventually(["e0", "e1"]);
  });

  test("of a host with an empty result have its time, and no rows", async () => {
    await host.log([line("pack/Global/u", rowsOf(1))]);
    await eventually(["r0"]);
    bed.t.clock.advance(1000);
    await host.log([line("pack/Global/u", [])]);
    await eventually([]);
    const [id] = await bed.hostIds();
    expect(await (await bed.t.get(`/hosts/${id}/queries/${users.id}`)).json()).toMatchObject({
      last_fetched: bed.t.clock.iso(),
      results: [],
    });
    expect(await bed.t.store.queryResults.list()).toMatchObject([{ row_count: 0 }]);
  });

  test("recognize names with any delimiter, and ignore those that are not of our packs", async () => {
    const odd = await bed.query("a/Global/b_u");
    const names = ["pack/Global/u", "pack_Global_u", "pack::Global::u", "packGlobalGlobalGlobalu"];
    for (const [i, name] of names.entries()) {
      await host.log([line(name, [{ a: String(i) }])]);
      await eventually([String(i)]);
    }
    await host.log([line("pack/Global/a/Global/b_u", [{ a: "odd" }])]);
    await eventually(["odd"], odd.id);
    for (const name of ["u", "pack/mine/u", "pack/Global_u", "pack/team-9/u", "pack/Global/", "Global/u", "pack"])
      await host.log([line(name, [{ a: "wrong" }])]);
    await host.log([line("pack/Global/u", [{ a: "last" }])]);
    await eventually(["last"]);
    expect(await cells(odd.id)).toEqual(["odd"]);
  });

  test("accept only snapshots, of any types, and no result of more than a thousand rows", async () => {
    const wrong = [
      line("pack/Global/u", rowsOf(1001)),
      { ...line("pack/Global/u", undefined), action: "added", columns: { a: "1" } },
      { ...line("pack/Global/u", undefined), action: "removed", columns: { a: "1" } },
      { name: "pack/Global/u", diffResults: { added: [{ a: "1" }], removed: [] }, unixTime: 1 },
      line("pack/Global/u", 7),
      line("pack/Global/u", null),
      { action: "snapshot", snapshot: [{ a: "1" }] },
      { name: 7, action: "snapshot", snapshot: [{ a: "1" }] },
    ];
    for (const one of wrong) await host.log([one]);
    await host.log([
      line("pack/Global/u", [{ a: 1, b: null, c: { d: 1 }, e: true }, 7, null, [1], { a: "\u0000\ud800" }]),
    ]);
    await expect.poll(async () => (await bed.report(users.id)).results.map(({ columns }) => columns)).toHaveLength(2);
    expect((await bed.report(users.id)).results[0]?.columns).toEqual({ a: "1", b: "", c: '{"d":1}', e: "true" });
    // What many parsers refuse would make the whole report unreadable.
    expect((await bed.report(users.id)).results[1]?.columns).toEqual({ a: "\ufffd\ufffd" });
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const text = JSON.stringify(line("pack/Global/u", [{ a: "WIDE", b: "DEEP" }]));
    const data = text.replace('"WIDE"', "-9223372036854775808").replace('"DEEP"', deep);
    await host.send("/api/v1/qengine/log", `{"node_key":"${host.key}","log_type":"result","data":[${data}]}`);
    await expect
      .poll(async () => (await bed.report(users.id)).results.map(({ columns }) => columns))
      .toEqual([{ a: "-9223372036854775808", b: "" }]);
    // In CSV, no cell is a formula, nor starts a row that would be one.
    await host.log([line("pack/Global/u", [{ "=a": "=1+1", b: "x\r@SUM(1)" }])]);
    const authorization = `Bearer ${bed.t.token}`;
    await expect
      .poll(async () =>
        (await (await bed.t.raw(`/api/v1/svc/queries/${users.id}/report/csv`, { headers: { authorization } })).text())
          .split("\n")
          .map((record) => record.split(",").slice(3)),
      )
      .toEqual([["'=a", "b"], ["'=1+1", '"x\r@SUM(1)"'], []]);
    await host.log([line("pack/Global/u", rowsOf(1000))]);
    await expect.poll(async () => (await cells()).length).toBe(1000);
    expect((await bed.report(users.id)).report_clipped).toBe(true);
  });

  test("accept no new hosts at the limit, while hosts in them are updated", async () => {
    await cap(5);
    const second = await bed.agent();
    await host.log([line("pack/Global/u", rowsOf(3, "x"))]);
    await eventually(["x0", "x1", "x2"]);
    await second.log([line("pack/Global/u", rowsOf(3, "y"))]);
    await second.log([line("pack/Global/u", rowsOf(2, "z"))]);
    await eventually(["x0", "x1", "x2", "z0", "z1"]);
    expect((await bed.report(users.id)).report_clipped).toBe(true);
    await host.log([line("pack/Global/u", rowsOf(4, "w"))]);
    await host.log([line("pack/Global/u", rowsOf(2, "v"))]);
    await eventually(["v0", "v1", "z0", "z1"]);
    expect((await bed.report(users.id)).report_clipped).toBe(false);
    await second.log([line("pack/Global/u", rowsOf(3, "y"))]);
    await eventually(["v0", "v1", "y0", "y1", "y2"]);
    // A lower limit removes the latest hosts.
    await cap(4);
    await runJob(bed.t.services, "query_reports");
    expect(await cells()).toEqual(["v0", "v1"]);
  });

  test("are deleted if the SQL changes, and kept if only the name does", async () => {
    const { t, query } = bed;
    await makeLabel(t, "A");
    const changes: [object, boolean][] = [
      [{ name: "other", description: "d", interval: 30, observer_can_run: true, automations_enabled: true }, true],
      [{ query: SQL, platform: "", min_qengine_version: "", logging: "snapshot", discard_data: false }, true],
      [{ query: "SELECT 1" }, false],
      [{ platform: "linux" }, false],
      [{ min_qengine_version: "5.1.0" }, false],
      [{ labels_include_any: ["A"] }, false],
      [{ discard_data: true }, false],
      [{ logging: "differential" }, false],
    ];
    const [host_id] = await bed.hostIds();
    for (const [i, [change, stays]] of changes.entries()) {
      const { id } = await query(`q${i}`);
      const kept = { query_id: id, host_id: host_id!, last_fetched: t.clock.iso(), row_count: 1, rows: [{ a: "1" }] };
      await t.store.queryResults.insert(kept);
      const name = "name" in change ? `n${i}` : `q${i}`;
      expect((await t.patch(`/queries/${id}`, { ...change, name })).status).toBe(200);
      expect(
        await t.store.queryResults.count({ op: "eq", column: "query_id", value: id }),
        JSON.stringify(change),
      ).toBe(stays ? 1 : 0);
    }
  });

  test("store nothing for queries that discard data, or if reports are turned off", async () => {
    const { t, query } = bed;
    const discards = await query("d", { discard_data: true, automations_enabled: true });
    const differential = await query("f", { logging: "differential", automations_enabled: true });
    await host.config();
    await host.log([
      line("pack/Global/d", rowsOf(1)),
      line("pack/Global/f", rowsOf(1)),
      line("pack/Global/u", rowsOf(1)),
    ]);
    await eventually(["r0"]);
    expect(await cells(discards.id)).toEqual([]);
    expect(await cells(differential.id)).toEqual([]);
    expect(await t.store.queryResults.count()).toBe(1);
    await t.patch("/config", { server_settings: { query_reports_disabled: true } });
    await eventually([]);
    await host.log([line("pack/Global/u", rowsOf(2))]);
    await runJob(t.services, "query_reports");
    expect(await t.store.queryResults.count()).toBe(0);
  });

  test("of a team contain its current hosts, and users see those of their teams", async () => {
    const { t, query, report } = bed;
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    await makeSecret(t, "team-secret", team.id);
    const inside = await bed.agent("team-secret");
    const own = await query("own", { team_id: team.id });
    await inside.config();
    await inside.log([line(`pack/team-${team.id}/own`, [{ a: "in" }]), line("pack/Global/u", [{ a: "team's" }])]);
    await host.log([line(`pack/team-${team.id}/own`, [{ a: "out" }]), line("pack/Global/u", [{ a: "none's" }])]);
    await eventually(["in"], own.id);
    await eventually(["none's", "team's"]);
    const member = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    const seen = async (caller: Pick<TestApp, "get">, search = "") =>
      (await report(users.id, caller, search)).results.map(({ columns }) => columns.a);
    expect(await seen(member)).toEqual(["team's"]);
    expect(await seen(stranger)).toEqual([]);
    expect(await seen(t, `?team_id=${team.id}`)).toEqual(["team's"]);
    expect(await seen(t, "?team_id=0")).toEqual(["none's"]);
    expect((await member.get(`/queries/${users.id}/report?team_id=${other.id}`)).status).toBe(403);
    expect((await stranger.get(`/queries/${own.id}/report`)).status).toBe(404);
    const [outId, inId] = (await bed.hostIds()) as [number, number];
    expect((await member.get(`/hosts/${inId}/queries/${users.id}`)).status).toBe(200);
    expect((await member.get(`/hosts/${outId}/queries/${users.id}`)).status).toBe(404);
    expect((await t.get(`/hosts/${inId}/queries/9999`)).status).toBe(404);
    expect((await t.get(`/hosts/9999/queries/${users.id}`)).status).toBe(404);

    await t.store.hosts.updateEach([{ id: inId, team_id: null }]);
    expect(await cells(own.id)).toEqual([]);
    expect(await t.store.queryResults.count()).toBe(3);
    await runJob(t.services, "query_reports");
    expect(await t.store.queryResults.count()).toBe(2);
  });

  test("of many hosts at once are all written", async () => {
    const { t, send } = bed;
    const keys = await Promise.all(
      Array.from({ length: 60 }, (_, i) => enroll(send, { host_identifier: `many-${i}` })),
    );
    const body = (node_key: string, i: number) => ({
      node_key,
      log_type: "result",
      data: [line("pack/Global/u", [{ a: String(i) }])],
    });
    await Promise.all(keys.map((key, i) => (send as Send)("/api/v1/qengine/log", body(key, i))));
    await expect.poll(() => t.store.queryResults.count()).toBe(60);
    expect((await cells()).map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test("the cost of queries is computed from the statistics that agents report", async () => {
    const { t } = bed;
    const [id] = await bed.hostIds();
    const more = [];
    for (let i = 0; i < 19; i++) {
      await enroll(bed.send, { host_identifier: `stats-${i}` });
      more.push(i);
    }
    const ids = await bed.hostIds();
    expect(ids).toHaveLength(20);
    await t.store.hostDetails.upsert(
      ids.map((hostId, i) => ({
        id: hostId,
        users: [],
        batteries: [],
        pack_stats: [
          {
            pack_name: "Global",
            query_stats: [
              { scheduled_query_name: "u", executions: 10, system_time: 10 * (i + 1), user_time: 20 * (i + 1) },
              { scheduled_query_name: "gone", executions: 1, system_time: 1, user_time: 1 },
            ],
          },
          {
            pack_name: "legacy",
            query_stats: [{ scheduled_query_name: "u", executions: 1, system_time: 9e9, user_time: 9e9 }],
          },
        ],
      })),
      { on: ["id"] },
    );
    expect(id).toBeDefined();
    await runJob(t.services, "query_stats");
    const stats = async () => ((await (await t.get(`/queries/${users.id}`)).json()) as { query: Query }).query.stats;
    expect(await stats()).toEqual({
      system_time_p50: 10,
      system_time_p95: 19,
      user_time_p50: 20,
      user_time_p95: 38,
      total_executions: 200,
    });
    await t.store.hosts.delete({ op: "all" });
    await runJob(t.services, "query_stats");
    expect((await stats()).total_executions).toBeNull();
  });
});

test("result lines go to the log destination if automations are on, the query is unknown, or reports are off", async () => {
  const { t, agent, query } = await start({ settings: { result_log: "file", status_log: "none" } });
  await query("quiet");
  await query("loud", { automations_enabled: true });
  const host = await agent();
  const names = ["pack/Global/quiet", "pack/Global/loud", "pack/legacy/quiet", "quiet", "pack/Global/unknown"];
  const lines = names.map((name) => line(name, [{ a: "1" }]));
  const logged = async () => {
    const text = await readFile(join(t.services.settings.data_dir, "logs", "results.log"), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter(Boolean)
      .map((one) => (JSON.parse(one) as { name: string }).name);
  };
  // Lines are accepted even before any configuration was fetched.
  await host.log(lines);
  expect(await logged()).toEqual(names.slice(1));
  await host.log([lines[0]]);
  expect(await logged()).toHaveLength(4);
  await t.patch("/config", { server_settings: { query_reports_disabled: true } });
  await host.log([lines[0]]);
  expect((await logged()).at(-1)).toBe("pack/Global/quiet");
});

test("results that cannot be stored are refused and not logged; sent again, they are in the report and the file once", async () => {
  const { t, agent, query, report } = await start({ settings: { result_log: "file" } });
  const users = await query("u", { automations_enabled: true });
  const host = await agent();
  await host.config();
  const send = () =>
    host.send("/api/v1/qengine/log", {
      node_key: host.key,
      log_type: "result",
      data: [line("pack/Global/u", rowsOf(2))],
    });
  const logged = async () =>
    (await readFile(join(t.services.settings.data_dir, "logs", "results.log"), "utf8").catch(() => ""))
      .split("\n")
      .filter(Boolean).length;
  for (const error of [new StoreUnavailable("the database is away"), new Error("a mistake")]) {
    const broken = vi.spyOn(t.store, "tx").mockRejectedValue(error);
    expect((await send()).json).toHaveProperty("error");
    broken.mockRestore();
  }
  expect(await logged()).toBe(0);
  expect((await send()).text).toBe("{}");
  // Acknowledged, so no waiting is needed.
  expect((await report(users.id)).results.length).toBe(2);
  expect(await logged()).toBe(1);
});

test("results that can never be stored are skipped, because the agent could log nothing else", async () => {
  const { t, agent, query, report } = await start({});
  const users = await query("u");
  const host = await agent();
  await host.config();
  const broken = vi.spyOn(t.store, "tx").mockRejectedValue(new BadRow("query_results.rows: no such value"));
  await host.log([line("pack/Global/u", rowsOf(1))]);
  broken.mockRestore();
  expect((await report(users.id)).results).toEqual([]);
});
