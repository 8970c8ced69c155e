import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type CaType, caTypes } from "../../src/api/certificates/ca.ts";
import { MASK } from "../../src/api/fields.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import {
  API_TOKEN,
  allowLocal,
  OpensslCa,
  startChallengeWebhook,
  startFake,
  startHostedCa,
} from "../support/ca-fakes.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { startEst } from "../support/est-server.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { NTLM_DOMAIN, NTLM_PASSWORD, NTLM_USER, startNdes } from "../support/ndes.ts";

const PATH = "/certificate_authorities";
const SKIP = `${PATH}?skip_check=true`;

const nameIn = (object: Record<string, unknown>) => object.name;
const braced = (name: string) => ["$", name, ""].join("{").replace(/{$/, "}");

/** One of each, with a secret that occurs nowhere else. */
const bodies: Record<CaType, Record<string, unknown>> = {
  hosted_ca_a: {
    name: "HOSTED_A",
    url: "https://hosted.example.com",
    api_token: "canary-token-1",
    profile_id: "p-1",
    certificate_common_name: "$SVC_VAR_HOST_END_USER_EMAIL_IDP",
    certificate_user_principal_names: ["$SVC_VAR_HOST_UUID"],
    certificate_seat_id: braced("SVC_VAR_HOST_HARDWARE_SERIAL"),
  },
  directory_scep_proxy: {
    url: "https://ndes.example.com/certsrv/mscep/mscep.dll",
    admin_url: "https://ndes.example.com/certsrv/mscep_admin/",
    username: "EXAMPLE\\scep",
    password: "canary-password-2",
  },
  custom_scep_proxy: { name: "SCEP_WIFI", url: "https://scep.example.com/scep", challenge: "canary-challenge-3" },
  custom_est_proxy: {
    name: "EST_VPN",
    url: "https://est.example.com/.well-known/est",
    username: "u",
    password: "canary-password-4",
  },
  hosted_est_ca: {
    name: "HOSTED_EST",
    url: "https://h.example.com/.well-known/est",
    client_id: "c",
    client_secret: "canary-secret-5",
  },
  hosted_scep_ca: {
    url: "https://hs.example.com/scep",
    challenge_url: "https://hs.example.com/hook",
    username: "hook",
    password: "canary-password-6",
  },
};
const secretOf: Record<CaType, string> = {
  hosted_ca_a: "api_token",
  directory_scep_proxy: "password",
  custom_scep_proxy: "challenge",
  custom_est_proxy: "password",
  hosted_est_ca: "client_secret",
  hosted_scep_ca: "password",
};
const nameOf = (type: CaType) => (bodies[type].name as string | undefined) ?? type;
const make = async (t: TestApp, type: CaType, more: object = {}): Promise<number> => {
  const response = await t.post(SKIP, { [type]: { ...bodies[type], ...more } });
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { id: number }).id;
};
const get = async (t: TestApp, id: number) => (await (await t.get(`${PATH}/${id}`)).json()) as Record<string, unknown>;
const refusal = async (response: Response): Promise<[number, string | undefined, string]> => {
  const { errors } = await errorOf(response);
  return [response.status, errors?.[0]?.name, errors?.[0]?.reason ?? ""];
};
const activitiesOf = async (t: TestApp) =>
  (await t.store.activities.list())
    .filter(({ type }) => /^(added|edited|deleted)_.*(scep|est|ca_a)/.test(type))
    .map(({ type, details }) => [type, details]);

describe.each(rulesEngines)("certificate authorities on %s", (engine) => {
  it("are created, shown with masked secrets, listed by name, and deleted; each change is recorded once", async () => {
    const t = await startApp({ engine });
    const ids: Partial<Record<CaType, number>> = {};
    for (const type of caTypes) {
      const response = await t.post(SKIP, { [type]: bodies[type] });
      const reply = (await response.json()) as { id: number };
      expect([response.status, reply]).toEqual([200, { id: expect.any(Number), name: nameOf(type), type }]);
      ids[type] = reply.id;
      expect(await get(t, reply.id)).toEqual({
        id: reply.id,
        name: nameOf(type),
        type,
        ...bodies[type],
        [secretOf[type]]: MASK,
      });
    }
    const list = await (await t.get(PATH)).json();
    const sorted = [...caTypes].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    expect(list).toEqual({
      certificate_authorities: sorted.map((type) => ({ id: ids[type], name: nameOf(type), type })),
    });
    for (const type of caTypes) {
      expect((await t.delete(`${PATH}/${ids[type]}`)).status).toBe(204);
      expect((await t.get(`${PATH}/${ids[type]}`)).status).toBe(404);
      expect((await t.delete(`${PATH}/${ids[type]}`)).status).toBe(404);
    }
    const details = (type: CaType) => (type === "directory_scep_proxy" ? {} : { name: nameOf(type) });
    expect(await activitiesOf(t)).toEqual([
      ...caTypes.map((type) => [`added_${type}`, details(type)]),
      ...caTypes.map((type) => [`deleted_${type}`, details(type)]),
    ]);
  });

  it("are refused completely on any error, with the field", async () => {
    const t = await startApp({ engine });
    const scep = bodies.custom_scep_proxy;
    const wrong: [string, unknown, number, string][] = [
      ["no object", {}, 422, "base"],
      ["two objects", { custom_scep_proxy: scep, custom_est_proxy: bodies.custom_est_proxy }, 422, "custom_est_proxy"],
      ["an unknown object", { other: scep }, 400, "other"],
      ["an unknown field", { custom_scep_proxy: { ...scep, passwort: "x" } }, 400, "custom_scep_proxy.passwort"],
      ["no name", { custom_scep_proxy: { ...scep, name: undefined } }, 422, "custom_scep_proxy.name"],
      ["an empty name", { custom_scep_proxy: { ...scep, name: "" } }, 422, "custom_scep_proxy.name"],
      ["a name with a dash", { custom_scep_proxy: { ...scep, name: "A-B" } }, 422, "custom_scep_proxy.name"],
      [
        "a name with a letter that is none of ours",
        { custom_scep_proxy: { ...scep, name: "Ä" } },
        422,
        "custom_scep_proxy.name",
      ],
      ["a name with a line break", { custom_scep_proxy: { ...scep, name: "A\n" } }, 422, "custom_scep_proxy.name"],
      ["a long name", { custom_scep_proxy: { ...scep, name: "A".repeat(256) } }, 422, "custom_scep_proxy.name"],
      [
        "a name of a single type",
        { hosted_scep_ca: { ...bodies.hosted_scep_ca, name: "X" } },
        400,
        "hosted_scep_ca.name",
      ],
      ["no URL", { custom_scep_proxy: { ...scep, url: "scep.example.com" } }, 422, "custom_scep_proxy.url"],
      ["a file", { custom_scep_proxy: { ...scep, url: "file:///etc/passwd" } }, 422, "custom_scep_proxy.url"],
      [
        "credentials in a URL",
        { custom_scep_proxy: { ...scep, url: "https://u:p@x.example.com/" } },
        422,
        "custom_scep_proxy.url",
      ],
      ["no challenge", { custom_scep_proxy: { ...scep, challenge: undefined } }, 422, "custom_scep_proxy.challenge"],
      [
        "a line break in a secret",
        { custom_scep_proxy: { ...scep, challenge: "a\nb" } },
        422,
        "custom_scep_proxy.challenge",
      ],
      ["half a character", { custom_scep_proxy: { ...scep, challenge: "\ud800" } }, 422, "custom_scep_proxy.challenge"],
      ["the mask as a secret", { custom_scep_proxy: { ...scep, challenge: MASK } }, 422, "custom_scep_proxy.challenge"],
      ["a number as a secret", { custom_scep_proxy: { ...scep, challenge: 7 } }, 422, "custom_scep_proxy.challenge"],
      [
        "an unknown variable",
        { hosted_ca_a: { ...bodies.hosted_ca_a, certificate_common_name: "$SVC_VAR_HOST_NAME" } },
        422,
        "hosted_ca_a.certificate_common_name",
      ],
      [
        "a secret variable",
        { hosted_ca_a: { ...bodies.hosted_ca_a, certificate_seat_id: "$SVC_SECRET_X" } },
        422,
        "hosted_ca_a.certificate_seat_id",
      ],
      [
        "an unknown variable among names",
        { hosted_ca_a: { ...bodies.hosted_ca_a, certificate_user_principal_names: [braced("SVC_VAR_X")] } },
        422,
        "hosted_ca_a.certificate_user_principal_names",
      ],
      [
        "two names",
        { hosted_ca_a: { ...bodies.hosted_ca_a, certificate_user_principal_names: ["a", "b"] } },
        422,
        "hosted_ca_a.certificate_user_principal_names",
      ],
    ];
    for (const [what, body, status, field] of wrong)
      expect((await refusal(await t.post(SKIP, body))).slice(0, 2), what).toEqual([status, field]);
    expect(await t.store.certificateAuthorities.count()).toBe(0);
    expect(await activitiesOf(t)).toEqual([]);
    await make(t, "custom_scep_proxy", { name: "A".repeat(255) });
  });

  it("are changed field by field; a new URL needs the secret again, and a mask changes nothing", async () => {
    const t = await startApp({ engine });
    for (const type of caTypes) {
      const id = await make(t, type);
      const field = secretOf[type];
      const secret = async () => (await t.store.certificateAuthorities.get(id))!.secret;
      const patch = (change: object) => t.patch(`${PATH}/${id}?skip_check=true`, { [type]: change });
      expect((await refusal(await patch({ url: "https://new.example.com/" }))).slice(0, 2)).toEqual([
        422,
        `${type}.${field}`,
      ]);
      expect((await refusal(await patch({ url: "https://new.example.com/", [field]: MASK }))).slice(0, 2)).toEqual([
        422,
        `${type}.${field}`,
      ]);
      expect(await get(t, id)).toMatchObject({ url: bodies[type].url });
      expect((await patch({ [field]: MASK })).status).toBe(200);
      expect(await secret()).toBe(bodies[type][field]);
      const changed = await patch({ url: "https://new.example.com/", [field]: "canary-new-7" });
      expect([changed.status, await changed.json()]).toEqual([200, {}]);
      expect(await secret()).toBe("canary-new-7");
      expect(await get(t, id)).toEqual({
        ...(await get(t, id)),
        ...bodies[type],
        url: "https://new.example.com/",
        [field]: MASK,
      });
      const told = (await activitiesOf(t)).filter(([name]) => name === `edited_${type}`);
      expect(told, "what changes nothing is not told of").toHaveLength(1);
    }
    const second = await make(t, "custom_scep_proxy", { name: "SECOND" });
    const patch = (body: object, id = second) => t.patch(`${PATH}/${id}?skip_check=true`, body);
    expect((await patch({ custom_scep_proxy: { name: "SCEP_WIFI" } })).status).toBe(409);
    // Some clients send every object, with null for those that they do not mean.
    expect((await patch({ custom_scep_proxy: { name: "THIRD" }, hosted_ca_a: null })).status).toBe(200);
    expect((await refusal(await patch({ custom_scep_proxy: null }))).slice(0, 2)).toEqual([422, "base"]);
    expect(await get(t, second)).toMatchObject({ name: "THIRD", url: bodies.custom_scep_proxy.url });
    expect((await refusal(await patch({ custom_est_proxy: { username: "x" } }))).slice(0, 2)).toEqual([
      422,
      "custom_est_proxy",
    ]);
    expect((await refusal(await patch({ custom_scep_proxy: { challenge: "" } }))).slice(0, 2)).toEqual([
      422,
      "custom_scep_proxy.challenge",
    ]);
    expect((await refusal(await patch({}))).slice(0, 2)).toEqual([422, "base"]);
    expect((await patch({ custom_scep_proxy: { name: "X" } }, 999)).status).toBe(404);
    // The secret is sent to the admin URL too.
    const [directory] = await t.store.certificateAuthorities.list({
      where: { op: "eq", column: "type", value: "directory_scep_proxy" },
    });
    expect(
      (
        await refusal(await patch({ directory_scep_proxy: { admin_url: "https://evil.example.com/" } }, directory!.id))
      ).slice(0, 2),
    ).toEqual([422, "directory_scep_proxy.password"]);
  });

  it("can only be read and changed by global admins and gitops", async () => {
    const t = await startApp({ engine });
    const id = await make(t, "custom_scep_proxy");
    const team = (await makeTeam(t)).id;
    const calls: [string, string, unknown?][] = [
      ["GET", PATH],
      ["GET", `${PATH}/${id}`],
      ["POST", SKIP, { custom_est_proxy: bodies.custom_est_proxy }],
      ["PATCH", `${PATH}/${id}?skip_check=true`, { custom_scep_proxy: { challenge: "x" } }],
      ["GET", "/spec/certificate_authorities"],
      ["POST", "/spec/certificate_authorities?skip_check=true", { certificate_authorities: {} }],
      ["DELETE", `${PATH}/${id}`],
    ];
    const people = [
      ...(await Promise.all(
        (["maintainer", "technician", "observer", "observer_plus"] as const).map((role) => makeUser(t, role)),
      )),
      ...(await Promise.all(
        (["admin", "gitops", "maintainer"] as const).map((role) => makeUser(t, { teams: [{ id: team, role }] })),
      )),
    ];
    for (const person of people)
      for (const [method, path, body] of calls)
        expect((await person.request(method, path, body)).status, `${method} ${path}`).toBe(403);
    expect(await t.store.certificateAuthorities.count()).toBe(1);
    const gitops = await makeUser(t, "gitops", { api_only: true });
    for (const [method, path, body] of calls)
      expect((await gitops.request(method, path, body)).status, `${method} ${path}`).toBeLessThan(300);
  });

  it("cannot be deleted while templates use them", async () => {
    const t = await startApp({ engine });
    const id = await make(t, "custom_scep_proxy");
    const template = { name: "Wi-Fi", certificate_authority_id: id, subject_name: "/CN=x" };
    const made = (await (await t.post("/certificates", template)).json()) as { id: number };
    expect(await refusal(await t.delete(`${PATH}/${id}`))).toEqual([409, "base", expect.stringContaining("Wi-Fi")]);
    expect(await t.store.certificateTemplates.count()).toBe(1);
    await t.delete(`/certificates/${made.id}`);
    expect((await t.delete(`${PATH}/${id}`)).status).toBe(204);
    // A template is created while its authority is deleted: one of the two fails, and no template is left without one.
    for (let round = 0; round < 5; round++) {
      const again = await make(t, "custom_scep_proxy");
      await Promise.all([
        t.delete(`${PATH}/${again}`),
        t.post("/certificates", { ...template, certificate_authority_id: again }),
      ]);
      const left = await t.store.certificateTemplates.list();
      for (const row of left) {
        expect(await t.store.certificateAuthorities.get(row.certificate_authority_id)).not.toBeNull();
        await t.delete(`/certificates/${row.id}`);
        await t.delete(`${PATH}/${again}`);
      }
    }
  });

  it("are applied in groups by name in one transaction", async () => {
    const t = await startApp({ engine });
    await make(t, "custom_scep_proxy");
    const apply = (groups: object, query = "?skip_check=true", more: object = {}) =>
      t.post(`/spec/certificate_authorities${query}`, { certificate_authorities: groups, ...more });
    const groups = {
      hosted_ca_a: [bodies.hosted_ca_a],
      directory_scep_proxy: bodies.directory_scep_proxy,
      custom_scep_proxy: [
        { ...bodies.custom_scep_proxy, challenge: "canary-changed-8" },
        { ...bodies.custom_scep_proxy, name: "SECOND" },
      ],
      hosted_est_ca: [],
      custom_est_proxy: null,
      hosted_scep_ca: [bodies.hosted_scep_ca],
    };
    for (const dry of [apply(groups, "?skip_check=true&dry_run=true"), apply(groups, undefined, { dry_run: true })])
      expect((await dry).status).toBe(200);
    expect(await t.store.certificateAuthorities.count()).toBe(1);
    const bad: [object, string][] = [
      [
        { ...groups, hosted_est_ca: [{ ...bodies.hosted_est_ca, url: "x" }] },
        "certificate_authorities.hosted_est_ca.0.url",
      ],
      [
        { ...groups, hosted_est_ca: [{ ...bodies.hosted_est_ca, name: "SECOND" }] },
        "certificate_authorities.hosted_est_ca.0.name",
      ],
      [
        { custom_est_proxy: [{ ...bodies.custom_est_proxy, name: "SCEP_WIFI" }] },
        "certificate_authorities.custom_est_proxy.0.name",
      ],
      [
        { custom_scep_proxy: [{ ...bodies.custom_scep_proxy, name: "N", challenge: MASK }] },
        "certificate_authorities.custom_scep_proxy.0.challenge",
      ],
      [
        { custom_scep_proxy: [{ ...bodies.custom_scep_proxy, url: "https://new.example.com", challenge: MASK }] },
        "certificate_authorities.custom_scep_proxy.0.challenge",
      ],
      [{ hosted_scep_ca: [bodies.hosted_scep_ca, bodies.hosted_scep_ca] }, "certificate_authorities.hosted_scep_ca"],
      [
        { directory_scep_proxy: { ...bodies.directory_scep_proxy, name: "OTHER" } },
        "certificate_authorities.directory_scep_proxy.name",
      ],
    ];
    for (const [given, field] of bad) expect((await refusal(await apply(given))).slice(0, 2)).toEqual([422, field]);
    expect((await refusal(await apply({ other: [] }))).slice(0, 2)).toEqual([400, "certificate_authorities.other"]);
    expect(await t.store.certificateAuthorities.count()).toBe(1);
    expect((await apply(groups)).status).toBe(200);
    const [scep] = await t.store.certificateAuthorities.list({
      where: { op: "eq", column: "name", value: "SCEP_WIFI" },
    });
    expect(scep!.secret).toBe("canary-changed-8");
    const types = (await activitiesOf(t)).map(([type]) => type).sort();
    expect(types).toEqual([
      "added_custom_scep_proxy",
      "added_custom_scep_proxy",
      "added_directory_scep_proxy",
      "added_hosted_ca_a",
      "added_hosted_scep_ca",
      "edited_custom_scep_proxy",
    ]);

    // The reply can be written back, and changes nothing.
    const { certificate_authorities: told } = (await (await t.get("/spec/certificate_authorities")).json()) as {
      certificate_authorities: object;
    };
    expect(told).toEqual({
      hosted_ca_a: [{ ...bodies.hosted_ca_a, api_token: MASK }],
      directory_scep_proxy: { name: "directory_scep_proxy", ...bodies.directory_scep_proxy, password: MASK },
      custom_scep_proxy: [
        { ...bodies.custom_scep_proxy, challenge: MASK },
        { ...bodies.custom_scep_proxy, name: "SECOND", challenge: MASK },
      ].sort((a, b) => (String(nameIn(a)) < String(nameIn(b)) ? -1 : 1)),
      custom_est_proxy: [],
      hosted_est_ca: [],
      hosted_scep_ca: [{ name: "hosted_scep_ca", ...bodies.hosted_scep_ca, password: MASK }],
    });
    const before = await t.store.certificateAuthorities.list();
    expect((await apply(told)).status).toBe(200);
    expect(await t.store.certificateAuthorities.list()).toEqual(before);
  });

  it("keep their secrets out of all replies, activities and errors", async () => {
    const t = await startApp({ engine });
    const texts: string[] = [];
    const note = async (response: Promise<Response>) => texts.push(await (await response).text());
    for (const type of caTypes) {
      const id = await make(t, type);
      await note(t.get(`${PATH}/${id}`));
      await note(t.post(SKIP, { [type]: bodies[type] }));
      await note(t.patch(`${PATH}/${id}`, { [type]: { url: "x", [secretOf[type]]: "canary-refused-9" } }));
      await note(t.post(PATH, { [type]: { ...bodies[type], name: "-" } }));
    }
    await note(t.get(PATH));
    await note(t.get("/spec/certificate_authorities"));
    await note(t.get("/activities"));
    expect(texts.join("\n")).not.toMatch(/canary-/);
  });
});

describe.each(bothEngines)("concurrent changes of certificate authorities on %s", (engine) => {
  it("have unique names over all types, also if created concurrently; two types exist at most once", async () => {
    const t = await startApp({ engine });
    await make(t, "custom_scep_proxy");
    const twin = { ...bodies.custom_est_proxy, name: "SCEP_WIFI" };
    expect((await t.post(SKIP, { custom_est_proxy: twin })).status).toBe(409);
    await make(t, "hosted_scep_ca");
    expect((await t.post(SKIP, { hosted_scep_ca: bodies.hosted_scep_ca })).status).toBe(409);
    expect((await t.post(SKIP, { custom_est_proxy: { ...twin, name: "directory_scep_proxy" } })).status).toBe(200);
    expect((await t.post(SKIP, { directory_scep_proxy: bodies.directory_scep_proxy })).status).toBe(409);
    const at_once = await Promise.all(
      Array.from({ length: 5 }, () => t.post(SKIP, { hosted_est_ca: { ...bodies.hosted_est_ca, name: "SAME" } })),
    );
    expect(at_once.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect((await activitiesOf(t)).filter(([type]) => type === "added_hosted_est_ca")).toHaveLength(1);
  });
});

describe("the check of an authority before it is saved", () => {
  const start = () => startApp({ settings: allowLocal });

  it("contacts the authority as its type requires, and saves it if it works", async () => {
    const t = await start();
    const ca = await OpensslCa.make();
    const der = Buffer.from(new X509Certificate(await ca.certificate()).raw);
    const ndes = await startNdes(der);
    const hook = await startChallengeWebhook("hook", "hook-password");
    const hosted = await startHostedCa(ca);
    const est = await startEst(ca);
    const user = `${NTLM_DOMAIN}\\${NTLM_USER}`;
    const good: [CaType, object, [string, string, string][]][] = [
      ["custom_scep_proxy", { name: "A", url: ndes.scepUrl, challenge: "c" }, [["url", `${ndes.url}/none`, "url"]]],
      [
        "directory_scep_proxy",
        { url: ndes.scepUrl, admin_url: ndes.adminUrl, username: user, password: NTLM_PASSWORD },
        [
          ["url", `${ndes.url}/none`, "url"],
          ["admin_url", `${ndes.url}/none`, "admin_url"],
          ["password", "wrong", "password"],
        ],
      ],
      [
        "hosted_scep_ca",
        { url: ndes.scepUrl, challenge_url: hook.url, username: "hook", password: "hook-password" },
        [
          ["url", `${ndes.url}/none`, "url"],
          ["challenge_url", ndes.url, "challenge_url"],
          ["password", "wrong", "password"],
        ],
      ],
      [
        "custom_est_proxy",
        { name: "B", url: est.estUrl, username: "u", password: "p" },
        [["url", `${est.url}/none`, "url"]],
      ],
      [
        "hosted_est_ca",
        { name: "C", url: est.estUrl, client_id: "u", client_secret: "p" },
        [["url", `${est.url}/none`, "url"]],
      ],
      [
        "hosted_ca_a",
        { ...bodies.hosted_ca_a, url: hosted.url, api_token: API_TOKEN, profile_id: "profile-1" },
        [
          ["url", `${est.url}/none`, "profile_id"],
          ["api_token", "wrong", "api_token"],
          ["profile_id", "other", "profile_id"],
        ],
      ],
    ];
    for (const [type, body, wrong] of good) {
      for (const [field, value, named] of wrong) {
        const answer = await refusal(await t.post(PATH, { [type]: { ...body, [field]: value } }));
        expect(answer.slice(0, 2), `${type} ${field}`).toEqual([422, `${type}.${named}`]);
        expect(answer[2]).toContain(`Invalid ${named}`);
      }
      const made = await t.post(PATH, { [type]: body });
      expect(made.status, `${type}: ${await made.clone().text()}`).toBe(200);
      // A change is checked too, unless only the name changes.
      const { id } = (await made.json()) as { id: number };
      const [field, value, named] = wrong.at(-1)!;
      const change = { ...body, [field]: value };
      expect((await refusal(await t.patch(`${PATH}/${id}`, { [type]: change }))).slice(0, 2)).toEqual([
        422,
        `${type}.${named}`,
      ]);
      expect((await t.patch(`${PATH}/${id}?skip_check=true`, { [type]: change })).status).toBe(200);
    }
    expect(await t.store.certificateAuthorities.count()).toBe(good.length);
    const [scep] = await t.store.certificateAuthorities.list({ where: { op: "eq", column: "name", value: "A" } });
    const asked = ndes.requests.length;
    expect((await t.patch(`${PATH}/${scep!.id}`, { custom_scep_proxy: { name: "RENAMED" } })).status).toBe(200);
    expect(ndes.requests.length).toBe(asked);
  });

  it("reports why the directory's page gives no challenge", async () => {
    const t = await start();
    const ca = await OpensslCa.make();
    const ndes = await startNdes(Buffer.from(new X509Certificate(await ca.certificate()).raw));
    const body = {
      url: ndes.scepUrl,
      admin_url: ndes.adminUrl,
      username: `${NTLM_DOMAIN}\\${NTLM_USER}`,
      password: NTLM_PASSWORD,
    };
    for (const [page, words] of [
      ["full", "cache of challenges is full"],
      ["no permission", "may not request challenges"],
      ["other", "shows no challenge"],
    ] as const) {
      ndes.page = page;
      const [status, field, reason] = await refusal(await t.post(PATH, { directory_scep_proxy: body }));
      expect([status, field]).toEqual([422, "directory_scep_proxy.admin_url"]);
      expect(reason).toContain(words);
    }
  });

  it("connects to no address of this machine or its network, and follows no redirect there", async () => {
    const fake = await startFake(() => ({ status: 302, headers: { location: "http://169.254.169.254/" } }));
    const strict = await startApp();
    for (const url of [
      fake.url,
      "http://[::ffff:127.0.0.1]/",
      "http://169.254.169.254/",
      "http://10.0.0.1/",
      "http://2130706433/",
    ]) {
      const answer = await refusal(
        await strict.post(PATH, { custom_scep_proxy: { ...bodies.custom_scep_proxy, url } }),
      );
      expect(answer, url).toEqual([422, "custom_scep_proxy.url", expect.stringMatching(/addresses .*are blocked/)]);
    }
    expect(fake.requests).toEqual([]);
    const t = await start();
    const answer = await refusal(
      await t.post(PATH, { custom_scep_proxy: { ...bodies.custom_scep_proxy, url: fake.url } }),
    );
    expect(answer).toEqual([422, "custom_scep_proxy.url", expect.stringContaining("redirects")]);
  });

  it("detects a change that was made during the check", async () => {
    const t = await start();
    const id = await make(t, "custom_scep_proxy");
    const ca = await OpensslCa.make();
    const der = Buffer.from(new X509Certificate(await ca.certificate()).raw);
    const fake = await startFake(async () => {
      await t.patch(`${PATH}/${id}?skip_check=true`, { custom_scep_proxy: { challenge: "of somebody else" } });
      return { body: der };
    });
    const change = { custom_scep_proxy: { url: fake.url, challenge: "mine" } };
    expect((await t.patch(`${PATH}/${id}`, change)).status).toBe(409);
    expect((await t.store.certificateAuthorities.get(id))!.secret).toBe("of somebody else");
  });

  it("checks all authorities in a group before any is saved", async () => {
    const t = await start();
    const est = await startEst(await OpensslCa.make());
    const one = (name: string, url: string) => ({ name, url, username: "u", password: "p" });
    const apply = (...list: object[]) =>
      t.post("/spec/certificate_authorities", { certificate_authorities: { custom_est_proxy: list } });
    const bad = await apply(one("A", est.estUrl), one("B", `${est.url}/none`));
    expect((await refusal(bad)).slice(0, 2)).toEqual([422, "certificate_authorities.custom_est_proxy.1.url"]);
    expect(await t.store.certificateAuthorities.count()).toBe(0);
    expect((await apply(one("A", est.estUrl), one("B", est.estUrl))).status).toBe(200);
  });
});
