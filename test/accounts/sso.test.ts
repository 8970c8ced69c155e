// Single sign-on in the browser: start and end of a sign-in, accounts, and roles.
import { Writable } from "node:stream";
import { pino } from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import { ssoCleanup } from "../../src/server/accounts/sso/cleanup-job.ts";
import { days } from "../../src/server/platform/core/clock.ts";
import { errorOf, makeTeam } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import {
  ACS,
  begin,
  COOKIE,
  type Content,
  deliver,
  ENTITY_ID,
  makeSigningKey,
  type SigningKey,
  SSO_URL,
  samlpReads,
  samlpResponse,
  sessionOf,
  signedAssertion,
  signedResponse,
  storeSso,
  turnOnSso,
} from "../support/idp.ts";

let key: SigningKey;
beforeAll(async () => {
  key = await makeSigningKey();
});

const EMAIL = "ada.sso@example.com";
const ssoUser = { name: "Ada S", email: EMAIL, sso_enabled: true, global_role: "maintainer" };

async function addUser(t: TestApp, more: object = {}): Promise<number> {
  const res = await t.post("/users/admin", { ...ssoUser, ...more });
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { user: { id: number } }).user.id;
}

/** Signs in with a response of that content; returns the reply. */
async function signIn(t: TestApp, content: Content = {}): Promise<Response> {
  const { cookie, requestId } = await begin(t);
  return deliver(t, signedAssertion({ now: t.clock.now(), requestId }, key, content), cookie);
}

const activitiesOf = async (t: TestApp, type: string) =>
  (
    (await (await t.get(`/activities?activity_type=${type}&order_key=id&order_direction=asc`)).json()) as {
      activities: { actor_email?: string; details: unknown; svc_initiated: boolean }[];
    }
  ).activities;

const me = async (t: TestApp, response: Response) =>
  (
    (await (await t.as(sessionOf(response)).get("/me")).json()) as {
      user: {
        id: number;
        name: string;
        email: string;
        global_role: string | null;
        teams: { id: number; role: string }[];
      };
    }
  ).user;

describe.each(rulesEngines)("single sign-on on %s", (engine) => {
  it("reports whether it is turned on", async () => {
    const t = await startApp({ engine });
    const read = async () => (await t.as(null).get("/sso")).json();
    expect(await read()).toEqual({ settings: { idp_name: "", idp_image_url: "", sso_enabled: false } });
    await turnOnSso(t, key, { idp_image_url: "https://idp.example.com/logo.png" });
    expect(await read()).toEqual({
      settings: { idp_name: "Test IdP", idp_image_url: "https://idp.example.com/logo.png", sso_enabled: true },
    });
  });

  it("sends the browser to the identity provider, with a cookie for five minutes", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    const res = await t.as(null).request("POST", "/sso", { relay_url: "/hosts?status=online#top" });
    expect(res.status).toBe(200);
    const [cookie] = res.headers.getSetCookie();
    expect(cookie).toMatch(new RegExp(`^${COOKIE}=[\\w-]{43};`));
    const attributes = cookie!.split("; ").slice(1).sort();
    expect(attributes).toEqual(["HttpOnly", "Max-Age=300", "Path=/", "SameSite=None", "Secure"]);

    const { url, request, requestId } = await begin(t);
    expect(url.href.startsWith(`${SSO_URL}?SAMLRequest=`)).toBe(true);
    expect(url.searchParams.has("RelayState")).toBe(false);
    expect(requestId).toMatch(/^_[0-9a-f]{40}$/);
    expect(request).toContain('ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"');
    expect(request).toContain(`IssueInstant="${t.clock.iso()}"`);
    expect(request).toContain('Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress" AllowCreate="true"');
    expect(request).not.toContain("Signature");
    // Another library parses the request.
    expect(await samlpReads(url)).toMatchObject({
      issuer: ENTITY_ID,
      assertionConsumerServiceURL: ACS,
      destination: SSO_URL,
      id: requestId,
    });
    const rows = await t.store.ssoSessions.list();
    expect(rows.map(({ relay_url }) => relay_url)).toEqual(["/hosts?status=online#top", "/hosts"]);
    expect(JSON.stringify(rows)).not.toContain(cookie!.split(";")[0]!.split("=")[1]);
  });

  it("starts no sign-in while it is off, or with a redirect to another site", async () => {
    const t = await startApp({ engine });
    const start = (relay_url: unknown) => t.as(null).request("POST", "/sso", { relay_url });
    expect((await start("/")).status).toBe(400);
    await turnOnSso(t, key);
    for (const bad of [
      "",
      "hosts",
      "//evil.example",
      "/\\evil.example",
      "\\\\evil",
      "https://evil.example/",
      "/a\nb",
      "/\t/evil.example",
      "javascript:alert(1)",
      "/a\\b",
      "/\u0000",
    ]) {
      const res = await start(bad);
      expect(res.status, JSON.stringify(bad)).toBe(400);
      expect((await errorOf(res)).errors?.[0]?.name).toBe("relay_url");
    }
    expect((await start(`/${"a".repeat(2048)}`)).status).toBe(422);
    expect((await start(7)).status).toBe(422);
    expect((await start(undefined)).status).toBe(422);
    expect(await t.store.ssoSessions.count()).toBe(0);
    expect((await start("/")).status).toBe(200);
  });

  it("accepts responses of another library: assertion signed, response signed, both", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    const id = await addUser(t);
    for (const signed of [
      { signAssertion: true, signResponse: false },
      { signAssertion: false, signResponse: true },
      { signAssertion: true, signResponse: true },
    ]) {
      const { cookie, requestId } = await begin(t, "/hosts?query=a");
      const xml = await samlpResponse({ now: t.clock.now(), requestId }, key, signed);
      const res = await deliver(t, xml, cookie);
      expect(res.status, JSON.stringify(signed)).toBe(200);
      expect(res.headers.get("content-type")).toContain("text/html");
      expect(res.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(await res.clone().text()).toContain("/hosts?query=a");
      expect(res.headers.getSetCookie().some((one) => one.startsWith(`${COOKIE}=; Max-Age=0`))).toBe(true);
      expect(await me(t, res)).toMatchObject({ id, email: EMAIL });
    }
    expect(await activitiesOf(t, "user_logged_in")).toHaveLength(3);
    expect(await activitiesOf(t, "user_failed_login")).toEqual([]);
  });

  it("accepts the response as JSON too, in every version of the path", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    for (const version of ["v1", "latest", "2022-04"]) {
      const { cookie, requestId } = await begin(t);
      const xml = signedResponse({ now: t.clock.now(), requestId }, key);
      const res = await t
        .as(null)
        .request(
          "POST",
          `/api/${version}/svc/sso/callback`,
          { SAMLResponse: Buffer.from(xml).toString("base64") },
          { cookie: `other=1; ${cookie}; more=2` },
        );
      expect(res.status, version).toBe(200);
      expect(sessionOf(res)).not.toBeNull();
    }
  });

  it("finds the account by the address in lower case", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    expect((await me(t, await signIn(t, { nameId: "Ada.SSO@Example.com" }))).email).toBe(EMAIL);
    // The Kelvin sign is not a k.
    await addUser(t, { email: "kim@example.com" });
    const res = await signIn(t, { nameId: "\u212Aim@example.com" });
    expect(res.headers.get("location")).toBe("/login?status=account_invalid");
  });

  it("accepts any address of this server as the audience, beside others", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    const audience = (...names: string[]) => ({
      audienceXml: `<saml:AudienceRestriction>${names.map((name) => `<saml:Audience>${name}</saml:Audience>`).join("")}</saml:AudienceRestriction>`,
    });
    for (const given of [audience("https://svc.example.com"), audience(ACS), audience("urn:other", ENTITY_ID)])
      expect(sessionOf(await signIn(t, given))).not.toBeNull();
  });

  it("uses sso_server_url if it differs", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key, { sso_server_url: "https://admin.example.com/" });
    await addUser(t);
    const { request } = await begin(t);
    const recipient = "https://admin.example.com/api/v1/svc/sso/callback";
    expect(request).toContain(`AssertionConsumerServiceURL="${recipient}"`);
    expect(sessionOf(await signIn(t))).toBeNull();
    expect(sessionOf(await signIn(t, { recipient, destination: recipient }))).not.toBeNull();
    const metadata = await t.as(null).get("/sso/metadata");
    expect(await metadata.text()).toContain(`Location="${recipient}"`);
  });

  it("lets clocks differ by at most a minute", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    expect(sessionOf(await signIn(t, { notOnOrAfter: -59_000 }))).not.toBeNull();
    expect(sessionOf(await signIn(t, { notOnOrAfter: -60_000 }))).toBeNull();
    expect(sessionOf(await signIn(t, { notBefore: 60_000 }))).not.toBeNull();
    expect(sessionOf(await signIn(t, { notBefore: 61_000 }))).toBeNull();
  });

  it("accepts sign-ins started by the identity provider only if that is turned on, once, and opens the start page", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    const unasked = () => signedAssertion({ now: t.clock.now(), requestId: null }, key);
    expect((await deliver(t, unasked(), null)).headers.get("location")).toBe("/login?status=error");
    await turnOnSso(t, key, { enable_sso_idp_login: true });
    const xml = unasked();
    const res = await deliver(t, xml, null);
    expect(sessionOf(res)).not.toBeNull();
    const page = await res.text();
    expect(page).toContain('url=/"');
    expect(page).not.toContain("/evil");
    expect(sessionOf(await deliver(t, xml, null))).toBeNull();
    // Without a request that it belongs to, although this browser started a sign-in.
    const { cookie } = await begin(t);
    expect(sessionOf(await deliver(t, unasked(), cookie))).toBeNull();
  });

  it("refuses users without an account here, or with a password", async () => {
    const t = await startApp({ engine, tier: "free" });
    await turnOnSso(t, key);
    const refused = async (content: Content, status: string) => {
      const res = await signIn(t, content);
      expect(res.status).toBe(303);
      expect(res.headers.get("location")).toBe(`/login?status=${status}`);
      expect(sessionOf(res)).toBeNull();
    };
    await refused({ nameId: "nobody@example.com" }, "account_invalid");
    // The first admin has a password.
    await refused({ nameId: "ada@example.com" }, "account_invalid");
    await refused({ nameId: "no address" }, "account_invalid");
    await addUser(t, { email: "robot@example.com", api_only: true });
    await refused({ nameId: "robot@example.com" }, "account_invalid");
    expect((await activitiesOf(t, "user_failed_login")).map(({ details }) => details)).toMatchObject([
      { email: "nobody@example.com" },
      { email: "ada@example.com" },
      { email: "" },
      { email: "robot@example.com" },
    ]);
    const { cookie, requestId } = await begin(t);
    const xml = signedAssertion({ now: t.clock.now(), requestId }, key);
    await t.patch("/config", { sso_settings: { enable_sso: false } });
    expect((await deliver(t, xml, cookie)).headers.get("location")).toBe("/login?status=org_disabled");
  });

  it("publishes the data that the identity provider needs", async () => {
    const t = await startApp({ engine });
    expect((await t.as(null).get("/sso/metadata")).status).toBe(404);
    await turnOnSso(t, key, { entity_id: "svc & <more>" });
    const res = await t.as(null).get("/sso/metadata");
    expect(res.headers.get("content-type")).toBe("application/samlmetadata+xml");
    const text = await res.text();
    expect(text).toContain('entityID="svc &amp; &lt;more&gt;"');
    expect(text).toContain('WantAssertionsSigned="true"');
    expect(text.match(/AssertionConsumerService /g)).toHaveLength(1);
    expect(text).toContain(`Location="${ACS}"`);
  });

  describe("making accounts at the first sign-in", () => {
    const jit = { enable_jit_provisioning: true };

    it("creates an observer with that name, and records it", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const res = await signIn(t, {
        nameId: "New@Example.com",
        attributes: { displayName: "Grace H", cn: "not this" },
      });
      expect(await me(t, res)).toMatchObject({ name: "Grace H", email: "new@example.com", global_role: "observer" });
      const [added, ...more] = await activitiesOf(t, "user_added_by_sso");
      expect(more).toEqual([]);
      expect(added).toMatchObject({ actor_email: "new@example.com", svc_initiated: false });
      expect(await activitiesOf(t, "user_logged_in")).toHaveLength(1);
      expect(JSON.stringify(await activitiesOf(t, "created_user"))).not.toContain("new@example.com");
      const user = await t.store.users.first({ order: [{ column: "id", direction: "desc" }] });
      expect(user).toMatchObject({ sso_enabled: true, password_hash: null, force_password_reset: false });
      // The second time no account is created, and the name is kept.
      const again = await signIn(t, { nameId: "new@example.com", attributes: { displayName: "Other" } });
      expect(await me(t, again)).toMatchObject({ name: "Grace H" });
      expect(await activitiesOf(t, "user_added_by_sso")).toHaveLength(1);
    });

    it("uses up an invite for the address, and its roles if the identity provider sends none", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const team = await makeTeam(t, "Alpha");
      const invite = async (email: string, body: object) => {
        const res = await t.post("/invites", { name: "Ina", email, position: "Operations", ...body });
        return ((await res.json()) as { link: string }).link.split("/").at(-1)!;
      };
      const tokens = [
        await invite("ina@example.com", { teams: [{ id: team, role: "maintainer" }] }),
        await invite("ida@example.com", { global_role: "maintainer", sso_enabled: true }),
      ];
      await invite("late@example.com", { global_role: "admin" });
      const ina = await me(t, await signIn(t, { nameId: "Ina@example.com" }));
      expect(ina).toMatchObject({ global_role: null, teams: [{ id: team, role: "maintainer" }] });
      expect(await t.store.users.get(ina.id)).toMatchObject({ position: "Operations", sso_enabled: true });
      const said = { SVC_JIT_USER_ROLE_GLOBAL: "admin" };
      const ida = await me(t, await signIn(t, { nameId: "ida@example.com", attributes: said }));
      expect(ida.global_role).toBe("admin");
      for (const token of tokens) expect((await t.as(null).get(`/invites/${token}`)).status).toBe(404);
      expect(await t.store.invites.count()).toBe(1);
      t.clock.advance(days(5));
      const late = await me(t, await signIn(t, { nameId: "late@example.com" }));
      expect(late.global_role).toBe("observer");
      expect(await t.store.invites.count()).toBe(0);
    });

    it("takes the name from each of the attributes, otherwise the address", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const names = [
        "name",
        "displayname",
        "cn",
        "urn:oid:2.5.4.3",
        "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
      ];
      for (const [i, attribute] of names.entries()) {
        const res = await signIn(t, { nameId: `n${i}@example.com`, attributes: { [attribute]: ` N ${i} ` } });
        expect((await me(t, res)).name).toBe(`N ${i}`);
      }
      const res = await signIn(t, { nameId: "bare@example.com", attributes: { name: " ", mail: "x" } });
      expect((await me(t, res)).name).toBe("bare@example.com");
    });

    it("sets the roles in the attributes, and follows their changes", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const [a, b] = [await makeTeam(t, "A"), await makeTeam(t, "B")];
      const nameId = "roles@example.com";
      const first = await signIn(t, { nameId, attributes: { SVC_JIT_USER_ROLE_GLOBAL: "maintainer" } });
      expect(await me(t, first)).toMatchObject({ global_role: "maintainer" });
      const teams = { [`SVC_JIT_USER_ROLE_TEAM_${a}`]: "admin", [`SVC_JIT_USER_ROLE_TEAM_${b}`]: "observer_plus" };
      const second = await signIn(t, { nameId, attributes: teams });
      expect(await me(t, second)).toMatchObject({
        global_role: null,
        teams: [
          { id: a, role: "admin" },
          { id: b, role: "observer_plus" },
        ],
      });
      // If the roles change, the sessions end.
      expect((await t.as(sessionOf(first)).get("/me")).status).toBe(401);
      // Without roles in the attributes, nothing changes.
      const third = await signIn(t, { nameId });
      expect((await me(t, third)).teams).toHaveLength(2);
      expect((await t.as(sessionOf(second)).get("/me")).status).toBe(200);
      expect(await activitiesOf(t, "changed_user_team_role")).toMatchObject([
        { svc_initiated: true },
        { svc_initiated: true },
      ]);
    });

    it.each([
      ["no role", { SVC_JIT_USER_ROLE_GLOBAL: "root" }],
      ["an empty one", { SVC_JIT_USER_ROLE_GLOBAL: "" }],
      ["two values", { SVC_JIT_USER_ROLE_GLOBAL: ["observer", "admin"] }],
      ["one for programs", { SVC_JIT_USER_ROLE_GLOBAL: "gitops" }],
      ["an unknown team", { SVC_JIT_USER_ROLE_TEAM_999: "observer" }],
      ["no team", { SVC_JIT_USER_ROLE_TEAM_x: "observer" }],
      ["another name", { SVC_JIT_USER_ROLE_LOCAL: "observer" }],
      ["both kinds", { SVC_JIT_USER_ROLE_GLOBAL: "observer", SVC_JIT_USER_ROLE_TEAM_1: "observer" }],
    ])("creates no account if the role is %s", async (_, attributes) => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      await makeTeam(t, "A");
      const res = await signIn(t, { nameId: "bad@example.com", attributes });
      expect(res.headers.get("location")).toBe("/login?status=error");
      expect(await t.store.users.count()).toBe(1);
      expect(await activitiesOf(t, "user_added_by_sso")).toEqual([]);
      expect(await activitiesOf(t, "user_failed_login")).toMatchObject([{ details: { email: "bad@example.com" } }]);
    });

    it("does not remove the last admin", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const id = await addUser(t, { global_role: "admin" });
      const first = (await t.store.users.first({ order: [{ column: "id", direction: "asc" }] }))!;
      await t.store.users.update({
        where: { op: "eq", column: "id", value: first.id },
        set: { global_role: "observer" },
      });
      const res = await signIn(t, { attributes: { SVC_JIT_USER_ROLE_GLOBAL: "observer" } });
      expect(res.headers.get("location")).toBe("/login?status=error");
      expect((await t.store.users.get(id))?.global_role).toBe("admin");
    });

    it("requires the premium tier", async () => {
      const t = await startApp({ engine, tier: "free" });
      await turnOnSso(t, key);
      await storeSso(t, jit);
      expect((await signIn(t)).headers.get("location")).toBe("/login?status=account_invalid");
    });

    it("creates one account in two concurrent first sign-ins", async () => {
      const t = await startApp({ engine });
      await turnOnSso(t, key, jit);
      const answers = await Promise.all([1, 2, 3].map(() => signIn(t)));
      expect(answers.map((res) => res.status)).toEqual([200, 200, 200]);
      expect(await t.store.users.count()).toBe(2);
    });
  });

  it("deletes sign-ins and assertions once they would be refused anyway", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await addUser(t);
    expect(sessionOf(await signIn(t))).not.toBeNull();
    await begin(t);
    const left = async () => {
      await ssoCleanup.run(t.services, new AbortController().signal);
      return [await t.store.ssoSessions.count(), await t.store.ssoAssertions.count()];
    };
    expect(await left()).toEqual([2, 1]);
    t.clock.advance(300_001);
    // The assertion is valid for five minutes, plus a minute for different clocks.
    expect(await left()).toEqual([0, 1]);
    t.clock.advance(60_000);
    expect(await left()).toEqual([0, 0]);
  });

  it("logs the reason, and nothing of the assertion", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const t = await startApp({ engine, log: pino({ level: "trace" }, sink) });
    await turnOnSso(t, key);
    const res = await signIn(t, {
      nameId: "who@example.com",
      attributes: { secret: "canary-7" },
      audience: "canary-8",
    });
    expect(res.status).toBe(303);
    const refused = lines.find((line) => line.includes("single sign-on refused"))!;
    expect(JSON.parse(refused)).toMatchObject({ status: "error", reason: expect.stringContaining("Audience") });
    expect(lines.join("")).not.toMatch(/canary|who@example/);
    expect(await res.text()).toBe("");
  });

  it("limits the number of sign-ins", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    const answers = await Promise.all(
      Array.from({ length: 121 }, () => t.as(null).request("POST", "/sso", { relay_url: "/" })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    const last = answers.find(({ status }) => status === 429)!;
    expect(last.headers.get("retry-after")).toBe("60");
    t.clock.advance(60_001);
    expect((await t.as(null).request("POST", "/sso", { relay_url: "/" })).status).toBe(200);
  });
});
