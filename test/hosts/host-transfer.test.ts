// Moving hosts between teams, one by one and many at once.
import { describe, expect, it } from "vitest";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeScene } from "../support/hosts.ts";
import { hostRow, makeHost, makeLabel, makePolicy, makeTeam, makeUser } from "../support/make.ts";

interface Error_ {
  errors: { name: string; reason: string }[];
}
const errorOf = async (res: Response) => ((await res.json()) as Error_).errors[0];
const teamsOf = async ({ store }: TestApp) =>
  Object.fromEntries((await store.hosts.pick(["hostname", "team_id"])).map((host) => [host.hostname, host.team_id]));
const activitiesOf = async ({ store }: TestApp, type: string) =>
  (await store.activities.list({ where: { op: "eq", column: "type", value: type } })).map(({ details }) => details);

describe.each(bothEngines)("transfer of hosts on %s", (engine) => {
  it("moves hosts to a team and to none, and records those that moved", async () => {
    const t = await startApp({ engine });
    const [lab, desk] = [await makeTeam(t, "Lab"), await makeTeam(t, "Desk")];
    const a = await makeHost(t, { hostname: "a", display_name: "A" });
    const b = await makeHost(t, { hostname: "b", display_name: "B", team_id: lab.id });
    const heard: string[] = [];
    await t.store.listen(
      "svc_hosts",
      (payload) => heard.push(payload),
      () => undefined,
    );
    const move = (team_id: unknown, hosts: unknown) => t.post("/hosts/transfer", { team_id, hosts });
    const res = await move(lab.id, [a.id, b.id, a.id]);
    expect(res.status).toBe(200);
    expect(await res.json()).toEqual({});
    expect(await teamsOf(t)).toEqual({ a: lab.id, b: lab.id });
    expect(await activitiesOf(t, "transferred_hosts")).toEqual([
      { team_id: lab.id, team_name: "Lab", host_ids: [a.id], host_display_names: ["A"] },
    ]);
    expect(heard).toEqual([`[${a.id}]`]);
    expect((await move(0, [a.id])).status).toBe(200);
    expect((await move(desk.id, [b.id])).status).toBe(200);
    expect((await move(null, [b.id])).status).toBe(200);
    expect(await teamsOf(t)).toEqual({ a: null, b: null });
    expect((await activitiesOf(t, "transferred_hosts")).at(-1)).toMatchObject({ team_id: null, team_name: null });
    expect((await move(lab.id, [])).status).toBe(200);
    expect(await activitiesOf(t, "transferred_hosts")).toHaveLength(4);
  });

  it("records a host once if several requests move it to the same team", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    const rows = Array.from({ length: 40 }, () => hostRow(t.clock.iso()));
    const ids = (await t.store.hosts.insertMany(rows)).map(({ id }) => id);
    const all = Array.from({ length: 6 }, () => t.post("/hosts/transfer", { team_id: team.id, hosts: ids }));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const moved = (await activitiesOf(t, "transferred_hosts")).flatMap((details) => details?.host_ids);
    expect(moved.toSorted()).toEqual(ids.toSorted());
  });

  it("deletes the old team's policy results, and keeps those of global policies", async () => {
    const t = await startApp({ engine });
    const { ids, teamId } = await makeScene(t);
    await t.post("/hosts/transfer", { team_id: null, hosts: [ids.get("mac"), ids.get("tux")] });
    expect(await t.store.hostPolicies.get(ids.get("mac")!)).toMatchObject({
      passing: [901],
      failing: [],
      critical_count: 0,
      issues_count: 0,
    });
    expect(await t.store.hostPolicies.get(ids.get("tux")!)).toMatchObject({ passing: [901], failing: [] });
    expect(await t.store.hosts.count({ op: "eq", column: "team_id", value: teamId })).toBe(0);
  });

  it("moves the hosts that filters select, alone and combined", async () => {
    const t = await startApp({ engine });
    const to = await makeTeam(t, "Target");
    const { labelId, teamId } = await makeScene(t);
    const cases: [object, string[]][] = [
      [{ query: "ma" }, ["mac"]],
      [{ status: "online" }, ["mac", "server"]],
      [{ label_id: labelId }, ["mac", "tux"]],
      [{ team_id: 0, query: " wi " }, ["win"]],
      [{ team_id: teamId, status: null, label_id: null }, ["mac", "tux"]],
      [{ where: "software.name ~ chrome" }, ["mac", "win"]],
      [{ query: "nothing at all" }, []],
      [{}, ["bare", "mac", "server", "tux", "win"]],
    ];
    const reset = await t.store.hosts.pick(["id", "team_id"]);
    for (const [filters, expected] of cases) {
      await t.store.hosts.updateEach(reset);
      const res = await t.post("/hosts/transfer/filter", { team_id: to.id, filters });
      expect(res.status, JSON.stringify(filters)).toBe(200);
      const moved = Object.entries(await teamsOf(t)).filter(([, team]) => team === to.id);
      expect(moved.map(([name]) => name).sort(), JSON.stringify(filters)).toEqual(expected);
    }
  });

  it("sends the policies of the new team to a moved host at its next check-in", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    const { id } = await makeHost(t, { policy_updated_at: t.clock.iso() });
    t.clock.advance(1000);
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [id] });
    expect(await t.store.hosts.get(id)).toMatchObject({ policy_updated_at: null, updated_at: t.clock.iso() });
    // Policies of hosts without a team are requested of a host whose team is deleted.
    await t.store.hosts.updateEach([{ id, policy_updated_at: t.clock.iso() }]);
    t.clock.advance(1000);
    expect((await t.delete(`/teams/${team.id}`)).status).toBe(200);
    expect(await t.store.hosts.get(id)).toMatchObject({
      team_id: null,
      policy_updated_at: null,
      updated_at: t.clock.iso(),
    });
  });

  it("moves hosts repeatedly while they report policy results, and leaves no result of another team", async () => {
    const t = await startApp({ engine });
    const teams = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    const policies: Awaited<ReturnType<typeof makePolicy>>[] = [];
    for (const team_id of [null, teams[0]!.id, teams[1]!.id])
      policies.push(await makePolicy(t, { scope: team_id === null ? "global" : "team", team_id }));
    const rows = Array.from({ length: 60 }, (_, n) =>
      hostRow(t.clock.iso(), { team_id: teams[0]!.id, node_key_hash: tokenHash(`key ${n}`) }),
    );
    const ids = (await t.store.hosts.insertMany(rows)).map(({ id }) => id);
    const send = throughApp(t);
    const answer = (n: number) =>
      send("/api/v1/qengine/distributed/write", {
        node_key: `key ${n}`,
        queries: Object.fromEntries(
          policies.map(({ id }, i) => [`svc_policy_query_${id}`, (n + i) % 2 ? [{ a: "1" }] : []]),
        ),
        statuses: Object.fromEntries(policies.map(({ id }) => [`svc_policy_query_${id}`, 0])),
        messages: {},
      });
    for (let round = 0; round < 4; round++) {
      const team_id = teams[(round + 1) % 2]!.id;
      const [moved, ...answers] = await Promise.all([
        t.post("/hosts/transfer", { team_id, hosts: ids }),
        ...ids.map((_, n) => answer(n)),
      ]);
      expect(moved.status).toBe(200);
      for (const reply of answers) expect(reply).toMatchObject({ status: 200, text: "{}" });
    }
    expect(await t.store.hosts.count({ op: "eq", column: "team_id", value: teams[0]!.id })).toBe(60);
    const foreign = policies[2]!.result_id;
    const results = await t.store.hostPolicies.list();
    expect(results).toHaveLength(60);
    for (const { passing, failing, issues_count } of results) {
      expect([...passing, ...failing]).toContain(policies[0]!.result_id);
      expect([...passing, ...failing]).not.toContain(foreign);
      expect(issues_count).toBe(failing.length);
    }
  });

  it("deletes only hosts that a selector matches", async () => {
    const t = await startApp({ engine });
    await makeScene(t);
    const remove = (filters: object) => t.post("/hosts/delete", { filters });
    expect((await remove({ where: "nope = 1" })).status).toBe(400);
    expect((await remove({ were: "online" })).status).toBe(400);
    expect((await remove({ where: "not online and platform = windows", team_id: 0 })).status).toBe(200);
    expect(Object.keys(await teamsOf(t)).sort()).toEqual(["bare", "mac", "server", "tux"]);
  });

  it("does not fail for a host that is moved by the concurrent deletion of its team", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    const hosts = await t.store.hosts.insertMany(
      Array.from({ length: 600 }, () => hostRow(t.clock.iso(), { team_id: a.id })),
    );
    const ids = hosts.map(({ id }) => id);
    const [moved, gone] = await Promise.all([
      t.post("/hosts/transfer", { team_id: b.id, hosts: ids }),
      t.delete(`/teams/${a.id}`),
    ]);
    expect([moved.status, gone.status]).toEqual([200, 200]);
    expect(await t.store.hosts.count({ op: "eq", column: "team_id", value: b.id })).toBe(600);
  });

  if (!rulesEngines.includes(engine)) return;

  it("refuses contradictory input, and then moves nothing", async () => {
    const t = await startApp({ engine });
    const lab = await makeTeam(t, "Lab");
    const host = await makeHost(t, { hostname: "a" });
    const label = await makeLabel(t, "l", [host.id]);
    const cases: [string, unknown, number, string][] = [
      ["", { team_id: 999, hosts: [host.id] }, 404, "base"],
      ["", { team_id: lab.id, hosts: [host.id, 99999] }, 404, "base"],
      ["", { hosts: [host.id] }, 422, "team_id"],
      ["", { team_id: lab.id }, 422, "hosts"],
      ["", { team_id: -1, hosts: [] }, 422, "team_id"],
      ["", { team_id: lab.id, hosts: ["1"] }, 422, "hosts.0"],
      ["", { team_id: lab.id, hosts: [1.5] }, 422, "hosts.0"],
      ["", undefined, 400, "base"],
      ["/filter", { team_id: lab.id }, 422, "filters"],
      ["/filter", { team_id: lab.id, filters: { nope: 1 } }, 400, "filters.nope"],
      ["/filter", { team_id: lab.id, filters: { status: "up" } }, 422, "filters.status"],
      ["/filter", { team_id: lab.id, filters: { label_id: label.id, status: "online" } }, 422, "filters.label_id"],
      ["/filter", { team_id: lab.id, filters: { where: "nope" } }, 400, "where"],
    ];
    for (const [path, body, status, name] of cases) {
      const res = await t.post(`/hosts/transfer${path}`, body);
      expect(res.status, JSON.stringify(body)).toBe(status);
      expect((await errorOf(res))?.name, JSON.stringify(body)).toBe(name);
    }
    expect(await teamsOf(t)).toEqual({ a: null });
  });

  it("requires the role on the hosts and on the target team", async () => {
    const t = await startApp({ engine });
    const [from, to, far] = [await makeTeam(t, "From"), await makeTeam(t, "To"), await makeTeam(t, "Far")];
    const own = await makeHost(t, { hostname: "own", team_id: from.id });
    const foreign = await makeHost(t, { hostname: "foreign", team_id: far.id });
    const both = await makeUser(t, {
      teams: [
        { id: from.id, role: "maintainer" },
        { id: to.id, role: "technician" },
      ],
    });
    const half = await makeUser(t, {
      teams: [
        { id: from.id, role: "maintainer" },
        { id: to.id, role: "observer" },
      ],
    });
    const statusOf = async (by: Pick<TestApp, "post">, team_id: number | null, id: number) =>
      (await by.post("/hosts/transfer", { team_id, hosts: [id] })).status;
    expect(await statusOf(both, null, own.id)).toBe(403);
    expect(await statusOf(both, 0, own.id)).toBe(403);
    expect(await statusOf(both, far.id, own.id)).toBe(403);
    expect(await statusOf(both, to.id, foreign.id)).toBe(404);
    expect(await statusOf(half, to.id, own.id)).toBe(403);
    for (const role of ["observer", "observer_plus"] as const)
      expect(await statusOf(await makeUser(t, role), to.id, own.id), role).toBe(403);
    expect(await teamsOf(t)).toEqual({ own: from.id, foreign: far.id });
    // A filter selects among the hosts that the caller may move.
    expect((await both.post("/hosts/transfer/filter", { team_id: to.id, filters: {} })).status).toBe(200);
    expect(await teamsOf(t)).toEqual({ own: to.id, foreign: far.id });
    expect((await both.post("/hosts/transfer/filter", { team_id: to.id, filters: { team_id: far.id } })).status).toBe(
      403,
    );
    for (const role of ["gitops", "technician", "admin"] as const)
      expect(await statusOf(await makeUser(t, role), from.id, own.id), role).toBe(200);
  });

  it("is premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    for (const path of ["/hosts/transfer", "/hosts/transfer/filter"])
      expect((await t.post(path, { team_id: null, hosts: [], filters: {} })).status).toBe(402);
  });
});

/** CPU time between two turns of the event loop: other processes on the machine do not count. */
class LongestTurn {
  #last = process.cpuUsage();
  #longest = 0;
  #timer = setImmediate(() => this.#turn());

  #turn(): void {
    const { user, system } = process.cpuUsage(this.#last);
    this.#longest = Math.max(this.#longest, (user + system) / 1000);
    this.#last = process.cpuUsage();
    this.#timer = setImmediate(() => this.#turn());
  }

  stop(): number {
    clearImmediate(this.#timer);
    return this.#longest;
  }
}

it("moves and deletes 100,000 ids in one request without blocking other requests", { timeout: 600_000 }, async () => {
  const t = await startApp({ settings: {} });
  const team = await makeTeam(t, "Big");
  const count = Number(process.env.BULK_HOSTS ?? 5_000);
  const ids: number[] = [];
  for (let at = 0; at < count; at += 1000)
    ids.push(
      ...(
        await t.store.hosts.insertMany(Array.from({ length: Math.min(1000, count - at) }, () => hostRow(t.clock.iso())))
      ).map(({ id }) => id),
    );
  for (const [path, body] of [
    ["/hosts/transfer", { team_id: team.id, hosts: ids }],
    ["/hosts/transfer/filter", { team_id: null, filters: { team_id: team.id } }],
    ["/hosts/delete", { ids }],
  ] as const) {
    const text = JSON.stringify(body);
    const turns = new LongestTurn();
    const from = performance.now();
    expect((await t.request("POST", path, text)).status, path).toBe(200);
    const longest = turns.stop();
    if (process.env.BULK_HOSTS)
      console.log(`${path}: ${Math.round(performance.now() - from)} ms, longest turn ${longest.toFixed(0)} ms`);
  }
  expect(await t.store.hosts.count()).toBe(0);
});
