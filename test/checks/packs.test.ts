import { describe, expect, it } from "vitest";
import type { Pack } from "../../src/api/checks/packs.ts";
import type { ScheduledEntry } from "../../src/api/checks/schedule.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

async function ok(res: Response | Promise<Response>): Promise<Record<string, unknown>> {
  const reply = await res;
  expect(reply.status, await reply.clone().text()).toBe(200);
  return json(reply);
}
const packed = async (t: TestApp, body: object) => (await ok(t.post("/packs", body))).pack as Pack;
const queried = async (t: TestApp, name: string, more: object = {}) =>
  ((await ok(t.post("/queries", { name, query: "SELECT 1", ...more }))).query as { id: number }).id;
const types = async (t: TestApp) =>
  (await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] }))
    .filter(({ type }) => type.includes("pack"))
    .map(({ type, details }) => [type, details]);

describe.each(rulesEngines)("packs on %s", (engine) => {
  it("are stored with their targets, each host counted once", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Lab");
    const a = await makeHost(t, { hostname: "a", team_id: team.id });
    const b = await makeHost(t, { hostname: "b" });
    await makeHost(t, { hostname: "c" });
    const label = await makeLabel(t, "L", [a.id, b.id]);
    const pack = await packed(t, {
      name: " p ",
      description: "d",
      platform: "linux",
      host_ids: [b.id, b.id],
      label_ids: [label.id],
      team_ids: [team.id],
    });
    expect(pack).toEqual({
      id: pack.id,
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      name: "p",
      description: "d",
      platform: "linux",
      disabled: false,
      type: null,
      query_count: 0,
      total_hosts_count: 2,
      host_ids: [b.id],
      label_ids: [label.id],
      team_ids: [team.id],
      hosts: [{ id: b.id, display_text: "b" }],
      labels: [{ id: label.id, display_text: "L" }],
      teams: [{ id: team.id, display_text: "Lab" }],
    });
    expect(await json(t.get(`/packs/${pack.id}`))).toEqual({ pack });
    expect(await json(t.get("/packs"))).toEqual({ packs: [pack] });

    const changed = (await ok(t.patch(`/packs/${pack.id}`, { disabled: true, host_ids: [a.id], team_ids: [] }))).pack;
    expect(changed).toMatchObject({ name: "p", disabled: true, host_ids: [a.id], label_ids: [label.id], team_ids: [] });
    await t.store.hosts.delete({ op: "all" });
    expect(await json(t.get(`/packs/${pack.id}`))).toMatchObject({ pack: { host_ids: [], total_hosts_count: 0 } });
    expect(await types(t)).toEqual([
      ["created_pack", { pack_id: pack.id, pack_name: "p" }],
      ["edited_pack", { pack_id: pack.id, pack_name: "p" }],
    ]);
  });

  it("are refused without a name, with a taken or reserved one, and with unknown targets", async () => {
    const t = await startApp({ engine });
    await packed(t, { name: "p" });
    const other = await packed(t, { name: "q" });
    const refusal = async (res: Promise<Response>) => {
      const reply = await res;
      const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
      return { status: reply.status, ...errors[0] };
    };
    for (const name of [undefined, "", " "])
      expect(await refusal(t.post("/packs", { name }))).toMatchObject({
        status: 400,
        reason: expect.stringMatching(/^pack payload verification: /),
      });
    for (const name of ["Global", "team-7"]) expect((await t.post("/packs", { name })).status, name).toBe(400);
    expect((await t.post("/packs", { name: "p" })).status).toBe(409);
    expect((await t.patch(`/packs/${other.id}`, { name: "p" })).status).toBe(409);
    for (const field of ["host_ids", "label_ids", "team_ids"])
      expect(await refusal(t.post("/packs", { name: "x", [field]: [99_999] }))).toMatchObject({
        status: 422,
        name: field,
      });
    expect(await t.store.packs.count()).toBe(2);
    for (const path of ["/packs/999", "/packs/999/scheduled", "/spec/packs/nothing"])
      expect((await t.get(path)).status, path).toBe(404);
  });

  it("schedule queries, under both paths, with names of their own", async () => {
    const t = await startApp({ engine });
    const pack = await packed(t, { name: "p" });
    const query = await queried(t, "users");
    const body = { pack_id: pack.id, query_id: query, interval: 60, snapshot: false, removed: true };
    const first = (await ok(t.post("/schedule", body))).scheduled as ScheduledEntry;
    expect(first).toMatchObject({
      ...body,
      name: "users",
      query_name: "users",
      query: "SELECT 1",
      shard: null,
      denylist: true,
    });
    const second = (await ok(t.post("/api/2022-04/svc/packs/schedule", { ...body, shard: 20, denylist: false })))
      .scheduled as ScheduledEntry;
    expect(second).toMatchObject({ name: "users-1", shard: 20, denylist: false });
    expect(await json(t.get(`/packs/${pack.id}/scheduled`))).toEqual({ scheduled: [first, second] });
    expect(await json(t.get(`/schedule/${first.id}`))).toEqual({ scheduled: first });
    expect(await json(t.get(`/api/latest/svc/packs/schedule/${first.id}`))).toEqual({ scheduled: first });
    expect(await ok(t.patch(`/schedule/${first.id}`, { interval: 90, version: "5.0.0", shard: null }))).toMatchObject({
      scheduled: { id: first.id, interval: 90, version: "5.0.0", shard: null, removed: true },
    });
    expect((await t.patch(`/schedule/${first.id}`, { name: "users-1" })).status).toBe(409);
    expect(await json(t.get(`/packs/${pack.id}`))).toMatchObject({ pack: { query_count: 2 } });
    expect(await json(t.get(`/queries/${query}`))).toMatchObject({ query: { packs: [{ id: pack.id, name: "p" }] } });
    expect(await json(t.delete(`/schedule/${first.id}`))).toEqual({});
    expect((await t.get(`/schedule/${first.id}`)).status).toBe(404);
    await t.delete(`/queries/id/${query}`);
    expect(await json(t.get(`/packs/${pack.id}/scheduled`))).toEqual({ scheduled: [] });
  });

  it("cannot schedule unknown queries, or those of a team", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const pack = await packed(t, { name: "p" });
    const query = await queried(t, "users");
    const own = await queried(t, "own", { team_id: team.id });
    const body = { pack_id: pack.id, query_id: query, interval: 60, snapshot: false, removed: true };
    const status = async (more: object) => (await t.post("/schedule", { ...body, ...more })).status;
    expect(await status({ pack_id: 999 })).toBe(404);
    expect(await status({ query_id: 999 })).toBe(404);
    expect(await status({ query_id: own })).toBe(422);
    for (const field of Object.keys(body)) {
      const res = await t.post("/schedule", { ...body, [field]: undefined });
      expect(res.status, field).toBe(422);
      expect(await json(res)).toMatchObject({ errors: [{ name: field }] });
    }
    expect(await t.store.scheduledQueries.count()).toBe(0);
  });

  it("are deleted by name and by id", async () => {
    const t = await startApp({ engine });
    const a = await packed(t, { name: "a b" });
    const b = await packed(t, { name: "b" });
    const query = await queried(t, "users");
    await ok(t.post("/schedule", { pack_id: a.id, query_id: query, interval: 60, snapshot: true, removed: false }));
    expect(await json(t.delete("/packs/a%20b"))).toEqual({});
    expect(await t.store.scheduledQueries.count()).toBe(0);
    expect((await t.delete("/packs/a%20b")).status).toBe(404);
    expect(await json(t.delete(`/packs/id/${b.id}`))).toEqual({});
    expect((await t.delete(`/packs/id/${b.id}`)).status).toBe(404);
    expect((await types(t)).filter(([type]) => type === "deleted_pack")).toEqual([
      ["deleted_pack", { pack_name: "a b" }],
      ["deleted_pack", { pack_name: "b" }],
    ]);
  });

  it("are applied from specs completely, in one transaction", async () => {
    const t = await startApp({ engine });
    await makeTeam(t, "Lab");
    await makeLabel(t, "L");
    await queried(t, "users");
    const old = await packed(t, { name: "p", description: "old", host_ids: [(await makeHost(t)).id] });
    const spec = {
      name: "p",
      targets: { labels: ["L"], teams: ["lab"] },
      queries: [
        { query: "users", interval: 30 },
        { query: "users", name: "again", snapshot: true, shard: 5 },
      ],
    };
    expect(await ok(t.post("/spec/packs", { specs: [spec, { name: "empty" }] }))).toEqual({});
    const entry = {
      description: "",
      snapshot: false,
      removed: true,
      shard: null,
      platform: "",
      version: "",
      denylist: true,
    };
    const whole = {
      id: old.id,
      name: "p",
      description: "",
      platform: "",
      disabled: false,
      targets: { labels: ["L"], teams: ["Lab"] },
      queries: [
        { ...entry, query: "users", name: "users", interval: 30 },
        { ...entry, query: "users", name: "again", interval: 3600, snapshot: true, shard: 5 },
      ],
    };
    expect(await json(t.get("/spec/packs/p"))).toEqual({ specs: whole });
    expect((await json(t.get("/spec/packs"))).specs).toMatchObject([{ name: "empty" }, { name: "p" }]);
    expect((await types(t)).at(-1)).toEqual(["applied_spec_pack", {}]);
    expect(await ok(t.post("/spec/packs", { specs: [whole] }))).toEqual({});
    expect(await json(t.get("/spec/packs/p"))).toEqual({ specs: whole });

    for (const [bad, status] of [
      [{ name: "" }, 400],
      [{ name: "x", targets: { labels: ["nobody"] } }, 404],
      [{ name: "x", targets: { teams: ["nobody"] } }, 404],
      [{ name: "x", queries: [{ query: "nothing" }] }, 404],
      [{ name: "x", queries: [{ query: "users" }, { query: "users" }] }, 400],
    ] as const) {
      expect((await t.post("/spec/packs", { specs: [{ name: "good" }, bad] })).status, JSON.stringify(bad)).toBe(
        status,
      );
      expect(await t.store.packs.count()).toBe(2);
    }
  });

  it("require global roles that may write, and have no teams on the free tier", async () => {
    const t = await startApp({ engine });
    const pack = await packed(t, { name: "p" });
    const team = await makeTeam(t);
    const refused = [
      await makeUser(t, "observer"),
      await makeUser(t, "technician"),
      await makeUser(t, { teams: [{ id: team.id, role: "admin" }] }),
    ];
    for (const user of refused) {
      for (const path of ["/packs", `/packs/${pack.id}`, "/spec/packs"])
        expect((await user.get(path)).status).toBe(403);
      expect((await user.post("/packs", { name: "x" })).status).toBe(403);
      expect((await user.delete(`/packs/id/${pack.id}`)).status).toBe(403);
    }
    for (const role of ["maintainer", "gitops"] as const)
      expect((await (await makeUser(t, role, { api_only: true })).post("/packs", { name: role })).status).toBe(200);
    const free = await startApp({ engine, tier: "free" });
    const res = await free.post("/packs", { name: "p", team_ids: [1] });
    expect(res.status).toBe(400);
    expect(await json(res)).toMatchObject({ errors: [{ reason: "option TeamIDs requires a premium license" }] });
    expect((await free.post("/packs", { name: "p", team_ids: [] })).status).toBe(200);
  });
});
