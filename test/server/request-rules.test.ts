// Rules for every request, and additional fields in bodies, which must not grant any rights.

import { describe, expect, it } from "vitest";
import { sealAll } from "../../src/server/platform/outbox/activities.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { formOf } from "../support/forms.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

describe("a request", () => {
  it("gets the methods of the path with a 405", async () => {
    const t = await startApp();
    for (const [method, path, allow] of [
      ["PUT", "/hosts", ["GET"]],
      ["PUT", "/hosts/7", ["DELETE", "GET"]],
      ["POST", "/users/7", ["DELETE", "GET", "PATCH"]],
      ["GET", "/login", ["POST"]],
      ["DELETE", "/api/latest/svc/config", ["GET", "PATCH"]],
      ["GET", "/api/setup", ["POST"]],
    ] as const) {
      const res = await t.request(method, path);
      expect(res.status, path).toBe(405);
      expect(res.headers.get("allow")?.split(", ").sort(), path).toEqual(allow);
    }
  });

  it("sets up under every version, and under none", async () => {
    const t = await startApp();
    for (const path of ["/api/setup", "/api/v1/setup", "/api/2022-04/setup", "/api/latest/setup"]) {
      const res = await t.raw(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ admin: { name: "Eve", email: "eve@example.com", password: ADMIN.password } }),
      });
      expect([res.status, (await json(res)).message], path).toEqual([409, "Conflict"]);
    }
    expect(await t.store.users.count()).toBe(1);
  });

  it("signs in although it contains an expired token", async () => {
    const t = await startApp();
    for (const authorization of ["Bearer gone", "Basic eDp5", "nonsense"]) {
      const body = { email: ADMIN.email, password: ADMIN.password };
      const res = await t.as(null).request("POST", "/login", body, { authorization });
      expect(res.status, authorization).toBe(200);
      expect((await t.as(null).request("GET", "/me", undefined, { authorization })).status).toBe(401);
    }
  });

  it("has its own id in the reply, which an error repeats", async () => {
    const t = await startApp();
    const res = await t.get("/hosts/999");
    expect((await json(res)).uuid).toBe(res.headers.get("x-request-id"));
    expect(res.headers.get("x-content-type-options")).toBe("nosniff");
    expect(res.headers.get("cache-control")).toBe("no-store");
  });

  it("gets a clear message about an invalid value", async () => {
    const t = await startApp();
    const reasons = async (path: string, body: object) =>
      ((await json(await t.post(path, body))).errors as { reason: string }[]).map(({ reason }) => reason);
    expect(await reasons("/invites", { email: "", name: "x".repeat(256), global_role: "observer" })).toEqual([
      "must not be empty",
      "must have at most 255 characters",
    ]);
    expect(await reasons("/queries", { name: "q", query: "SELECT 1", interval: -1 })).toEqual(["must be at least 0"]);
    const change = { kind: "label", owner: null, name: "l", action: "rename" };
    expect(await reasons("/spec/apply", { changes: [change] })).toContain("must be one of create, update, delete");
  });

  it("gets a clear message about a value that may have several forms", async () => {
    const t = await startApp();
    const errors = async (software: unknown) =>
      (await json(await t.post("/software/batch", { software }))).errors as { name: string; reason: string }[];
    const url = "https://example.com/a.sh";
    expect(await errors({})).toEqual([{ name: "software.packages", reason: "software.packages is required" }]);
    expect(await errors(undefined)).toEqual([{ name: "software", reason: "software is required" }]);
    expect(await errors("all")).toEqual([{ name: "software", reason: "must be an object or a list" }]);
    expect(await errors({ packages: [{ url, self_service: "yes" }] })).toEqual([
      {
        name: "software.packages.0.self_service",
        reason: "invalid value type at 'software.packages.0.self_service': expected boolean but got string",
      },
    ]);
    expect(await errors([{ url }, { url: "" }])).toEqual([{ name: "software.1.url", reason: "must not be empty" }]);
    expect(await errors(Array(501).fill({ url }))).toEqual([
      { name: "software", reason: "must have at most 500 items" },
    ]);
  });

  it("gets a clear message about a text of a form", async () => {
    const t = await startApp();
    const errors = async (fields: object) =>
      (await json(await t.request("PATCH", "/software/titles/1/package", formOf(fields)))).errors;
    expect(await errors({})).toEqual([{ name: "team_id", reason: "team_id is required" }]);
    expect(await errors({ team_id: "a" })).toEqual([{ name: "team_id", reason: "Invalid team_id: a" }]);
    expect(await errors({ team_id: "0", self_service: "maybe" })).toEqual([
      { name: "self_service", reason: "must be one of true, 1, false, 0" },
    ]);
  });

  it("is paged by the rules of every list", async () => {
    const t = await startApp();
    for (let i = 0; i < 23; i++) await makeHost(t, { hostname: `h${String(i).padStart(2, "0")}` });
    const hosts = async (query: string) =>
      (await json(await t.get(`/hosts?${query}`))) as { hosts: { hostname: string }[]; meta: object };
    expect((await hosts("")).hosts).toHaveLength(23);
    const first = await hosts("page=0");
    expect(first.hosts).toHaveLength(20);
    expect(first.meta).toEqual({ has_next_results: true, has_previous_results: false });
    const second = await hosts("page=1");
    expect(second.hosts).toHaveLength(3);
    expect(second.meta).toEqual({ has_next_results: false, has_previous_results: true });
    expect((await hosts("per_page=100000000")).hosts).toHaveLength(23);
    expect((await hosts("page=900000000000000&per_page=900000000")).hosts).toHaveLength(0);
    for (const [query, reason] of [
      ["page=x", "non-int page value"],
      ["page=1.5", "non-int page value"],
      ["page=-1", "negative page value"],
      ["per_page=x", "non-int per_page value"],
      ["per_page=0", "invalid per_page value"],
      ["per_page=-3", "invalid per_page value"],
      ["order_direction=asc", "order_key must be specified with order_direction"],
      ["after=1", "order_key must be specified with after"],
      ["order_key=id&order_direction=up", "unknown order_direction: up"],
    ]) {
      const res = await t.get(`/hosts?${query}`);
      expect(res.status, query).toBe(400);
      expect((await json(res)).errors, query).toMatchObject([{ reason }]);
    }
  });
});

/** Everything in the store, except what every request changes. */
async function kept(t: TestApp) {
  // Sealed first, because entries that wait for their position in the chain would get it in between.
  await sealAll(t.services);
  const collections = t.store as unknown as Record<string, { list(): Promise<unknown[]> }>;
  const found: Record<string, unknown> = {};
  for (const name of [
    "users",
    "userTeams",
    "teams",
    "hosts",
    "hostSeen",
    "enrollSecrets",
    "configSections",
    "activities",
    "labels",
    "labelMembers",
  ])
    found[name] = await collections[name]!.list();
  return found;
}

describe.each(rulesEngines)("a body on %s", (engine) => {
  it("grants no rights by fields that the endpoint does not have", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const host = await makeHost(t, { team_id: own.id });
    const boss = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] });
    const extra = {
      id: 1,
      user_id: 1,
      team_id: null,
      revision: 99,
      created_at: "2000-01-01T00:00:00.000Z",
      license: { tier: "premium" },
      tier: "premium",
      enabled: false,
      force_password_reset: false,
      password_hash: "x",
      token: "x",
      token_hash: "x",
      settings_of: "x",
      host_count: 7,
      user_count: 7,
      name_key: "x",
      constructor: { prototype: { global_role: "admin" } },
    };
    const admin = await t.store.users.get(1);
    // A team admin, with every possible field, on everything that it may change.
    const me = await boss.patch(`/users/${boss.id}`, { ...extra, name: "Same" });
    expect(me.status).toBe(400);
    const team = await boss.patch(`/teams/${own.id}`, {
      ...extra,
      users: [],
      agent_options: { config: {} },
      features: { enable_host_users: false },
    });
    expect(team.status).toBe(400);
    expect((await boss.post(`/hosts/${host.id}/refetch`)).status).toBe(200);
    for (const [method, path, body] of [
      ["PATCH", `/users/${boss.id}`, { global_role: "admin" }],
      [
        "PATCH",
        `/users/${boss.id}`,
        {
          teams: [
            { id: own.id, role: "admin" },
            { id: other.id, role: "admin" },
          ],
        },
      ],
      [
        "POST",
        "/users/admin",
        { name: "x", email: "x@example.com", password: "a-good-passw0rd!", global_role: "observer" },
      ],
      [
        "POST",
        "/users/admin",
        {
          name: "x",
          email: "x@example.com",
          password: "a-good-passw0rd!",
          teams: [{ id: other.id, role: "observer" }],
        },
      ],
      ["PATCH", "/config", { license: { tier: "premium" }, org_info: { org_name: "mine" } }],
      ["PATCH", `/teams/${other.id}`, { name: "mine" }],
      ["PATCH", `/teams/${other.id}/users`, { users: [{ id: boss.id, role: "admin" }] }],
    ] as const) {
      const res = await boss.request(method, path, body);
      expect([403, 404], `${method} ${path}`).toContain(res.status);
    }
    expect(await t.store.users.get(1)).toEqual(admin);
    const after = await t.store.users.get(boss.id);
    expect(after).toMatchObject({ id: boss.id, global_role: null, force_password_reset: false, password_hash: null });
    expect(await t.store.userTeams.count()).toBe(1);
    expect(await t.store.teams.get(own.id)).toMatchObject({
      id: own.id,
      name: own.name,
      agent_options: null,
      settings: own.settings,
    });
    expect(await t.store.hosts.get(host.id)).toMatchObject({ team_id: own.id });
    // Read-only parts of the configuration cannot be changed by users who may change the rest.
    const config = await t.patch("/config", { license: { tier: "free" }, org_info: { org_name: "New" } });
    expect([config.status, (await json(config)).errors]).toMatchObject([422, [{ name: "license" }]]);
    expect(await json(await t.get("/config"))).toMatchObject({ license: { tier: "premium" } });
    for (const proto of [
      '{"__proto__": {"global_role": "admin"}}',
      '{"name": "x", "settings": {"__proto__": {"a": 1}}}',
    ])
      expect((await boss.request("PATCH", `/users/${boss.id}`, proto)).status).toBe(400);
    expect(({} as Record<string, unknown>).global_role).toBeUndefined();
  });

  it("changes nothing if one part of it belongs to another team", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const mine = await makeHost(t, { team_id: own.id });
    const theirs = await makeHost(t, { team_id: other.id });
    const member = await makeUser(t, { teams: [{ id: own.id, role: "observer" }] });
    const root = await makeUser(t, "observer");
    const boss = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] });
    const before = await kept(t);
    for (const [method, path, body, statuses] of [
      ["POST", "/hosts/delete", { ids: [mine.id, theirs.id] }, [404]],
      ["POST", "/hosts/delete", { ids: [mine.id, 999_999] }, [404]],
      ["POST", "/hosts/delete", { filters: { team_id: other.id } }, [403]],
      ["POST", "/hosts/delete", { filters: { team_id: own.id, policy_id: 1 } }, [400]],
      [
        "PATCH",
        `/teams/${own.id}/users`,
        {
          users: [
            { id: member.id, role: "admin" },
            { id: root.id, role: "admin" },
          ],
        },
        [403, 404, 422],
      ],
      [
        "PATCH",
        `/teams/${own.id}/users`,
        {
          users: [
            { id: member.id, role: "admin" },
            { id: 999_999, role: "admin" },
          ],
        },
        [404, 422],
      ],
      [
        "PATCH",
        `/users/${member.id}`,
        {
          teams: [
            { id: own.id, role: "maintainer" },
            { id: other.id, role: "observer" },
          ],
        },
        [403],
      ],
    ] as const) {
      const res = await boss.request(method, path, body);
      expect(statuses, `${method} ${path} ${JSON.stringify(body)}: ${await res.text()}`).toContain(res.status);
      expect(await kept(t), `${method} ${path}`).toEqual(before);
    }
    const broken = await t.patch("/config", {
      org_info: { org_name: "New" },
      server_settings: { server_url: "ftp://x" },
    });
    expect(broken.status).toBe(422);
    expect(await kept(t)).toEqual(before);
  });

  it("is recorded once if it changes something, with a type from the list of activities", async () => {
    const t = await startApp({ engine });
    const { team } = (await json(await t.post("/teams", { name: "Alpha" }))) as { team: { id: number } };
    const host = await makeHost(t, { display_name: "mac", hardware_serial: "S1" });
    const made = await makeUser(t, "observer", { name: "Olga", email: "olga@example.com" });
    const who = { user_id: made.id, user_name: "Olga", user_email: "olga@example.com" };
    const inTeam = { team_id: team.id, team_name: "Alpha" };
    const steps: [string, string, unknown, [string, object][]][] = [
      ["POST", "/teams", { name: "Beta" }, [["created_team", { team_id: team.id + 1, team_name: "Beta" }]]],
      ["DELETE", `/teams/${team.id + 1}`, undefined, [["deleted_team", { team_id: team.id + 1, team_name: "Beta" }]]],
      [
        "PATCH",
        `/teams/${team.id}`,
        { description: "d" },
        [["edited_team", { ...inTeam, changes: [{ path: "description", old: "", new: "d" }] }]],
      ],
      [
        "PATCH",
        `/users/${made.id}`,
        { global_role: "maintainer" },
        [["changed_user_global_role", { ...who, role: "maintainer" }]],
      ],
      ["PATCH", `/users/${made.id}`, { global_role: "maintainer" }, []],
      [
        "PATCH",
        `/users/${made.id}`,
        { teams: [{ id: team.id, role: "observer" }] },
        [
          ["deleted_user_global_role", { ...who, role: "maintainer" }],
          ["changed_user_team_role", { ...who, role: "observer", ...inTeam }],
        ],
      ],
      [
        "DELETE",
        `/teams/${team.id}/users`,
        { users: [{ id: made.id }] },
        [["deleted_user_team_role", { ...who, role: "observer", ...inTeam }]],
      ],
      [
        "PATCH",
        `/teams/${team.id}/users`,
        { users: [{ id: made.id, role: "admin" }] },
        [["changed_user_team_role", { ...who, role: "admin", ...inTeam }]],
      ],
      ["DELETE", `/users/${made.id}`, undefined, [["deleted_user", who]]],
      [
        "POST",
        `/teams/${team.id}/agent_options`,
        { config: { options: { pack_delimiter: "_" } } },
        [["edited_agent_options", { global: false, ...inTeam }]],
      ],
      [
        "PATCH",
        "/config",
        { agent_options: { config: {} } },
        [["edited_agent_options", { global: true, team_id: null, team_name: null }]],
      ],
      ["PATCH", "/config", { agent_options: { config: {} } }, []],
      [
        "POST",
        "/spec/enroll_secret",
        { spec: { secrets: [{ secret: "one" }] } },
        [["edited_enroll_secrets", { team_id: null, team_name: null }]],
      ],
      ["PATCH", `/teams/${team.id}/secrets`, { secrets: [{ secret: "two" }] }, [["edited_enroll_secrets", inTeam]]],
      ["POST", `/hosts/${host.id}/refetch`, undefined, []],
      [
        "DELETE",
        `/hosts/${host.id}`,
        undefined,
        [["deleted_host", { host_id: host.id, host_display_name: "mac", host_serial: "S1", triggered_by: "manual" }]],
      ],
      [
        "POST",
        "/login",
        { email: ADMIN.email, password: "wrong" },
        [["user_failed_login", { email: ADMIN.email, public_ip: "" }]],
      ],
      ["POST", "/login", { email: ADMIN.email, password: ADMIN.password }, [["user_logged_in", { public_ip: "" }]]],
    ];
    for (const [method, path, body, told] of steps) {
      await t.store.activities.delete(everything);
      await t.request(method, path, body);
      const rows = await t.store.activities.list();
      expect(
        rows.map(({ type, details }) => [type, details]),
        `${method} ${path} ${JSON.stringify(body)}`,
      ).toEqual(told);
    }
  });
});
