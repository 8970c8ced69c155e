import { describe, expect, it } from "vitest";
import { allowsSomewhere, type Role, roles } from "../../src/api/access.ts";
import { searchTypes } from "../../src/api/edge/search.ts";
import { keepText } from "../../src/server/software/script-texts/texts.ts";
import { recountSoftware } from "../../src/server/software/software/counts.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeLabel, makePolicy, makeSoftware, makeTeam, makeUser } from "../support/make.ts";

interface Result {
  type: string;
  id: number | string;
  name: string;
  detail: string;
  team_id: number | null;
  team_name: string | null;
  match: { field: string; text: string };
}

async function search(by: Pick<Caller, "get">, parameters: Record<string, string | number>): Promise<Result[]> {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const res = await by.get(`/search?${query}`);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { results: Result[] }).results;
}
const brief = (results: readonly Result[]) => results.map(({ type, name }) => `${type}: ${name}`);
const typesOf = (results: readonly Result[]) => [...new Set(results.map(({ type }) => type))];

/** An object of each type on each of two teams, or on neither, whose name contains `zebra`. */
async function world(t: TestApp) {
  const [red, blue] = [await makeTeam(t, "Zebra red"), await makeTeam(t, "Zebra blue")];
  const now = t.clock.iso();
  const dates = { created_at: now, updated_at: now };
  for (const [name, team_id] of [
    ["none", null],
    ["red", red.id],
    ["blue", blue.id],
  ] as const) {
    const host = await makeHost(t, { hostname: `zebra-${name}`, team_id, os_version: "Ubuntu 24.04" });
    await makeInventory(t, host.id, [await makeSoftware(t, `Zebra app ${name}`, "1.0")]);
    await makePolicy(t, { name: `Zebra policy ${name}`, team_id });
    await t.store.queries.insert({ ...dates, name: `Zebra query ${name}`, query: "SELECT 1;", team_id });
    const text_id = await keepText(t.store, "true");
    await t.store.scripts.insert({ ...dates, name: `zebra-${name}.sh`, team_id, text_id });
  }
  await makeLabel(t, "Zebra label");
  await recountSoftware(t.services, AbortSignal.timeout(60_000));
  return { red, blue };
}

describe.each(rulesEngines)("search on %s", (engine) => {
  it("finds objects of all types, and says why they match", async () => {
    const t = await startApp({ engine });
    const { red } = await world(t);
    const results = await search(t, { query: " zebra " });
    expect(brief(results)).toEqual([
      "hosts: zebra-blue",
      "hosts: zebra-none",
      "hosts: zebra-red",
      "policies: Zebra policy blue",
      "policies: Zebra policy none",
      "policies: Zebra policy red",
      expect.stringContaining("software: "),
      expect.stringContaining("software: "),
      expect.stringContaining("software: "),
      "labels: Zebra label",
      "queries: Zebra query blue",
      "queries: Zebra query none",
      "queries: Zebra query red",
      "scripts: zebra-blue.sh",
      "scripts: zebra-none.sh",
      "scripts: zebra-red.sh",
      "teams: Zebra blue",
      "teams: Zebra red",
    ]);
    expect(results.find(({ name }) => name === "zebra-red")).toEqual({
      type: "hosts",
      id: expect.any(Number),
      name: "zebra-red",
      detail: "Ubuntu 24.04",
      team_id: red.id,
      team_name: "Zebra red",
      match: { field: "display_name", text: "zebra-red" },
    });
    expect(brief(await search(t, { query: "zebra", types: "teams, labels", per_type: 1 }))).toEqual([
      "labels: Zebra label",
      "teams: Zebra blue",
    ]);
  });

  it("puts equal names first, then those that start with the text, however many contain it", async () => {
    const t = await startApp({ engine });
    for (let i = 0; i < 120; i++) await makeHost(t, { hostname: `a-mac-${String(i).padStart(3, "0")}` });
    for (const hostname of ["xmac", "mac-2", "MAC-1"]) await makeHost(t, { hostname });
    await makeHost(t, { hostname: "other", hardware_serial: "MAC" });
    await makeTeam(t, "Mac");
    expect(brief(await search(t, { query: "mac", types: "hosts,teams" }))).toEqual([
      "hosts: other",
      "hosts: MAC-1",
      "hosts: mac-2",
      "hosts: a-mac-000",
      "hosts: a-mac-001",
      "teams: Mac",
    ]);
    expect((await search(t, { query: "mac", types: "hosts", per_type: 1 }))[0]?.match).toEqual({
      field: "hardware_serial",
      text: "MAC",
    });
    await makePolicy(t, { name: "mac-2" });
    expect(typesOf(await search(t, { query: "Mac-2" }))).toEqual(["hosts", "policies"]);
    await makeHost(t, { hostname: "mac-20" });
    await makeLabel(t, "xx mac-20 xx");
    await makePolicy(t, { name: "the mac-200" });
    expect(typesOf(await search(t, { query: "mac-200" }))).toEqual(["policies"]);
  });

  it("finds hosts by the address of their user", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "laptop" });
    await t.store.hostEmails.insert({ host_id: host.id, email: "zoe@example.com", source: "custom" });
    expect((await search(t, { query: "zoe@", types: "hosts" }))[0]).toMatchObject({
      id: host.id,
      match: { field: "email", text: "zoe@example.com" },
    });
  });

  it("shows each role only what its lists show", async () => {
    const t = await startApp({ engine });
    const { red, blue } = await world(t);
    await makeUser(t, "observer", { name: "Zebra person" });
    const listed = {
      hosts: "hosts:list",
      users: "users:list",
      policies: "policies:list",
      software: "software:list",
      labels: "labels:list",
      queries: "queries:list",
      scripts: "scripts:read",
      teams: "teams:list",
    } as const;
    const allowed = (role: Role) =>
      searchTypes.filter(
        (type) =>
          type in listed && allowsSomewhere({ global_role: role, teams: [] }, listed[type as keyof typeof listed]),
      );
    for (const role of roles) {
      const user = await makeUser(t, role, { api_only: true });
      expect(typesOf(await search(user, { query: "zebra" })), role).toEqual(allowed(role));
      const member = await makeUser(t, { teams: [{ id: red.id, role }] }, { api_only: true });
      const results = await search(member, { query: "zebra" });
      expect(
        results.filter(({ team_id, name }) => team_id === blue.id || /blue/.test(name)),
        role,
      ).toEqual([]);
      const types = allowed(role).filter((type) => type !== "users");
      expect(typesOf(results), role).toEqual(types);
      expect(typesOf(await search(member, { query: "zebra", team_id: red.id })), role).toEqual(types);
      expect((await member.get(`/search?query=zebra&team_id=${blue.id}`)).status, role).toBe(404);
      expect((await member.get("/search?query=zebra&team_id=0")).status, role).toBe(403);
    }
    expect((await t.as(null).get("/search?query=zebra")).status).toBe(401);
  });

  it("of a team finds its objects and those that it inherits", async () => {
    const t = await startApp({ engine });
    const { red } = await world(t);
    expect(
      brief(await search(t, { query: "zebra", team_id: red.id })).filter((text) => !/Zebra app/.test(text)),
    ).toEqual([
      "hosts: zebra-red",
      "policies: Zebra policy none",
      "policies: Zebra policy red",
      "labels: Zebra label",
      "queries: Zebra query none",
      "queries: Zebra query red",
      "scripts: zebra-red.sh",
      "teams: Zebra red",
    ]);
    expect(brief(await search(t, { query: "zebra", team_id: 0, types: "hosts,scripts,teams" }))).toEqual([
      "hosts: zebra-none",
      "scripts: zebra-none.sh",
    ]);
  });

  it.each([
    ["query=a", "query"],
    [`query=${"a".repeat(256)}`, "query"],
    ["", "query"],
    ["query=mac&types=hosts,printers", "types"],
    ["query=mac&per_type=21", "per_type"],
    ["query=mac&per_type=0", "per_type"],
    ["query=mac&most=1", "most"],
  ])("refuses ?%s and names %s", async (parameters, field) => {
    const t = await startApp({ engine });
    const res = await t.get(`/search?${parameters}`);
    expect(res.status).toBeGreaterThanOrEqual(400);
    expect(res.status).toBeLessThan(500);
    expect(await res.text()).toContain(field);
  });
});
