import { describe, expect, it } from "vitest";
import type { Team } from "../../src/api/settings/teams.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { errorOf, makePerson, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost } from "../support/make.ts";

const teamIn = async (response: Response): Promise<Team> => {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { team: Team }).team;
};
const namesIn = async (response: Response) =>
  ((await response.json()) as { teams: Team[] }).teams.map(({ name }) => name);
const expectError = async (response: Response, status: number, field?: string, code?: number, what = "") => {
  const body = await errorOf(response);
  expect([response.status, body.errors?.[0]?.name, body.code], `${what} ${JSON.stringify(body)}`).toEqual([
    status,
    field,
    code,
  ]);
  return body;
};
const activitiesOf = async (t: TestApp, ...types: string[]) =>
  (await t.store.activities.list())
    .filter(({ type }) => types.includes(type))
    .map(({ type, details }) => ({ type, ...details }));

/** The messages of a channel, until `stop`. */
async function heard(t: TestApp, channel: string) {
  const messages: string[] = [];
  const stop = await t.store.listen(channel, (payload) => messages.push(payload));
  return { messages, stop };
}

describe.each(rulesEngines)("teams on %s", (engine) => {
  it("creates a team with everything at its default", async () => {
    const t = await startApp({ engine });
    const team = await teamIn(
      await t.post("/teams", { name: "  Cafe\u0301 ", description: "d", secrets: [{ secret: "abc" }] }),
    );
    expect(team).toEqual({
      id: team.id,
      created_at: t.clock.iso(),
      name: "Caf\u00e9",
      description: "d",
      agent_options: null,
      host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 0 },
      features: {
        enable_host_users: true,
        enable_software_inventory: true,
        additional_queries: null,
        historical_data: { uptime: true, vulnerabilities: true },
      },
      webhook_settings: {
        host_status_webhook: null,
        host_activities_webhook: null,
        failing_policies_webhook: {
          enable_failing_policies_webhook: false,
          destination_url: "",
          policy_ids: [],
          host_batch_size: 0,
        },
        failing_policies_mail: { enable_failing_policies_mail: false, recipients: [], digest: "daily" },
      },
      integrations: {
        ticketing_a: [],
        ticketing_b: [],
        calendar: { enable_calendar_events: false, webhook_url: "" },
        conditional_access_enabled: false,
      },
      mdm: {
        enable_disk_encryption: false,
        disk_encryption: { macos: null, windows: null, linux: null },
        windows_require_bitlocker_pin: false,
        enable_recovery_lock_password: false,
        name_template: "",
        macos_updates: { minimum_version: "", deadline: "", deadline_days: null, update_new_hosts: false },
        ios_updates: { minimum_version: "", deadline: "", deadline_days: null },
        ipados_updates: { minimum_version: "", deadline: "", deadline_days: null },
        windows_updates: { deadline_days: null, grace_period_days: null },
        macos_settings: { custom_settings: [] },
        windows_settings: { custom_settings: [] },
        android_settings: { custom_settings: [] },
        macos_setup: {
          bootstrap_package: "",
          enable_end_user_authentication: false,
          macos_setup_assistant: "",
          enable_release_device_manually: false,
          script: "",
          software: [],
          manual_agent_install: false,
          lock_end_user_info: true,
          require_all_software_macos: false,
          require_all_software_windows: false,
          enable_managed_local_account: false,
          end_user_local_account_type: "admin",
        },
      },
      scripts: [],
      software: null,
      user_count: 0,
      host_count: 0,
      secrets: [{ secret: "abc", created_at: t.clock.iso(), team_id: team.id }],
    });
    expect(await teamIn(await t.get(`/teams/${team.id}`))).toEqual(team);
    expect(await activitiesOf(t, "created_team", "edited_enroll_secrets")).toEqual([
      { type: "created_team", team_id: team.id, team_name: "Caf\u00e9" },
    ]);
  });

  it("refuses invalid teams, and creates nothing", async () => {
    const t = await startApp({ engine });
    await makeTeam(t, "Caf\u00e9", { secrets: [{ secret: "abc" }] });
    const cases: [string, object, number, string][] = [
      ["no name", { name: " " }, 422, "name"],
      ["a reserved name", { name: "no TEAM" }, 422, "name"],
      ["the other reserved name", { name: "ALL teams " }, 422, "name"],
      ["control characters", { name: "a\u0007b" }, 422, "name"],
      ["a name that differs by case only", { name: "CAF\u00c9" }, 409, "base"],
      ["a name that differs by composition only", { name: "cafe\u0301" }, 409, "base"],
      [
        "51 secrets",
        { name: "x", secrets: Array.from({ length: 51 }, (_, i) => ({ secret: `s${i}` })) },
        422,
        "secrets",
      ],
      ["a secret of another team", { name: "x", secrets: [{ secret: "abc" }] }, 422, "secrets"],
      [
        "expiry after no days",
        { name: "x", host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 0 } },
        422,
        "host_expiry_settings.host_expiry_window",
      ],
    ];
    for (const [what, body, status, field] of cases) {
      await expectError(await t.post("/teams", body), status, field, undefined, what);
      expect([await t.store.teams.count(), await t.store.enrollSecrets.count()], what).toEqual([1, 1]);
    }
  });

  it("changes the given fields and keeps the rest", async () => {
    const t = await startApp({ engine });
    const id = await makeTeam(t, "Alpha", { description: "one", secrets: [{ secret: "abc" }] });
    await makeTeam(t, "Beta");
    const expiry = { host_expiry_enabled: true, host_expiry_window: 30 };
    expect(await teamIn(await t.patch(`/teams/${id}`, { host_expiry_settings: expiry }))).toMatchObject({
      name: "Alpha",
      description: "one",
      host_expiry_settings: expiry,
      secrets: [{ secret: "abc" }],
    });
    await expectError(
      await t.patch(`/teams/${id}`, { host_expiry_settings: { host_expiry_window: -1 } }),
      422,
      "host_expiry_settings.host_expiry_window",
    );
    expect(await teamIn(await t.patch(`/teams/${id}`, { name: "ALPHA", description: "" }))).toMatchObject({
      name: "ALPHA",
      description: "",
      host_expiry_settings: expiry,
    });
    await expectError(await t.patch(`/teams/${id}`, { name: "beta" }), 409, "base");
    await expectError(await t.patch(`/teams/${id}`, { name: "All Teams" }), 422, "name");
    expect((await t.patch("/teams/999", { name: "x" })).status).toBe(404);
    expect((await t.patch(`/teams/${id}`, { id: 7, user_count: 9 })).status).toBe(200);
    await expectError(await t.patch(`/teams/${id}`, { id: 7, __proto: 1 }), 400, "__proto");
    expect((await t.get("/teams/7")).status).toBe(404);
  });

  it("lists teams with their counts, searched, ordered and paged", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    await makeTeam(t, "Gamma");
    await makeUser(t, { [alpha]: "observer", [beta]: "observer" });
    await makeUser(t, { [alpha]: "admin" });
    for (let i = 0; i < 3; i++) await makeHost(t, { team_id: beta });
    await makeHost(t, { team_id: null });
    const { teams } = (await (await t.get("/teams")).json()) as { teams: Team[] };
    expect(teams.map(({ name, user_count, host_count }) => [name, user_count, host_count])).toEqual([
      ["Alpha", 2, 0],
      ["Beta", 1, 3],
      ["Gamma", 0, 0],
    ]);
    expect(await namesIn(await t.get("/teams?query=%20ALPH%20"))).toEqual(["Alpha"]);
    const paged = await t.get("/teams?order_key=name&order_direction=desc&per_page=2");
    expect(await paged.clone().json()).toMatchObject({ meta: { has_next_results: true, has_previous_results: false } });
    expect(await namesIn(paged)).toEqual(["Gamma", "Beta"]);
  });

  it("shows team users their own teams only; others do not exist for them", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", { secrets: [{ secret: "alpha-secret" }] });
    const beta = await makeTeam(t, "Beta");
    for (const role of ["admin", "maintainer", "observer", "observer_plus", "gitops", "technician"] as const) {
      const person = await makeUser(t, { [alpha]: role });
      expect(await namesIn(await person.get("/teams"))).toEqual(["Alpha"]);
      const secrets = role === "admin" || role === "maintainer" ? "alpha-secret" : "********";
      expect((await teamIn(await person.get(`/teams/${alpha}`))).secrets).toMatchObject([{ secret: secrets }]);
      for (const id of [beta, 999]) {
        expect((await person.get(`/teams/${id}`)).status).toBe(404);
        const editor = role === "admin" || role === "gitops";
        expect((await person.patch(`/teams/${id}`, { name: "x" })).status).toBe(editor ? 404 : 403);
        expect(
          (await person.patch(`/teams/${id}/users`, { users: [{ id: person.user.id, role: "admin" }] })).status,
        ).toBe(editor ? 404 : 403);
        expect((await person.post(`/teams/${id}/agent_options`, {})).status).toBe(editor ? 404 : 403);
      }
      expect((await person.post("/teams", { name: "x" })).status).toBe(403);
      expect((await person.delete(`/teams/${alpha}`)).status).toBe(403);
    }
    for (const role of ["maintainer", "observer", "observer_plus", "technician"] as const) {
      const person = await makeUser(t, role);
      expect((await person.patch(`/teams/${alpha}`, { name: "x" })).status).toBe(403);
      expect((await person.delete(`/teams/${alpha}`)).status).toBe(403);
    }
    const gitops = await makeUser(t, "gitops");
    expect((await teamIn(await gitops.get(`/teams/${alpha}`))).secrets).toMatchObject([{ secret: "********" }]);
  });

  it("keeps secrets whose masks are sent, and refuses unknown masks", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", { secrets: [{ secret: "one" }, { secret: "two" }] });
    const gitops = await makeUser(t, "gitops");
    const { secrets } = await teamIn(await gitops.get(`/teams/${alpha}`));
    expect((await gitops.patch(`/teams/${alpha}`, { secrets: [...secrets!, { secret: "three" }] })).status).toBe(200);
    const kept = async () => (await teamIn(await t.get(`/teams/${alpha}`))).secrets?.map(({ secret }) => secret);
    expect(await kept()).toEqual(["one", "two", "three"]);
    await expectError(await gitops.patch(`/teams/${alpha}`, { secrets: [{ secret: "********" }] }), 422, "secrets");
    expect(await kept()).toEqual(["one", "two", "three"]);
    const teamGitops = await makeUser(t, { [alpha]: "gitops" });
    expect((await teamGitops.patch(`/teams/${alpha}`, { description: "d" })).status).toBe(200);
    expect((await teamGitops.patch(`/teams/${alpha}`, { description: "e", secrets: [] })).status).toBe(403);
    expect(await teamIn(await t.get(`/teams/${alpha}`))).toMatchObject({ description: "d", secrets: [{}, {}, {}] });
  });

  it("deletes a team: its hosts stay without a team, its secrets and roles are deleted", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", { secrets: [{ secret: "abc" }] });
    const beta = await makeTeam(t, "Beta");
    const host = await makeHost(t, { team_id: alpha });
    const person = await makePerson(t, { [alpha]: "observer", [beta]: "observer" });
    const told = await heard(t, channels.hosts);
    expect(await (await t.delete(`/teams/${alpha}`)).json()).toEqual({});
    expect((await t.get(`/teams/${alpha}`)).status).toBe(404);
    expect(await t.store.hosts.get(host.id)).toMatchObject({ team_id: null });
    expect(await t.store.enrollSecrets.count()).toBe(0);
    expect((await person.get("/me")).status).toBe(401);
    const { user } = (await (await t.get(`/users/${person.user.id}`)).json()) as { user: { teams: object[] } };
    expect(user.teams).toMatchObject([{ id: beta }]);
    expect(await activitiesOf(t, "deleted_team")).toEqual([
      { type: "deleted_team", team_id: alpha, team_name: "Alpha" },
    ]);
    expect((await t.delete(`/teams/${alpha}`)).status).toBe(404);
    await expect.poll(() => told.messages).toEqual(["*"]);
    await told.stop();
  });

  it("adds users to a team, changes their role and removes them", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const one = await makePerson(t, { [beta]: "observer" }, { name: "Una", email: "una@example.com" });
    const path = `/teams/${alpha}/users`;
    const added = await teamIn(await t.patch(path, { users: [{ id: one.user.id, role: "observer" }] }));
    expect(added).toMatchObject({ user_count: 1, users: [{ email: "una@example.com", role: "observer" }] });
    // An additional role changes nothing else; another role does.
    expect((await one.get("/me")).status).toBe(200);
    await teamIn(await t.patch(path, { users: [{ id: one.user.id, role: "admin" }] }));
    expect((await one.get("/me")).status).toBe(401);
    expect(await (await t.get(path)).json()).toMatchObject({
      users: [{ email: "una@example.com", teams: [{ id: beta }, { id: alpha, role: "admin" }] }],
      meta: { has_next_results: false },
    });
    const removed = await teamIn(await t.delete(path, { users: [{ id: one.user.id }, { id: 999 }, { id: 1 }] }));
    expect(removed).toMatchObject({ user_count: 0, users: [] });
    const who = {
      user_id: one.user.id,
      user_name: "Una",
      user_email: "una@example.com",
      team_id: alpha,
      team_name: "Alpha",
    };
    expect(await activitiesOf(t, "changed_user_team_role", "deleted_user_team_role")).toEqual([
      { type: "changed_user_team_role", ...who, role: "observer" },
      { type: "changed_user_team_role", ...who, role: "admin" },
      { type: "deleted_user_team_role", ...who, role: "admin" },
    ]);
    await expectError(await t.patch(path, { users: [{ id: one.user.id, role: "owner" }] }), 422, undefined, 1);
    await expectError(await t.patch(path, { users: [{ id: 1, role: "observer" }] }), 422, undefined, 1);
    await expectError(await t.patch(path, { users: [{ id: 999, role: "observer" }] }), 422, "users.id");
    const hand = await t.post("/users/admin", {
      name: "H",
      email: "h@example.com",
      password: "by-Hand-4-ever",
      global_role: undefined,
      teams: [{ id: beta, role: "observer" }],
    });
    const { user } = (await hand.json()) as { user: { id: number } };
    await expectError(await t.patch(path, { users: [{ id: user.id, role: "gitops" }] }), 422, undefined, 4);
    expect((await t.patch("/teams/999/users", { users: [] })).status).toBe(404);
    expect((await t.get("/teams/999/users")).status).toBe(404);
  });

  it("lets team admins and gitops change the users of their own team", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const gamma = await makeTeam(t, "Gamma");
    const other = await makePerson(t, { [beta]: "observer", [gamma]: "observer" });
    const users = [{ id: other.user.id, role: "observer" }];
    for (const role of ["admin", "gitops"] as const) {
      const person = await makeUser(t, { [alpha]: role, [beta]: role });
      const team = await teamIn(await person.patch(`/teams/${alpha}/users`, { users }));
      expect(team.users?.find(({ id }) => id === other.user.id)?.role).toBe("observer");
      // Other data of that user, including the names of other teams, is not shown.
      expect(JSON.stringify(team.users)).not.toContain("Gamma");
      await teamIn(await person.delete(`/teams/${alpha}/users`, { users }));
    }
    expect((await other.get("/me")).status).toBe(401);
    const observer = await makeUser(t, { [alpha]: "observer" });
    expect((await observer.get(`/teams/${alpha}/users`)).status).toBe(403);
  });

  it("does not let team admins and gitops access users of other teams by their ids", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const theirs = await makePerson(t, { [beta]: "observer" });
    for (const role of ["admin", "gitops"] as const) {
      const person = await makeUser(t, { [alpha]: role, [beta]: "observer" });
      for (const id of [theirs.user.id, 1, 999]) {
        const users = [{ id, role: "observer" }];
        const refused = await person.patch(`/teams/${alpha}/users`, { users });
        const { errors } = await expectError(refused, 422, "users.id");
        expect(errors?.[0]?.reason).toBe(`user ${id} was not found in the datastore`);
        await teamIn(await person.delete(`/teams/${alpha}/users`, { users }));
      }
    }
    expect((await theirs.get("/me")).status).toBe(200);
    expect((await t.get("/me")).status).toBe(200);
  });

  it("accepts valid agent options, and reports the place of misplaced keys", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const path = `/teams/${alpha}/agent_options`;
    const told = await heard(t, channels.teams);
    const options = {
      config: { options: { distributed_interval: 30 }, schedule: { up: { query: "SELECT 1", interval: 60 } } },
      overrides: { platforms: { darwin: { options: { logger_tls_period: 20 } }, ubuntu: {} } },
      command_line_flags: { tls_server_certs: "/etc/ca.pem", verbose: true },
    };
    expect((await teamIn(await t.post(path, options))).agent_options).toEqual(options);
    expect((await teamIn(await t.post(path, options))).agent_options).toEqual(options);
    const edits = [{ type: "edited_agent_options", global: false, team_id: alpha, team_name: "Alpha" }];
    expect(await activitiesOf(t, "edited_agent_options")).toEqual(edits);
    await expect.poll(() => told.messages.at(-1)).toBe(String(alpha));
    expect((await teamIn(await t.post(`${path}?dry_run=true`, {}))).agent_options).toEqual({});
    expect((await teamIn(await t.get(`/teams/${alpha}`))).agent_options).toEqual(options);
    const bad: [object | null, RegExp][] = [
      [{ confg: {} }, /unsupported key provided: "confg"/],
      [{ options: {} }, /"options" should be part of the "config" object/],
      [{ distributed_interval: 5 }, /part of the "config.options" object/],
      [{ config: { command_line_flags: {} } }, /should be at the top of the agent options/],
      [{ config: { options: { tls_hostname: "x" } } }, /part of the "command_line_flags" object/],
      [{ config: { options: { distributed_intervall: 5 } } }, /unsupported key provided: "distributed_intervall"/],
      [
        { config: { options: { distributed_interval: "5" } } },
        /'config.options.distributed_interval': expected integer but got string/,
      ],
      [{ config: { options: { disable_distributed: 0 } } }, /expected boolean but got number/],
      [{ config: [] }, /invalid value type at 'config': expected object but got array/],
      [{ overrides: { platforms: { darwin: null } } }, /platforms cannot be null/],
      [{ overrides: { platforms: { beos: {} } } }, /unsupported key provided: "beos"/],
      [{ overrides: { darwin: {} } }, /part of the "overrides.platforms" object/],
      [{ overrides: { platforms: { darwin: { options: { nope: 1 } } } } }, /unsupported key provided: "nope"/],
      [{ config: { packs: { p: "/etc/pack.conf" } } }, /expected object but got string/],
      [{ config: { schedule: { "query.x": { query: "SELECT 1" } } } }, /skipped by agents/],
      [{ config: { schedule: { my_epoch: { query: "SELECT 1" } } } }, /skipped by agents/],
      [
        { config: { schedule: { x: { interval: 60 } } } },
        /'config.schedule.x.query': expected string but got undefined/,
      ],
      [{ config: { schedule: { x: { query: "SELECT 1", interval: 604801 } } } }, /must be from 1 to 604800/],
      [
        { config: { packs: { p: { queries: { x: { query: "SELECT 1", interval: 0 } } } } } },
        /must be from 1 to 604800/,
      ],
      [{ config: { decorators: { interval: { "90": [] } } } }, /multiples of 60/],
      [{ config: { decorators: { load: ["SELECT 1", 2] } } }, /load.1': expected string but got number/],
    ];
    for (const [body, reason] of bad) {
      const error = await errorOf(await t.post(path, body));
      expect(error, JSON.stringify(body)).toMatchObject({
        message: "Bad request",
        errors: [{ reason: expect.stringMatching(reason) }],
      });
    }
    for (const body of [[], "text", 7]) expect((await t.post(path, body)).status).toBe(400);
    expect((await teamIn(await t.get(`/teams/${alpha}`))).agent_options).toEqual(options);
    const forced = { config: { options: { brand_new: 1 } } };
    expect((await teamIn(await t.post(`${path}?force=true`, forced))).agent_options).toEqual(forced);
    expect((await t.post(`${path}?force=true`, { config: 7 })).status).toBe(400);
    expect((await t.post("/teams/999/agent_options", {})).status).toBe(404);
    expect((await teamIn(await t.request("POST", path, "null"))).agent_options).toBeNull();
    await told.stop();
  });
});

describe.each(bothEngines)("concurrent changes of teams on %s", (engine) => {
  it("accepts one of two teams with the same name that are created concurrently", async () => {
    const t = await startApp({ engine });
    const made = await Promise.all(["Alpha", "alpha", "ALPHA"].map((name) => t.post("/teams", { name })));
    expect(made.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe("teams on the free tier", () => {
  it("are refused everywhere", async () => {
    const t = await startApp({ tier: "free" });
    for (const [method, path, body] of [
      ["GET", "/teams"],
      ["GET", "/teams/1"],
      ["POST", "/teams", { name: "x" }],
      ["PATCH", "/teams/1", { name: "x" }],
      ["DELETE", "/teams/1"],
      ["GET", "/teams/1/users"],
      ["GET", "/teams/1/secrets"],
      ["PATCH", "/teams/1/secrets", { secrets: [] }],
      ["POST", "/teams/1/agent_options", {}],
    ] as const)
      expect((await t.request(method, path, body)).status).toBe(402);
  });
});
