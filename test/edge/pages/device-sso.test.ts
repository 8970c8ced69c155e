// Single sign-on on the page of a device.
import { inflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { setupResultsApi } from "../../../src/api/delivery/setup-results.ts";
import { deviceEnrollApi } from "../../../src/api/devices/apple-enroll.ts";
import { deviceProfilesApi } from "../../../src/api/devices/profiles.ts";
import { deviceApi } from "../../../src/api/edge/device.ts";
import { deviceInstallsApi } from "../../../src/api/edge/device-installs.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { hours, minutes } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { type StartOptions, startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import {
  begin,
  COOKIE,
  type Content,
  deliver,
  ENTITY_ID,
  ISSUER,
  makeSigningKey,
  metadataOf,
  type SigningKey,
  signedAssertion,
  turnOnSso,
} from "../../support/idp.ts";
import { makeManaged } from "../../support/managed.ts";
import { withSecondServer } from "../../support/second-server.ts";
import { WebVisitor } from "../../support/web.ts";

const TOKEN = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
const OTHER = "7c1e1c52-3a55-4b6e-8f0b-0d8a4c1d9e22";
const CALLBACK = "/api/v1/svc/mdm/sso/callback";
const ACS = `https://svc.example.com${CALLBACK}`;
const SESSION = "__Host-SVC_DESKTOP_SESSION";

let key: SigningKey;
beforeAll(async () => {
  key = await makeSigningKey();
});

const provider = () => ({ entity_id: ENTITY_ID, idp_name: "Test IdP", metadata: metadataOf(key), issuer_uri: ISSUER });

async function start(engine: "lowdb" | "postgres", options: Partial<StartOptions> = {}, on = true) {
  const t = await startApp({ engine, ...options });
  const agent = await makeManaged(t);
  expect((await agent.call("/device_token", { device_auth_token: TOKEN })).status).toBe(200);
  if (on) {
    const change = { mdm: { end_user_authentication: provider() }, svc_desktop: { sso_enabled: true } };
    const reply = await t.patch("/config", change);
    expect([reply.status, await reply.json()]).toMatchObject([200, { svc_desktop: { sso_enabled: true } }]);
  }
  return { t, agent };
}

const withCookie = (t: TestApp, path: string, cookie: string | null, method = "GET", body?: object) =>
  t.raw(`/api/v1/svc/device/${path}`, {
    method,
    headers: { "content-type": "application/json", ...(cookie === null ? {} : { cookie }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const cookieIn = (reply: Response, name: string): string | undefined =>
  reply.headers
    .getSetCookie()
    .find((one) => one.startsWith(`${name}=`))
    ?.split(";")[0];

async function ask(t: TestApp, token = TOKEN) {
  const reply = await withCookie(t, `${token}/sso`, null, "POST", {});
  expect(reply.status).toBe(200);
  const { url } = (await reply.json()) as { url: string };
  return { ...requestIn(url), cookie: cookieIn(reply, COOKIE)!, header: reply.headers.get("set-cookie")! };
}

function requestIn(url: string) {
  const request = new URL(url).searchParams.get("SAMLRequest")!;
  const xml = inflateRawSync(Buffer.from(request, "base64")).toString();
  return { xml, requestId: /ID="([^"]+)"/.exec(xml)![1]! };
}

const ours = { recipient: ACS, destination: ACS };
const answer = (t: TestApp, requestId: string, given: Content = {}) =>
  signedAssertion({ now: t.clock.now(), requestId }, key, { ...ours, ...given });

/** A browser that has signed in. Returns its cookie. */
async function signIn(t: TestApp, token = TOKEN): Promise<string> {
  const { cookie, requestId } = await ask(t, token);
  const reply = await deliver(t, answer(t, requestId), cookie, CALLBACK);
  expect([reply.status, reply.headers.get("location")]).toEqual([302, `/device/${token}`]);
  return cookieIn(reply, SESSION)!;
}

const statusOf = async (t: TestApp, cookie: string | null, token = TOKEN) =>
  (await withCookie(t, token, cookie)).status;

describe.each(bothEngines)("a sign-in on the page of a device on %s", (engine) => {
  it("opens the page of that device in that browser, for twelve hours, whichever token it has then", async () => {
    const { t, agent } = await start(engine);
    const refused = await withCookie(t, TOKEN, null);
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { message: "Authentication required", sso_required: true, uuid: expect.any(String) },
    ]);
    const { cookie, requestId, xml, header } = await ask(t);
    expect(xml).toContain(ACS);
    expect(header).toMatch(/^__Host-SVCSSOSESSIONID=.+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=None$/);
    expect(await statusOf(t, cookie), "the cookie of the sign-in opens nothing").toBe(401);
    const done = await deliver(t, answer(t, requestId), cookie, CALLBACK);
    expect([done.status, done.headers.get("location")]).toEqual([302, `/device/${TOKEN}`]);
    expect(done.headers.get("set-cookie")).toMatch(
      /^__Host-SVC_DESKTOP_SESSION=.+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const session = cookieIn(done, SESSION)!;
    expect(await (await withCookie(t, TOKEN, session)).json()).toMatchObject({ host: { id: (await agent.host()).id } });
    expect((await withCookie(t, `${TOKEN}/refetch`, session, "POST")).status).toBe(200);
    await agent.call("/device_token", { device_auth_token: OTHER });
    expect([await statusOf(t, session, OTHER), await statusOf(t, session)]).toEqual([200, 401]);
    expect(JSON.stringify(await t.store.deviceSessions.list())).not.toContain(session.split("=")[1]);

    t.clock.advance(hours(12));
    await agent.call("/device_token", { device_auth_token: OTHER });
    expect(await statusOf(t, session, OTHER)).toBe(401);
    await runJob(t.services, "device_sessions");
    expect([await t.store.deviceSessions.count(), await t.store.deviceSignIns.count()]).toEqual([0, 0]);
  });
});

describe("with two servers", () => {
  it("a response that both get at once opens one session, which is valid on both", async () => {
    const { t } = await start("postgres");
    await withSecondServer(t, async (there) => {
      const { cookie, requestId } = await ask(t);
      const response = answer(t, requestId);
      const replies = await Promise.all([t, there].map((one) => deliver(one, response, cookie, CALLBACK)));
      const places = replies.map(({ headers }) => headers.get("location"));
      expect(places.sort()).toEqual([`/device/${TOKEN}`, "/mdm/sso/done?error=true&reason=session_expired"]);
      const session = replies.map((reply) => cookieIn(reply, SESSION)).find((one) => one !== undefined)!;
      expect(await Promise.all([t, there].map((one) => statusOf(one, session)))).toEqual([200, 200]);
      expect(await t.store.deviceSessions.count()).toBe(1);
    });
  });
});

/** All endpoints below the page of a device that need a sign-in where it is turned on. */
const guarded = [deviceApi, deviceInstallsApi, deviceProfilesApi, deviceEnrollApi, { status: setupResultsApi.ofDevice }]
  .flatMap((group) => Object.values(group))
  .filter(({ path }) => path.startsWith("/device/:token") && !/\/(desktop|migrate_mdm|sso)$/.test(path));

describe.each(rulesEngines)("pages of devices on %s", (engine) => {
  it("need the sign-in on every endpoint but those of the desktop app, and only while it is turned on", async () => {
    const { t } = await start(engine);
    expect(guarded.length).toBeGreaterThan(20);
    for (const { method, path } of guarded) {
      const own = path.replace("/device/:token", TOKEN).replace(/:\w+/g, "1");
      const reply = await withCookie(t, own, null, method);
      expect([path, reply.status, await reply.json()]).toMatchObject([path, 401, { sso_required: true }]);
      const bad = await withCookie(t, own.replace(TOKEN, OTHER), null, method);
      expect([path, bad.status, await bad.json()]).not.toMatchObject([path, 401, { sso_required: true }]);
      expect(bad.status, path).toBe(401);
    }
    expect((await withCookie(t, `${TOKEN}/desktop`, null)).status).toBe(200);
    expect((await withCookie(t, `${TOKEN}/ping`, null, "HEAD")).status).toBe(200);
    expect((await withCookie(t, `${TOKEN}/transparency`, null)).status).toBe(307);
    expect((await withCookie(t, `${TOKEN}/debug/errors`, null, "POST", {})).status).toBe(200);
    const migrate = await withCookie(t, `${TOKEN}/migrate_mdm`, null, "POST");
    expect(await migrate.text()).not.toContain("sso_required");
    await t.patch("/config", { svc_desktop: { sso_enabled: false } });
    expect(await statusOf(t, null)).toBe(200);
  });

  it("show the setup of a new host without a sign-in, for a day", async () => {
    const { t, agent } = await start(engine);
    const { id } = await agent.host();
    const set = (state: "pending" | "running" | "ended") =>
      t.store.hostSetups.update({ where: eq("id", id), set: { state, created_at: t.clock.iso() } });
    for (const state of ["pending", "running"] as const) {
      await set(state);
      expect(await statusOf(t, null), state).toBe(200);
    }
    await set("ended");
    expect(await statusOf(t, null)).toBe(401);
    await set("running");
    t.clock.advance(hours(24));
    await agent.call("/device_token", { device_auth_token: TOKEN });
    expect(await statusOf(t, null)).toBe(401);
  });

  it("accept no cookie of another host, of another kind, or that is made up", async () => {
    const { t } = await start(engine);
    const second = await makeManaged(t);
    await second.call("/device_token", { device_auth_token: OTHER });
    const session = await signIn(t);
    expect([await statusOf(t, session), await statusOf(t, session, OTHER)]).toEqual([200, 401]);
    for (const wrong of [`${SESSION}=`, `${SESSION}=made-up`, session.replace(SESSION, COOKIE), `${session}x`])
      expect(await statusOf(t, wrong), wrong).toBe(401);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status, "a token of a user").toBe(401);
    expect((await t.get(`/device/${TOKEN}`)).status, "an admin").toBe(401);
  });

  it("belong to nobody any more when their host is deleted", async () => {
    const { t, agent } = await start(engine);
    await signIn(t);
    await ask(t);
    await t.delete(`/hosts/${(await agent.host()).id}`);
    expect([await t.store.deviceSessions.count(), await t.store.deviceSignIns.count()]).toEqual([0, 0]);
  });

  it("refuse forged, foreign, late and repeated responses", async () => {
    const { t } = await start(engine);
    await turnOnSso(t, key);
    const attempt = async (xml: (requestId: string) => string, sent?: string) => {
      const { cookie, requestId } = await ask(t);
      const reply = await deliver(t, xml(requestId), sent ?? cookie, CALLBACK);
      expect([reply.status, cookieIn(reply, SESSION)]).toEqual([302, undefined]);
      return reply.headers.get("location");
    };
    const failed = "/mdm/sso/done?error=true";
    const expired = `${failed}&reason=session_expired`;
    const stranger = await makeSigningKey();
    const forged = (id: string) => signedAssertion({ now: t.clock.now(), requestId: id }, stranger, ours);
    expect(await attempt(forged)).toBe(failed);
    expect(await attempt((id) => answer(t, id, { audience: "somebody-else" }))).toBe(failed);
    expect(await attempt((id) => answer(t, id, { recipient: ACS.replace("/mdm", "") })), "for users").toBe(failed);
    expect(await attempt(() => answer(t, "_another-request"))).toBe(failed);
    expect(await attempt((id) => answer(t, id, { nameId: "not-an-address" }))).toBe(failed);
    expect(await attempt((id) => answer(t, id), `${COOKIE}=page.made-up.${TOKEN}`)).toBe(expired);

    const { cookie, requestId } = await ask(t);
    const elsewhere = cookie.replace(TOKEN, OTHER);
    expect(await attempt(() => answer(t, requestId), elsewhere), "the page is part of the sign-in").toBe(expired);
    const id = "_one-assertion";
    expect((await deliver(t, answer(t, requestId, { id }), cookie, CALLBACK)).headers.get("location")).toBe(
      `/device/${TOKEN}`,
    );
    const again = await deliver(t, answer(t, requestId), cookie, CALLBACK);
    expect(again.headers.get("location"), "the sign-in was used").toBe(expired);
    expect(await attempt((other) => answer(t, other, { id })), "the assertion was used").toBe(failed);

    const late = await ask(t);
    t.clock.advance(minutes(5));
    const reply = await deliver(t, answer(t, late.requestId), late.cookie, CALLBACK);
    expect(reply.headers.get("location")).toBe(expired);

    // A sign-in on the page is none of a user of this server, and the other way round.
    const user = await begin(t);
    const asUser = await deliver(t, answer(t, user.requestId), user.cookie, CALLBACK);
    expect(cookieIn(asUser, SESSION)).toBeUndefined();
    expect(await t.store.deviceSessions.count()).toBe(1);
  });

  it("start no sign-in while it is turned off, without a provider, for another host, with a wrong token, or for free", async () => {
    const { t, agent } = await start(engine, {}, false);
    const post = async (body?: object, token = TOKEN) => {
      const reply = await withCookie(t, `${token}/sso`, null, "POST", body);
      return [reply.status, ((await reply.json()) as { errors?: { name: string }[] }).errors?.[0]?.name];
    };
    expect(await post({})).toEqual([400, "base"]);
    await t.patch("/config", { svc_desktop: { sso_enabled: true } });
    expect(await post({}), "no provider").toEqual([400, "base"]);
    expect(await statusOf(t, null), "closed all the same").toBe(401);
    await t.patch("/config", { mdm: { end_user_authentication: provider() } });
    expect(await post({ host_uuid: "ANOTHER" })).toEqual([400, "host_uuid"]);
    expect(await post({ host_uuid: 7 })).toEqual([422, "host_uuid"]);
    expect((await post({}, OTHER))[0]).toBe(401);
    expect((await post({ host_uuid: agent.uuid.toLowerCase() }))[0]).toBe(200);
    expect((await post())[0], "without a body").toBe(200);

    const free = await start(engine, { tier: "free" }, false);
    expect((await withCookie(free.t, `${TOKEN}/sso`, null, "POST", {})).status).toBe(402);
    const refused = await free.t.patch("/config", { svc_desktop: { sso_enabled: true } });
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { errors: [{ name: "svc_desktop.sso_enabled" }] },
    ]);
  });

  it("limit sign-ins of one address", async () => {
    const { t } = await start(engine);
    const statuses = new Set<number>();
    for (let at = 0; at < 125; at++) statuses.add((await withCookie(t, `${TOKEN}/sso`, null, "POST", {})).status);
    expect([...statuses]).toEqual([200, 429]);
  });

  it("lead the browser to the provider and back", async () => {
    const { t } = await start(engine);
    const browser = new WebVisitor(t);
    const page = await browser.get(`/device/${TOKEN}`);
    expect([page.status, page.text]).toEqual([401, expect.stringContaining("Sign in")]);
    expect(page.text).not.toContain("managed-");
    expect((await browser.get(`/device/${TOKEN}/enroll`)).text).toContain("Sign in");
    expect((await browser.get(`/device/${TOKEN}/enroll/profile`)).status).toBe(401);
    const to = await browser.post(`/device/${TOKEN}/sso`);
    expect(to.status).toBe(200);
    const url = /href="(https:\/\/idp[^"]*)"/.exec(to.text)![1]!.replaceAll("&amp;", "&");
    const fields = { SAMLResponse: Buffer.from(answer(t, requestIn(url).requestId)).toString("base64") };
    const back = await browser.postRaw(CALLBACK, fields, { origin: "https://idp.example.com" });
    expect([back.status, back.location]).toEqual([302, `/device/${TOKEN}`]);
    const seen = await browser.get(back.location);
    expect([seen.status, seen.text]).toEqual([200, expect.stringContaining("This device")]);
    expect((await browser.post(`/device/${TOKEN}/refetch`)).location).toBe(`/device/${TOKEN}?status=asked`);
  });

  it("can be at another address, to which the provider returns", async () => {
    const { t, agent } = await start(engine);
    for (const alternative_browser_host of ["https://pages.example.com", "pages.example.com/x", "a b", "u@h"]) {
      const reply = await t.patch("/config", { svc_desktop: { alternative_browser_host } });
      expect([alternative_browser_host, reply.status, await reply.json()]).toMatchObject([
        alternative_browser_host,
        422,
        { errors: [{ name: "svc_desktop.alternative_browser_host" }] },
      ]);
    }
    const change = { svc_desktop: { alternative_browser_host: "pages.example.com:8443" } };
    expect((await t.patch("/config", change)).status).toBe(200);
    const there = `https://pages.example.com:8443${CALLBACK}`;
    const { cookie, requestId, xml } = await ask(t);
    expect(xml).toContain(there);
    const given = { recipient: there, destination: there };
    const reply = await deliver(t, answer(t, requestId, given), cookie, CALLBACK);
    expect(reply.headers.get("location")).toBe(`/device/${TOKEN}`);
    const link = await (await t.get(`/hosts/${(await agent.host()).id}/device_url`)).json();
    expect(link).toMatchObject({ device_url: expect.stringMatching(/^https:\/\/pages\.example\.com:8443\/device\//) });
  });
});
