import { describe, expect, it } from "vitest";
import type { Query } from "../../src/api/checks/queries.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const errorOf = async (res: Response | Promise<Response>) => {
  const reply = await res;
  const body = (await reply.json()) as { message: string; errors?: { name: string; reason: string }[] };
  return { status: reply.status, message: body.message, ...body.errors?.[0] };
};
const SQL = "SELECT * FROM users";

async function made(caller: Pick<Caller, "post">, name: string, more: object = {}): Promise<Query> {
  const res = await caller.post("/queries", { name, query: SQL, ...more });
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { query: Query }).query;
}
const listed = async (caller: Pick<Caller, "get">, search = "") => {
  const res = await caller.get(`/queries${search}`);
  expect(res.status, `${search}: ${await res.clone().text()}`).toBe(200);
  return (await res.json()) as { queries: Query[]; count: number; meta: object };
};
const names = async (caller: Pick<Caller, "get">, search = "") =>
  (await listed(caller, search)).queries.map(({ name }) => name);

/** The activities of queries, oldest first. */
async function activities(t: TestApp) {
  const rows = await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] });
  return rows
    .filter(({ type }) => type.includes("quer"))
    .map(({ type, details, actor_id }) => ({ type, details, by: actor_id }));
}

describe.each(rulesEngines)("queries on %s", (engine) => {
  it("are saved with defaults, and have an author", async () => {
    const t = await startApp({ engine });
    const query = await made(t, "  Users e\u0301  ");
    expect(query).toEqual({
      error_host_count: 0,
      error_message: null,
      id: query.id,
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      name: "Users \u00e9",
      description: "",
      query: SQL,
      team_id: null,
      interval: 0,
      platform: "",
      min_qengine_version: "",
      automations_enabled: false,
      logging: "snapshot",
      saved: true,
      observer_can_run: false,
      discard_data: false,
      author_id: query.author_id,
      author_name: "Ada Admin",
      author_email: "ada@example.com",
      labels_include_any: [],
      packs: [],
      stats: {
        system_time_p50: null,
        system_time_p95: null,
        user_time_p50: null,
        user_time_p95: null,
        total_executions: null,
      },
    });
    expect(await json(t.get(`/queries/${query.id}`))).toEqual({ query });
    expect(await activities(t)).toEqual([
      {
        type: "created_saved_query",
        details: { query_id: query.id, query_name: "Users \u00e9", team_id: -1 },
        by: query.author_id,
      },
    ]);
  });

  it("store everything that is given; the author is null once deleted", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    const a = await makeLabel(t, "A");
    const b = await makeLabel(t, "B");
    const author = await makeUser(t, "maintainer");
    const given = {
      name: "all",
      query: "SELECT 1",
      description: "d",
      observer_can_run: true,
      team_id: team.id,
      interval: 3600,
      platform: "linux, darwin,linux",
      min_qengine_version: "5.0.0",
      automations_enabled: true,
      logging: "differential_ignore_removals",
      discard_data: true,
      labels_include_any: ["B", "A", "B"],
    };
    const query = await made(author, "all", given);
    expect(query).toMatchObject({ ...given, platform: "linux,darwin", labels_include_any: expect.anything() });
    expect(query.labels_include_any).toHaveLength(2);
    expect(query.labels_include_any).toEqual(
      expect.arrayContaining([
        { id: a.id, name: "A" },
        { id: b.id, name: "B" },
      ]),
    );
    expect((await activities(t))[0]).toMatchObject({ details: { team_id: team.id, team_name: "Lab" } });
    await t.delete(`/users/${author.id}`);
    expect(await json(t.get(`/queries/${query.id}`))).toMatchObject({
      query: { author_id: null, author_name: "", author_email: "" },
    });
  });

  it("are refused with the documented messages, and nothing is stored", async () => {
    const t = await startApp({ engine });
    const one = await made(t, "one");
    const cases: [object, RegExp][] = [
      [{ query: SQL }, /name cannot be empty/],
      [{ name: " \t", query: SQL }, /name cannot be empty/],
      [{ name: "x" }, /SQL query cannot be empty/],
      [{ name: "x", query: " \n" }, /SQL query cannot be empty/],
      [{ name: "x", query: SQL, platform: "darwin,beos" }, /platform must be/],
      [{ name: "x", query: SQL, logging: "sometimes" }, /logging must be/],
      [{ name: "x", query: SQL, labels_include_any: ["nobody"] }, /nobody/],
    ];
    for (const [body, why] of cases) {
      const { status, message, reason } = await errorOf(t.post("/queries", body));
      expect({ status, message }, JSON.stringify(body)).toEqual({ status: 400, message: "Bad request" });
      expect(reason).toMatch(/^query payload verification: /);
      expect(reason).toMatch(why);
    }
    for (const [body, why] of cases.slice(1).filter(([body]) => "name" in body || "query" in body)) {
      if (!/name cannot/.test(String(why)) && (body as { query?: string }).query === undefined) continue;
      const { status, reason } = await errorOf(t.patch(`/queries/${one.id}`, body));
      expect(status, JSON.stringify(body)).toBe(400);
      expect(reason).toMatch(why);
    }
    expect(await errorOf(t.post("/queries", { name: "x", query: SQL, interval: -1 }))).toMatchObject({
      status: 422,
      name: "interval",
    });
    expect(await errorOf(t.post("/queries", { name: "x", query: SQL, interval: 604_801 }))).toMatchObject({
      status: 422,
      name: "interval",
    });
    expect(await errorOf(t.post("/queries", { name: "x", query: SQL, team_id: 99 }))).toMatchObject({ status: 404 });
    expect((await listed(t)).queries).toEqual([one]);
    expect(await activities(t)).toHaveLength(1);
  });

  it("are listed by scope, name and platform, with the total number", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await made(t, "every", { interval: 60 });
    await made(t, "mac", { interval: 60, platform: "linux,darwin" });
    await made(t, "win", { interval: 60, platform: "windows" });
    await made(t, "not scheduled", { platform: "darwin" });
    await made(t, "own", { team_id: team.id, interval: 60, platform: "darwin" });
    const cases: [string, string[]][] = [
      ["", ["every", "mac", "win", "not scheduled"]],
      ["?team_id=0", ["every", "mac", "win", "not scheduled"]],
      [`?team_id=${team.id}`, ["own"]],
      [`?team_id=${team.id}&merge_inherited=true`, ["every", "mac", "win", "not scheduled", "own"]],
      ["?query=%20IN%20", ["win"]],
      ["?platform=macos", ["every", "mac"]],
      ["?platform=windows", ["every", "win"]],
      ["?platform=linux", ["every", "mac"]],
      [`?platform=macos&team_id=${team.id}&merge_inherited=1`, ["every", "mac", "own"]],
      ["?order_key=name&order_direction=desc", ["win", "not scheduled", "mac", "every"]],
      ["?team_id=99", []],
    ];
    for (const [search, expected] of cases) {
      expect(await names(t, search), search).toEqual(expected);
      expect((await listed(t, search)).count, search).toBe(expected.length);
    }
    expect(await listed(t, "?per_page=2&page=1")).toMatchObject({
      queries: [{ name: "win" }, { name: "not scheduled" }],
      count: 4,
      meta: { has_next_results: false, has_previous_results: true },
    });
    for (const [search, name] of [
      ["?platform=darwin", "platform"],
      ["?platform=macos,linux", "platform"],
      ["?merge_inherited=true", "team_id"],
      ["?order_direction=asc", "order_key"],
      ["?per_page=0", "per_page"],
    ] as const)
      expect(await errorOf(t.get(`/queries${search}`)), search).toMatchObject({ status: 400, name });
  });

  it("change only in the given fields; a change is recorded, and the team cannot be changed", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await makeLabel(t, "A");
    const query = await made(t, "q", { interval: 60, description: "d", labels_include_any: ["A"] });
    t.clock.advance(60_000);
    const { query: changed } = (await json(
      t.patch(`/queries/${query.id}`, { name: "r", observer_can_run: true, team_id: team.id }),
    )) as { query: Query };
    expect(changed).toEqual({ ...query, name: "r", observer_can_run: true, updated_at: t.clock.iso() });
    await t.patch(`/queries/${query.id}`, { labels_include_any: [] });
    expect(await json(t.get(`/queries/${query.id}`))).toMatchObject({
      query: { labels_include_any: [], team_id: null },
    });
    expect((await activities(t)).slice(1)).toMatchObject([
      { type: "edited_saved_query", details: { query_id: query.id, query_name: "r", team_id: -1 } },
      { type: "edited_saved_query" },
    ]);
    expect((await errorOf(t.patch("/queries/999", { name: "r" }))).status).toBe(404);
  });

  it("are deleted by name within their scope, by id, and many at once or none", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    const ids = [];
    for (const name of ["a", "b", "c", "d", "50% of/all"]) ids.push((await made(t, name)).id);
    const own = await made(t, "a", { team_id: team.id });
    expect((await t.delete(`/queries/${encodeURIComponent("50% of/all")}`)).status).toBe(200);
    expect(await json(t.delete("/queries/a", { team_id: team.id }))).toEqual({});
    expect((await t.store.queries.list()).map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect((await errorOf(t.delete("/queries/a", { team_id: team.id }))).status).toBe(404);
    expect(await json(t.delete("/queries/a"))).toEqual({});
    expect(await json(t.delete(`/queries/id/${ids[1]}`))).toEqual({});
    expect(await errorOf(t.delete(`/queries/id/${ids[1]}`))).toMatchObject({
      status: 404,
      reason: `query ${ids[1]} was not found in the datastore`,
    });
    const more = await made(t, "e", { team_id: team.id });
    expect((await errorOf(t.post("/queries/delete", { ids: [ids[2], 999, ids[3]] }))).status).toBe(404);
    expect(await t.store.queries.count()).toBe(3);
    expect(await json(t.post("/queries/delete", { ids: [ids[2], ids[3], ids[2], more.id] }))).toEqual({ deleted: 3 });
    expect(await t.store.queries.count()).toBe(0);
    expect(await json(t.post("/queries/delete", { ids: [] }))).toEqual({ deleted: 0 });
    const told = (await activities(t)).filter(({ type }) => type.startsWith("deleted"));
    expect(told.map(({ type, details }) => [type, details])).toEqual([
      ["deleted_saved_query", { query_name: "50% of/all", team_id: -1 }],
      ["deleted_saved_query", { query_name: "a", team_id: own.team_id, team_name: "Lab" }],
      ["deleted_saved_query", { query_name: "a", team_id: -1 }],
      ["deleted_saved_query", { query_name: "b", team_id: -1 }],
      ["deleted_multiple_saved_query", { query_ids: [ids[2], ids[3]], team_id: -1 }],
      ["deleted_multiple_saved_query", { query_ids: [more.id], team_id: team.id, team_name: "Lab" }],
    ]);
  });

  it("of a team are deleted with it", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const own = await made(t, "own", { team_id: team.id });
    const host = await makeHost(t, { team_id: team.id });
    await t.store.queryResults.insert({
      query_id: own.id,
      host_id: host.id,
      last_fetched: t.clock.iso(),
      row_count: 0,
      rows: [],
    });
    expect((await t.delete(`/teams/${team.id}`)).status).toBe(200);
    expect((await t.get(`/queries/${own.id}`)).status).toBe(404);
    expect(await t.store.queryResults.count()).toBe(0);
  });

  it("require a sufficient role: those of other teams do not exist for the caller", async () => {
    const t = await startApp({ engine });
    const mine = await makeTeam(t, "mine");
    const theirs = await makeTeam(t, "theirs");
    const global = await made(t, "global");
    const own = await made(t, "own", { team_id: mine.id });
    const foreign = await made(t, "foreign", { team_id: theirs.id });
    const as = (role: "observer" | "maintainer" | "gitops") =>
      makeUser(t, { teams: [{ id: mine.id, role }] }, { api_only: role === "gitops" });
    const observer = await as("observer");
    const maintainer = await as("maintainer");
    const gitops = await as("gitops");

    expect(await names(observer)).toEqual(["global"]);
    expect(await names(observer, `?team_id=${mine.id}`)).toEqual(["own"]);
    expect(await names(observer, `?team_id=${mine.id}&merge_inherited=true`)).toEqual(["global", "own"]);
    expect(await names(gitops)).toEqual([]);
    expect(await names(gitops, `?team_id=${mine.id}&merge_inherited=true`)).toEqual(["own"]);
    const statuses = async (caller: Caller) => ({
      reads: await Promise.all(
        [global, own, foreign].map(async ({ id }) => (await caller.get(`/queries/${id}`)).status),
      ),
      changes: await Promise.all(
        [global, own, foreign].map(
          async ({ id }) => (await caller.patch(`/queries/${id}`, { description: "x" })).status,
        ),
      ),
      list: (await caller.get(`/queries?team_id=${theirs.id}`)).status,
      creates: [
        (await caller.post("/queries", { name: "new", query: SQL })).status,
        (await caller.post("/queries", { name: "new", query: SQL, team_id: theirs.id })).status,
      ],
      many: (await caller.post("/queries/delete", { ids: [global.id] })).status,
      byName: (await caller.delete("/queries/foreign", { team_id: theirs.id })).status,
      spec: (await caller.post("/spec/queries", { specs: [{ name: "x", query: SQL, team: "theirs" }] })).status,
    });
    const denied = { list: 403, creates: [403, 403], spec: 404 };
    // Without a sufficient role anywhere, the request is refused before anything is read.
    expect(await statuses(observer)).toMatchObject({
      ...denied,
      spec: 403,
      reads: [200, 200, 404],
      changes: [403, 403, 403],
      many: 403,
      byName: 403,
    });
    expect(await statuses(maintainer)).toMatchObject({
      ...denied,
      reads: [200, 200, 404],
      changes: [403, 200, 404],
      many: 403,
      byName: 403,
    });
    expect(await statuses(gitops)).toMatchObject({
      ...denied,
      reads: [404, 200, 404],
      changes: [404, 200, 404],
      many: 404,
      byName: 403,
    });
    expect((await maintainer.post("/queries", { name: "new", query: SQL, team_id: mine.id })).status).toBe(200);
    expect((await maintainer.delete(`/queries/id/${own.id}`)).status).toBe(200);
    expect(await t.store.queries.count()).toBe(3);
    for (const role of ["observer", "observer_plus", "technician"] as const)
      expect((await (await makeUser(t, role)).post("/queries", { name: "x", query: SQL })).status, role).toBe(403);
  });

  it("are applied from specs completely: omitted fields get their defaults", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    await makeLabel(t, "A");
    await made(t, "old", { interval: 60, description: "d", labels_include_any: ["A"], automations_enabled: true });
    const specs = [
      { name: "old", query: "SELECT 2" },
      { name: "new", query: SQL, team: "lab", interval: 30, labels_include_any: ["A"], logging: "differential" },
    ];
    expect(await json(t.post("/spec/queries", { specs }))).toEqual({});
    const whole = (more: object) => ({
      description: "",
      team: "",
      interval: 0,
      observer_can_run: false,
      platform: "",
      min_qengine_version: "",
      automations_enabled: false,
      logging: "snapshot",
      discard_data: false,
      labels_include_any: [],
      ...more,
    });
    const expected = [whole({ name: "old", query: "SELECT 2" }), whole({ ...specs[1], team: "Lab" })];
    expect(await json(t.get("/spec/queries"))).toEqual({ specs: [expected[0]] });
    expect(await json(t.get(`/spec/queries?team_id=${team.id}`))).toEqual({ specs: [expected[1]] });
    expect(await json(t.get("/spec/queries/old"))).toEqual({ specs: expected[0] });
    expect((await t.get(`/spec/queries/old?team_id=${team.id}`)).status).toBe(404);
    expect((await activities(t)).at(-1)).toMatchObject({
      type: "applied_spec_saved_query",
      details: { specs: expected },
    });
    // The reply can be sent back, and changes nothing.
    expect((await t.post("/spec/queries", { specs: expected })).status).toBe(200);
    expect(await t.store.queries.count()).toBe(2);
  });

  it("are applied in one transaction", async () => {
    const t = await startApp({ engine });
    const good = { name: "good", query: SQL };
    const cases: [object, number][] = [
      [{ name: "", query: SQL }, 400],
      [{ name: "x" }, 400],
      [{ name: "x", query: SQL, logging: "x" }, 400],
      [{ name: "x", query: SQL, team: "nowhere" }, 404],
      [{ name: "x", query: SQL, labels_include_any: ["nobody"] }, 400],
    ];
    for (const [bad, status] of cases) {
      expect((await errorOf(t.post("/spec/queries", { specs: [good, bad] }))).status, JSON.stringify(bad)).toBe(status);
      expect(await t.store.queries.count()).toBe(0);
    }
    expect(await activities(t)).toEqual([]);
  });

  it("on the free tier have no team and no labels", async () => {
    const t = await startApp({ engine, tier: "free" });
    await makeLabel(t, "A");
    const query = await made(t, "q", { labels_include_any: [] });
    const premium = async (res: Promise<Response>) => {
      const { status, reason } = await errorOf(res);
      expect(status).toBe(400);
      expect(reason).toMatch(/^option (TeamID|Team|LabelsInclude(Any|All)) requires a premium license$/);
    };
    await premium(t.post("/queries", { name: "x", query: SQL, team_id: 1 }));
    await premium(t.post("/queries", { name: "x", query: SQL, labels_include_any: ["A"] }));
    await premium(t.patch(`/queries/${query.id}`, { labels_include_any: ["A"] }));
    await premium(t.post("/spec/queries", { specs: [{ name: "x", query: SQL, team: "Lab" }] }));
    expect((await t.get("/queries?team_id=1")).status).toBe(402);
    expect((await t.get("/queries?merge_inherited=true")).status).toBe(402);
    expect(await names(t)).toEqual(["q"]);
  });
});

describe.each(bothEngines)("names of queries on %s", (engine) => {
  it("have unique names within a team and among the global ones", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await made(t, "n");
    await made(t, "n", { team_id: team.id });
    for (const team_id of [null, 0, team.id])
      expect(await errorOf(t.post("/queries", { name: "n ", query: SQL, team_id }))).toMatchObject({
        status: 409,
        message: "Resource Already Exists",
      });
    const other = await made(t, "m");
    expect((await errorOf(t.patch(`/queries/${other.id}`, { name: "n" }))).status).toBe(409);
    const same = await Promise.all([1, 2, 3, 4].map(() => t.post("/queries", { name: "race", query: SQL })));
    expect(same.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});
