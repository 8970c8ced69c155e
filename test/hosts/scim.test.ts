// People and groups, as Okta and Entra ID send them.
import { beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

interface Resource {
  id: string;
  userName: string;
  active: boolean;
  externalId?: string;
  displayName?: string;
  name: { givenName?: string; familyName?: string };
  emails: { value: string; type?: string; primary?: boolean }[];
  groups: { value: string; display: string }[];
  members?: { value: string; display: string }[];
  meta: { location: string };
  [ENTERPRISE]?: { department: string };
}
interface List {
  totalResults: number;
  startIndex: number;
  itemsPerPage: number;
  Resources: Resource[];
}
interface Failure {
  schemas: string[];
  status: string;
  scimType?: string;
  detail: string;
}

let next = 0;

describe.each(rulesEngines)("people and groups on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });

  const read = async <T>(reply: Response): Promise<T> => (await reply.json()) as T;
  const create = async (given: object = {}): Promise<Resource> => {
    const reply = await t.post("/scim/Users", { userName: `user-${++next}@example.com`, ...given });
    expect(reply.status).toBe(201);
    return read(reply);
  };
  const createGroup = async (members: readonly string[] = [], displayName = `Group ${++next}`): Promise<Resource> => {
    const reply = await t.post("/scim/Groups", { displayName, members: members.map((value) => ({ value })) });
    expect(reply.status).toBe(201);
    return read(reply);
  };
  const patch = (path: string, ...Operations: object[]) => t.patch(`/scim/${path}`, { schemas: [PATCH], Operations });
  type Caller = Pick<TestApp, "request">;
  const putAs = (caller: Caller, path: string, body: object) => caller.request("PUT", path, body);
  const put = (path: string, body: object) => putAs(t, path, body);
  const list = async (path: string) => read<List>(await t.get(`/scim/${path}`));
  const failure = async (reply: Response | Promise<Response>) => {
    const got = await reply;
    const { scimType, detail } = await read<Failure>(got);
    return [got.status, scimType, detail] as const;
  };
  const membersOf = async (id: string) =>
    (await read<Resource>(await t.get(`/scim/Groups/${id}`))).members!.map(({ value }) => value);

  it("refuses control characters in names, when people and groups are created, replaced and patched", async () => {
    const user = await create();
    const group = await createGroup();
    const set = (path: string, value: string) => ({ op: "replace", path, value });
    for (const bad of ["A\u0000da", "Ada\u001b[2J", "A\nda", "Ada\u0085x"]) {
      const replies = [
        t.post("/scim/Users", { userName: bad }),
        t.post("/scim/Users", { userName: "ada@example.com", displayName: bad }),
        t.post("/scim/Users", { userName: "ada@example.com", name: { givenName: bad } }),
        t.post("/scim/Users", { userName: "ada@example.com", emails: [{ value: bad }] }),
        put(`/scim/Users/${user.id}`, { userName: "ada@example.com", externalId: bad }),
        patch(`Users/${user.id}`, set("displayName", bad)),
        t.post("/scim/Groups", { displayName: bad }),
        put(`/scim/Groups/${group.id}`, { displayName: bad }),
        patch(`Groups/${group.id}`, set("displayName", bad)),
        patch(`Groups/${group.id}`, set("externalId", bad)),
      ];
      for (const reply of replies)
        expect(await failure(reply)).toEqual([400, "invalidValue", expect.stringContaining("control characters")]);
    }
    expect(await failure(t.post("/scim/Users", { userName: "ada\u0000@example.com" }))).toEqual([
      400,
      "invalidValue",
      "userName: must not contain control characters",
    ]);
  });

  it("creates a person as it was sent, with its address, in the media type of SCIM", async () => {
    const reply = await t.request(
      "POST",
      "/scim/Users",
      {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:User", ENTERPRISE],
        userName: "Ada@Example.com",
        externalId: "00u1",
        name: { givenName: "Ada", familyName: "Lovelace", middleName: "K." },
        emails: [{ value: "ada@example.com", type: "work", primary: "True" }],
        active: "True",
        phoneNumbers: [{ value: "1", type: "work" }],
        [ENTERPRISE]: { department: "Engines", manager: { value: "7" } },
      },
      { "content-type": "application/scim+json" },
    );
    expect(reply.status).toBe(201);
    expect(reply.headers.get("content-type")).toBe("application/scim+json; charset=utf-8");
    const made = await read<Resource>(reply);
    expect(made).toMatchObject({
      userName: "Ada@Example.com",
      externalId: "00u1",
      name: { givenName: "Ada", familyName: "Lovelace" },
      active: true,
      emails: [{ value: "ada@example.com", type: "work", primary: true }],
      [ENTERPRISE]: { department: "Engines" },
      groups: [],
    });
    expect(made).not.toHaveProperty("phoneNumbers");
    expect(reply.headers.get("location")).toBe(made.meta.location);
    expect(made.meta.location).toMatch(new RegExp(`/api/v1/svc/scim/Users/${made.id}$`));
    expect(await read(await t.get(`/scim/Users/${made.id}`))).toEqual(made);
    for (const filter of [
      'userName eq "ada@example.com"',
      'externalId eq "00u1"',
      'emails[type eq "work"].value eq "ADA@example.com"',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName Eq "ada@example.com" and externalId eq "00u1"',
    ])
      expect((await list(`Users?filter=${encodeURIComponent(filter)}`)).Resources.map(({ id }) => id)).toEqual([
        made.id,
      ]);
    expect(
      (await list(`Users?filter=${encodeURIComponent('emails[type eq "home"].value eq "ada@example.com"')}`))
        .totalResults,
    ).toBe(0);
  });

  it("refuses in the form of SCIM", async () => {
    const { userName, id } = await create();
    const taken = await t.post("/scim/Users", { userName: userName.toUpperCase() });
    expect([taken.status, taken.headers.get("content-type")]).toEqual([409, "application/scim+json; charset=utf-8"]);
    expect(await read<Failure>(taken)).toMatchObject({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: "409",
      scimType: "uniqueness",
    });
    expect(await failure(t.post("/scim/Users", {}))).toEqual([400, "invalidValue", "userName: userName is required"]);
    expect((await failure(t.get("/scim/Users/999999")))[0]).toBe(404);
    expect((await failure(t.get("/scim/Users/abc")))[0]).toBe(404);
    for (const filter of [
      'userName sw "a"',
      "userName",
      'title eq "x"',
      'emails[type eq "work".value eq "x"',
      'a eq "1" or b eq "2"',
    ])
      expect((await failure(t.get(`/scim/Users?filter=${encodeURIComponent(filter)}`))).slice(0, 2)).toEqual([
        400,
        "invalidFilter",
      ]);
    const bad = [
      [{ op: "move", path: "active", value: true }, "invalidSyntax"],
      [{ op: "remove" }, "noTarget"],
      [{ op: "replace", path: "active", value: "perhaps" }, "invalidValue"],
      [{ op: "replace", path: "userName", value: "" }, "invalidValue"],
      [{ op: "replace", path: "emails[", value: [] }, "invalidPath"],
    ] as const;
    for (const [operation, type] of bad)
      expect((await failure(patch(`Users/${id}`, operation))).slice(0, 2)).toEqual([400, type]);
    const other = await create();
    expect((await failure(patch(`Users/${id}`, { op: "replace", path: "userName", value: other.userName })))[1]).toBe(
      "uniqueness",
    );
    const unknown = await t.raw("/api/v1/svc/scim/Users", { headers: { authorization: "Bearer none" } });
    expect([unknown.status, ((await unknown.json()) as Failure).status]).toEqual([401, "401"]);
  });

  it("takes the changes of Entra ID: capitals, texts for truth values, paths with filters that match nothing yet", async () => {
    const { id } = await create({ emails: [{ value: "home@example.com", type: "home" }] });
    const reply = await patch(
      `Users/${id}`,
      { op: "Replace", path: "active", value: "False" },
      { op: "Add", path: 'emails[type eq "work"].value', value: "work@example.com" },
      { op: "Add", path: "name.givenName", value: "Bo" },
      { op: "Replace", path: `${ENTERPRISE}:department`, value: "Sales" },
      { op: "Add", path: 'phoneNumbers[type eq "work"].value', value: "1" },
    );
    expect(reply.status).toBe(200);
    expect(await read(reply)).toMatchObject({
      active: false,
      name: { givenName: "Bo" },
      emails: [
        { value: "home@example.com", type: "home" },
        { value: "work@example.com", type: "work" },
      ],
      [ENTERPRISE]: { department: "Sales" },
    });
    const again = await patch(
      `Users/${id}`,
      { op: "Replace", path: 'emails[type eq "work"].value', value: "new@example.com" },
      { op: "Remove", path: 'emails[type eq "home"]' },
      { op: "Remove", path: `${ENTERPRISE}:department` },
      { op: "Add", value: { displayName: "Bo B.", "name.familyName": "Berg", active: "True" } },
    );
    const after = await read<Resource>(again);
    expect(after).toMatchObject({ displayName: "Bo B.", active: true, name: { givenName: "Bo", familyName: "Berg" } });
    expect(after.emails).toEqual([{ value: "new@example.com", type: "work" }]);
    expect(after).not.toHaveProperty([ENTERPRISE]);
  });

  it("takes the changes of Okta: values without a path, and whole resources", async () => {
    const { id, userName } = await create({ externalId: "00u2", displayName: "Old" });
    expect(await read(await patch(`Users/${id}`, { op: "replace", value: { active: false } }))).toMatchObject({
      active: false,
    });
    const replaced = await put(`/scim/Users/${id}`, {
      id,
      userName,
      name: { formatted: "New Name" },
      active: true,
      groups: [],
      meta: {},
    });
    const after = await read<Resource>(replaced);
    expect(after).toMatchObject({ active: true, name: { formatted: "New Name" } });
    // What is not sent is removed.
    expect([after.externalId, after.displayName]).toEqual([undefined, undefined]);
    expect((await t.delete(`/scim/Users/${id}`)).status).toBe(204);
    expect((await t.get(`/scim/Users/${id}`)).status).toBe(404);
  });

  it("adds and removes members in each of the ways", async () => {
    const [a, b, c] = [await create(), await create({ displayName: "Bea" }), await create()];
    const group = await createGroup([a.id]);
    expect(group.id).toMatch(/^group-\d+$/);
    await patch(`Groups/${group.id}`, {
      op: "Add",
      path: "members",
      value: [{ value: b.id }, { value: c.id }, { value: a.id }],
    });
    expect(await membersOf(group.id)).toEqual([a.id, b.id, c.id]);
    expect((await read<Resource>(await t.get(`/scim/Groups/${group.id}`))).members![1]!.display).toBe("Bea");
    await patch(`Groups/${group.id}`, { op: "remove", path: `members[value eq "${b.id}"]` });
    await patch(`Groups/${group.id}`, { op: "Remove", path: "members", value: [{ value: c.id }] });
    expect(await membersOf(group.id)).toEqual([a.id]);
    await patch(`Groups/${group.id}`, { op: "replace", path: "members", value: [{ value: c.id }] });
    expect(await membersOf(group.id)).toEqual([c.id]);
    // A rename by Okta has the id in its value.
    const name = `Renamed ${++next}`;
    const renamed = await patch(`Groups/${group.id}`, { op: "replace", value: { id: group.id, displayName: name } });
    expect(await read(renamed)).toMatchObject({ displayName: name, members: [{ value: c.id }] });
    expect((await read<Resource>(await t.get(`/scim/Users/${c.id}`))).groups).toMatchObject([
      { value: group.id, display: name },
    ]);
    const found = await list(
      `Groups?filter=${encodeURIComponent(`displayName eq "${name}"`)}&excludedAttributes=members`,
    );
    expect(found.Resources.map(({ id, members }) => [id, members])).toEqual([[group.id, undefined]]);
    expect(
      (await list(`Groups?filter=${encodeURIComponent(`displayName eq "${name}"`)}`)).Resources[0]!.members,
    ).toHaveLength(1);
    expect(
      (await failure(patch(`Groups/${group.id}`, { op: "add", path: "members", value: [{ value: "999999" }] }))).slice(
        0,
        2,
      ),
    ).toEqual([400, "invalidValue"]);
    expect(
      (await failure(patch(`Groups/${group.id}`, { op: "add", path: "members", value: [{ value: "group-1" }] })))[2],
    ).toContain("groups cannot be members");
    await patch(`Groups/${group.id}`, { op: "remove", path: "members" });
    expect(await membersOf(group.id)).toEqual([]);
    expect((await failure(t.post("/scim/Groups", { displayName: name.toUpperCase() })))[1]).toBe("uniqueness");
    expect((await t.delete(`/scim/Groups/${group.id}`)).status).toBe(204);
    expect((await t.get(`/scim/Users/${c.id}`)).status).toBe(200);
  });

  it("pages from 1, at most 100 at once", async () => {
    while ((await t.store.scimUsers.count()) < 5) await create();
    const { totalResults } = await list("Users?count=0");
    expect(await list("Users?count=0")).toMatchObject({ itemsPerPage: 0, Resources: [] });
    const first = await list("Users?startIndex=1&count=2");
    expect([first.startIndex, first.itemsPerPage, first.totalResults]).toEqual([1, 2, totalResults]);
    const second = await list("Users?startIndex=3&count=2");
    expect(second.Resources.map(({ id }) => Number(id))[0]).toBeGreaterThan(Number(first.Resources[1]!.id));
    expect((await list(`Users?startIndex=${totalResults + 1}`)).Resources).toEqual([]);
    expect((await list("Users?startIndex=-5&count=1000")).startIndex).toBe(1);
    expect((await t.get("/scim/Users?count=many")).status).toBe(400);
  });

  it("describes itself, and the last request", async () => {
    const config = await read<Record<string, { supported: boolean }>>(await t.get("/scim/ServiceProviderConfig"));
    const supported = Object.entries(config).filter(([, value]) => value.supported === true);
    expect(supported.map(([name]) => name)).toEqual(["patch", "filter"]);
    expect((await list("ResourceTypes")).Resources.map(({ id }) => id)).toEqual(["User", "Group"]);
    expect((await list("Schemas")).totalResults).toBe(3);
    t.clock.advance(5_000);
    await t.get("/scim/Users?count=1");
    const details = async () => (await read<{ last_request: object }>(await t.get("/scim/details"))).last_request;
    expect(await details()).toEqual({ requested_at: t.clock.iso(), status: "success", details: "" });
    await t.get("/scim/Users/999999");
    expect(await details()).toMatchObject({
      status: "error",
      details: expect.stringContaining("999999 was not found"),
    });
  });

  it("is for admins and maintainers with global roles", async () => {
    for (const [role, status] of [
      ["maintainer", 200],
      ["observer", 403],
      ["gitops", 403],
    ] as const)
      expect((await (await makeUser(t, role)).get("/scim/Users")).status, role).toBe(status);
    const free = await startApp({ tier: "free" });
    const refused = await free.get("/scim/Users");
    expect([refused.status, ((await refused.json()) as Failure).status]).toEqual([402, "402"]);
  });

  it("shows the person on hosts where somebody has signed in with the user name, or else with an address", async () => {
    const host = await makeHost(t);
    const other = await makeHost(t);
    const users = async (id = host.id) =>
      (await read<{ host: { end_users: object[] } }>(await t.get(`/hosts/${id}`))).host.end_users;
    const setAccount = (id: number, email: string) => put(`/hosts/${id}/device_mapping`, { email, source: "idp" });
    expect((await setAccount(host.id, "Eve@Example.com")).status).toBe(200);
    expect(await users()).toMatchObject([{ idp_username: "Eve@Example.com", idp_full_name: "", idp_groups: [] }]);
    const byMail = await create({ emails: [{ value: "eve@example.com" }], displayName: "By mail" });
    expect(await users()).toMatchObject([{ idp_username: byMail.userName, idp_full_name: "By mail" }]);
    const eve = await create({ userName: "eve@example.com", externalId: "e1", [ENTERPRISE]: { department: "Law" } });
    await createGroup([eve.id], "Lawyers");
    expect(await users()).toEqual([
      {
        idp_info_updated_at: t.clock.iso(),
        idp_id: "e1",
        idp_username: "eve@example.com",
        idp_full_name: "",
        idp_department: "Law",
        idp_groups: ["Lawyers"],
        other_emails: [],
      },
    ]);
    // The person is known before the host.
    await setAccount(other.id, "EVE@example.com");
    expect(await users(other.id)).toMatchObject([{ idp_department: "Law" }]);
    expect((await t.delete(`/hosts/${other.id}/device_mapping/idp`)).status).toBe(204);
    expect(await users(other.id)).toEqual([]);
    await t.delete(`/scim/Users/${eve.id}`);
    expect(await users()).toMatchObject([{ idp_username: byMail.userName }]);
  });

  it("makes hosts members of labels by group and department, soon after a change", async () => {
    const host = await makeHost(t);
    const labels: number[] = [];
    for (const [vital, value] of [
      ["end_user_idp_group", "Pilots"],
      ["end_user_idp_department", "Flight"],
    ] as const) {
      const reply = await t.post("/labels", { name: `by ${vital}`, criteria: { vital, value } });
      labels.push((await read<{ label: { id: number } }>(reply)).label.id);
    }
    const members = async () =>
      (await t.store.labelMembers.list())
        .filter(({ label_id }) => labels.includes(label_id))
        .map(({ host_id }) => host_id);
    await put(`/hosts/${host.id}/device_mapping`, { email: "pia@example.com", source: "idp" });
    const pia = await create({ userName: "pia@example.com", [ENTERPRISE]: { department: "Flight" } });
    const group = await createGroup([pia.id], "Pilots");
    await expect.poll(members, { timeout: 5_000 }).toEqual([host.id, host.id]);
    await patch(`Groups/${group.id}`, { op: "remove", path: `members[value eq "${pia.id}"]` });
    await expect.poll(members, { timeout: 5_000 }).toEqual([host.id]);
  });

  it("lets nobody with a role on a team set the account of a host", async () => {
    const team = await makeTeam(t);
    const host = await makeHost(t, { team_id: team.id });
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "admin" }] });
    expect(
      (await putAs(maintainer, `/hosts/${host.id}/device_mapping`, { email: "x@example.com", source: "idp" })).status,
    ).toBe(403);
    expect((await putAs(maintainer, `/hosts/${host.id}/device_mapping`, { email: "x@example.com" })).status).toBe(200);
    expect((await maintainer.delete(`/hosts/${host.id}/device_mapping/idp`)).status).toBe(403);
  });
});
