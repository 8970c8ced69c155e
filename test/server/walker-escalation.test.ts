// What the matrix of roles cannot test: batches with one object of another team, unknown fields, and ways to more
// rights than one's role.
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { ServerStore } from "../../src/server/platform/core/tables.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { type MadeUser, makeHost, makeLabel, makePolicy, makeTeam, makeUser } from "../support/make.ts";

describe.each(rulesEngines)("on %s", (engine) => {
  let t: TestApp;
  let own: number;
  let other: number;
  let boss: MadeUser;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    return () => t.close();
  });
  beforeEach(async () => {
    own = (await makeTeam(t)).id;
    other = (await makeTeam(t)).id;
    boss = await makeUser(t, { teams: [{ id: own, role: "admin" }] });
  });

  const teamName = async (id: number) => (await t.store.teams.get(id))!.name;
  const query = async (team_id: number | null) => {
    const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    return t.store.queries.insert({ ...at, name: `q ${Math.random()}`, query: "SELECT 1", team_id });
  };
  const policy = async (team_id: number) => makePolicy(t, { scope: "team", team_id });
  const user = async (team: number) => makeUser(t, { teams: [{ id: team, role: "observer" }] });

  /** Everything in the store except what every call changes: sessions' last use. */
  async function state(store: ServerStore): Promise<string> {
    const parts: unknown[] = [];
    for (const name of [
      "hosts",
      "queries",
      "policies",
      "users",
      "userTeams",
      "labels",
      "labelMembers",
      "teams",
      "certificateTemplates",
      "enrollSecrets",
    ] as const)
      parts.push(name, await store[name].list());
    // Entries are added to their chain shortly after: that does not change their content.
    parts.push((await store.activities.list()).map(({ id, type, details }) => ({ id, type, details })));
    return JSON.stringify(parts);
  }

  describe("a batch with one object of another team changes nothing", () => {
    const batches: Record<string, () => Promise<{ method?: string; path: string; body: object }>> = {
      "POST /hosts/delete": async () => ({
        path: "/hosts/delete",
        body: { ids: [(await makeHost(t, { team_id: own })).id, (await makeHost(t, { team_id: other })).id] },
      }),
      ...Object.fromEntries(
        ["refetch", "lock", "unlock", "wipe", "labels"].map((action) => [
          `POST /hosts/${action}`,
          async () => {
            const ids = [(await makeHost(t, { team_id: own })).id, (await makeHost(t, { team_id: other })).id];
            if (action !== "labels") return { path: `/hosts/${action}`, body: { ids } };
            const name = `label of ${ids}`;
            await t.post("/labels", { name, hosts: [] });
            return { path: "/hosts/labels", body: { ids, add: [name] } };
          },
        ]),
      ),
      "POST /hosts/transfer": async () => ({
        path: "/hosts/transfer",
        body: {
          team_id: own,
          hosts: [(await makeHost(t, { team_id: own })).id, (await makeHost(t, { team_id: other })).id],
        },
      }),
      "POST /hosts/transfer to another team": async () => ({
        path: "/hosts/transfer",
        body: { team_id: other, hosts: [(await makeHost(t, { team_id: own })).id] },
      }),
      "POST /hosts/transfer of hosts without a team": async () => ({
        path: "/hosts/transfer",
        body: { team_id: own, hosts: [(await makeHost(t, { team_id: own })).id, (await makeHost(t)).id] },
      }),
      "POST /queries/delete": async () => ({
        path: "/queries/delete",
        body: { ids: [(await query(own)).id, (await query(other)).id] },
      }),
      "POST /queries/delete of a global one": async () => ({
        path: "/queries/delete",
        body: { ids: [(await query(own)).id, (await query(null)).id] },
      }),
      "POST /teams/:team_id/policies/delete": async () => ({
        path: `/teams/${own}/policies/delete`,
        body: { ids: [(await policy(own)).id, (await policy(other)).id] },
      }),
      "POST /automations/reset": async () => ({
        path: "/automations/reset",
        body: { policy_ids: [(await policy(own)).id, (await policy(other)).id] },
      }),
      "POST /spec/policies": async () => ({
        path: "/spec/policies",
        body: {
          specs: [
            { name: "mine", query: "SELECT 1", team: await teamName(own) },
            { name: "theirs", query: "SELECT 1", team: await teamName(other) },
          ],
        },
      }),
      "POST /spec/queries": async () => ({
        path: "/spec/queries",
        body: {
          specs: [
            { name: "mine", query: "SELECT 1", team: await teamName(own) },
            { name: "everyone's", query: "SELECT 1" },
          ],
        },
      }),
      "POST /users/roles/spec": async () => {
        const [mine, theirs] = [await user(own), await user(other)];
        const email = async (id: number) => (await t.store.users.get(id))!.email;
        const teams = [{ team: await teamName(own), role: "maintainer" }];
        return {
          path: "/users/roles/spec",
          body: { spec: { roles: { [await email(mine.id)]: { teams }, [await email(theirs.id)]: { teams } } } },
        };
      },
      "POST /users/admin": async () => ({
        path: "/users/admin",
        body: {
          name: "X",
          email: `x${Math.random()}@example.com`,
          password: "a-good-passw0rd!",
          teams: [
            { id: own, role: "observer" },
            { id: other, role: "observer" },
          ],
        },
      }),
      "PATCH /users/:id": async () => ({
        method: "PATCH",
        path: `/users/${(await user(own)).id}`,
        body: {
          name: "Renamed",
          teams: [
            { id: own, role: "maintainer" },
            { id: other, role: "observer" },
          ],
        },
      }),
      "POST /hosts/:id/labels": async () => {
        const host = await makeHost(t, { team_id: own });
        const [one, two] = [`l ${Math.random()}`, `l ${Math.random()}`];
        await t.post("/labels", { name: one, hosts: [] });
        await makeLabel(t, two);
        return { path: `/hosts/${host.id}/labels`, body: { labels: [one, two] } };
      },
    };

    it.each(Object.keys(batches))("%s", async (name) => {
      const { method = "POST", path, body } = await batches[name]!();
      const before = await state(t.store);
      const refused = await boss.request(method, path, body);
      expect(refused.status, await refused.clone().text()).toBeGreaterThanOrEqual(400);
      expect(refused.status).toBeLessThan(500);
      expect(await state(t.store)).toBe(before);
    });
  });

  describe("read-only fields in a body change nothing", () => {
    const extra = (id: number) => ({
      id: id + 1000,
      team_id: other,
      author_id: 1,
      global_role: "admin",
      created_at: "2000-01-01T00:00:00Z",
      license: { tier: "premium" },
      label_type: "builtin",
      host_count: 99,
      api_only: true,
      force_password_reset: true,
      password_hash: "x",
      constructor: { prototype: { global_role: "admin" } },
    });
    /** The row without the fields that the change may set. */
    const kept = ({ updated_at, revision, description, settings, ...rest }: Record<string, unknown>) => rest;

    it.each(["queries", "policies", "teams", "labels"] as const)("PATCH of %s", async (kind) => {
      const collection = t.store[kind];
      const row =
        kind === "queries"
          ? await query(own)
          : kind === "policies"
            ? await policy(own)
            : kind === "labels"
              ? await makeLabel(t, `l ${Math.random()}`)
              : (await t.store.teams.get(own))!;
      const path = kind === "policies" ? `/teams/${own}/policies/${row.id}` : `/${kind}/${row.id}`;
      const reply = await t.patch(path, { description: "changed", ...extra(row.id) });
      expect([200, 400, 422], await reply.clone().text()).toContain(reply.status);
      const after = (await collection.get(row.id))!;
      expect(kept(after as Record<string, unknown>)).toEqual(kept(row as Record<string, unknown>));
      expect(await collection.get(row.id + 1000)).toBeNull();
    });

    it("PATCH of a user by itself", async () => {
      const me = await makeUser(t, "observer");
      const before = (await t.store.users.get(me.id))!;
      const { global_role, ...rest } = extra(me.id);
      expect((await me.patch(`/users/${me.id}`, { name: "New", global_role })).status).toBe(403);
      expect((await me.patch(`/users/${me.id}`, { name: "New", ...rest })).status).toBe(400);
      expect(await t.store.users.get(me.id)).toEqual(before);
      const reply = await me.patch(`/users/${me.id}`, { name: "New" });
      expect(reply.status, await reply.clone().text()).toBe(200);
      const after = (await t.store.users.get(me.id))!;
      expect(after).toEqual({ ...before, name: "New", updated_at: after.updated_at, revision: after.revision });
    });

    it.each(["__proto__", "constructor.prototype"])("%s in any body", async (name) => {
      const wanted = '{"global_role":"admin","isAdmin":true}';
      const text =
        name === "__proto__"
          ? `{"name":"x","__proto__":${wanted}}`
          : `{"name":"x","constructor":{"prototype":${wanted}}}`;
      const me = await makeUser(t, "observer");
      for (const { endpoint } of allEndpoints.filter(({ endpoint }) => endpoint.method === "PATCH")) {
        const path = `/api/v1/svc${endpoint.path.replaceAll(/:[a-z_]+/g, String(me.id))}`;
        const headers = { authorization: `Bearer ${me.token}`, "content-type": "application/json" };
        const reply = await t.raw(path, { method: "PATCH", headers, body: text });
        expect(reply.status, endpoint.path).toBeLessThan(500);
      }
      expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
      expect((await t.store.users.get(me.id))!.global_role).toBe("observer");
    });
  });

  describe("nobody gets more rights than those of the role", () => {
    const rolesOf = async (id: number) => ({
      global: (await t.store.users.get(id))!.global_role,
      teams: (await t.store.userTeams.list({ where: eq("user_id", id) })).map(({ team_id, role }) => [team_id, role]),
    });

    it("a team's admin: not globally, not on other teams", async () => {
      const before = await rolesOf(boss.id);
      const { email } = (await t.store.users.get(boss.id))!;
      const both = [
        { id: own, role: "admin" },
        { id: other, role: "admin" },
      ];
      const byName = [{ team: await teamName(other), role: "admin" }];
      for (const [method, path, body] of [
        ["PATCH", `/users/${boss.id}`, { global_role: "admin" }],
        ["PATCH", `/users/${boss.id}`, { teams: both }],
        ["PATCH", `/users/${boss.id}`, { global_role: "admin", teams: both }],
        ["PATCH", `/teams/${other}/users`, { users: [{ id: boss.id, role: "admin" }] }],
        ["POST", "/users/roles/spec", { spec: { roles: { [email]: { global_role: "admin" } } } }],
        ["POST", "/users/roles/spec", { spec: { roles: { [email]: { teams: byName } } } }],
        [
          "POST",
          "/users/admin",
          { name: "A", email: "a@x.example", password: "a-good-passw0rd!", global_role: "admin" },
        ],
        ["POST", "/users/admin", { name: "A", email: "a@x.example", password: "a-good-passw0rd!", teams: both }],
        ["POST", "/invites", { name: "A", email: "a@x.example", global_role: "admin" }],
        ["POST", "/tokens", { name: "theirs", user_id: 1 }],
      ] as const) {
        const refused = await boss.request(method, path, body);
        expect([403, 404, 422], `${method} ${path} ${JSON.stringify(body)}`).toContain(refused.status);
      }
      expect(await rolesOf(boss.id)).toEqual(before);
      expect(await t.store.users.count(eq("email", "a@x.example"))).toBe(0);
    });

    it("a team's admin: not over an admin of all, or over who has a role elsewhere too", async () => {
      const admin = await makeUser(t, "admin");
      const shared = await makeUser(t, {
        teams: [
          { id: own, role: "observer" },
          { id: other, role: "admin" },
        ],
      });
      for (const target of [admin, shared])
        for (const [method, path, body] of [
          ["PATCH", `/users/${target.id}`, { new_password: "another-Good-42-one" }],
          ["PATCH", `/users/${target.id}`, { email: "mine@example.com" }],
          ["DELETE", `/users/${target.id}`, undefined],
          ["POST", `/users/${target.id}/require_password_reset`, { require: true }],
          ["DELETE", `/users/${target.id}/sessions`, undefined],
          ["POST", "/tokens", { name: "theirs", user_id: target.id }],
        ] as const) {
          const refused = await boss.request(method, path, body);
          expect([403, 404], `${method} ${path}`).toContain(refused.status);
        }
      expect((await boss.patch(`/teams/${own}/users`, { users: [{ id: admin.id, role: "observer" }] })).status).toBe(
        422,
      );
      expect((await admin.get("/me")).status).toBe(200);
      expect((await shared.get("/me")).status).toBe(200);
    });

    it("who may put users on a team: not itself any higher", async () => {
      const robot = await makeUser(t, { teams: [{ id: own, role: "gitops" }] }, { api_only: true });
      const raise = (id: number) => robot.patch(`/teams/${own}/users`, { users: [{ id, role: "admin" }] });
      expect((await raise(robot.id)).status).toBe(403);
      expect((await rolesOf(robot.id)).teams).toEqual([[own, "gitops"]]);
      const person = await user(own);
      expect((await raise(person.id)).status).toBe(200);
    });

    it("whoever lost its role: not with what it held before", async () => {
      const person = await makeUser(t, "admin");
      const token = ((await (await person.post("/tokens", { name: "kept" })).json()) as { token: string }).token;
      expect((await t.patch(`/users/${person.id}`, { global_role: "observer" })).status).toBe(200);
      expect((await person.get("/users")).status).toBe(401);
      expect((await t.as(token).get("/users")).status).toBe(401);
      const gone = await makeUser(t, "admin");
      expect((await t.delete(`/users/${gone.id}`)).status).toBe(200);
      expect((await gone.get("/me")).status).toBe(401);
    });
  });
});
