// Apple devices in POST /spec/state and /spec/apply: setup assistant profiles, and the teams of tokens.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { applied, change, find, refused, stateOf, thingValue } from "../../support/configuration.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const ASSISTANT = "setup_assistant";
const profile = (profile_name: string) => ({ enrollment_profile: { profile_name, is_supervised: true } });
const types = async (t: TestApp) => (await t.store.activities.list()).map(({ type }) => type);

const portalToken = (t: TestApp, org_name = "Example Ltd", server_uuid = `uuid of ${org_name}`) =>
  t.store.abmTokens.insert({
    created_at: t.clock.iso(),
    vendora_id: "admin@example.com",
    org_name,
    server_uuid,
    credentials: "{}",
    renew_date: t.clock.iso(),
    macos_team_id: null,
    ios_team_id: null,
    ipados_team_id: null,
    byod_team_id: null,
    full_since: null,
    synced_at: null,
  });
const licenseToken = (t: TestApp, location: string) =>
  t.store.vppTokens.insert({
    created_at: t.clock.iso(),
    org_name: "Example Ltd",
    location,
    library_id: `library of ${location}`,
    token: "secret",
    renew_date: t.clock.iso(),
    synced_at: null,
  });
const teamsOf = (macos_team = "", more: object = {}) => ({
  macos_team,
  ios_team: "",
  ipados_team: "",
  byod_team: "",
  ...more,
});

describe.each(bothEngines)("Apple devices in an apply on %s", (engine) => {
  it("have setup assistant profiles, which come, change, get another name and go", async () => {
    const t = await startApp({ engine });
    await applied(t, {
      changes: [
        change("create", "team", "Ops", { description: "" }),
        change("create", ASSISTANT, "main.json", profile("Main")),
        change("create", ASSISTANT, "ops.json", profile("Ops"), "Ops"),
      ],
    });
    expect(thingValue(await stateOf(t), ASSISTANT, "ops.json", "Ops")).toEqual(profile("Ops"));
    const second = [
      change("update", ASSISTANT, "main.json", profile("Main")),
      change("delete", ASSISTANT, "ops.json", undefined, "Ops"),
      change("create", ASSISTANT, "new.json", profile("New"), "Ops"),
    ];
    expect(await applied(t, { changes: second })).toEqual({ create: 1, update: 0, delete: 1 });
    expect((await t.store.setupAssistants.list()).map(({ name }) => name).sort()).toEqual(["main.json", "new.json"]);
    const third = [
      change("delete", ASSISTANT, "main.json"),
      change("delete", ASSISTANT, "new.json", undefined, "Ops"),
      change("delete", "team", "Ops"),
    ];
    expect(await applied(t, { changes: third })).toEqual({ create: 0, update: 0, delete: 3 });
    expect(await t.store.setupAssistants.count()).toBe(0);
    expect(await types(t)).toEqual(
      expect.arrayContaining(["changed_macos_setup_assistant", "deleted_macos_setup_assistant"]),
    );
  });

  it("are assigned to teams by the organization's tokens, also to a team of the same apply", async () => {
    const t = await startApp({ engine });
    const [one, two] = [await portalToken(t), await portalToken(t, "Example Ltd", "another")];
    const [berlin, paris] = [await licenseToken(t, "Berlin"), await licenseToken(t, "Paris")];
    const state = await stateOf(t);
    expect(thingValue(state, "portal_token", "Example Ltd")).toEqual(teamsOf());
    expect(thingValue(state, "license_token", "Berlin")).toEqual({ teams: [] });
    const changes = [
      change("create", "team", "Ops", { description: "" }),
      change("update", "portal_token", "Example Ltd", teamsOf("Ops", { byod_team: "Ops" })),
      change("update", "license_token", "Berlin", { teams: ["Ops", "No team"] }),
    ];
    expect(await applied(t, { changes })).toEqual({ create: 1, update: 2, delete: 0 });
    const [ops] = await t.store.teams.list();
    for (const { id } of [one, two])
      expect(await t.store.abmTokens.get(id)).toMatchObject({
        macos_team_id: ops!.id,
        ios_team_id: null,
        byod_team_id: ops!.id,
      });
    expect(thingValue(await stateOf(t), "license_token", "Berlin")).toEqual({ teams: ["No team", "Ops"] });

    // A team changes its token in one apply, whichever is changed first.
    const moved = [
      change("update", "license_token", "Paris", { teams: ["Ops"] }),
      change("update", "license_token", "Berlin", { teams: ["No team"] }),
    ];
    expect(await applied(t, { changes: moved })).toEqual({ create: 0, update: 2, delete: 0 });
    expect(await applied(t, { changes: moved }), "nothing differs").toEqual({ create: 0, update: 0, delete: 0 });
    const scopes = await t.store.vppTokenTeams.list();
    expect(scopes.map(({ token_id, scope }) => [token_id, scope]).sort()).toEqual(
      [
        [berlin.id, 0],
        [paris.id, ops!.id],
      ].sort(),
    );
    expect(await types(t)).toEqual(expect.arrayContaining(["edited_abm_token_teams", "edited_vpp_teams"]));
  });
});

describe.each(rulesEngines)("Apple devices in an apply on %s", (engine) => {
  it("are refused if they break a rule, with the change that is wrong; nothing is written", async () => {
    const t = await startApp({ engine });
    await portalToken(t);
    await licenseToken(t, "Berlin");
    await licenseToken(t, "Paris");
    await makeTeam(t, "Ops");
    await applied(t, { changes: [change("create", ASSISTANT, "a.json", profile("A"))] });
    const cases: [ReturnType<typeof change>, number, string, string][] = [
      [change("create", ASSISTANT, "b.json", profile("B")), 422, "name", "another setup assistant profile"],
      [change("create", ASSISTANT, "b.json", { enrollment_profile: { url: "x" } }, "Ops"), 422, "url", "the server"],
      [change("create", ASSISTANT, "b.json", { enrollment_profile: [] }, "Ops"), 422, "enrollment_profile", ""],
      [change("update", "portal_token", "Example Ltd", teamsOf("Nope")), 422, "macos_team", "there is no team"],
      [change("update", "portal_token", "Example Ltd", { teams: [] }), 422, "teams", ""],
      [change("update", "portal_token", "Nope", teamsOf()), 409, "", "does not exist"],
      [change("create", "portal_token", "New", teamsOf()), 409, "", "already exists"],
      [change("delete", "portal_token", "Example Ltd"), 422, "action", "cannot be deleted"],
      [
        change("update", "license_token", "Berlin", { teams: ["All teams", "Ops"] }),
        422,
        "teams",
        "cannot be used with",
      ],
      [change("update", "license_token", "Berlin", { teams: ["Nope"] }), 422, "teams", "there is no team"],
    ];
    for (const [wrong, status, field, reason] of cases) {
      const changes = [change("create", "team", "New", { description: "" }), wrong];
      const [error] = await refused(t, status, { changes });
      expect([error!.name, error!.reason]).toEqual([expect.stringContaining(field), expect.stringContaining(reason)]);
      expect(error!.name).toContain("changes.1");
    }
    const both = [
      change("update", "license_token", "Berlin", { teams: ["Ops"] }),
      change("update", "license_token", "Paris", { teams: ["All teams"] }),
    ];
    await refused(t, 409, { changes: both });
    expect(await t.store.teams.count()).toBe(1);
    expect(await t.store.vppTokenTeams.count()).toBe(0);
    const gone = [change("delete", "team", "Ops"), change("update", "portal_token", "Example Ltd", teamsOf("Ops"))];
    await refused(t, 422, { changes: gone });
  });

  it("show and let users change only what their roles allow", async () => {
    const t = await startApp({ engine });
    await portalToken(t);
    await licenseToken(t, "Berlin");
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    const create = (owner: string | null) => change("create", ASSISTANT, "a.json", profile("A"), owner);
    await applied(t, { changes: [create(own.name), create(other.name), create(null)] });
    const person = await makeUser(t, { teams: [{ id: own.id, role: "gitops" }] }, { api_only: true });
    const seen = (await stateOf(person)).things;
    expect(seen.filter(({ kind }) => kind === ASSISTANT).map(({ owner }) => owner)).toEqual(["Own"]);
    expect(seen.filter(({ kind }) => kind.endsWith("_token"))).toEqual([]);
    const update = change("update", ASSISTANT, "a.json", profile("B"), own.name);
    expect(await applied(person, { changes: [update] })).toMatchObject({ update: 1 });
    for (const wrong of [
      change("update", ASSISTANT, "a.json", profile("B"), other.name),
      change("update", ASSISTANT, "a.json", profile("B")),
      change("update", "portal_token", "Example Ltd", teamsOf("Own")),
      change("update", "license_token", "Berlin", { teams: ["Own"] }),
    ])
      expect([403, 404], JSON.stringify(wrong)).toContain(
        (await person.post("/spec/apply", { changes: [wrong] })).status,
      );
    const gitops = await makeUser(t, "gitops", { api_only: true });
    const given = [change("update", "portal_token", "Example Ltd", teamsOf("Own"))];
    expect(await applied(gitops, { changes: given })).toMatchObject({ update: 1 });
    expect(find(await stateOf(gitops), { kind: "portal_token", owner: null, name: "Example Ltd" })).toBeDefined();
    const observer = await makeUser(t, "observer");
    expect((await observer.post("/spec/apply", { changes: given })).status).toBe(403);
  });
});
