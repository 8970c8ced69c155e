import { describe, expect, it } from "vitest";
import { MASK } from "../../src/api/fields.ts";
import { parseName } from "../../src/pki/names.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";

const SKIP = "/certificate_authorities?skip_check=true";
const SUBJECT = "/CN=$SVC_VAR_HOST_UUID/O=Example";

const makeCa = async (t: TestApp, name = "SCEP", type = "custom_scep_proxy"): Promise<number> => {
  const fields = type === "custom_scep_proxy" ? { challenge: "static-challenge" } : { username: "u", password: "p" };
  const made = await t.post(SKIP, { [type]: { name, url: "https://scep.example.com/scep", ...fields } });
  expect(made.status).toBe(200);
  return ((await made.json()) as { id: number }).id;
};
const make = async (t: TestApp, given: object): Promise<number> => {
  const made = await t.post("/certificates", given);
  expect(made.status, await made.clone().text()).toBe(200);
  return ((await made.json()) as { id: number }).id;
};
const refusal = async (response: Response) => {
  const { errors } = await errorOf(response);
  return [response.status, errors?.[0]?.name];
};
// biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
const json = async (response: Response): Promise<any> => {
  expect(response.status, await response.clone().text()).toBe(200);
  return response.json();
};
const names = async (response: Response) =>
  (await json(response)).certificates.map(({ name }: { name: string }) => name);
const told = async (t: TestApp) =>
  (await t.store.activities.list())
    .filter(({ type }) => type.includes("certificate"))
    .map(({ type, details }): Record<string, unknown> => ({ type, ...details }));

/** A host that calls with its node key. */
async function makeCaller(t: TestApp, given: Parameters<typeof makeHost>[1] = {}) {
  const key = `node-key-${given.hostname ?? Math.random()}`;
  const host = await makeHost(t, { ...given, node_key_hash: tokenHash(key) });
  const call = (method: string, path: string, body?: unknown, scheme = "Node key") =>
    t.as(null).request(method, path, body, { authorization: `${scheme} ${key}` });
  return { host, key, call };
}

describe.each(rulesEngines)("certificate templates on %s", (engine) => {
  it("are created, listed by team, shown and deleted; each change is recorded once", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const team = await makeTeam(t, "Mobile");
    const none = await t.post("/certificates", {
      name: " Wi-Fi ",
      certificate_authority_id: ca,
      subject_name: SUBJECT,
    });
    expect(await json(none)).toEqual({
      id: expect.any(Number),
      name: "Wi-Fi",
      certificate_authority_id: ca,
      subject_name: SUBJECT,
    });
    // A name may be used again in another team; a team's id may be text.
    const own = await make(t, {
      name: "Wi-Fi",
      team_id: String(team.id),
      certificate_authority_id: ca,
      subject_name: "/CN=x",
    });
    const second = await make(t, {
      name: "VPN",
      team_id: team.id,
      certificate_authority_id: ca,
      subject_name: "/CN=y",
    });
    expect(await names(await t.get("/certificates"))).toEqual(["Wi-Fi"]);
    expect(await names(await t.get("/certificates?team_id=0"))).toEqual(["Wi-Fi"]);
    for (const query of [`team=${team.id}`, `team_id=${team.id}`, `team=${team.id}&team_id=${team.id}`])
      expect(await names(await t.get(`/certificates?${query}`))).toEqual(["Wi-Fi", "VPN"]);
    expect(await refusal(await t.get(`/certificates?team=${team.id}&team_id=0`))).toEqual([400, "team"]);
    const page = await json(await t.get(`/certificates?team_id=${team.id}&per_page=1`));
    expect(page).toEqual({
      certificates: [
        {
          id: own,
          name: "Wi-Fi",
          certificate_authority_id: ca,
          certificate_authority_name: "SCEP",
          subject_name: "/CN=x",
          subject_alternative_name: "",
          created_at: t.clock.iso(),
        },
      ],
      meta: { has_next_results: true, has_previous_results: false },
    });
    expect(await json(await t.get(`/certificates/${own}`))).toEqual({
      certificate: {
        ...page.certificates[0],
        certificate_authority_type: "custom_scep_proxy",
        team_id: team.id,
        status: null,
        scep_challenge: MASK,
        svc_challenge: null,
      },
    });
    expect(await json(await t.delete(`/certificates/${own}`))).toEqual({});
    expect((await t.get(`/certificates/${own}`)).status).toBe(404);
    expect((await t.delete(`/certificates/${own}`)).status).toBe(404);
    const details = { certificate_template_id: own, certificate_name: "Wi-Fi", team_id: team.id, team_name: "Mobile" };
    expect((await told(t)).filter((entry) => entry.certificate_template_id === own)).toEqual([
      { type: "created_certificate_template", ...details },
      { type: "deleted_certificate_template", ...details },
    ]);
    // A team's templates are deleted with it.
    expect((await t.delete(`/teams/${team.id}`)).status).toBe(200);
    expect(await t.store.certificateTemplates.get(second)).toBeNull();
  });

  it("do not name a domain, a wildcard or an account that a host has reported as its own identifier", async () => {
    const t = await startApp({ engine });
    const id = await make(t, {
      name: "Wi-Fi",
      certificate_authority_id: await makeCa(t),
      subject_name: "/CN=x",
      subject_alternative_name: "DNS=$SVC_VAR_HOST_UUID.example.com,UPN=$SVC_VAR_HOST_HARDWARE_SERIAL",
    });
    for (const [i, hostile] of [
      { uuid: "*" },
      { uuid: "dc01.corp.example.com" },
      { uuid: "UUID-3", hardware_serial: "administrator@corp.example.com" },
    ].entries()) {
      const evil = await makeCaller(t, { hostname: `evil-${i}`, hardware_serial: "1", ...hostile });
      const template = (await json(await evil.call("GET", `/api/svcd/certificates/${id}`))).certificate;
      expect([template.status, template.svc_challenge], JSON.stringify(hostile)).toEqual(["failed", null]);
    }
    const named = await make(t, {
      name: "VPN",
      certificate_authority_id: await makeCa(t, "VPN"),
      subject_name: "/CN=$SVC_VAR_HOST_HARDWARE_SERIAL",
    });
    for (const [hardware_serial, status] of [
      ["ceo@example.com", "failed"],
      ["VMware-42 1f b5", "delivered"],
    ] as const) {
      const host = await makeCaller(t, { hostname: `vpn-${status}`, uuid: `UUID-${status}`, hardware_serial });
      const template = (await json(await host.call("GET", `/api/svcd/certificates/${named}`))).certificate;
      expect(template.status, hardware_serial).toBe(status);
    }
  });

  it("have alternative names, with the host's values, which cannot add another name", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const given = { name: "Wi-Fi", certificate_authority_id: ca, subject_name: "/CN=x" };
    const asked = "dns=$SVC_VAR_HOST_UUID.example.com,UPN=$SVC_VAR_HOST_HARDWARE_SERIAL , URI=https://a\\,b";
    const id = await make(t, { ...given, subject_alternative_name: asked });
    const kept = "DNS=$SVC_VAR_HOST_UUID.example.com, UPN=$SVC_VAR_HOST_HARDWARE_SERIAL, URI=https://a\\,b";
    const shown = (await json(await t.get(`/certificates/${id}`))).certificate;
    expect([shown.subject_name, shown.subject_alternative_name]).toEqual(["/CN=x", kept]);
    const { call } = await makeCaller(t, { hostname: "a", uuid: "UUID-1", hardware_serial: "1, DNS=evil.example" });
    const own = (await json(await call("GET", `/api/svcd/certificates/${id}`))).certificate;
    expect(own.subject_alternative_name).toBe("DNS=UUID-1.example.com, UPN=1\\, DNS=evil.example, URI=https://a\\,b");
    expect(own.status).toBe("delivered");
    const [listed] = (await json(await call("GET", "/certificates"))).certificates;
    expect(listed.subject_alternative_name).toBe(own.subject_alternative_name);
    const without = await makeCaller(t, { hostname: "b", uuid: "UUID-2", hardware_serial: "" });
    expect((await json(await without.call("GET", `/api/svcd/certificates/${id}`))).certificate).toMatchObject({
      status: "failed",
      subject_alternative_name: kept,
    });
    // Other names need other certificates.
    const specs = [{ ...given, subject_alternative_name: "EMAIL=a@example.com" }];
    expect((await t.post("/spec/certificates", { specs })).status).toBe(200);
    expect((await t.store.hostCertificates.list()).map(({ status }) => status)).toEqual(["pending", "pending"]);
    for (const [text, status] of [
      ["x", 422],
      ["DNS=", 422],
      ["RID=1.2.3", 422],
      ["DNS=a,,DNS=b", 422],
      ["DNS=a\\", 422],
      ["DNS=$SVC_VAR_HOST_NAME", 400],
      [`DNS=${"x".repeat(1100)}`, 422],
    ] as const) {
      const refused = await t.post("/certificates", { ...given, name: "B", subject_alternative_name: text });
      expect([text, ...(await refusal(refused))]).toEqual([text, status, "subject_alternative_name"]);
    }
  });

  it("are refused on any error, with the field", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const est = await makeCa(t, "EST", "custom_est_proxy");
    const good = { name: "A", certificate_authority_id: ca, subject_name: "/CN=x" };
    const wrong: [string, object, number, string][] = [
      ["no name", { name: " " }, 422, "name"],
      ["a long name", { name: "x".repeat(256) }, 422, "name"],
      ["a line break in the name", { name: "a\nb" }, 422, "name"],
      ["an authority of another kind", { certificate_authority_id: est }, 400, "certificate_authority_id"],
      ["an unknown authority", { certificate_authority_id: 999 }, 404, "base"],
      ["no authority", { certificate_authority_id: undefined }, 422, "certificate_authority_id"],
      ["an unknown team", { team_id: 999 }, 404, "base"],
      ["a team that is none", { team_id: "x" }, 422, "team_id"],
      ["an unknown variable", { subject_name: "/CN=$SVC_VAR_HOST_NAME" }, 400, "subject_name"],
      ["a variable for other uses", { subject_name: "/CN=$SVC_VAR_HOST_END_USER_EMAIL_IDP" }, 400, "subject_name"],
      ["a secret", { subject_name: "/CN=$SVC_SECRET_KEY" }, 400, "subject_name"],
      ["a variable that goes on", { subject_name: "/CN=$SVC_VAR_HOST_UUIDX" }, 400, "subject_name"],
      ["no subject", { subject_name: "" }, 422, "subject_name"],
      ["no fields", { subject_name: "just words" }, 422, "subject_name"],
      ["an unknown field", { subject_name: "/CN=x/XX=y" }, 422, "subject_name"],
      ["an empty field", { subject_name: "/CN=/O=y" }, 422, "subject_name"],
      ["an empty part", { subject_name: "/CN=x//O=y" }, 422, "subject_name"],
      ["two common names", { subject_name: "/CN=x/CN=y" }, 422, "subject_name"],
      ["a country of three letters", { subject_name: "/CN=x/C=DEU" }, 422, "subject_name"],
      ["a control character", { subject_name: "/CN=x\u0000" }, 422, "subject_name"],
      ["an open escape", { subject_name: "/CN=x\\" }, 422, "subject_name"],
    ];
    for (const [what, change, status, field] of wrong)
      expect(await refusal(await t.post("/certificates", { ...good, ...change })), what).toEqual([status, field]);
    expect(await t.store.certificateTemplates.count()).toBe(0);
    await make(t, good);
    expect((await t.post("/certificates", { ...good, name: "A " })).status).toBe(409);
    const at_once = await Promise.all(Array.from({ length: 4 }, () => t.post("/certificates", { ...good, name: "B" })));
    expect(at_once.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it("are limited to the host's own for a node key, with its values", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const team = await makeTeam(t);
    const { host, call } = await makeCaller(t, {
      hostname: "a",
      uuid: "UUID-A",
      hardware_serial: "S/1\n\\2",
      team_id: team.id,
    });
    const loner = await makeCaller(t, { hostname: "b", uuid: "UUID-B" });
    await make(t, { name: "of none", certificate_authority_id: ca, subject_name: SUBJECT });
    const own = await make(t, {
      name: "own",
      team_id: team.id,
      certificate_authority_id: ca,
      subject_name: "/CN=$SVC_VAR_HOST_UUID/OU=$SVC_VAR_HOST_HARDWARE_SERIAL",
    });
    const person = await make(t, {
      name: "person",
      team_id: team.id,
      certificate_authority_id: ca,
      subject_name: "/CN=$SVC_VAR_HOST_END_USER_IDP_USERNAME",
    });
    for (const scheme of ["Node key", "NodeKey", "node key"]) {
      const { certificates } = await json(await call("GET", "/certificates", undefined, scheme));
      // Without a user the second template has no name.
      expect(certificates).toMatchObject([{ id: own, subject_name: "/CN=UUID-A/OU=S\\/1\\\\2" }]);
      expect(parseName(certificates[0].subject_name)).toEqual([
        { key: "CN", value: "UUID-A" },
        { key: "OU", value: "S/1\\2" },
      ]);
    }
    // Parameters of the request do not make more visible.
    expect(await names(await call("GET", "/certificates?team_id=0"))).toEqual(["own"]);
    expect((await json(await loner.call("GET", "/certificates"))).certificates).toMatchObject([
      { name: "of none", subject_name: "/CN=UUID-B/O=Example" },
    ]);
    await t.store.hostEmails.insert({ host_id: host.id, email: "ada@example.com", source: "mdm_idp_accounts" });
    expect(await names(await call("GET", "/certificates"))).toEqual(["own", "person"]);
    // For users, variables are unchanged unless a host is given.
    expect((await json(await t.get(`/certificates/${person}`))).certificate.subject_name).toContain("$SVC_VAR");
    expect((await json(await t.get(`/certificates/${person}?host_id=${host.id}`))).certificate).toMatchObject({
      subject_name: "/CN=ada@example.com",
      status: "pending",
      scep_challenge: MASK,
    });
    expect(await refusal(await t.get(`/certificates/${person}?host_id=${loner.host.id}`))).toEqual([400, "host_id"]);
    expect((await t.get(`/certificates/${person}?host_id=999`)).status).toBe(404);
  });

  it("accept a managed agent's key too, and no unknown key", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    await make(t, { name: "A", certificate_authority_id: ca, subject_name: SUBJECT });
    const agent = await makeManaged(t, { hardware_uuid: "MANAGED-1" });
    const call = (key: string, path: string, method = "GET", body?: unknown) =>
      t.as(null).request(method, path, body, { authorization: `Node key ${key}` });
    expect((await json(await call(agent.key, "/certificates"))).certificates).toMatchObject([
      { subject_name: "/CN=MANAGED-1/O=Example" },
    ]);
    for (const key of ["unknown", t.token]) expect((await call(key, "/certificates")).status).toBe(401);
    const { key } = await makeCaller(t, { hostname: "c" });
    // A key of a host only gives access to its own templates.
    for (const [method, path, body] of [
      ["GET", "/hosts"],
      ["GET", "/me"],
      ["POST", "/certificates", { name: "X", certificate_authority_id: ca, subject_name: "/CN=x" }],
      ["DELETE", "/certificates/1"],
      ["GET", "/certificate_authorities"],
    ] as const)
      expect((await call(key, path, method, body)).status, `${method} ${path}`).toBe(401);
    expect((await t.as(key).get("/certificates")).status).toBe(401);
    expect((await t.as(null).get("/certificates")).status).toBe(401);
  });

  it("are sent to the agent with the challenge, and show the state that it reports", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const team = await makeTeam(t);
    const { host, call } = await makeCaller(t, { hostname: "a", uuid: "UUID-A" });
    const own = await make(t, { name: "own", certificate_authority_id: ca, subject_name: SUBJECT });
    const person = await make(t, {
      name: "person",
      certificate_authority_id: ca,
      subject_name: "/CN=$SVC_VAR_HOST_END_USER_IDP_USERNAME",
    });
    const foreign = await make(t, {
      name: "foreign",
      team_id: team.id,
      certificate_authority_id: ca,
      subject_name: SUBJECT,
    });
    const path = (id: number) => `/api/svcd/certificates/${id}`;
    const put = (id: number, body: object) => call("PUT", `${path(id)}/status`, body);
    const got = async (id: number) => (await json(await call("GET", path(id)))).certificate;

    expect(await got(own)).toEqual({
      id: own,
      name: "own",
      certificate_authority_id: ca,
      certificate_authority_name: "SCEP",
      certificate_authority_type: "custom_scep_proxy",
      team_id: null,
      subject_name: "/CN=UUID-A/O=Example",
      subject_alternative_name: "",
      status: "delivered",
      scep_challenge: "static-challenge",
      svc_challenge: expect.stringMatching(/^[\w-]{43}$/),
      created_at: t.clock.iso(),
    });
    expect(await got(person)).toMatchObject({
      status: "failed",
      scep_challenge: null,
      subject_name: expect.stringContaining("$SVC_VAR"),
    });
    expect((await call("GET", path(foreign))).status).toBe(403);
    expect((await put(foreign, { status: "verified" })).status).toBe(403);
    expect((await call("GET", path(999))).status).toBe(404);
    expect((await t.as(null).get(path(own))).status).toBe(401);
    expect((await t.get(path(own))).status).toBe(401);
    for (const bad of [{ status: "done" }, { status: "delivered" }, {}, { status: 7 }, { status: null }])
      expect(await refusal(await put(own, bad))).toEqual([422, "status"]);
    expect(await refusal(await put(own, { status: "failed", detail: 7 }))).toEqual([422, "detail"]);

    expect(await json(await put(own, { status: "failed", detail: "no answer" }))).toEqual({});
    expect(await got(own)).toMatchObject({ status: "failed" });
    await put(own, { status: "failed", detail: "no answer" });
    await put(own, { status: "verified", detail: "ignored" });
    expect(await got(own)).toMatchObject({ status: "verified" });
    expect(
      await t.store.hostCertificates.list({ where: { op: "eq", column: "template_id", value: own } }),
    ).toMatchObject([{ status: "verified", detail: null }]);
    const base = {
      type: "installed_certificate",
      host_id: host.id,
      host_display_name: "a",
      certificate_template_id: own,
      certificate_name: "own",
    };
    expect((await told(t)).filter(({ type }) => type === "installed_certificate")).toEqual([
      { ...base, status: "failed_install", detail: "no answer" },
      { ...base, status: "installed" },
    ]);
    // The value has arrived: a failure for lack of it can continue.
    await t.store.hostEmails.insert({ host_id: host.id, email: "ada@example.com", source: "mdm_idp_accounts" });
    expect(await got(person)).toMatchObject({ status: "delivered", subject_name: "/CN=ada@example.com" });
    expect((await json(await t.get(`/certificates/${own}?host_id=${host.id}`))).certificate.status).toBe("verified");
  });

  it("belong to teams: users of another team cannot see, create or delete them", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const [own, other] = [(await makeTeam(t)).id, (await makeTeam(t, "Other")).id];
    const given = (team_id: number | null, name = "T") => ({
      name,
      team_id,
      certificate_authority_id: ca,
      subject_name: "/CN=x",
    });
    const ids = {
      own: await make(t, given(own)),
      other: await make(t, given(other)),
      none: await make(t, given(null)),
    };
    for (const role of ["admin", "maintainer", "gitops"] as const) {
      const person = await makeUser(t, { teams: [{ id: own, role }] }, { api_only: role === "gitops" });
      expect(await names(await person.get(`/certificates?team_id=${own}`))).toEqual(["T"]);
      expect(await names(await person.get("/certificates"))).toEqual([]);
      for (const query of [`team_id=${other}`, `team=${other}`, "team_id=0", "team=999"])
        expect((await person.get(`/certificates?${query}`)).status, query).toBe(403);
      for (const id of [ids.other, ids.none, 999]) {
        expect((await person.get(`/certificates/${id}`)).status).toBe(404);
        expect((await person.delete(`/certificates/${id}`)).status).toBe(404);
      }
      for (const team of [other, null, 0, 999, String(other)])
        expect((await person.post("/certificates", given(team as number, "New"))).status, String(team)).toBe(403);
      const spec = (team: string, name: string) => ({
        name,
        team,
        certificate_authority_id: ca,
        subject_name: "/CN=x",
      });
      const mine = (await t.store.teams.get(own))!.name;
      const mixed = await person.post("/spec/certificates", { specs: [spec(mine, "N1"), spec("Other", "N2")] });
      expect([403, 404]).toContain(mixed.status);
      expect(
        (await person.request("DELETE", "/spec/certificates", { ids: [ids.own, ids.other], team_id: own })).status,
      ).toBe(404);
      expect((await person.request("DELETE", "/spec/certificates", { ids: [ids.other], team_id: other })).status).toBe(
        403,
      );
      expect(await t.store.certificateTemplates.count()).toBe(3);
      expect((await person.post("/spec/certificates", { specs: [spec(mine, "N1")] })).status).toBe(200);
      const made = await t.store.certificateTemplates.first({ where: { op: "eq", column: "name", value: "N1" } });
      expect((await person.delete(`/certificates/${made!.id}`)).status).toBe(200);
    }
    for (const role of ["observer", "observer_plus", "technician"] as const) {
      const person = await makeUser(t, role);
      expect((await person.get("/certificates")).status).toBe(403);
      expect((await person.post("/certificates", given(null, "New"))).status).toBe(403);
      expect((await person.delete(`/certificates/${ids.none}`)).status).toBe(403);
    }
  });

  it("are applied by team and name in one transaction, and deleted by team", async () => {
    const t = await startApp({ engine });
    const ca = await makeCa(t);
    const est = await makeCa(t, "EST", "custom_est_proxy");
    const team = await makeTeam(t, "Mobile");
    const { call } = await makeCaller(t, { hostname: "a", team_id: team.id });
    const spec = (name: string, more: object = {}) => ({
      name,
      team: "Mobile",
      certificate_authority_id: ca,
      subject_name: SUBJECT,
      ...more,
    });
    const apply = (...specs: object[]) => t.post("/spec/certificates", { specs });
    const wrong: [object, number, string][] = [
      [spec("B", { team: "Nobody" }), 404, "base"],
      [spec("B", { certificate_authority_id: 999 }), 400, "specs.1.certificate_authority_id"],
      [spec("B", { certificate_authority_id: est }), 400, "specs.1.certificate_authority_id"],
      [spec("B", { subject_name: "/CN=$SVC_VAR_X" }), 400, "specs.1.subject_name"],
      [spec("B", { subject_name: "x" }), 422, "specs.1.subject_name"],
      [spec("A"), 400, "specs.1.name"],
      [spec("B", { subjectname: "x" }), 400, "specs.1.subjectname"],
    ];
    for (const [bad, status, field] of wrong)
      expect(await refusal(await apply(spec("A"), bad))).toEqual([status, field]);
    expect(await t.store.certificateTemplates.count()).toBe(0);
    expect(
      await json(await apply(spec("A"), spec("B"), spec("A", { team: "No team" }), spec("B", { team: "" }))),
    ).toEqual({});
    expect(await names(await t.get(`/certificates?team_id=${team.id}`))).toEqual(["A", "B"]);
    expect(await names(await t.get("/certificates"))).toEqual(["A", "B"]);
    const [a, b] = (await json(await t.get(`/certificates?team_id=${team.id}`))).certificates;
    await call("PUT", `/api/svcd/certificates/${a.id}/status`, { status: "verified" });
    const before = await t.store.certificateTemplates.list();
    await json(await apply(spec("A")));
    expect(await t.store.certificateTemplates.list()).toEqual(before);
    await json(await apply(spec("A", { subject_name: "/CN=changed" })));
    expect(await t.store.hostCertificates.list()).toMatchObject([{ template_id: a.id, status: "pending" }]);
    expect((await told(t)).filter(({ type }) => type === "edited_certificate_template")).toHaveLength(1);
    const remove = (ids: number[], team_id: unknown) => t.request("DELETE", "/spec/certificates", { ids, team_id });
    expect((await remove([a.id, 999], team.id)).status).toBe(404);
    expect((await remove([a.id], null)).status).toBe(404);
    expect(await t.store.certificateTemplates.count()).toBe(4);
    expect(await json(await remove([a.id, b.id, a.id], team.id))).toEqual({});
    expect(await names(await t.get(`/certificates?team_id=${team.id}`))).toEqual([]);
    expect((await told(t)).filter(({ type }) => type === "deleted_certificate_template")).toHaveLength(2);
  });

  it("of teams are premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    const ca = await makeCa(t);
    await make(t, { name: "A", certificate_authority_id: ca, subject_name: "/CN=x" });
    expect(
      (await t.post("/certificates", { name: "B", team_id: 1, certificate_authority_id: ca, subject_name: "/CN=x" }))
        .status,
    ).toBe(402);
    expect((await t.get("/certificates?team=1")).status).toBe(402);
    expect((await t.post("/spec/certificates", { specs: [] })).status).toBe(402);
    expect(await names(await t.get("/certificates"))).toEqual(["A"]);
  });
});

describe("values reported by hosts", () => {
  it("never become a field of a name, whatever they are", async () => {
    const t = await startApp();
    const ca = await makeCa(t);
    await make(t, {
      name: "A",
      certificate_authority_id: ca,
      subject_name: "CN=\\$SVC_VAR_HOST_HARDWARE_SERIAL/O=Example",
    });
    const values = [
      "x/O=Evil",
      "x\\/O=Evil",
      "\\",
      "a\u0000b\n/CN=y",
      "$SVC_VAR_HOST_UUID",
      "$&$1$`",
      "é\u2028/C=US",
      "=/=",
    ];
    for (const [i, value] of values.entries()) {
      const { call } = await makeCaller(t, { hostname: `h${i}`, hardware_serial: value });
      const { certificates } = await json(await call("GET", "/certificates"));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      const plain = value.replace(/[\u0000-\u001f\u2028\ufffd]/g, "");
      const [first, ...others] = parseName(certificates[0].subject_name);
      expect([first, ...others], value).toEqual([
        { key: "CN", value: expect.any(String) },
        { key: "O", value: "Example" },
      ]);
      expect(first!.value.replaceAll("\ufffd", ""), value).toBe(plain);
    }
  });
});
