// The calls of the test suites that identity providers publish: Okta's SCIM 2.0 test, and the validator of Entra ID with
// the attributes that this server's /Schemas lists. Each step and what it must return is theirs.
import { beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeUser } from "../support/make.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const MEDIA_TYPE = "application/scim+json; charset=utf-8";

interface ScimReply {
  readonly status: number;
  readonly type: string | null;
  readonly location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a resource, a list or an error
  readonly body: any;
}

describe.each(bothEngines)("the published test suites of SCIM on %s", (engine) => {
  let t: TestApp;
  let token: string;
  beforeEach(async () => {
    t = await startApp({ engine });
    token = (await makeUser(t, "maintainer", { api_only: true })).token;
  });

  async function send(
    method: string,
    path: string,
    body?: object,
    more: Record<string, string> = {},
  ): Promise<ScimReply> {
    const reply = await t.raw(`/api/v1/svc/scim${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/scim+json",
        "content-type": MEDIA_TYPE,
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const { headers } = reply;
    return {
      status: reply.status,
      type: headers.get("content-type"),
      location: headers.get("location"),
      body: text === "" ? undefined : JSON.parse(text),
    };
  }
  const filtered = (resource: string, filter: string, more = "") =>
    send("GET", `/${resource}?filter=${encodeURIComponent(filter)}${more}`);
  const patch = (path: string, ...Operations: object[]) => send("PATCH", path, { schemas: [PATCH], Operations });
  const isError = (status: number) => ({
    status,
    type: MEDIA_TYPE,
    body: { schemas: [ERROR], status: String(status), detail: expect.stringMatching(/./) },
  });
  const isList = (totalResults: number) => ({ status: 200, type: MEDIA_TYPE, body: { schemas: [LIST], totalResults } });

  it("passes that of Okta", async () => {
    const isaac = {
      schemas: [USER],
      userName: "rand.okta",
      name: { givenName: "Isaac", familyName: "Brock" },
      emails: [{ primary: true, value: "rand@okta.example", type: "work" }],
      displayName: "Isaac Brock",
      active: true,
    };
    expect(await filtered("Users", 'userName eq "rand.okta"')).toMatchObject(isList(0));
    const json = { "content-type": "application/json", accept: "application/scim+json; charset=utf-8" };
    const created = await send("POST", "/Users", isaac, json);
    expect(created).toMatchObject({ status: 201, type: MEDIA_TYPE, body: { ...isaac, id: expect.any(String) } });
    const path = `/Users/${created.body.id}`;
    const first = await send("GET", "/Users?count=1&startIndex=1");
    expect(first.body).toMatchObject({ schemas: [LIST], itemsPerPage: 1, startIndex: 1, totalResults: 1 });
    expect(first.body.Resources).toMatchObject([isaac]);
    expect(await send("GET", path)).toMatchObject({ status: 200, body: isaac });
    expect(await send("POST", "/Users", isaac, json)).toMatchObject(isError(409));
    expect(await filtered("Users", 'userName eq "RAND.OKTA"')).toMatchObject(isList(1));
    expect(await send("GET", "/Users/010101001010101011001010101011")).toMatchObject(isError(404));
    expect(await send("GET", "/Users/00919288221112222")).toMatchObject(isError(404));
    expect(await send("GET", "/Users", undefined, { authorization: "non-token" })).toMatchObject(isError(401));
    const put = { ...isaac, id: created.body.id, name: { ...isaac.name, givenName: "Another", middleName: "Excited" } };
    expect((await send("PUT", path, { ...put, groups: [], meta: {} })).body.name.givenName).toBe("Another");
    expect((await patch(path, { op: "replace", value: { active: false } })).body.active).toBe(false);

    expect(await send("GET", "/Groups")).toMatchObject(isList(0));
    const members = [{ value: created.body.id, display: "rand.okta" }];
    const group = (await send("POST", "/Groups", { schemas: [GROUP], displayName: "Push", members })).body;
    await patch(`/Groups/${group.id}`, { op: "replace", value: { id: group.id, displayName: "Push 2" } });
    const remove = { op: "remove", path: `members[value eq "${created.body.id}"]` };
    const changed = await patch(`/Groups/${group.id}`, remove, { op: "add", path: "members", value: members });
    expect(changed.body).toMatchObject({ displayName: "Push 2", members: [{ value: created.body.id }] });
    expect(await send("GET", "/Groups?startIndex=1&count=100")).toMatchObject(isList(1));
    expect(await send("DELETE", `/Groups/${group.id}`)).toMatchObject({ status: 204 });
    const details = (await (await t.get("/scim/details")).json()) as { last_request: object };
    expect(details.last_request).toMatchObject({ status: "success", details: "" });
  });

  const julien = {
    userName: "julien@ondricka.example",
    externalId: "ext-1",
    active: true,
    displayName: "Julien",
    emails: [{ type: "work", value: "thaddeus@hammes.example", primary: true }],
    name: { givenName: "Elfrieda", familyName: "Urban", formatted: "Myah" },
    [ENTERPRISE]: { department: "Sales" },
    schemas: [USER, ENTERPRISE],
  };
  /** Attributes that the suite sends beyond the schemas, if it was not asked to read them. */
  const unkept = {
    title: "CEO",
    preferredLanguage: "hi",
    addresses: [{ type: "work", formatted: "Row 1", primary: true, country: "Sierra Leone" }],
    phoneNumbers: [{ type: "fax", value: "10-040-1308" }],
    roles: [{ primary: "True", display: "R", value: "V", type: "T" }],
    timezone: "America/Guayaquil",
  };

  it("passes the tests of people of Entra ID", async () => {
    const created = await send("POST", "/Users", { ...julien, ...unkept });
    expect(created).toMatchObject({ status: 201, type: MEDIA_TYPE, body: julien });
    expect(created.location).toBe(created.body.meta.location);
    const path = `/Users/${created.body.id}`;
    expect(await send("GET", path)).toMatchObject({ status: 200, body: julien });
    expect(await send("POST", "/Users", julien)).toMatchObject({ ...isError(409), body: { scimType: "uniqueness" } });
    for (const filter of ['userName eq "julien@ondricka.example"', 'userName eq "JULIEN@ondricka.example"'])
      expect((await filtered("Users", filter)).body).toMatchObject({ totalResults: 1, Resources: [julien] });
    expect(await filtered("Users", 'externalId eq "ext-1"')).toMatchObject(isList(1));
    expect(await filtered("Users", 'emails[type eq "work"].value eq "thaddeus@hammes.example"')).toMatchObject(
      isList(1),
    );
    expect(await filtered("Users", 'userName eq "nobody"')).toMatchObject(isList(0));

    const verbose = await patch(
      path,
      { op: "replace", path: "displayName", value: "A" },
      { op: "replace", path: "title", value: "B" },
      { op: "replace", path: 'emails[type eq "work"].value', value: "new@hammes.example" },
      { op: "replace", path: 'emails[type eq "work"].primary', value: true },
      { op: "replace", path: "name.givenName", value: "G" },
      { op: "replace", path: 'addresses[type eq "work"].formatted', value: "Q" },
      { op: "replace", path: `${ENTERPRISE}:department`, value: "D" },
      { op: "replace", path: `${ENTERPRISE}:employeeNumber`, value: "9" },
      { op: "replace", path: 'roles[primary eq "True"].display', value: "R" },
    );
    expect(verbose).toMatchObject({
      status: 200,
      body: {
        displayName: "A",
        emails: [{ type: "work", value: "new@hammes.example", primary: true }],
        name: { givenName: "G", familyName: "Urban" },
        [ENTERPRISE]: { department: "D" },
      },
    });
    expect((await patch(path, { op: "replace", path: "userName", value: "other@x.example" })).body.userName).toBe(
      "other@x.example",
    );
    expect((await patch(path, { op: "Replace", path: "active", value: "False" })).body.active).toBe(false);
    expect((await send("GET", path)).body.active).toBe(false);
    expect((await filtered("Users", 'userName eq "other@x.example"')).body.Resources).toMatchObject([
      { active: false },
    ]);
    expect(await filtered("Users", "active eq false")).toMatchObject(isList(1));
    expect(await filtered("Users", 'active eq "maybe"')).toMatchObject(isError(400));

    // Managers are not kept; the provider must not fail because of them.
    for (const manager of ["manager", `${ENTERPRISE}:manager`])
      expect(await filtered("Users", `id eq "${created.body.id}" and ${manager} eq "7"`)).toMatchObject(isList(0));
    for (const [op, value] of [
      ["add", "7"],
      ["replace", { value: "8" }],
      ["remove", undefined],
    ])
      expect((await patch(path, { op: op as string, path: `${ENTERPRISE}:manager`, value })).status).toBe(200);
    const several = await patch(
      path,
      { op: "remove", path: "displayName" },
      { op: "add", path: "displayName", value: "W" },
      { op: "add", value: { "name.familyName": "F", [`${ENTERPRISE}:department`]: "E" } },
    );
    expect(several.body).toMatchObject({
      displayName: "W",
      name: { familyName: "F" },
      [ENTERPRISE]: { department: "E" },
    });

    expect(await send("DELETE", path)).toMatchObject({ status: 204, body: undefined });
    expect(await send("GET", path)).toMatchObject(isError(404));
    expect(await send("DELETE", path)).toMatchObject(isError(404));
    expect(await send("DELETE", "/Users/d950a5ce-61da-4979-8423-4600c745a897")).toMatchObject(isError(404));
  });

  it("passes the tests of groups of Entra ID", async () => {
    const person = (await send("POST", "/Users", julien)).body.id as string;
    const given = { displayName: "Zebras", externalId: "087af0b9", schemas: [GROUP] };
    const created = await send("POST", "/Groups", { ...given, meta: { resourceType: "Group" } });
    expect(created).toMatchObject({ status: 201, type: MEDIA_TYPE, body: { ...given, members: [] } });
    expect(created.location).toBe(created.body.meta.location);
    const { id } = created.body;
    const path = `/Groups/${id}`;
    expect(await send("POST", "/Groups", { ...given, displayName: "zebras" })).toMatchObject(isError(409));
    const without = await send("GET", `${path}?excludedAttributes=members`);
    expect(without).toMatchObject({ status: 200, body: given });
    expect(without.body).not.toHaveProperty("members");
    for (const filter of ['displayName eq "Zebras"', 'displayName eq "zEBRAS"', 'externalId eq "087af0b9"'])
      expect((await filtered("Groups", filter, "&excludedAttributes=members")).body.Resources).toMatchObject([given]);
    expect(await filtered("Groups", 'displayName eq "none"')).toMatchObject(isList(0));

    expect((await patch(path, { op: "replace", path: "externalId", value: "e-2" })).body.externalId).toBe("e-2");
    expect((await patch(path, { op: "Replace", path: "displayName", value: "Lions" })).body.displayName).toBe("Lions");
    const member = [{ $ref: null, value: person }];
    const isMember = `id eq "${id}" and members eq "${person}"`;
    expect(await filtered("Groups", isMember, "&attributes=id")).toMatchObject(isList(0));
    expect((await patch(path, { op: "Add", path: "members", value: member })).body.members).toMatchObject([
      { value: person },
    ]);
    expect(await filtered("Groups", isMember, "&attributes=id")).toMatchObject(isList(1));
    expect((await patch(path, { op: "Remove", path: "members", value: member })).body.members).toEqual([]);
    const same = await patch(
      path,
      { op: "add", path: "members", value: [{ value: person }] },
      { op: "remove", path: `members[value eq "${person}"]` },
    );
    expect(same).toMatchObject({ status: 200, body: { members: [] } });

    expect(await send("DELETE", path)).toMatchObject({ status: 204, body: undefined });
    expect(await send("GET", path)).toMatchObject(isError(404));
    expect(await send("DELETE", path)).toMatchObject(isError(404));
  });
});
