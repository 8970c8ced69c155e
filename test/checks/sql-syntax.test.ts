// SQL that cannot be parsed is refused where it is saved; what only hosts know is not judged.
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sqlProblem } from "../../src/sql/syntax.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makeHost, makeTeam } from "../support/make.ts";

describe("the check of SQL", () => {
  // A server loads what checks.
  beforeAll(async () => void (await startApp()));

  it.each([
    "SELECT 1",
    "select * from no_such_table where no_such_column = no_such_function(1, 'x');",
    "SELECT * FROM users JOIN processes USING (uid) WHERE path LIKE '/x/%%' AND name GLOB '*' AND x REGEXP 'a';",
    "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b -- the end",
    "-- first\n/* second */ SELECT split(a, ',', 0) FROM t; SELECT 2;",
    "SELECT * FROM file WHERE path = ? AND directory = $dir AND x = :y",
    'SELECT "a", [b], `c` FROM "t"',
    "SELECT a ->> '$.b', iif(a, b, c), row_number() OVER (PARTITION BY x ORDER BY y) FROM t",
    "VALUES (1, 2), (3, 4)",
    "EXPLAIN QUERY PLAN SELECT 1 FROM t",
    "PRAGMA table_info(x)",
    "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
    "INSERT INTO writable VALUES (1)",
    "SELECT CAST(x AS bigint) FROM t WHERE a IS NOT DISTINCT FROM b LIMIT 1 OFFSET 2",
    `SELECT ${Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(" + ")} FROM t`,
    "",
    " \n",
  ])("accepts %.60s", (sql) => {
    expect(sqlProblem(sql)).toBeNull();
  });

  it.each([
    ["SELEC 1", 'near "SELEC"'],
    ["SELECT * FORM users", 'near "FORM"'],
    ["SELECT * FROM users WHERE (", "incomplete input"],
    ["SELECT 'open", "unrecognized token"],
    ["SELECT a,, b FROM t", 'near ","'],
    ["SELECT 1; SELECT FROM", 'near "FROM"'],
    ["SELECT 1 FROM a ON x", "a JOIN clause is required"],
    ["SELECT 1 ORDER BY 1 UNION SELECT 2", "should come after UNION"],
    ["EXPLAIN SELECT FROM", 'near "FROM"'],
    ["hello world", 'near "hello"'],
    ["-- nothing", "no statement"],
    [" ; ;; ", "no statement"],
    ["/* nothing */;", "no statement"],
    ["EXPLAIN QUERY PLAN", "no statement"],
    ["SELECT 1\0", "at column 9: it contains a NUL character"],
    ["SELECT '\0' FROM t", "NUL character"],
  ])("refuses %s", (sql, reason) => {
    expect(sqlProblem(sql)).toContain(reason);
  });

  it.each([
    ["SELECT 1\nFROM users\nWERE x = 1", "in line 3, column 6: "],
    ["SELECT 1;\n\nSELECT * FORM users", "in line 3, column 10: "],
    ["SELECT * FORM users", "at column 10: "],
    // The second one, not the first.
    ["SELECT a, b, c,, d FROM t", "at column 16: "],
    ["SELECT 'é😀' FORM users", "at column 18: "],
    ["SELECT * FROM users WHERE (", "at column 28: incomplete input"],
    ["SELECT 1 FROM t; -- one\nSELECT (1 FROM t", "in line 2, column 11: "],
    ["SELECT 1 FROM t WHERE a = 'open", "at column 27: unrecognized token"],
    ["SELECT 1 ORDER BY 1 UNION SELECT 2", "at column "],
    ["EXPLAIN SELECT FROM", "at column 16: "],
  ])("names the place in %s", (sql, place) => {
    expect(sqlProblem(sql)).toContain(`the SQL is not valid ${place}`);
  });

  it("takes little time, whatever the text is", () => {
    const nested = `WITH a0 AS (SELECT 1)${Array.from({ length: 60 }, (_, i) => `, a${i + 1} AS (SELECT * FROM a${i} x, a${i} y)`).join("")} SELECT * FROM a60`;
    const texts = [
      nested,
      "(".repeat(65_000),
      `SELECT ${"(".repeat(30_000)}1${")".repeat(30_000)}`,
      "SELECT 1;".repeat(7_000),
      Array.from({ length: 4_000 }, () => "SELECT 1").join(" UNION ALL "),
      `SELECT ${"(SELECT ".repeat(6_000)}1`,
    ];
    for (const text of texts) {
      const start = process.cpuUsage();
      sqlProblem(text.slice(0, 65_536));
      const { user, system } = process.cpuUsage(start);
      // A few milliseconds; expanding the first text would take longer than the universe has existed.
      expect((user + system) / 1000, text.slice(0, 20)).toBeLessThan(2_000);
    }
    expect(sqlProblem("SELECT 1"), "it works afterwards").toBeNull();
    expect(sqlProblem("SELEC 1")).not.toBeNull();
  });
});

describe("SQL that cannot be parsed", () => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp();
  });
  const refusal = async (res: Response) => {
    const { errors } = (await res.json()) as { errors: { name: string; reason: string }[] };
    return [res.status, errors[0]!.name, errors[0]!.reason];
  };
  const bad = "SELECT 1 FORM users";

  it("is refused in policies, queries and labels", async () => {
    const team = await makeTeam(t);
    const policy = { name: "p", query: bad };
    const reason = expect.stringContaining('near "users": syntax error');
    expect(await refusal(await t.post("/global/policies", policy))).toEqual([400, "query", reason]);
    expect(await refusal(await t.post(`/teams/${team.id}/policies`, policy))).toEqual([400, "query", reason]);
    expect((await refusal(await t.post("/spec/policies", { specs: [policy] })))[0]).toBe(400);
    expect(await t.store.policies.count()).toBe(0);
    const made = await t.post("/global/policies", { name: "p", query: "SELECT 1 FROM no_such_table" });
    expect(made.status, await made.clone().text()).toBe(200);
    const { policy: stored } = (await made.json()) as { policy: { id: number } };
    expect(await refusal(await t.patch(`/global/policies/${stored.id}`, { query: bad }))).toEqual([
      400,
      "query",
      reason,
    ]);

    expect(await refusal(await t.post("/queries", policy))).toEqual([400, "query", reason]);
    expect((await refusal(await t.post("/spec/queries", { specs: [policy] })))[0]).toBe(400);
    expect(await t.store.queries.count()).toBe(0);
    expect(await refusal(await t.post("/labels", policy))).toEqual([422, "query", reason]);
    expect(await refusal(await t.post("/spec/labels", { specs: [policy] }))).toEqual([422, "specs.0.query", reason]);
    expect(await t.store.labels.count({ op: "eq", column: "label_type", value: "regular" })).toBe(0);
  });

  it("is refused if it is only comments, or has a NUL character", async () => {
    for (const query of [";", "-- x", "SELECT 1\0"]) {
      expect((await t.post("/queries", { name: "q", query })).status, query).toBe(400);
      expect((await t.post("/global/policies", { name: "p", query })).status, query).toBe(400);
      expect((await t.post("/labels", { name: "l", query })).status, query).toBe(422);
      const options = { config: { schedule: { a: { query, interval: 60 } } } };
      expect((await t.patch("/config", { agent_options: options })).status, query).toBe(400);
    }
    expect([await t.store.queries.count(), await t.store.policies.count()]).toEqual([0, 0]);
  });

  it("is refused in settings, packages and files", async () => {
    const features = { features: { additional_queries: { mine: bad } } };
    expect(await refusal(await t.patch("/config", features))).toEqual([
      422,
      "features.additional_queries.mine",
      expect.stringContaining("syntax error"),
    ]);
    const form = new FormData();
    form.set("pre_install_query", bad);
    form.set("software", new File(["#!/bin/sh\n"], "tool.sh"));
    expect(await refusal(await t.post("/software/package", form))).toEqual([
      422,
      "pre_install_query",
      expect.stringContaining("syntax error"),
    ]);
  });

  it("is refused in live queries, before any host gets it", async () => {
    const host = await makeHost(t, { hostname: "h1" });
    const reason = 'the SQL is not valid at column 10: near "FORM": syntax error. Correct it and try again.';
    const query = "SELECT * FORM users";
    const selected = { hosts: [host.id] };
    for (const [path, body, status] of [
      ["/queries/live", { query, selected }, 422],
      ["/queries/run", { query, selected }, 422],
      ["/queries/run_by_identifiers", { query, selected: { hosts: ["h1"] } }, 422],
      [`/hosts/${host.id}/query`, { query }, 400],
      ["/hosts/identifier/h1/query", { query }, 400],
    ] as const)
      expect(await refusal(await t.post(path, body)), path).toEqual([status, "query", reason]);
    expect(await t.store.campaigns.count()).toBe(0);
    const unknown = await t.post("/queries/live", { query: "SELECT no_such(x) FROM extension_table", selected });
    expect(unknown.status).toBe(200);
  });

  it.each([
    ["schedule.users.query", { schedule: { users: { query: bad, interval: 60 } } }],
    ["packs.p.queries.users.query", { packs: { p: { queries: { users: { query: bad, interval: 60 } } } } }],
    ["packs.p.discovery.1", { packs: { p: { discovery: ["SELECT 1", bad], queries: {} } } }],
    ["decorators.load.0", { decorators: { load: [bad] } }],
    ["decorators.interval.60.0", { decorators: { interval: { "60": [bad] } } }],
    ["views.v", { views: { v: bad } }],
    ["auto_table_construction.t.query", { auto_table_construction: { t: { query: bad, path: "/x", columns: ["a"] } } }],
  ])("is refused in agent options: %s", async (place, config) => {
    const team = await makeTeam(t);
    const reason = expect.stringContaining('near "users": syntax error');
    const before = await (await t.get("/config")).json();
    for (const [options, at] of [
      [{ config }, "config"],
      [{ overrides: { platforms: { darwin: config } } }, "overrides.platforms.darwin"],
    ] as const) {
      const agent_options = options;
      const field = `agent_options.${at}.${place}`;
      expect(await refusal(await t.patch("/config", { agent_options }))).toEqual([400, field, reason]);
      const ofTeam = await t.post(`/teams/${team.id}/agent_options`, agent_options);
      expect(await refusal(ofTeam)).toEqual([400, `${at}.${place}`, reason]);
      const spec = await t.post("/spec/teams", { specs: [{ name: team.name, agent_options }] });
      expect(await refusal(spec)).toEqual([400, expect.stringMatching(new RegExp(`${field}$`)), reason]);
    }
    expect(await (await t.get("/config")).json()).toEqual(before);
    expect((await t.store.teams.get(team.id))!.agent_options).toBeNull();
  });

  it("of tables that only agents have is accepted in agent options", async () => {
    const query = "SELECT * FROM extension_table WHERE own_function(a) = 1;";
    const config = {
      schedule: { q: { query, interval: 60 } },
      packs: { p: { discovery: [query], queries: { q: { query, interval: 60 } } } },
      decorators: { always: [query] },
      views: { v: query },
      auto_table_construction: { t: { query, path: "/x", columns: ["a"] } },
    };
    const res = await t.patch("/config", { agent_options: { config } });
    expect(res.status, await res.clone().text()).toBe(200);
  });
});
