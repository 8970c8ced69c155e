import { describe, expect, test } from "vitest";
import { ADMIN, type Caller, startApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";

describe.each(rulesEngines)("translating names to ids on %s", (engine) => {
  const entry = (type: string, identifier: string) => ({ type, payload: { identifier } });
  const ask = (by: Caller, ...list: object[]) => by.post("/translate", { list });
  const idOf = async (by: Caller, type: string, identifier: string) => {
    const res = await ask(by, entry(type, identifier));
    expect(res.status).toBe(200);
    return ((await res.json()) as { list: { payload: { id: number } }[] }).list[0]!.payload.id;
  };

  test("returns the same list with ids", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Ops");
    const label = await makeLabel(t, "Café");
    const host = await makeHost(t, { hostname: "h.example.com", uuid: "u-1", hardware_serial: "S-1" });
    const admin = (await t.store.users.list())[0]!;
    const list = [
      entry("user", ADMIN.email),
      entry("label", "Cafe\u0301"),
      entry("team", "ops"),
      entry("host", "h.example.com"),
      entry("host", "u-1"),
      entry("host", "S-1"),
      entry("label", "no such label"),
    ];
    const ids = [admin.id, label.id, team.id, host.id, host.id, host.id, 0];
    const res = await ask(t, ...list);
    expect(res.status).toBe(200);
    expect(await res.json()).toEqual({
      list: list.map(({ type, payload }, i) => ({ type, payload: { ...payload, id: ids[i] } })),
    });
  });

  test("refuses what it cannot translate", async () => {
    const t = await startApp({ engine });
    expect((await ask(t)).status).toBe(400);
    const unknown = await ask(t, entry("label", "macOS"), entry("planet", "Mars"));
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ code: 3, errors: [{ name: "list.1.type" }] });
    for (const type of ["user", "team", "host"]) {
      for (const name of ["nobody@example.com", "", "\u0000"]) {
        const res = await ask(t, entry(type, name));
        expect(res.status, `${type} ${name}`).toBe(404);
      }
      expect(await (await ask(t, entry(type, "x"))).json()).toMatchObject({
        errors: [{ reason: `${type} x was not found in the datastore` }],
      });
    }
    expect((await t.post("/translate", {})).status).toBe(422);
    expect((await ask(t, { type: "host", payload: {} })).status).toBe(422);
    expect((await ask(t, ...Array(1001).fill(entry("label", "x")))).status).toBe(422);
  });

  test("reveals nothing that the caller may not see", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    const mine = await makeHost(t, { hostname: "mine", team_id: own.id });
    await makeHost(t, { hostname: "theirs", team_id: other.id });
    await makeHost(t, { hostname: "shared", team_id: other.id });
    const shared = await makeHost(t, { hostname: "shared", team_id: own.id });
    const mate = await makeUser(t, { teams: [{ id: own.id, role: "observer" }] }, { email: "mate@example.com" });
    const admin = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] }, { email: "boss@example.com" });
    expect(await idOf(admin, "host", "mine")).toBe(mine.id);
    expect(await idOf(admin, "host", "shared")).toBe(shared.id);
    expect(await idOf(admin, "team", "Own")).toBe(own.id);
    expect(await idOf(admin, "user", "Mate@Example.com")).toBe(mate.id);
    expect(await idOf(mate, "user", "mate@example.com")).toBe(mate.id);
    expect((await ask(admin, entry("host", "theirs"))).status).toBe(404);
    expect((await ask(admin, entry("team", "Other"))).status).toBe(404);
    expect((await ask(admin, entry("user", ADMIN.email))).status).toBe(404);
    expect((await ask(mate, entry("user", "boss@example.com"))).status).toBe(403);
    expect((await ask(t.as(null), entry("label", "macOS"))).status).toBe(401);
  });
});
