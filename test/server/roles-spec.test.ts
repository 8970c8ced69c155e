import { describe, expect, it } from "vitest";
import type { User } from "../../src/api/accounts/users.ts";
import { errorOf, makePerson, makeTeam, makeUser } from "../support/accounts.ts";
import { ADMIN, type Caller, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";

const apply = (caller: Caller, roles: object) => caller.post("/users/roles/spec", { spec: { roles } });
async function rolesOf(t: TestApp, id: number) {
  const { user } = (await (await t.get(`/users/${id}`)).json()) as { user: User };
  return user.global_role ?? Object.fromEntries(user.teams.map(({ name, role }) => [name, role]));
}

describe.each(rulesEngines)("POST /users/roles/spec on %s", (engine) => {
  async function start() {
    const t = await startApp({ engine });
    const [alpha, beta] = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const one = await makePerson(t, "observer");
    return { t, alpha, beta, one, two: await makeUser(t, { [alpha]: "observer" }) };
  }

  it("sets roles of users by email, and signs out those whose roles changed", async () => {
    const { t, one, two } = await start();
    const same = await makeUser(t, "maintainer");
    const reply = await apply(t, {
      [one.user.email.toUpperCase()]: { global_role: null, teams: [{ team: "alpha", role: "maintainer" }] },
      [two.user.email]: { global_role: "gitops", teams: [] },
      [same.user.email]: { global_role: "maintainer" },
    });
    expect(await reply.json()).toEqual({});
    expect(await rolesOf(t, one.user.id)).toEqual({ Alpha: "maintainer" });
    expect(await rolesOf(t, two.user.id)).toBe("gitops");
    expect((await one.get("/me")).status).toBe(401);
    // An API-only user keeps its token.
    expect((await two.get("/me")).status).toBe(200);
    expect((await same.get("/me")).status).toBe(200);
    const feed = await t.store.activities.list({ order: [{ column: "id", direction: "desc" }], limit: 4 });
    expect(feed.map(({ type }) => type).sort()).toEqual([
      "changed_user_global_role",
      "changed_user_team_role",
      "deleted_user_global_role",
      "deleted_user_team_role",
    ]);
  });

  it("replaces all the teams of a user", async () => {
    const { t, two } = await start();
    await apply(t, { [two.user.email]: { teams: [{ team: "Beta", role: "admin" }] } });
    expect(await rolesOf(t, two.user.id)).toEqual({ Beta: "admin" });
  });

  it.each([
    ["a team that is not there", { teams: [{ team: "Gamma", role: "observer" }] }, 400, undefined],
    ["an unknown role", { global_role: "king" }, 422, 1],
    ["no role", { global_role: null, teams: [] }, 422, 1],
    ["both kinds", { global_role: "observer", teams: [{ team: "Alpha", role: "observer" }] }, 422, 1],
    ["a wrong type", { global_role: 7 }, 422, undefined],
  ])("changes no roles if one user gets %s", async (_, bad, status, code) => {
    const { t, one, two } = await start();
    const reply = await apply(t, { [one.user.email]: { global_role: "maintainer" }, [two.user.email]: bad });
    expect(reply.status, await reply.clone().text()).toBe(status);
    expect((await errorOf(reply)).code).toBe(code);
    expect(await rolesOf(t, one.user.id)).toBe("observer");
    expect(await rolesOf(t, two.user.id)).toEqual({ Alpha: "observer" });
    expect((await one.get("/me")).status).toBe(200);
  });

  it("returns 404 for an unknown user, and accepts each only once", async () => {
    const { t, one } = await start();
    const roles = {
      [one.user.email]: { global_role: "maintainer" },
      "nobody@example.com": { global_role: "observer" },
    };
    expect((await apply(t, roles)).status).toBe(404);
    expect(await rolesOf(t, one.user.id)).toBe("observer");
    const twice = {
      [one.user.email]: { global_role: "maintainer" },
      [`${one.user.email} `]: { global_role: "observer" },
    };
    expect((await apply(t, twice)).status).toBe(400);
    expect((await apply(t, {})).status).toBe(200);
  });

  it("keeps one global admin, whoever that is", async () => {
    const { t, one } = await start();
    const reply = await apply(t, { [ADMIN.email]: { global_role: "observer" } });
    expect(reply.status).toBe(422);
    expect((await errorOf(reply)).code).toBe(2);
    const handed = { [ADMIN.email]: { global_role: "observer" }, [one.user.email]: { global_role: "admin" } };
    expect((await apply(t, handed)).status).toBe(200);
    expect(await rolesOf(t, 1).catch(() => "gone")).toBe("observer");
  });

  it("lets team admins change only roles on their teams", async () => {
    const { t, alpha, one, two } = await start();
    const boss = await makeUser(t, { [alpha]: "admin" });
    expect((await apply(boss, { [one.user.email]: { global_role: "admin" } })).status).toBe(404);
    expect((await apply(boss, { [boss.user.email]: { global_role: "admin" } })).status).toBe(403);
    expect((await apply(boss, { [two.user.email]: { teams: [{ team: "Beta", role: "observer" }] } })).status).toBe(403);
    expect((await apply(boss, { [two.user.email]: { teams: [{ team: "Alpha", role: "maintainer" }] } })).status).toBe(
      200,
    );
    expect(await rolesOf(t, two.user.id)).toEqual({ Alpha: "maintainer" });
    expect(await rolesOf(t, boss.user.id)).toEqual({ Alpha: "admin" });
  });
});
