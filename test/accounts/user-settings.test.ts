import { describe, expect, it } from "vitest";
import { makeTeam, makeUser, type Person } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";

const change = (by: Pick<Person, "patch">, id: number, console: unknown) =>
  by.patch(`/users/${id}`, { settings: { console } });
// biome-ignore lint/suspicious/noExplicitAny: settings of many shapes
const read = async (by: Pick<TestApp, "get">, path = "/me"): Promise<any> =>
  ((await (await by.get(`${path}?include_ui_settings=true`)).json()) as { settings: unknown }).settings;

describe.each(bothEngines)("settings of a user on %s", (engine) => {
  it("are changed key by key", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    expect(await read(one)).toEqual({ hidden_host_columns: [], console: {} });
    const { id } = one.user;
    const first = { columns: { hosts: ["hostname", "os_version"], users: ["email"] }, density: "compact", keys: false };
    expect((await change(one, id, first)).status).toBe(200);
    expect((await one.patch(`/users/${id}`, { settings: { hidden_host_columns: ["uuid"] } })).status).toBe(200);
    expect(await read(one)).toEqual({ hidden_host_columns: ["uuid"], console: first });
    const second = {
      columns: { hosts: ["uuid"], users: null, policies: [] },
      density: null,
      theme: "dark",
      zone: "utc",
    };
    expect((await change(one, id, second)).status).toBe(200);
    expect((await read(one)).console).toEqual({
      columns: { hosts: ["uuid"], policies: [] },
      keys: false,
      theme: "dark",
      zone: "utc",
    });
    expect((await change(one, id, { columns: null, times: "exact", rows: 100, pinned: ["/hosts"] })).status).toBe(200);
    expect((await read(one, `/users/${id}`)).console).toEqual({
      columns: {},
      keys: false,
      theme: "dark",
      zone: "utc",
      times: "exact",
      rows: 100,
      pinned: ["/hosts"],
    });
  });

  it("belong to the user: admins see them, others neither see nor change them", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Alpha");
    const one = await makeUser(t, { [team]: "observer" });
    const boss = await makeUser(t, { [team]: "admin" });
    const { id } = one.user;
    await change(one, id, { theme: "dark" });
    expect(await read(t, `/users/${id}`)).toEqual({ hidden_host_columns: [], console: { columns: {}, theme: "dark" } });
    expect(await read(boss, `/users/${id}`)).toEqual({ hidden_host_columns: [] });
    expect((await change(boss, id, { theme: "light" })).status).toBe(403);
    expect((await change(t, id, { theme: "light" })).status).toBe(403);
    expect((await one.get(`/users/${boss.user.id}`)).status).toBe(403);
    expect((await read(one)).console).toEqual({ columns: {}, theme: "dark" });
  });

  it.each([
    [{ theme: "pink" }, "theme"],
    [{ color: "red" }, "color"],
    [{ keys: "yes" }, "keys"],
    [{ columns: { hosts: Array.from({ length: 51 }, (_, n) => `c${n}`) } }, "columns"],
    [{ columns: { "Not a list": [] } }, "columns"],
    [{ columns: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`list${n}`, []])) }, "columns"],
    [{ pinned: Array.from({ length: 101 }, () => "/hosts") }, "pinned"],
    [{ pinned: Array.from({ length: 100 }, () => "x".repeat(200)) }, "16 KiB"],
  ])("refuse %j", async (settings, field) => {
    const t = await startApp({ engine });
    const { user } = (await (await t.get("/me")).json()) as { user: { id: number } };
    const res = await change(t, user.id, settings);
    expect(res.status).toBeGreaterThanOrEqual(400);
    expect(res.status).toBeLessThan(500);
    expect(await res.text()).toContain(field);
    expect((await read(t)).console).toEqual({});
  });
});
