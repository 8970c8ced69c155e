import { describe, expect, it } from "vitest";
import { type Role, roles } from "../../src/api/access.ts";
import { errorOf, makeTeam, makeUser, type Person } from "../support/accounts.ts";
import { type Caller, startApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";

interface View {
  id: number;
  name: string;
  page: string;
  shared: string;
  team_id: number | null;
  created_by: { id: number; name: string } | null;
  created_at: string;
}

const make = async (by: Pick<Caller, "post">, body: object): Promise<View> => {
  const res = await by.post("/views", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { view: View }).view;
};
const list = async (by: Pick<Caller, "get">, parameters = ""): Promise<string[]> => {
  const res = await by.get(`/views${parameters}`);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { views: View[] }).views.map(({ name }) => name);
};

describe.each(bothEngines)("saved views on %s", (engine) => {
  it("are created, read, changed and deleted", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const fields = {
      name: "Offline",
      page: "hosts",
      query: { status: "offline", order_key: "seen_time" },
      columns: ["hostname"],
    };
    const view = await make(one, { ...fields, name: "  Offline " });
    expect(view).toEqual({
      ...fields,
      id: view.id,
      shared: "me",
      team_id: null,
      created_by: { id: one.user.id, name: one.user.name },
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
    });
    expect(await make(one, { name: "All", page: "policies" })).toMatchObject({ query: {}, columns: null });
    expect(await list(one)).toEqual(["All", "Offline"]);
    expect(await list(one, "?of=hosts&query=off")).toEqual(["Offline"]);
    expect(await list(one, "?per_page=1&page=1")).toEqual(["Offline"]);
    t.clock.advance(1000);
    const changed = await one.patch(`/views/${view.id}`, { name: "Gone", query: { status: "mia" }, columns: null });
    expect(await changed.json()).toMatchObject({
      view: {
        name: "Gone",
        query: { status: "mia" },
        columns: null,
        updated_at: t.clock.iso(),
        created_at: view.created_at,
      },
    });
    expect((await one.delete(`/views/${view.id}`)).status).toBe(200);
    expect((await one.get(`/views/${view.id}`)).status).toBe(404);
    expect(await list(one)).toEqual(["All"]);
  });

  it("of a user are nobody else's, and end with the user", async () => {
    const t = await startApp({ engine });
    const [one, other] = [await makeUser(t, "observer"), await makeUser(t, "admin")];
    const { id } = await make(one, { name: "Mine", page: "hosts" });
    for (const by of [other, t]) {
      expect(await list(by)).toEqual([]);
      expect((await by.get(`/views/${id}`)).status).toBe(404);
      expect((await by.patch(`/views/${id}`, { name: "x" })).status).toBe(404);
      expect((await by.delete(`/views/${id}`)).status).toBe(404);
    }
    await make(other, { name: "Mine", page: "hosts" });
    const shared = await make(other, { name: "Shared", page: "hosts", shared: "everyone" });
    await t.delete(`/users/${one.user.id}`);
    await t.delete(`/users/${other.user.id}`);
    expect(await t.store.views.list()).toMatchObject([{ id: shared.id, author_id: null }]);
    expect(await (await t.get(`/views/${shared.id}`)).json()).toMatchObject({ view: { created_by: null } });
  });

  it("are shared by those who may, and read by those with a role there", async () => {
    const t = await startApp({ engine });
    const [red, blue] = [await makeTeam(t, "Red"), await makeTeam(t, "Blue")];
    const ofRed = await make(t, { name: "Red hosts", page: "hosts", shared: "team", team_id: red });
    const ofBlue = await make(t, { name: "Blue hosts", page: "hosts", shared: "team", team_id: blue });
    const ofAll = await make(t, { name: "All hosts", page: "hosts", shared: "everyone" });
    const people: [Role, Person, Person][] = [];
    for (const role of roles) people.push([role, await makeUser(t, role), await makeUser(t, { [red]: role })]);
    for (const [role, global, member] of people) {
      expect(await list(global), role).toEqual(["All hosts", "Blue hosts", "Red hosts"]);
      expect(await list(global, `?team_id=${red}`), role).toEqual(["All hosts", "Red hosts"]);
      expect(await list(member), role).toEqual(["All hosts", "Red hosts"]);
      expect((await member.get(`/views/${ofBlue.id}`)).status, role).toBe(404);
      expect((await member.patch(`/views/${ofBlue.id}`, { name: "x" })).status, role).toBe(role === "plan" ? 403 : 404);
      expect((await member.get(`/views?team_id=${blue}`)).status, role).toBe(404);
      const mayShare = role === "admin" || role === "maintainer";
      const body = (name: string, shared: string, team_id?: number) => ({
        name: `${name} ${role}`,
        page: "hosts",
        shared,
        team_id,
      });
      const statuses = async (by: Person) => [
        (await by.post("/views", body("t", "team", red))).status,
        (await by.post("/views", body("e", "everyone"))).status,
        (await by.patch(`/views/${ofRed.id}`, { columns: ["uuid"] })).status,
        (await by.patch(`/views/${ofAll.id}`, { columns: ["uuid"] })).status,
      ];
      expect(await statuses(member), role).toEqual(mayShare ? [200, 403, 200, 403] : [403, 403, 403, 403]);
      for (const view of await t.store.views.list())
        if (![ofRed.id, ofBlue.id, ofAll.id].includes(view.id)) await t.delete(`/views/${view.id}`);
      expect(await statuses(global), role).toEqual(mayShare ? [200, 200, 200, 200] : [403, 403, 403, 403]);
      for (const view of await t.store.views.list())
        if (![ofRed.id, ofBlue.id, ofAll.id].includes(view.id)) await t.delete(`/views/${view.id}`);
    }
    expect((await t.as(null).get("/views")).status).toBe(401);
    await t.delete(`/teams/${red}`);
    expect(await list(t)).toEqual(["All hosts", "Blue hosts"]);
  });

  it("change hands when they are shared, and only shared ones are activities", async () => {
    const t = await startApp({ engine });
    const red = await makeTeam(t, "Red");
    const one = await makeUser(t, { [red]: "maintainer" });
    const observer = await makeUser(t, { [red]: "observer" });
    const { id } = await make(one, { name: "Slow", page: "queries" });
    expect(await list(observer)).toEqual([]);
    expect((await one.patch(`/views/${id}`, { shared: "team" })).status).toBe(422);
    expect((await one.patch(`/views/${id}`, { shared: "everyone" })).status).toBe(403);
    expect((await one.patch(`/views/${id}`, { team_id: red })).status).toBe(422);
    expect((await one.patch(`/views/${id}`, { shared: "team", team_id: red })).status).toBe(200);
    expect(await list(observer)).toEqual(["Slow"]);
    expect((await one.patch(`/views/${id}`, { shared: "me" })).status).toBe(200);
    expect(await list(observer)).toEqual([]);
    await make(t, { name: "Slow", page: "queries", shared: "everyone" });
    const { activities } = (await (await t.get("/activities")).json()) as {
      activities: { type: string; details: unknown }[];
    };
    const about = { view_id: id, view_name: "Slow", page: "queries", team_id: red, team_name: "Red" };
    expect(activities.filter(({ type }) => type.endsWith("_view"))).toMatchObject([
      { type: "edited_view", details: about },
      { type: "edited_view", details: about },
      { type: "created_view", details: { view_name: "Slow", page: "queries", team_id: null, team_name: null } },
    ]);
  });

  it("have names of their own in each place, and a limit", async () => {
    const t = await startApp({ engine });
    const { id } = await make(t, { name: "One", page: "hosts" });
    expect((await t.post("/views", { name: "One", page: "hosts" })).status).toBe(409);
    await make(t, { name: "One", page: "software" });
    await make(t, { name: "One", page: "hosts", shared: "everyone" });
    expect((await t.patch(`/views/${id}`, { shared: "everyone" })).status).toBe(409);
    const two = await make(t, { name: "Two", page: "hosts" });
    expect((await t.patch(`/views/${two.id}`, { name: "One" })).status).toBe(409);
    expect((await t.patch(`/views/${two.id}`, { name: "Two" })).status).toBe(200);
    const row = (await t.store.views.get(two.id))!;
    await t.store.views.insertMany(
      Array.from({ length: 197 }, (_, n) => ({ ...row, id: undefined, name: `view ${n}`, key: `key ${n}` })),
    );
    const refused = await t.post("/views", { name: "Too many", page: "hosts" });
    expect([refused.status, (await errorOf(refused)).errors?.[0]?.reason]).toEqual([
      409,
      expect.stringContaining("200"),
    ]);
    expect((await t.patch(`/views/${id}`, { columns: ["uuid"] })).status).toBe(200);
  });

  it("need a team for sharing with one, which is premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    expect((await t.post("/views", { name: "a", page: "hosts", shared: "team", team_id: 1 })).status).toBe(400);
    expect((await t.post("/views", { name: "a", page: "hosts", shared: "team" })).status).toBe(422);
    expect((await t.post("/views", { name: "a", page: "hosts", shared: "everyone" })).status).toBe(200);
  });

  it.each([
    [{ name: " ", page: "hosts" }, "name"],
    [{ name: "a\nb", page: "hosts" }, "name"],
    [{ name: "a".repeat(256), page: "hosts" }, "name"],
    [{ page: "hosts" }, "name"],
    [{ name: "a", page: "printers" }, "page"],
    [{ name: "a", page: "hosts", query: { status: 1 } }, "query"],
    [{ name: "a", page: "hosts", query: { where: "x".repeat(4097) } }, "query"],
    [{ name: "a", page: "hosts", query: { a: "x".repeat(4096), b: "x".repeat(4096) } }, "query"],
    [{ name: "a", page: "hosts", columns: Array.from({ length: 51 }, () => "a") }, "columns"],
    [{ name: "a", page: "hosts", shared: "all" }, "shared"],
    [{ name: "a", page: "hosts", team_id: 1 }, "team_id"],
    [{ name: "a", page: "hosts", color: "red" }, "color"],
  ])("refuse %j", async (body, field) => {
    const t = await startApp({ engine });
    const res = await t.post("/views", body);
    expect(res.status).toBeGreaterThanOrEqual(400);
    expect(res.status).toBeLessThan(500);
    expect(await res.text()).toContain(field);
    expect(await list(t)).toEqual([]);
  });
});
