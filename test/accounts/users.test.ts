import { describe, expect, it } from "vitest";
import type { User } from "../../src/api/accounts/users.ts";
import { errorOf, login, makePerson, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";

const userIn = async (response: Response): Promise<User> => {
  if (response.status !== 200) throw new Error(await response.text());
  return ((await response.json()) as { user: User }).user;
};
const emailsIn = async (response: Response) =>
  ((await response.json()) as { users: User[] }).users.map(({ email }) => email).sort();
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

const fresh = { name: "Bo", email: "bo@example.com", password: PASSWORD, global_role: "observer" };

describe.each(rulesEngines)("users on %s", (engine) => {
  it("creates a user who must choose a new password first, and records it once", async () => {
    const t = await startApp({ engine });
    const before = await t.store.activities.count();
    const response = await t.post("/users/admin", { ...fresh, email: " Bo@Example.com ", position: "desk" });
    const body = (await response.json()) as { user: User; token?: string };
    expect(body).not.toHaveProperty("token");
    expect(body.user).toEqual({
      id: expect.any(Number),
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      name: "Bo",
      email: "bo@example.com",
      enabled: true,
      force_password_reset: true,
      gravatar_url: "",
      sso_enabled: false,
      mfa_enabled: false,
      api_only: false,
      position: "desk",
      global_role: "observer",
      teams: [],
    });
    expect(await t.store.activities.count()).toBe(before + 1);
    expect(await activitiesOf(t, "created_user")).toContainEqual({
      type: "created_user",
      user_id: body.user.id,
      user_name: "Bo",
      user_email: "bo@example.com",
    });
  });

  it("refuses invalid users, and creates nothing", async () => {
    const t = await startApp({ engine });
    const cases: [string, object, number, string | undefined, number | undefined][] = [
      ["no role", { global_role: undefined }, 422, undefined, 1],
      ["null and no teams", { global_role: null, teams: [] }, 422, undefined, 1],
      ["an unknown role", { global_role: "root" }, 422, undefined, 1],
      ["an inherited word as role", { global_role: "constructor" }, 422, undefined, 1],
      ["both kinds of role", { teams: [{ id: 1, role: "observer" }] }, 422, undefined, 1],
      ["gitops that signs in by hand", { global_role: "gitops" }, 422, undefined, 4],
      [
        "an unknown team",
        { global_role: undefined, teams: [{ id: 99, role: "observer" }] },
        422,
        "teams.id",
        undefined,
      ],
      ["no password", { password: undefined }, 422, "password", undefined],
      ["a short password", { password: "short-1" }, 422, "password", undefined],
      ["a password without digit", { password: "no digits in here!" }, 422, "password", undefined],
      ["a password without symbol", { password: "only1letters2here" }, 422, "password", undefined],
      ["a password of 49", { password: `a-1${"x".repeat(46)}` }, 422, "password", undefined],
      ["a password for single sign-on", { sso_enabled: true }, 422, "password", undefined],
      ["no email", { email: " " }, 422, "email", undefined],
      ["what is no email", { email: "bo at example" }, 422, "email", undefined],
      ["no name", { name: "" }, 422, "name", undefined],
      ["a script as picture", { gravatar_url: "javascript:alert(1)" }, 422, "gravatar_url", undefined],
      ["the email of another", { email: "ADA@example.com" }, 409, "base", undefined],
      ["multi-factor sign-in without email", { mfa_enabled: true }, 400, "mfa_enabled", undefined],
      ["two ways to prove it", { mfa_enabled: true, sso_enabled: true, password: undefined }, 409, "base", undefined],
    ];
    for (const [what, change, status, field, code] of cases) {
      await expectError(await t.post("/users/admin", { ...fresh, ...change }), status, field, code, what);
      expect(await t.store.users.count(), what).toBe(1);
    }
  });

  it("accepts passwords of 12 and of 48 characters", async () => {
    const t = await startApp({ engine });
    for (const [i, password] of ["aaaaaaaaaa-1", `ü-1${"x".repeat(45)}`].entries()) {
      const email = `bo${i}@example.com`;
      await userIn(await t.post("/users/admin", { ...fresh, email, password }));
      expect((await login(t, email, password)).status).toBe(200);
    }
  });

  it("gives API-only users a token that is valid immediately, unless a reset is required", async () => {
    const t = await startApp({ engine });
    const make = async (email: string, more: object) =>
      (await (await t.post("/users/admin", { ...fresh, email, api_only: true, ...more })).json()) as { token: string };
    const ready = await make("r@example.com", { admin_forced_password_reset: false, global_role: "gitops" });
    const waiting = await make("w@example.com", {});
    expect((await t.as(ready.token).get("/me")).status).toBe(200);
    expect((await errorOf(await t.as(waiting.token).get("/me"))).message).toBe("password reset required");
  });

  it("lists, searches and pages users by the callers' scope", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const boss = await makeUser(t, { [alpha]: "admin" }, { email: "boss@example.com" });
    await makeUser(t, { [alpha]: "observer", [beta]: "maintainer" }, { email: "both@example.com" });
    await makeUser(t, { [beta]: "observer" }, { email: "beta@example.com" });
    await makeUser(t, "observer", { email: "global@example.com" });
    expect(await emailsIn(await t.get("/users"))).toHaveLength(5);
    expect(await emailsIn(await t.get(`/users?team_id=${beta}`))).toEqual(["beta@example.com", "both@example.com"]);
    expect(await emailsIn(await t.get("/users?query=BOTH@"))).toEqual(["both@example.com"]);
    const paged = await (await t.get("/users?per_page=2&page=1&order_key=email&order_direction=desc")).json();
    expect(paged).toMatchObject({
      users: [{ email: "boss@example.com" }, { email: "beta@example.com" }],
      meta: { has_next_results: true, has_previous_results: true },
    });
    const seen = ((await (await boss.get("/users")).json()) as { users: User[] }).users;
    expect(seen.map(({ email }) => email).sort()).toEqual(["boss@example.com", "both@example.com"]);
    // The user's roles on other teams are not shown to this admin.
    expect(seen.flatMap(({ teams }) => teams.map(({ name }) => name))).toEqual(["Alpha", "Alpha"]);
    expect((await boss.get(`/users?team_id=${beta}`)).status).toBe(403);
  });

  it("shows the user itself, with teams and settings", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", { description: "first" });
    await makeTeam(t, "Beta");
    const one = await makeUser(t, { [alpha]: "observer" });
    expect(await (await one.get("/me?include_ui_settings=true")).json()).toMatchObject({
      user: { id: one.user.id, global_role: null, teams: [{ id: alpha, name: "Alpha", role: "observer" }] },
      available_teams: [{ id: alpha, name: "Alpha", description: "first" }],
      settings: { hidden_host_columns: [] },
    });
    expect(await (await one.get("/me")).json()).not.toHaveProperty("settings");
    const settings = { hidden_host_columns: ["uuid"] };
    expect((await one.patch(`/users/${one.user.id}`, { settings })).status).toBe(200);
    expect(await (await one.get(`/users/${one.user.id}?include_ui_settings=1`)).json()).toMatchObject({ settings });
    expect(await (await t.get("/me")).json()).toMatchObject({ available_teams: [{ name: "Alpha" }, { name: "Beta" }] });
  });

  it("separates users from each other, and for team admins others' users do not exist", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const other = await makeUser(t, { [beta]: "observer" });
    const shared = await makeUser(t, { [alpha]: "observer", [beta]: "observer" });
    const boss = await makeUser(t, { [alpha]: "admin" });
    for (const role of ["maintainer", "observer", "observer_plus", "gitops", "technician"] as const)
      for (const person of [await makeUser(t, role), await makeUser(t, { [alpha]: role })])
        for (const id of [other.user.id, 999]) {
          expect((await person.get(`/users/${id}`)).status).toBe(403);
          expect((await person.patch(`/users/${id}`, { name: "x" })).status).toBe(403);
          expect((await person.delete(`/users/${id}`)).status).toBe(403);
          expect((await person.post(`/users/${id}/require_password_reset`, { require: true })).status).toBe(403);
          expect((await person.get("/users")).status).toBe(403);
          expect((await person.post("/users/admin", fresh)).status).toBe(403);
        }
    for (const id of [1, other.user.id, 999]) {
      expect((await boss.get(`/users/${id}`)).status).toBe(404);
      expect((await boss.patch(`/users/${id}`, { name: "x" })).status).toBe(404);
      expect((await boss.delete(`/users/${id}`)).status).toBe(404);
      expect((await boss.post(`/users/${id}/require_password_reset`, { require: true })).status).toBe(404);
    }
    // A user of two teams is visible to each team's admin, but managed by neither alone.
    expect((await boss.get(`/users/${shared.user.id}`)).status).toBe(200);
    expect((await boss.patch(`/users/${shared.user.id}`, { name: "x" })).status).toBe(403);
    expect((await boss.patch(`/users/${shared.user.id}`, { new_password: "taken-Over-2-day" })).status).toBe(403);
    expect((await boss.delete(`/users/${shared.user.id}`)).status).toBe(403);
    expect((await boss.post(`/users/${shared.user.id}/require_password_reset`, { require: true })).status).toBe(403);
  });

  it("lets team admins manage their own team's users, and assign roles nowhere else", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const boss = await makeUser(t, { [alpha]: "admin" });
    const teams = (...given: [number, string][]) => ({
      global_role: undefined,
      teams: given.map(([id, role]) => ({ id, role })),
    });
    const made = await userIn(await boss.post("/users/admin", { ...fresh, ...teams([alpha, "observer"]) }));
    expect(made.teams).toMatchObject([{ id: alpha, role: "observer" }]);
    const email = "other@example.com";
    expect((await boss.post("/users/admin", { ...fresh, email })).status).toBe(403);
    expect((await boss.post("/users/admin", { ...fresh, email, ...teams([beta, "observer"]) })).status).toBe(403);
    expect((await boss.post("/users/admin", { ...fresh, email, ...teams([999, "observer"]) })).status).toBe(403);
    for (const change of [
      teams([alpha, "observer"], [beta, "admin"]),
      { global_role: "observer" },
      { global_role: "admin" },
    ]) {
      expect((await boss.patch(`/users/${made.id}`, change)).status).toBe(403);
      expect((await boss.patch(`/users/${boss.user.id}`, change)).status).toBe(403);
    }
    const changed = await userIn(
      await boss.patch(`/users/${made.id}`, { name: "Bob", teams: [{ id: alpha, role: "maintainer" }] }),
    );
    expect(changed).toMatchObject({ name: "Bob", teams: [{ role: "maintainer" }] });
    // The list of a user's teams does not affect teams that the caller cannot see.
    await t.patch(`/users/${made.id}`, {
      teams: [
        { id: alpha, role: "maintainer" },
        { id: beta, role: "observer" },
      ],
    });
    await userIn(await boss.patch(`/users/${made.id}`, { teams: [{ id: alpha, role: "observer" }] }));
    expect((await userIn(await t.get(`/users/${made.id}`))).teams).toMatchObject([
      { id: alpha, role: "observer" },
      { id: beta, role: "observer" },
    ]);
    await userIn(await t.patch(`/users/${made.id}`, { teams: [{ id: alpha, role: "observer" }] }));
    expect((await boss.delete(`/users/${made.id}`)).status).toBe(200);
    expect((await t.get(`/users/${made.id}`)).status).toBe(404);
  });

  it("does not reveal a shared user's role on a team whose users the caller may not see", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const boss = await makeUser(t, { [alpha]: "admin", [beta]: "observer" });
    const email = "shared@example.com";
    const { user } = await makeUser(t, { [alpha]: "observer", [beta]: "admin" }, { email });
    const answers = new Set<string>();
    for (const role of ["admin", "observer", "maintainer"]) {
      const replies = [
        await boss.patch(`/users/${user.id}`, {
          teams: [
            { id: alpha, role: "observer" },
            { id: beta, role },
          ],
        }),
        await boss.post("/users/roles/spec", {
          spec: {
            roles: {
              [email]: {
                global_role: null,
                teams: [
                  { team: "Alpha", role: "observer" },
                  { team: "Beta", role },
                ],
              },
            },
          },
        }),
      ];
      for (const reply of replies) {
        const { uuid, ...body } = (await reply.json()) as { uuid?: string };
        answers.add(`${reply.status} ${JSON.stringify(body)}`);
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(/^403 /)]);
    expect((await boss.patch(`/users/${user.id}`, { teams: [{ id: alpha, role: "maintainer" }] })).status).toBe(200);
    // Users see all of their own roles, so they may repeat them.
    const own = [
      { id: alpha, role: "admin" },
      { id: beta, role: "observer" },
    ];
    expect((await boss.patch(`/users/${boss.user.id}`, { name: "Boss", teams: own })).status).toBe(200);
  });

  it("lets no user increase their own rights, whatever the body contains", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const one = await makeUser(t, { [alpha]: "observer" });
    const path = `/users/${one.user.id}`;
    expect((await one.patch(path, { global_role: "admin" })).status).toBe(403);
    expect((await one.patch(path, { teams: [{ id: alpha, role: "admin" }] })).status).toBe(403);
    expect((await one.patch(path, { teams: [{ id: beta, role: "observer" }] })).status).toBe(403);
    expect((await one.patch(path, { sso_enabled: true })).status).toBe(403);
    expect((await one.request("PATCH", path, '{"__proto__":{"global_role":"admin"},"name":"x"}')).status).toBe(400);
    for (const unknown of [
      '{"constructor":{"prototype":{"global_role":"admin"}}}',
      '{"password_hash":"x"}',
      '{"revision":9}',
    ])
      expect((await one.request("PATCH", path, unknown)).status).toBe(400);
    expect((await one.patch(path, { position: "p" })).status).toBe(200);
    const changed = await userIn(
      await one.patch(path, {
        id: 1,
        enabled: false,
        api_only: false,
        force_password_reset: true,
        created_at: "x",
        name: "New",
      }),
    );
    expect(changed).toEqual({ ...one.user, name: "New", position: "p", updated_at: changed.updated_at });
    // The current role may be sent back.
    const same = { global_role: null, teams: [{ id: alpha, role: "observer" }] };
    expect((await userIn(await one.patch(path, { ...changed, ...same }))).teams).toMatchObject([{ role: "observer" }]);
    expect((await one.get("/me")).status).toBe(200);
  });

  it("requires the current password to change one's own email or password", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const path = `/users/${one.user.id}`;
    for (const change of [{ email: "new@example.com" }, { new_password: "another-Password-7" }]) {
      await expectError(await one.patch(path, change), 422, "password");
      const wrong = await one.patch(path, { ...change, password: "wrong-Password-77" });
      expect([wrong.status, (await errorOf(wrong)).message]).toEqual([403, "Permission Denied"]);
    }
    await expectError(await one.patch(path, { password: PASSWORD, new_password: PASSWORD }), 422, "new_password");
    await expectError(await one.patch(path, { password: PASSWORD, new_password: "weak" }), 422, "new_password");
    await expectError(await one.patch(path, { password: PASSWORD, email: "ada@example.com" }), 409, "base");
    const changed = await userIn(
      await one.patch(path, { password: PASSWORD, email: "New@example.com", new_password: "another-Password-7" }),
    );
    expect(changed.email).toBe("new@example.com");
    expect((await login(t, "new@example.com", "another-Password-7")).status).toBe(200);
    expect((await login(t, "new@example.com", PASSWORD)).status).toBe(401);
  });

  it("limits guesses of the current password to ten", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const guess = () =>
      one.post("/change_password", { old_password: "wrong-Password-77", new_password: "another-Password-7" });
    const statuses = (await Promise.all(Array.from({ length: 12 }, guess))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    t.clock.advance(60_000);
    expect((await guess()).status).toBe(422);
  });

  it("changes one's own password, and ends only the other sessions", async () => {
    const t = await startApp({ engine });
    const other = (await (await login(t, ADMIN.email, ADMIN.password)).json()) as { token: string };
    const body = { old_password: ADMIN.password, new_password: PASSWORD };
    expect(await (await t.post("/change_password", { ...body, old_password: "no" })).json()).toMatchObject({
      message: "Validation Failed",
      errors: [{ name: "old_password", reason: "old password does not match" }],
    });
    await expectError(await t.post("/change_password", { ...body, new_password: "weak" }), 422, "new_password");
    await expectError(await t.post("/change_password", { ...body, new_password: ADMIN.password }), 422, "new_password");
    expect((await t.as(other.token).get("/me")).status).toBe(200);
    expect((await t.post("/change_password", body)).status).toBe(200);
    expect((await t.as(other.token).get("/me")).status).toBe(401);
    expect((await t.get("/me")).status).toBe(200);
    expect((await login(t, ADMIN.email, PASSWORD)).status).toBe(200);
  });

  it("allows only the reset and the logout while a reset is required, and then everything", async () => {
    const t = await startApp({ engine });
    const made = await userIn(await t.post("/users/admin", fresh));
    const { token } = (await (await login(t, fresh.email, PASSWORD)).json()) as { token: string };
    const bo = t.as(token);
    for (const response of [
      await bo.get("/me"),
      await bo.get("/hosts"),
      await bo.patch(`/users/${made.id}`, { name: "x" }),
      await bo.post("/change_password", { old_password: PASSWORD, new_password: "another-Password-7" }),
    ])
      expect([response.status, (await errorOf(response)).message]).toEqual([401, "password reset required"]);
    await expectError(await bo.post("/perform_required_password_reset", { new_password: "weak" }), 422, "new_password");
    await expectError(
      await bo.post("/perform_required_password_reset", { new_password: PASSWORD }),
      422,
      "new_password",
    );
    const done = await userIn(
      await bo.post("/perform_required_password_reset", { new_password: "another-Password-7" }),
    );
    expect(done.force_password_reset).toBe(false);
    expect((await bo.get("/me")).status).toBe(200);
    const again = await bo.post("/perform_required_password_reset", { new_password: "third-Password-7" });
    expect([again.status, (await errorOf(again)).message]).toEqual([403, "Permission Denied"]);
    await t.post(`/users/${made.id}/require_password_reset`, { require: true });
    const next = (await (await login(t, fresh.email, "another-Password-7")).json()) as { token: string };
    expect((await t.as(next.token).post("/logout")).status).toBe(200);
    expect((await t.as(null).post("/perform_required_password_reset", { new_password: "x" })).status).toBe(401);
  });

  it("requires a reset, which ends the user's sessions and tokens", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const path = `/users/${one.user.id}/require_password_reset`;
    expect((await userIn(await t.post(path, { require: true }))).force_password_reset).toBe(true);
    expect((await one.get("/me")).status).toBe(401);
    const { token } = (await (await login(t, one.user.email, PASSWORD)).json()) as { token: string };
    expect((await t.as(token).get("/me")).status).toBe(401);
    expect((await userIn(await t.post(path, { require: false }))).force_password_reset).toBe(false);
    expect((await t.as(token).get("/me")).status).toBe(200);
    expect((await t.post("/users/999/require_password_reset", { require: true })).status).toBe(404);
    await expectError(await t.post(path, {}), 422, "require");
  });

  it("lets an admin turn single sign-on on and off, with a new password", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const path = `/users/${one.user.id}`;
    await expectError(await t.patch(path, { sso_enabled: true, mfa_enabled: true }), 409, "base");
    await expectError(await t.patch(path, { mfa_enabled: true }), 400, "mfa_enabled");
    await expectError(
      await t.patch(path, { sso_enabled: true, new_password: "another-Password-7" }),
      422,
      "new_password",
    );
    expect(await userIn(await t.patch(path, { sso_enabled: true }))).toMatchObject({ sso_enabled: true });
    expect((await login(t, one.user.email, PASSWORD)).status).toBe(401);
    await expectError(await t.post(`${path}/require_password_reset`, { require: true }), 422, "require");
    await expectError(await t.patch(path, { sso_enabled: false }), 422, "new_password");
    await userIn(await t.patch(path, { sso_enabled: false, new_password: "another-Password-7" }));
    expect((await login(t, one.user.email, "another-Password-7")).status).toBe(200);
    await expectError(await t.patch("/users/1", { sso_enabled: true }), 422, "password");
  });

  it("records each role that changes, and signs the user out", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const more = { name: "Una", email: "una@example.com" };
    const one = await makePerson(t, "observer", more);
    const path = `/users/${one.user.id}`;
    const changes = [
      { global_role: "maintainer" },
      {
        global_role: null,
        teams: [
          { id: alpha, role: "observer" },
          { id: beta, role: "admin" },
        ],
      },
      { teams: [{ id: beta, role: "maintainer" }] },
      { global_role: "observer" },
      { global_role: "observer", teams: [] },
    ];
    await userIn(await t.patch(path, changes[0]!));
    expect((await one.get("/me")).status).toBe(401);
    for (const change of changes.slice(1)) await userIn(await t.patch(path, change));
    const who = { user_id: one.user.id, user_name: "Una", user_email: "una@example.com" };
    const onAlpha = { ...who, team_id: alpha, team_name: "Alpha" };
    const onBeta = { ...who, team_id: beta, team_name: "Beta" };
    expect(
      await activitiesOf(
        t,
        "changed_user_global_role",
        "deleted_user_global_role",
        "changed_user_team_role",
        "deleted_user_team_role",
      ),
    ).toEqual([
      { type: "changed_user_global_role", ...who, role: "maintainer" },
      { type: "deleted_user_global_role", ...who, role: "maintainer" },
      { type: "changed_user_team_role", ...onAlpha, role: "observer" },
      { type: "changed_user_team_role", ...onBeta, role: "admin" },
      { type: "deleted_user_team_role", ...onAlpha, role: "observer" },
      { type: "changed_user_team_role", ...onBeta, role: "maintainer" },
      { type: "changed_user_global_role", ...who, role: "observer" },
      { type: "deleted_user_team_role", ...onBeta, role: "maintainer" },
    ]);
    await expectError(await t.patch(path, { global_role: null }), 422, undefined, 1);
    await expectError(
      await t.patch(path, { global_role: "admin", teams: [{ id: alpha, role: "observer" }] }),
      422,
      undefined,
      1,
    );
  });

  it("keeps a last global admin", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    await expectError(await t.patch("/users/1", { global_role: "observer" }), 422, undefined, 2);
    await expectError(await t.patch("/users/1", { teams: [{ id: alpha, role: "admin" }] }), 422, undefined, 2);
    await expectError(await t.delete("/users/1"), 422, undefined, 2);
    const second = await makeUser(t, "admin");
    await userIn(await t.patch("/users/1", { global_role: "observer" }));
    await expectError(await second.delete(`/users/${second.user.id}`), 422, undefined, 2);
    expect((await second.delete("/users/1")).status).toBe(200);
    expect((await t.get("/me")).status).toBe(401);
    expect(await activitiesOf(t, "deleted_user")).toEqual([
      { type: "deleted_user", user_id: 1, user_name: ADMIN.name, user_email: ADMIN.email },
    ]);
  });
});

describe.each(bothEngines)("concurrent changes of users on %s", (engine) => {
  it("accepts one of two users with the same email who are created concurrently", async () => {
    const t = await startApp({ engine });
    const made = await Promise.all(Array.from({ length: 4 }, () => t.post("/users/admin", fresh)));
    expect(made.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await t.store.users.count()).toBe(2);
  });

  it("allows one of the last two admins to be removed, but not both concurrently", async () => {
    const t = await startApp({ engine });
    for (let round = 0; round < 5; round++) {
      const second = await makeUser(t, "admin");
      const path = `/users/${second.user.id}`;
      const [one, two] = await Promise.all([
        t.patch(path, { global_role: "observer" }),
        round % 2 === 0 ? second.patch("/users/1", { global_role: "observer" }) : second.delete("/users/1"),
      ]);
      expect([one.status, two.status].filter((status) => status === 200).length).toBeLessThanOrEqual(1);
      expect(await t.store.users.count({ op: "eq", column: "global_role", value: "admin" })).toBeGreaterThanOrEqual(1);
      if (two.status === 200) break;
    }
  });
});

describe("users on the free tier", () => {
  it("refuses premium roles and teams, and multi-factor sign-in", async () => {
    const t = await startApp({ tier: "free" });
    for (const global_role of ["observer_plus", "technician", "gitops"])
      expect((await t.post("/users/admin", { ...fresh, api_only: true, global_role })).status).toBe(402);
    const teams = [{ id: 1, role: "observer" }];
    expect((await t.post("/users/admin", { ...fresh, global_role: undefined, teams })).status).toBe(402);
    expect((await t.get("/users?team_id=1")).status).toBe(402);
    const made = await userIn(await t.post("/users/admin", { ...fresh, mfa_enabled: true }));
    expect(made.mfa_enabled).toBe(false);
    expect((await t.patch(`/users/${made.id}`, { mfa_enabled: true })).status).toBe(402);
    expect((await t.patch(`/users/${made.id}`, { global_role: "technician" })).status).toBe(402);
    expect(await (await t.get("/me")).json()).toMatchObject({ available_teams: [] });
  });
});
