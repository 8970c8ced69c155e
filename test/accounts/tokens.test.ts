import { describe, expect, it } from "vitest";
import type { ApiToken } from "../../src/api/accounts/tokens.ts";
import { allEndpoints } from "../../src/api/all.ts";
import { namesEndpoint } from "../../src/api/endpoint-patterns.ts";
import { hostActionsApi } from "../../src/api/hosts/host-actions.ts";
import { labelsApi } from "../../src/api/hosts/labels.ts";
import { hostDetailsApi } from "../../src/api/inventory/host-details.ts";
import { hostsApi } from "../../src/api/inventory/hosts.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { days, hours } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { errorOf, login, makePerson, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, type Caller, startApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";

type CreatedToken = ApiToken & { token: string };

async function make(caller: Caller, body: object = {}): Promise<CreatedToken> {
  const response = await caller.post("/tokens", { name: "ci", ...body });
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as CreatedToken;
}
const listed = async (caller: Caller, query = "") =>
  ((await (await caller.get(`/tokens${query}`)).json()) as { tokens: ApiToken[] }).tokens;

describe.each(rulesEngines)("API tokens on %s", (engine) => {
  it("are created with a name and an expiry time, shown once, listed and deleted", async () => {
    const t = await startApp({ engine });
    const made = await make(t);
    expect(Buffer.from(made.token, "base64url")).toHaveLength(32);
    expect(made).toMatchObject({ name: "ci", endpoints: null, created_at: t.clock.iso() });
    expect(Date.parse(made.expires_at)).toBe(t.clock.now() + days(90));
    const { token, ...rest } = made;
    expect(await listed(t)).toEqual([rest]);
    const me = (await (await t.as(token).get("/me")).json()) as { user: { email: string }; token: object };
    expect(me.user.email).toBe(ADMIN.email);
    expect(me.token).toEqual({ name: "ci", endpoints: null });
    expect(await (await t.get("/me")).json()).not.toHaveProperty("token");
    expect(JSON.stringify(await t.store.sessions.list())).not.toContain(token);

    expect(await (await t.delete(`/tokens/${made.id}`)).json()).toEqual({});
    expect((await t.as(token).get("/me")).status).toBe(401);
    expect(await listed(t)).toEqual([]);
    expect((await t.delete(`/tokens/${made.id}`)).status).toBe(404);
    const feed = await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] });
    expect(feed.map(({ type }) => type).filter((type) => type.includes("token"))).toEqual([
      "created_api_token",
      "deleted_api_token",
    ]);
    expect(JSON.stringify(feed)).not.toContain(token);
  });

  it("expire at the given time, used or not, and their rows are deleted", async () => {
    const t = await startApp({ engine });
    const robot = await makeUser(t, "observer");
    const short = await make(robot, { name: "short", expires_in: "36h" });
    const long = await make(robot, { name: "long", expires_at: "2027-03-01T00:00:00+01:00" });
    expect(long.expires_at).toBe("2027-02-28T23:00:00.000Z");
    expect((await make(robot, { name: "number", expires_in: 3600 })).expires_at).toBe("2026-03-01T13:00:00.000Z");
    t.clock.advance(hours(36) - 1);
    expect((await t.as(short.token).get("/me")).status).toBe(200);
    t.clock.advance(1);
    expect((await t.as(short.token).get("/me")).status).toBe(401);
    expect((await listed(robot)).map(({ name }) => name)).toEqual(["long"]);
    await runJob(t.services, "session_cleanup");
    expect((await t.store.sessions.list({ where: eq("kind", "token") })).map(({ name }) => name)).toEqual(["long"]);
    // Unlike sessions, they do not expire without use.
    t.clock.advance(days(200));
    expect((await t.as(long.token).get("/me")).status).toBe(200);
    expect((await robot.get("/me")).status).toBe(200);
  });

  it.each([
    ["no name", {}, "name"],
    ["a blank name", { name: "  " }, "name"],
    ["a name that is too long", { name: "n".repeat(101) }, "name"],
    ["more than two years", { name: "x", expires_in: "731d" }, "expires_in"],
    ["an end in the past", { name: "x", expires_at: "2026-02-28T00:00:00Z" }, "expires_at"],
    ["an end beyond two years", { name: "x", expires_at: "2028-03-02T00:00:00Z" }, "expires_at"],
    ["both ends", { name: "x", expires_at: "2026-05-01T00:00:00Z", expires_in: "1d" }, "expires_in"],
    ["no duration", { name: "x", expires_in: "soon" }, "expires_in"],
    ["no time at all", { name: "x", expires_in: "0s" }, "expires_in"],
    ["a time without an instant", { name: "x", expires_at: "tomorrow" }, "expires_at"],
    ["no endpoints", { name: "x", endpoints: [] }, "endpoints"],
    ["an endpoint that is none", { name: "x", endpoints: ["GET /hosts", "GET /nothing"] }, "endpoints.1"],
    ["another method", { name: "x", endpoints: ["PUT /hosts"] }, "endpoints.0"],
    ["a path alone", { name: "x", endpoints: ["/hosts"] }, "endpoints.0"],
    ["text", { name: "x", endpoints: ["GET /hosts; DROP TABLE"] }, "endpoints.0"],
  ])("refuse %s", async (_, body, field) => {
    const t = await startApp({ engine });
    const response = await t.post("/tokens", body);
    expect(response.status).toBe(422);
    expect((await errorOf(response)).errors![0]!.name).toBe(field);
    expect(await t.store.sessions.count(eq("kind", "token"))).toBe(0);
  });

  it("that are limited to endpoints can call only those", async () => {
    const t = await startApp({ engine });
    const { token, endpoints } = await make(t, {
      endpoints: ["get  /api/v1/svc/hosts", "POST /spec/*", "GET /hosts/:id"],
    });
    expect(endpoints).toEqual(["GET /hosts", "POST /spec/*", "GET /hosts/:id"]);
    const limited = t.as(token);
    expect((await limited.get("/hosts")).status).toBe(200);
    expect((await limited.get("/api/latest/svc/hosts")).status).toBe(200);
    expect((await limited.get("/hosts/7")).status).toBe(404);
    expect((await limited.post("/spec/labels", { specs: [] })).status).toBe(200);
    expect((await limited.get("/me")).status).toBe(200);
    for (const [method, path] of [
      ["GET", "/hosts/count"],
      ["DELETE", "/hosts/7"],
      ["GET", "/spec/labels"],
      ["GET", "/tokens"],
      ["GET", "/config"],
      ["PATCH", "/users/1"],
    ] as const) {
      const refused = await limited.request(method, path, method === "PATCH" ? {} : undefined);
      expect(refused.status, path).toBe(403);
      expect(await refused.clone().json()).toMatchObject({ message: "forbidden", allowed_endpoints: endpoints });
      const { errors } = await errorOf(refused);
      expect(errors![0]!.reason).toContain("it is limited to GET /hosts, POST /spec/*, GET /hosts/:id");
    }
    expect((await limited.post("/logout")).status).toBe(200);
    expect((await limited.get("/me")).status).toBe(401);
  });

  it("cannot create tokens, end others, or change sign-in settings", async () => {
    const t = await startApp({ engine });
    const one = await make(t);
    const two = await make(t, { name: "two" });
    const by = t.as(one.token);
    const session = (await t.store.sessions.first({ where: eq("kind", "session") }))!;
    for (const [method, path, body] of [
      ["POST", "/tokens", { name: "three" }],
      ["DELETE", `/tokens/${two.id}`, undefined],
      ["DELETE", `/sessions/${two.id}`, undefined],
      ["DELETE", `/sessions/${session.id}`, undefined],
      ["DELETE", "/users/1/sessions", undefined],
      ["POST", "/change_password", { old_password: ADMIN.password, new_password: PASSWORD }],
      ["PATCH", "/users/1", { password: ADMIN.password, new_password: PASSWORD }],
      ["PATCH", "/users/1", { password: ADMIN.password, email: "new@example.com" }],
    ] as const) {
      const refused = await by.request(method, path, body);
      expect(refused.status, `${method} ${path}`).toBe(403);
    }
    expect(await t.store.sessions.count()).toBe(3);
    expect((await login(t, ADMIN.email, ADMIN.password)).status).toBe(200);
    // The session may end itself.
    expect((await by.delete(`/sessions/${one.id}`)).status).toBe(200);
    expect((await by.get("/me")).status).toBe(401);
  });

  it("have unique names, and there are at most a hundred", async () => {
    const t = await startApp({ engine });
    await make(t, { expires_in: "1h" });
    const again = await t.post("/tokens", { name: "ci" });
    expect(again.status).toBe(409);
    t.clock.advance(hours(1));
    await make(t);
    const user_id = 1;
    const row = { user_id, kind: "token", created_at: t.clock.iso(), accessed_at: t.clock.iso() } as const;
    await t.store.sessions.insertMany(
      Array.from({ length: 99 }, (_, i) => ({ ...row, name: `n${i}`, token_hash: `h${i}` })),
    );
    expect((await t.post("/tokens", { name: "one too many" })).status).toBe(409);
  });

  it("of others are created, listed and deleted by users who manage them, and only for API-only users", async () => {
    const t = await startApp({ engine });
    const [alpha, beta] = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const boss = await makeUser(t, { [alpha]: "admin" });
    const robot = await makeUser(t, { [alpha]: "gitops" });
    const foreign = await makeUser(t, { [beta]: "gitops" });
    const person = await makeUser(t, { [alpha]: "observer" }, { api_only: false });
    const made = await make(boss, { user_id: robot.user.id, endpoints: ["GET /me"] });
    expect(made.user_id).toBe(robot.user.id);
    const me = (await (await t.as(made.token).get("/me")).json()) as { user: { id: number } };
    expect(me.user.id).toBe(robot.user.id);
    expect((await errorOf(await boss.post("/tokens", { name: "x", user_id: person.user.id }))).errors![0]!.name).toBe(
      "user_id",
    );
    expect((await boss.post("/tokens", { name: "x", user_id: foreign.user.id })).status).toBe(404);
    expect((await boss.get(`/tokens?user_id=${foreign.user.id}`)).status).toBe(404);
    expect((await robot.get(`/tokens?user_id=${boss.user.id}`)).status).toBe(403);
    expect((await robot.post("/tokens", { name: "x", user_id: boss.user.id })).status).toBe(403);
    expect((await t.post("/tokens", { name: "x", user_id: 999 })).status).toBe(404);
    expect((await listed(boss, `?user_id=${robot.user.id}`)).map(({ id }) => id)).toEqual([made.id]);
    expect((await listed(t, `?user_id=${robot.user.id}`)).map(({ id }) => id)).toEqual([made.id]);
    expect((await foreign.delete(`/tokens/${made.id}`)).status).toBe(404);
    expect((await boss.delete(`/tokens/${made.id}`)).status).toBe(200);
    // A session is not a token here.
    const session = (await t.store.sessions.first({ where: eq("user_id", robot.user.id) }))!;
    expect((await t.delete(`/tokens/${session.id}`)).status).toBe(404);
  });

  it("are deleted with their user, and by a change of password, role, or a required reset", async () => {
    const t = await startApp({ engine });
    const tokens: CreatedToken[] = [];
    const people = [];
    for (let i = 0; i < 4; i++) {
      const person = await makePerson(t, "maintainer");
      people.push(person);
      tokens.push(await make(person));
    }
    const alive = async (i: number) => (await t.as(tokens[i]!.token).get("/me")).status === 200;
    expect((await t.delete(`/users/${people[0]!.user.id}`)).status).toBe(200);
    expect(await alive(0)).toBe(false);
    expect(await t.store.sessions.count(eq("user_id", people[0]!.user.id))).toBe(0);
    const changed = { old_password: PASSWORD, new_password: "another-Good-42-one" };
    expect((await people[1]!.post("/change_password", changed)).status).toBe(200);
    expect(await alive(1)).toBe(false);
    expect((await people[1]!.get("/me")).status).toBe(200);
    expect((await t.patch(`/users/${people[2]!.user.id}`, { global_role: "observer" })).status).toBe(200);
    expect(await alive(2)).toBe(false);
    expect((await t.post(`/users/${people[3]!.user.id}/require_password_reset`, { require: true })).status).toBe(200);
    expect(await alive(3)).toBe(false);
  });

  it("of an API-only user survive a change of its role, which determines their rights immediately", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const beta = await makeTeam(t, "Beta");
    const robot = await makeUser(t, { [alpha]: "observer" });
    const { id, email } = robot.user;
    const named = t.as((await make(robot)).token);
    const mayOn = async (team: number) => {
      const statuses = [];
      for (const by of [robot, named])
        statuses.push(
          (await by.post("/queries", { name: `q ${Math.random()}`, query: "SELECT 1", team_id: team })).status,
        );
      return statuses;
    };
    expect(await mayOn(alpha)).toEqual([403, 403]);
    expect((await t.patch(`/teams/${alpha}/users`, { users: [{ id, role: "gitops" }] })).status).toBe(200);
    expect(await mayOn(alpha)).toEqual([200, 200]);
    const teams = [{ id: beta, role: "gitops" }];
    expect((await t.patch(`/users/${id}`, { teams })).status).toBe(200);
    expect([await mayOn(alpha), await mayOn(beta)]).toEqual([
      [403, 403],
      [200, 200],
    ]);
    const spec = { roles: { [email]: { global_role: "gitops" } } };
    expect((await t.post("/users/roles/spec", { spec })).status).toBe(200);
    expect(await mayOn(alpha)).toEqual([200, 200]);
    expect((await t.patch(`/users/${id}`, { global_role: null, teams })).status).toBe(200);
    expect((await t.delete(`/teams/${beta}`)).status).toBe(200);
    expect(await mayOn(alpha)).toEqual([403, 403]);
    for (const by of [robot, named]) expect((await by.get("/me")).status).toBe(200);
  });

  it("of a user who must choose a new password are refused like sessions", async () => {
    const t = await startApp({ engine });
    const robot = await makeUser(t, "maintainer");
    const { token } = await make(robot);
    await t.store.users.update({ where: eq("id", robot.user.id), set: { force_password_reset: true } });
    const refused = await t.as(token).get("/hosts");
    expect(refused.status).toBe(401);
    expect((await errorOf(refused)).message).toBe("password reset required");
  });
});

it("patterns match as documented", () => {
  const named = (pattern: string) =>
    allEndpoints.filter(({ endpoint }) => namesEndpoint(pattern, endpoint)).map(({ endpoint }) => endpoint.path);
  expect(named("GET /hosts")).toEqual(["/hosts"]);
  expect(namesEndpoint("POST /spec/*", labelsApi.applySpecs)).toBe(true);
  expect(namesEndpoint("GET /hosts/*", hostsApi.list)).toBe(false);
  expect(namesEndpoint("GET /hosts/*", hostsApi.get)).toBe(true);
  // What reveals secrets must be named.
  for (const [pattern, named] of [
    ["GET /hosts/*", false],
    ["* /hosts/:id/device_url", false],
    ["GET /hosts/:id/device_url", true],
  ] as const)
    expect(namesEndpoint(pattern, hostDetailsApi.deviceUrl), pattern).toBe(named);
  expect(namesEndpoint("POST /hosts/:any/wipe", hostActionsApi.wipe)).toBe(true);
  expect(namesEndpoint("POST /hosts/*/wipe", hostActionsApi.wipe)).toBe(true);
  // A number is not a parameter: an endpoint is allowed completely or not at all.
  expect(namesEndpoint("POST /hosts/7/wipe", hostActionsApi.wipe)).toBe(false);
  expect(named("* /*")).toHaveLength(allEndpoints.filter(({ endpoint }) => !endpoint.reveals).length);
  expect(named("GET /*").length).toBeLessThan(allEndpoints.length);
});
