// The organization's directory: its credentials, and what is read from it.
import { beforeEach, describe, expect, it } from "vitest";
import type { DirectoryCredentials } from "../../src/api/hosts/directory.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../support/app.ts";
import {
  CLIENT,
  credentials,
  type DirectoryStandIn,
  graphError,
  SECRET,
  startDirectory,
  TENANT,
} from "../support/directory.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeUser } from "../support/make.ts";

const OTHER = "99999999-0000-4000-8000-000000000000";
const PATH = "/directory_graph_credentials";

const calls = (t: TestApp) => ({
  put: (body: object, headers = {}) => t.request("PUT", PATH, body, headers),
  get: async () =>
    ((await (await t.get(PATH)).json()) as { directory_graph_credentials: DirectoryCredentials[] })
      .directory_graph_credentials,
  sync: () => runJob(t.services, "directory_sync"),
  people: async () => {
    const rows = await t.store.scimUsers.list({ order: [{ column: "user_name_key", direction: "asc" }] });
    return rows.map(({ user_name, department, active, directory_id }) => [user_name, department, active, directory_id]);
  },
  names: async () => (await t.store.scimUsers.list()).map(({ user_name }) => user_name).sort(),
  groups: async () => {
    const rows = await t.store.scimGroups.list({ order: [{ column: "display_name_key", direction: "asc" }] });
    const users = new Map((await t.store.scimUsers.list()).map((user) => [user.id, user.user_name]));
    const members = await t.store.scimMembers.list();
    return Object.fromEntries(
      rows.map(({ id, display_name }) => [
        display_name,
        members.flatMap(({ group_id, user_id }) => (group_id === id ? users.get(user_id)! : [])).sort(),
      ]),
    );
  },
  types: async () => {
    const reply = await t.get("/activities?order_key=id&order_direction=desc");
    return ((await reply.json()) as { activities: { type: string }[] }).activities.map(({ type }) => type);
  },
});

const refusal = async (reply: Response) => {
  const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
  return [reply.status, errors[0]!.name, errors[0]!.reason] as const;
};

const ann = { id: "a", userPrincipalName: "Ann@example.com", department: "Sales", mail: "ann.a@example.com" };
const bob = { id: "b", userPrincipalName: "bob@example.com", displayName: "Bob B.", accountEnabled: false };
const eve = { id: "e", userPrincipalName: "eve@example.com", department: null, mail: null };

describe.each(bothEngines)("the directory on %s", (engine) => {
  it("is read with checked credentials: people, groups and departments appear, change and go", async () => {
    const directory = await startDirectory();
    const t = await startApp({ engine, settings: directory.settings });
    const { put, get, sync, people, groups, types } = calls(t);
    const host = await makeHost(t);
    await t.request("PUT", `/hosts/${host.id}/device_mapping`, { email: "ann.a@example.com", source: "idp" });
    expect(await get()).toEqual([]);
    // Without credentials there is nothing to do.
    await sync();
    expect(directory.requests).toEqual([]);

    const set = await put(credentials());
    expect(set.status).toBe(200);
    const shown = {
      tenant_id: TENANT,
      client_id: CLIENT,
      client_secret: "********",
      credential_invalid: false,
      last_synced_at: null,
      last_sync_error: "",
    };
    expect(await set.json()).toEqual({ directory_graph_credentials: [shown] });
    expect(await get()).toEqual([shown]);
    expect((await types())[0]).toBe("added_directory_graph_credentials");

    directory.people = [ann, bob, eve];
    directory.groups = [
      { id: "1", displayName: "Pilots", members: ["a", "b", "e", "unknown"] },
      { id: "2", displayName: "Empty", members: [] },
    ];
    await sync();
    expect(await people()).toEqual([
      ["Ann@example.com", "Sales", true, "a"],
      ["bob@example.com", "", false, "b"],
      ["eve@example.com", "", true, "e"],
    ]);
    expect(await groups()).toEqual({ Empty: [], Pilots: ["Ann@example.com", "bob@example.com", "eve@example.com"] });
    expect((await get())[0]).toMatchObject({ last_synced_at: t.clock.iso(), last_sync_error: "" });
    const shownHost = (await (await t.get(`/hosts/${host.id}`)).json()) as { host: { end_users: object[] } };
    expect(shownHost.host.end_users).toMatchObject([{ idp_username: "Ann@example.com", idp_department: "Sales" }]);

    // Ann moves to another department and leaves the group; Bob leaves; Eve has Bob's name now.
    directory.people = [
      { ...ann, department: "Research" },
      { ...eve, userPrincipalName: "bob@example.com" },
    ];
    directory.groups = [{ id: "1", displayName: "Test pilots", members: ["e"] }];
    await sync();
    expect(await people()).toEqual([
      ["Ann@example.com", "Research", true, "a"],
      ["bob@example.com", "", true, "e"],
    ]);
    expect(await groups()).toEqual({ "Test pilots": ["bob@example.com"] });

    // What was read stays when the credentials go.
    expect((await put({ directory_graph_credentials: [] })).status).toBe(200);
    expect(await get()).toEqual([]);
    expect((await types())[0]).toBe("deleted_directory_graph_credentials");
    expect(await people()).toHaveLength(2);
  });

  it("keeps the secret sealed, and out of replies, activities and logs", async () => {
    const directory = await startDirectory();
    const t = await startApp({ engine, settings: directory.settings });
    const { put, get, sync } = calls(t);
    await put(credentials());
    directory.secret = "another";
    await sync();
    const texts = [await get(), await (await t.get("/activities")).json(), await t.store.jobRuns.list()];
    expect(JSON.stringify(texts)).not.toContain(SECRET);
  });
});

describe.each(rulesEngines)("credentials for the directory on %s", (engine) => {
  let directory: DirectoryStandIn;
  let t: TestApp;
  let call: ReturnType<typeof calls>;
  beforeEach(async () => {
    directory = await startDirectory();
    t = await startApp({ engine, settings: directory.settings });
    call = calls(t);
  });

  it.each([
    [
      "a tenant that is not a GUID",
      credentials({ tenant_id: "example.com" }),
      "directory_graph_credentials.0.tenant_id",
    ],
    ["a path as tenant", credentials({ tenant_id: `${TENANT}/x` }), "directory_graph_credentials.0.tenant_id"],
    ["a client that is not a GUID", credentials({ client_id: "app" }), "directory_graph_credentials.0.client_id"],
    ["no secret", credentials({ client_secret: undefined }), "directory_graph_credentials.0.client_secret"],
    ["a mask as secret", credentials({ client_secret: "********" }), "directory_graph_credentials.0.client_secret"],
    [
      "two entries",
      { directory_graph_credentials: [...Array(2)].flatMap(() => credentials().directory_graph_credentials) },
      "directory_graph_credentials",
    ],
  ])("refuses %s without asking the directory", async (_, body, field) => {
    expect((await refusal(await call.put(body))).slice(0, 2)).toEqual([422, field]);
    expect(directory.requests).toEqual([]);
    expect(await call.get()).toEqual([]);
  });

  it("refuses credentials that the directory does not accept, and names only the directory's error number", async () => {
    expect(await refusal(await call.put(credentials({ client_secret: "wrong-secret" })))).toEqual([
      422,
      "directory_graph_credentials.0.client_secret",
      "the directory does not accept the credentials (invalid_client, AADSTS7000215)",
    ]);
    expect(await call.get()).toEqual([]);
  });

  it("answers 502 if the directory cannot be reached", async () => {
    directory.fault = () => ({ status: 500, body: "no" });
    expect((await call.put(credentials())).status).toBe(502);
    await directory.close();
    expect((await call.put(credentials())).status).toBe(502);
    expect(await call.get()).toEqual([]);
  });

  it("keeps the stored secret while tenant and client stay the same, and never sends it for others", async () => {
    await call.put(credentials());
    for (const kept of [undefined, null, "", "********"])
      expect((await call.put(credentials({ client_secret: kept }))).status).toBe(200);
    for (const other of [{ tenant_id: OTHER }, { client_id: OTHER }]) {
      const reply = await call.put(credentials({ client_secret: undefined, ...other }));
      expect((await refusal(reply)).slice(0, 2)).toEqual([422, "directory_graph_credentials.0.client_secret"]);
    }
    expect((await t.store.directoryCredentials.list()).map((row) => row.client_secret)).toEqual([SECRET]);
    // Four times the same is no change.
    expect((await call.types()).filter((type) => type.includes("directory"))).toEqual([
      "added_directory_graph_credentials",
    ]);
  });

  it("checks everything in a dry run, by the body or the header, and saves nothing", async () => {
    const dry = { "dry-run": "true" };
    for (const [more, headers] of [
      [{ dry_run: true }, {}],
      [{}, dry],
    ]) {
      expect((await call.put({ ...credentials(), ...more }, headers)).status).toBe(200);
      expect((await call.put({ ...credentials({ client_secret: "wrong" }), ...more }, headers)).status).toBe(422);
    }
    expect(await call.get()).toEqual([]);
    await call.put(credentials());
    await call.put({ directory_graph_credentials: [], dry_run: true });
    expect(await call.get()).toHaveLength(1);
  });

  it("lets only global admins and gitops users read and set them", async () => {
    for (const [role, status] of [
      ["admin", 200],
      ["gitops", 200],
      ["maintainer", 403],
      ["observer", 403],
    ] as const) {
      const { token } = await makeUser(t, role);
      expect((await t.as(token).get(PATH)).status).toBe(status);
      expect((await t.as(token).request("PUT", PATH, credentials())).status).toBe(status);
    }
    const free = await startApp({ engine, tier: "free" });
    expect((await free.get(PATH)).status).toBe(402);
  });

  it("reports refused credentials with them, until the directory accepts new ones", async () => {
    await call.put(credentials());
    directory.people = [ann];
    await call.sync();
    directory.secret = "rotated";
    await call.sync();
    expect((await call.get())[0]).toMatchObject({
      credential_invalid: true,
      last_sync_error: "the directory does not accept the credentials (invalid_client, AADSTS7000215)",
      last_synced_at: t.clock.iso(),
    });
    expect(await call.names()).toEqual(["Ann@example.com"]);
    expect((await call.put(credentials({ client_secret: "rotated" }))).status).toBe(200);
    expect((await call.get())[0]).toMatchObject({ credential_invalid: false, last_sync_error: "" });
  });
});

describe.each(rulesEngines)("reading the directory on %s", (engine) => {
  let directory: DirectoryStandIn;
  let t: TestApp;
  let call: ReturnType<typeof calls>;
  beforeEach(async () => {
    directory = await startDirectory();
    t = await startApp({ engine, settings: directory.settings });
    call = calls(t);
    await call.put(credentials());
    directory.people = [ann, bob, eve];
    directory.groups = [{ id: "1", displayName: "Pilots", members: ["a", "b"] }];
  });
  const errorOf = async () => (await call.get())[0]!.last_sync_error;

  it("leaves people and groups of the identity provider as it has sent them", async () => {
    await t.post("/scim/Users", { userName: "ANN@example.com", displayName: "From SCIM" });
    await t.post("/scim/Groups", { displayName: "PILOTS" });
    await call.sync();
    expect(await call.names()).toEqual(["ANN@example.com", "bob@example.com", "eve@example.com"]);
    const row = (await t.store.scimUsers.list()).find(({ user_name }) => user_name === "ANN@example.com");
    expect(row).toMatchObject({ display_name: "From SCIM", department: "", directory_id: null });
    expect(await call.groups()).toEqual({ PILOTS: [] });
    // Groups of the directory have the provider's people as members.
    directory.groups.push({ id: "2", displayName: "Others", members: ["a"] });
    await call.sync();
    expect(await call.groups()).toEqual({ PILOTS: [], Others: ["ANN@example.com"] });
    directory.people = [bob];
    directory.groups = [];
    await call.sync();
    expect(await call.names()).toEqual(["ANN@example.com", "bob@example.com"]);
    expect(await call.groups()).toEqual({ PILOTS: [] });
  });

  it("gives people and groups over to the identity provider when that changes them", async () => {
    await call.sync();
    const listed = (await (await t.get('/scim/Users?filter=userName eq "ann@example.com"')).json()) as {
      Resources: { id: string }[];
    };
    const id = listed.Resources[0]!.id;
    const Operations = [{ op: "replace", path: "displayName", value: "Ann of SCIM" }];
    expect((await t.patch(`/scim/Users/${id}`, { Operations })).status).toBe(200);
    const groupId = `group-${(await t.store.scimGroups.list())[0]!.id}`;
    await t.patch(`/scim/Groups/${groupId}`, { Operations: [{ op: "remove", path: `members[value eq "${id}"]` }] });
    directory.people = [{ ...ann, displayName: "Ann of the directory" }, bob];
    await call.sync();
    const row = (await t.store.scimUsers.list()).find(({ user_name }) => user_name === "Ann@example.com");
    expect(row).toMatchObject({ display_name: "Ann of SCIM", directory_id: null });
    expect(await call.groups()).toEqual({ Pilots: ["bob@example.com"] });
    // Her groups stay changed once the directory does not list her any more.
    directory.people = [bob];
    await call.sync();
    expect(await call.names()).toEqual(["Ann@example.com", "bob@example.com"]);
  });

  it("lets a person give way who takes the name of one of the identity provider", async () => {
    await call.sync();
    await t.post("/scim/Users", { userName: "new@example.com" });
    directory.people = [{ ...ann, userPrincipalName: "new@example.com" }, bob, eve];
    await call.sync();
    expect(await call.people()).toEqual([
      ["bob@example.com", "", false, "b"],
      ["eve@example.com", "", true, "e"],
      ["new@example.com", "", true, null],
    ]);
    expect(await call.groups()).toEqual({ Pilots: ["bob@example.com", "new@example.com"] });
  });

  it.each([2, 100])("follows names that people and groups exchange, in pages of %i", async (pageSize) => {
    directory.pageSize = pageSize;
    directory.groups.push({ id: "2", displayName: "Others", members: ["e"] });
    await call.sync();
    directory.people = [
      { ...ann, userPrincipalName: "bob@example.com" },
      { ...eve, userPrincipalName: "ann@example.com" },
      { ...bob, userPrincipalName: "eve@example.com" },
    ];
    directory.groups = [
      { id: "1", displayName: "Others", members: ["a"] },
      { id: "2", displayName: "Pilots", members: ["e", "b"] },
    ];
    await call.sync();
    expect((await call.people()).map(([name, , , id]) => [name, id])).toEqual([
      ["ann@example.com", "e"],
      ["bob@example.com", "a"],
      ["eve@example.com", "b"],
    ]);
    expect(await call.groups()).toEqual({
      Others: ["bob@example.com"],
      Pilots: ["ann@example.com", "eve@example.com"],
    });
    const logins = await t.store.scimLogins.list({ where: { op: "eq", column: "kind", value: "user_name" } });
    expect(logins.map(({ login }) => login).sort()).toEqual(["ann@example.com", "bob@example.com", "eve@example.com"]);
  });

  it("keeps the same one of several groups with one name", async () => {
    directory.groups = [
      { id: "2", displayName: "pilots", members: ["e"] },
      { id: "1", displayName: "Pilots", members: ["a"] },
    ];
    for (let run = 0; run < 2; run++) {
      await call.sync();
      expect(await call.groups()).toEqual({ Pilots: ["Ann@example.com"] });
      directory.groups.reverse();
    }
  });

  it("removes nobody if the directory fails half-way, or lists no people", async () => {
    await call.sync();
    directory.people = [ann];
    directory.groups = [];
    directory.fault = (path) => (path === "/graph/groups" ? graphError(500, "generalException") : null);
    await call.sync();
    expect(await errorOf()).toBe("the directory answered with status 500");
    expect(await call.names()).toHaveLength(3);
    directory.fault = () => null;
    directory.people = [];
    await call.sync();
    expect(await errorOf()).toContain("lists no people");
    expect(await call.names()).toHaveLength(3);
    expect((await call.get())[0]).toMatchObject({ credential_invalid: false });
  });

  it("names the permission that the app lacks, without calling the credentials wrong", async () => {
    directory.fault = (path) => (path === "/graph/users" ? graphError(403, "Authorization_RequestDenied") : null);
    await call.sync();
    expect(await errorOf()).toContain("User.Read.All");
    expect((await call.get())[0]).toMatchObject({ credential_invalid: false, last_synced_at: null });
  });

  it("waits as long as a busy directory asks for", async () => {
    let refused = 0;
    directory.fault = (path) =>
      path === "/graph/users" && refused++ < 2 ? graphError(429, "TooManyRequests", { "retry-after": "7" }) : null;
    const before = t.clock.now();
    await call.sync();
    expect(t.clock.now() - before).toBe(14_000);
    expect(await call.names()).toHaveLength(3);
  });

  it("asks for a new access token when the directory refuses the old one", async () => {
    let refused = 0;
    directory.fault = (path) =>
      path === "/graph/groups" && refused++ === 0 ? graphError(401, "InvalidAuthenticationToken") : null;
    await call.sync();
    expect(await errorOf()).toBe("");
    expect(await call.names()).toHaveLength(3);
  });

  it("does not follow a next page to another server with its access token", async () => {
    const other = await startDirectory();
    directory.nextAddress = (address) => address.replace(directory.url, other.url);
    await call.sync();
    expect(await errorOf()).toContain("at another address");
    expect(other.requests).toEqual([]);
    expect(await call.names()).toHaveLength(2);
  });

  it("refuses replies that are no pages of people", async () => {
    for (const body of ["no json", "{}", JSON.stringify({ value: [{ id: "a" }] })]) {
      directory.fault = (path) => (path === "/graph/users" ? { status: 200, body } : null);
      await call.sync();
      expect(await errorOf()).toBe("a reply of the directory is not valid");
    }
    expect(await call.names()).toEqual([]);
  });

  it("stops when other credentials are set while the directory is read", async () => {
    let pages = 0;
    directory.fault = (path) => {
      if (path === "/graph/users") pages++;
      return null;
    };
    directory.nextAddress = (address) => address;
    const answer = directory.answer;
    directory.answer = async (request) => {
      // Between the first and the second page.
      if (request.url.pathname === "/graph/users" && pages === 1)
        await t.store.directoryCredentials.delete({ op: "all" });
      return answer(request);
    };
    await call.sync();
    expect(await call.names()).toEqual(["Ann@example.com", "bob@example.com"]);
    expect(await call.get()).toEqual([]);
  });
});
