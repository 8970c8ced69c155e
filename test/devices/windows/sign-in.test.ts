// Enrollment of Windows devices by their users: with a token of the cloud directory, or of this server's own page.
import { createHmac, randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { minutes } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { readDiscovered, writeDiscover, writeGetPolicies } from "../../../src/soap/discovery.ts";
import type { SecurityToken } from "../../../src/soap/envelope.ts";
import { faultIn } from "../../../src/soap/fault.ts";
import { actions } from "../../../src/soap/names.ts";
import { errorOf, makePerson, makeTeam, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, type StartOptions, startApp, type TestApp } from "../../support/app.ts";
import { applied, change, refused, stateOf, thingValue } from "../../support/configuration.ts";
import { type Directory, directoryToken, ISSUER, startDirectory, TENANT } from "../../support/directory-tokens.ts";
import { bothEngines } from "../../support/engines.ts";
import {
  COOKIE,
  deliver,
  ENTITY_ID,
  ISSUER as IDP,
  makeSigningKey,
  metadataOf,
  type SigningKey,
  SSO_USER,
  signedAssertion,
} from "../../support/idp.ts";
import { withSecondServer } from "../../support/second-server.ts";
import { WebVisitor } from "../../support/web.ts";
import {
  enrollWindows,
  factsOf,
  requestToken,
  soapCall,
  turnOnWindowsMdm,
  userToken,
} from "../../support/windows-device.ts";

const AUTH = "/api/mdm/windows/auth";
const APP = "ms-app://windows.immersivecontrolpanel";
const authPage = (app = APP) => `${AUTH}?${new URLSearchParams({ appru: app, login_hint: "ada@example.com" })}`;

/** What the page posts to the device. */
function handed(text: string): SecurityToken {
  const [, token] = /name="wresult" value="([^"]+)"/.exec(text) ?? [];
  expect(text).toContain(`action="${APP}"`);
  return userToken(token!);
}

const userOf = async (t: TestApp, hostId: number) =>
  (await t.store.hostEmails.list({ where: eq("host_id", hostId) }))[0];
const codeFor = async (t: TestApp, token: SecurityToken, facts = factsOf()) =>
  (await requestToken(t, token, facts)).fault?.code ?? "enrolled";

async function withDirectory(more: StartOptions = {}): Promise<{ t: TestApp; directory: Directory }> {
  const directory = await startDirectory();
  const t = await startApp({ ...more, settings: { ...directory.settings, ...more.settings } });
  const mdm = { windows_enabled_and_configured: true, windows_directory_tenant_ids: [TENANT.toUpperCase()] };
  expect((await t.patch("/config", { mdm })).status).toBe(200);
  return { t, directory };
}

describe.each(bothEngines)("the user of a Windows device on %s", (engine) => {
  it("enrolls it with a token of the directory, into the team of such devices", async () => {
    const { t, directory } = await withDirectory({ engine });
    const teamId = await makeTeam(t, "Laptops");
    const mdm = { windows_automatic_enrollment: { default_team: "Laptops" } };
    expect((await t.patch("/config", { mdm })).status).toBe(200);
    const discovered = await soapCall(t, "/EnrollmentServer/Discovery.svc", {
      action: actions.discover,
      body: writeDiscover({ email: "ada@example.com", version: "6.0", deviceType: "x", authPolicies: ["Federated"] }),
    });
    expect(readDiscovered(discovered.content)).toMatchObject({
      authPolicy: "Federated",
      authenticationUrl: `https://svc.example.com${AUTH}`,
    });
    const token = await directory.sign(t);
    const policies = await soapCall(t, "/api/mdm/windows/policy", {
      action: actions.getPolicies,
      body: writeGetPolicies(),
      token,
    });
    expect(policies.content.name).toBe("GetPoliciesResponse");
    const device = await enrollWindows(t, token);
    expect((await device.start()).status).toBe("212");
    expect(await t.store.hosts.get(device.hostId)).toMatchObject({
      team_id: teamId,
      platform: "windows",
      computer_name: device.facts.DeviceName,
    });
    expect(await t.store.hostMdm.get(device.hostId)).toMatchObject({ enrollment_status: "On (automatic)" });
    expect(await userOf(t, device.hostId)).toMatchObject({ email: "ada@example.com", source: "mdm_idp_accounts" });
    const [activity] = await t.store.activities.list({ where: eq("type", "mdm_enrolled") });
    expect(activity!.details).toMatchObject({ mdm_platform: "microsoft", installed_from_dep: true });
    // A device enrolls again with another token, or with this one, if the reply was lost.
    const again = await enrollWindows(t, token, device.facts);
    const later = await enrollWindows(t, await directory.sign(t, { claims: { jti: "2" } }), device.facts);
    expect([again.hostId, later.hostId]).toEqual([device.hostId, device.hostId]);
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("signs in on the page with a password, and accepts the terms; the token enrolls one device", async () => {
    const t = await startApp({ engine });
    await turnOnWindowsMdm(t);
    const visitor = new WebVisitor(t);
    const first = await visitor.get(authPage());
    expect([first.status, first.location]).toEqual([303, `/login?${new URLSearchParams({ next: authPage() })}`]);
    await visitor.get(first.location);
    const next = authPage();
    const signedIn = await visitor.post("/login", { email: ADMIN.email, password: ADMIN.password, next });
    expect(signedIn.text).toContain(authPage().replaceAll("&", "&amp;"));
    const terms = await visitor.get(authPage());
    expect(terms.text).toContain("Agree and continue");
    expect(terms.text).not.toContain("wresult");
    const done = await visitor.post(AUTH, { appru: APP });
    expect(done.headers.get("content-security-policy")).toMatch(/form-action ms-app:;.*script-src 'sha256-/);
    const token = handed(done.text);
    expect([...visitor.cookies.keys()].join(), "the session has ended").not.toContain("svc_session");
    expect((await visitor.get(authPage())).location).toContain("/login");

    const device = await enrollWindows(t, token);
    expect(await t.store.hostMdm.get(device.hostId)).toMatchObject({ enrollment_status: "On (manual)" });
    expect(await userOf(t, device.hostId)).toMatchObject({ email: ADMIN.email });
    expect((await device.start()).status).toBe("212");
    expect(await codeFor(t, token, device.facts), "the reply was lost").toBe("enrolled");
    expect(await codeFor(t, token), "another device").toBe("InvalidSecurity");
    expect(await t.store.hosts.count()).toBe(1);
    t.clock.advance(minutes(11));
    expect(await codeFor(t, token, device.facts), "too late").toBe("InvalidSecurity");
    t.clock.advance(minutes(5));
    await runJob(t.services, "windows_sign_ins");
    expect(await t.store.windowsUsedTokens.count()).toBe(0);
  });
});

describe("a token of a directory", () => {
  it("is refused if it is expired, early, foreign, for something else, unsigned, or signed otherwise", async () => {
    const { t, directory } = await withDirectory();
    const good = await directory.sign(t);
    const text = Buffer.from(good.text, "base64").toString();
    const [head, body, signature] = text.split(".") as [string, string, string];
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, unknown>;
    const foreign = "99999999-2222-4333-8444-555555555555";
    const jwk = ((await (await fetch(`${directory.fake.url}/keys`)).json()) as { keys: { n: string }[] }).keys[0]!;
    const hmac = `${part({ alg: "HS256", kid: "k0" })}.${body}`;
    const cases: Record<string, SecurityToken> = {
      expired: await directory.sign(t, { until: -120 }),
      early: await directory.sign(t, { from: 3600 }),
      "foreign tenant": await directory.sign(t, { issuer: `${ISSUER}${foreign}/`, claims: { tid: foreign } }),
      "issuer of one tenant, id of another": await directory.sign(t, { claims: { tid: foreign } }),
      "other issuer": await directory.sign(t, { issuer: `https://evil.example/${TENANT}/` }),
      "other audience": await directory.sign(t, { audience: "https://other.example.com" }),
      "no tenant": await directory.sign(t, { claims: { tid: undefined } }),
      "no user": await directory.sign(t, { claims: { upn: undefined } }),
      "algorithm none": directoryToken(`${part({ alg: "none" })}.${body}.`),
      "algorithm none, with the signature": directoryToken(`${part({ alg: "none" })}.${body}.${signature}`),
      "the public key as a secret": directoryToken(
        `${hmac}.${createHmac("sha256", Buffer.from(jwk.n)).update(hmac).digest("base64url")}`,
      ),
      "other claims": directoryToken(`${head}.${part({ ...claims, upn: "eve@example.com" })}.${signature}`),
      "signed with a key that is not published": await directory.sign(t, { keyNumber: 1 }),
      "without the name of its key": await directory.sign(t, { namesKey: false }),
      "no token": directoryToken("x.y.z"),
      "not base64": { ...good, text: "?" },
      "sent as a token of this server": { ...good, valueType: userToken("").valueType },
    };
    const codes = await Promise.all(
      Object.entries(cases).map(async ([name, token]) => [name, await codeFor(t, token)] as const),
    );
    expect(codes).toEqual(Object.keys(cases).map((name) => [name, "InvalidSecurity"]));
    const other = await directory.sign(t, { claims: { scp: "User.Read" } });
    expect(await codeFor(t, other)).toBe("Authorization");
    expect(await t.store.hosts.count(), "nothing is written").toBe(0);
    expect(await t.store.windowsUsedTokens.count()).toBe(0);
    expect(await codeFor(t, good)).toBe("enrolled");
  });

  it("is refused while no tenant is set, and accepted for an app that is", async () => {
    const { t, directory } = await withDirectory();
    const app = "aaaaaaaa-2222-4333-8444-555555555555";
    const token = await directory.sign(t, { audience: app });
    expect(await codeFor(t, token)).toBe("InvalidSecurity");
    await t.patch("/config", { mdm: { windows_directory_client_ids: [app] } });
    expect(await codeFor(t, token)).toBe("enrolled");
    await t.patch("/config", { mdm: { windows_directory_tenant_ids: [] } });
    expect(await codeFor(t, await directory.sign(t))).toBe("Authorization");
  });

  it("is accepted after the directory has changed its key, and refused while its keys cannot be read", async () => {
    const { t, directory } = await withDirectory();
    expect(await codeFor(t, await directory.sign(t))).toBe("enrolled");
    directory.keyNumber = 1;
    t.clock.advance(minutes(2));
    expect(await codeFor(t, await directory.sign(t))).toBe("enrolled");
    await directory.fake.close();
    const { t: other, directory: gone } = await withDirectory();
    await gone.fake.close();
    expect(await codeFor(other, await gone.sign(other))).toBe("EnrollmentServer");
  });

  it("enrolls one device, although two servers get it at the same time", async () => {
    const { t, directory } = await withDirectory({ engine: "postgres" });
    await withSecondServer(t, async (there) => {
      const token = await directory.sign(t);
      const codes = await Promise.all([codeFor(t, token), codeFor(there, token)]);
      expect(codes.sort()).toEqual(["InvalidSecurity", "enrolled"]);
      expect(await t.store.hosts.count()).toBe(1);
    });
  });

  it("gives nobody a host that another agent has enrolled, whatever ids the device claims", async () => {
    const { t, directory } = await withDirectory();
    const { id } = await t.store.hosts.insert({
      identifier: "hardware-of-a-server",
      uuid: "hardware-of-a-server",
      platform: "ubuntu",
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      last_enrolled_at: t.clock.iso(),
    });
    const device = await enrollWindows(t, await directory.sign(t), { HWDevID: "HARDWARE-OF-A-SERVER" });
    expect(device.hostId).not.toBe(id);
    expect((await t.store.hosts.get(id))!.platform).toBe("ubuntu");
  });
});

let key: SigningKey;
beforeAll(async () => {
  key = await makeSigningKey();
});

const ACS = "https://svc.example.com/api/v1/svc/mdm/sso/callback";
const CALLBACK = "/api/v1/svc/mdm/sso/callback";

async function withProvider(more: StartOptions = {}): Promise<TestApp> {
  const t = await startApp(more);
  await turnOnWindowsMdm(t);
  const provider = { entity_id: ENTITY_ID, idp_name: "Test IdP", metadata: metadataOf(key), issuer_uri: IDP };
  expect((await t.patch("/config", { mdm: { end_user_authentication: provider } })).status).toBe(200);
  return t;
}

async function begin(t: TestApp) {
  const reply = await t.raw(authPage());
  expect(reply.status).toBe(303);
  const set = reply.headers.getSetCookie().find((one) => one.startsWith(`${COOKIE}=`))!;
  const request = new URL(reply.headers.get("location")!).searchParams.get("SAMLRequest")!;
  const requestId = /ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(request, "base64")).toString())![1]!;
  return { cookie: set.split(";")[0]!, requestId };
}

const answer = (t: TestApp, requestId: string) =>
  signedAssertion({ now: t.clock.now(), requestId }, key, { recipient: ACS, destination: ACS });

describe("with an identity provider for the users of devices", () => {
  it("the user signs in there, accepts the terms, and the device gets one token", async () => {
    const t = await withProvider({ engine: "postgres" });
    await withSecondServer(t, async (there) => {
      const { cookie, requestId } = await begin(t);
      const back = await deliver(there, answer(t, requestId), cookie, CALLBACK);
      const terms = back.headers.get("location")!;
      expect([back.status, terms]).toEqual([302, expect.stringContaining(`${AUTH}/terms?ticket=`)]);
      const [here, elsewhere] = [new WebVisitor(t), new WebVisitor(there)];
      const pages = [await here.get(terms), await elsewhere.get(terms)];
      expect(pages.map(({ text }) => text.includes("wresult"))).toEqual([false, false]);
      const ticket = new URL(terms, "https://svc.example.com").searchParams.get("ticket")!;
      const given = await Promise.all([here.post(AUTH, { ticket }), elsewhere.post(AUTH, { ticket })]);
      expect(given.map(({ status }) => status).sort()).toEqual([200, 403]);
      const device = await enrollWindows(there, handed(given.find(({ status }) => status === 200)!.text));
      expect(await userOf(t, device.hostId)).toMatchObject({ email: SSO_USER.email });
      expect((await here.get(terms)).status, "the ticket was used").toBe(403);
    });
  });

  it("gives no token for a response that is repeated, late or refused, and none for a password", async () => {
    const t = await withProvider();
    const { cookie, requestId } = await begin(t);
    const response = answer(t, requestId);
    const refused = await deliver(t, response.replace(SSO_USER.email, "eve@example.com"), cookie, CALLBACK);
    expect(refused.headers.get("location")).toBe("/mdm/sso/done?error=true");
    const again = await deliver(t, response, cookie, CALLBACK);
    expect(again.headers.get("location")).toBe("/mdm/sso/done?error=true&reason=session_expired");
    const second = await begin(t);
    t.clock.advance(minutes(16));
    const late = await deliver(t, answer(t, second.requestId), second.cookie, CALLBACK);
    expect(late.headers.get("location")).toContain("session_expired");

    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    expect((await visitor.get(authPage())).location).toContain("https://idp.example.com/sso");
    await visitor.get("/profile");
    expect((await visitor.post(AUTH, { appru: APP })).status).toBe(403);
    expect(await t.store.windowsSignIns.count(), "of which two are over").toBe(3);
    await runJob(t.services, "windows_sign_ins");
    expect(await t.store.windowsSignIns.count()).toBe(1);
  });
});

describe("the page gives no token", () => {
  it("to another address than an app of the device, without a sign-in, or for a form of another site", async () => {
    const t = await startApp();
    await turnOnWindowsMdm(t);
    const person = await makePerson(t, "observer");
    const visitor = new WebVisitor(t);
    await visitor.signIn(person.user.email, PASSWORD);
    for (const app of ["https://evil.example/", "javascript:alert(1)", "ms-app://a b", "//evil.example", ""]) {
      expect((await visitor.get(authPage(app))).status, app).toBe(400);
      await visitor.get(authPage());
      const posted = await visitor.post(AUTH, { appru: app });
      expect([posted.status, posted.text.includes("wresult")], app).toEqual([400, false]);
    }
    const elsewhere = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await visitor.post(AUTH, { appru: APP }, elsewhere)).status).toBe(403);
    expect((await visitor.postRaw(AUTH, { appru: APP })).status, "no form token").toBe(403);
    const stranger = new WebVisitor(t);
    await stranger.get("/login");
    expect((await stranger.post(AUTH, { appru: APP })).status).toBe(403);
    expect((await stranger.post(AUTH, { ticket: randomBytes(32).toString("base64url") })).status).toBe(403);
    expect((await visitor.post(AUTH, { appru: APP })).status, "whoever has signed in gets one").toBe(200);
  });

  it("while device management of Windows is turned off", async () => {
    const t = await startApp();
    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    for (const path of [authPage(), `${AUTH}/terms?ticket=x`, "/api/mdm/windows/tos?redirect_uri=ms-app://x"])
      expect((await visitor.get(path)).status, path).toBe(400);
  });
});

it("the page of a directory shows the terms, and returns the answer to the device", async () => {
  const t = await startApp();
  await turnOnWindowsMdm(t);
  const visitor = new WebVisitor(t);
  const page = await visitor.get(
    `/api/mdm/windows/tos?${new URLSearchParams({ redirect_uri: "ms-appx-web://Microsoft.AAD.BrokerPlugin", "client-request-id": "1" })}`,
  );
  expect(page.status).toBe(200);
  expect(page.text).toContain('href="ms-appx-web://Microsoft.AAD.BrokerPlugin?IsAccepted=true&amp;OpaqueBlob=');
  expect(page.text).toContain("error=access_denied");
  for (const uri of ["https://evil.example/", "ms-appx-web://x?y", ""])
    expect((await visitor.get(`/api/mdm/windows/tos?${new URLSearchParams({ redirect_uri: uri })}`)).status).toBe(400);
});

it("agents are sent to enroll with their key, users to sign in", async () => {
  const t = await startApp();
  await turnOnWindowsMdm(t);
  const discover = async (path: string, authPolicies: string[]) => {
    const body = writeDiscover({ email: "", version: "5.0", deviceType: "CIMClient_Windows", authPolicies });
    const reply = await soapCall(t, path, { action: actions.discover, body });
    expect(faultIn(reply)).toBeNull();
    return readDiscovered(reply.content).authPolicy;
  };
  const both = ["OnPremise", "Federated"];
  expect(await discover("/EnrollmentServer/Discovery.svc", both)).toBe("Federated");
  expect(await discover("/EnrollmentServer/Discovery.svc", ["OnPremise"])).toBe("OnPremise");
  expect(await discover("/api/mdm/windows/discovery", both)).toBe("OnPremise");
  expect(await discover("/api/mdm/windows/discovery", ["Federated"])).toBe("Federated");
});

it("an apply may name a team that it creates, and none that it deletes, as that of devices of a directory", async () => {
  const t = await startApp();
  const value = thingValue(await stateOf(t), "config", "mdm");
  const named = (default_team: string) =>
    change("update", "config", "mdm", { ...value, windows_automatic_enrollment: { default_team } });
  const made = [change("create", "team", "Laptops", { description: "" }), named("Laptops")];
  expect(await applied(t, { changes: made })).toEqual({ create: 1, update: 1, delete: 0 });
  const [unknown] = await refused(t, 422, { changes: [named("Nobody")] });
  expect(unknown).toMatchObject({
    name: expect.stringContaining("windows_automatic_enrollment.default_team"),
    reason: expect.stringContaining("Nobody"),
  });
  const gone = [change("delete", "team", "Laptops"), named("Laptops")];
  expect((await refused(t, 422, { changes: gone }))[0]!.name).toContain("windows_automatic_enrollment.default_team");
  expect(await t.store.teams.count()).toBe(1);
});

it("the settings of directories are checked", async () => {
  const t = await startApp();
  const change = async (mdm: object) => {
    const response = await t.patch("/config", { mdm });
    return [response.status, (await errorOf(response)).errors?.[0]?.name];
  };
  expect(await change({ windows_directory_tenant_ids: ["common"] })).toEqual([422, "mdm.windows_directory_tenant_ids"]);
  expect(await change({ windows_directory_client_ids: ["x"] })).toEqual([422, "mdm.windows_directory_client_ids"]);
  expect(await change({ windows_automatic_enrollment: { default_team: "Nobody" } })).toEqual([
    422,
    "mdm.windows_automatic_enrollment.default_team",
  ]);
  const free = await startApp({ tier: "free" });
  const refused = await free.patch("/config", { mdm: { windows_automatic_enrollment: { default_team: "x" } } });
  expect(refused.status).toBe(422);
});
