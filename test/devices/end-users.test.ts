// Automatic enrollment with a sign-in of the device's user.
import { inflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { readPlistDict } from "../../src/plist/read.ts";
import type { PlistDict } from "../../src/plist/value.ts";
import { wholeProfile } from "../../src/server/devices/apple/portal/assign.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowEnrollment } from "../support/apple.ts";
import { installProfile, payloadIn } from "../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
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
  SSO_USER,
  signedAssertion,
  turnOnSso,
} from "../support/idp.ts";
import { type DeviceAuthority, deviceAuthority, machineInfo } from "../support/machine-info.ts";
import { makeTeam } from "../support/make.ts";
import { expectDevice } from "../support/portal.ts";
import { withSecondServer } from "../support/second-server.ts";
import { eulaForm } from "../support/xar.ts";

const ACS = "https://svc.example.com/api/v1/svc/mdm/sso/callback";
const CALLBACK = "/api/v1/svc/mdm/sso/callback";
const info = machineInfo("C02USER");

let apple: DeviceAuthority;
let key: SigningKey;
beforeAll(async () => {
  apple = await deviceAuthority();
  key = await makeSigningKey();
});

async function start(engine: "lowdb" | "postgres", issuer_uri = ISSUER) {
  const t = await startApp({ engine, settings: { apple_device_ca: apple.file } });
  await allowEnrollment(t);
  const team = await makeTeam(t, "Macs");
  const provider = { entity_id: ENTITY_ID, idp_name: "Test IdP", metadata: metadataOf(key), issuer_uri };
  expect((await t.patch("/config", { mdm: { end_user_authentication: provider } })).status).toBe(200);
  const macos_setup = { enable_end_user_authentication: true };
  expect((await t.patch(`/teams/${team.id}`, { mdm: { macos_setup } })).status).toBe(200);
  await expectDevice(t, "C02USER", "macos", team.id);
  return { t, teamId: team.id };
}

const pathOf = (url: unknown): string => {
  const { pathname, search } = new URL(String(url));
  return `${pathname}${search}`;
};
const page = async (t: TestApp, teamId: number) =>
  pathOf((await wholeProfile(t.services, {}, teamId)).configuration_web_url);

/** The setup assistant opens the page. */
async function open(t: TestApp, teamId: number) {
  const headers = { "x-apple-aspen-deviceinfo": (await apple.sign(info)).toString("base64") };
  const reply = await t.raw(await page(t, teamId), { headers });
  expect(reply.status).toBe(303);
  const set = reply.headers.getSetCookie().find((one) => one.startsWith(`${COOKIE}=`))!;
  const request = new URL(reply.headers.get("location")!).searchParams.get("SAMLRequest")!;
  const xml = inflateRawSync(Buffer.from(request, "base64")).toString();
  expect(xml).toContain(ACS);
  return { cookie: set.split(";")[0]!, requestId: /ID="([^"]+)"/.exec(xml)![1]! };
}
const ours = { recipient: ACS, destination: ACS };
const answer = (t: TestApp, requestId: string, given: Content = {}) =>
  signedAssertion({ now: t.clock.now(), requestId }, key, { ...ours, ...given });
const queryOf = (reply: Response) => {
  expect([reply.status, reply.headers.get("location")]).toEqual([302, expect.stringContaining("/mdm/sso/done?")]);
  return new URL(reply.headers.get("location")!, "https://svc.example.com").searchParams;
};

describe.each(bothEngines)("the user of a device on %s", (engine) => {
  it("signs in, and only then the device gets its profile, once", async () => {
    const { t, teamId } = await start(engine);
    const url = pathOf((await wholeProfile(t.services, {}, teamId)).url);
    const direct = await t.raw(url, { method: "POST", body: new Uint8Array(await apple.sign(info)) });
    expect(direct.status, "without a sign-in").toBe(403);
    const { cookie, requestId } = await open(t, teamId);
    const reply = await deliver(t, answer(t, requestId), cookie, CALLBACK);
    const query = queryOf(reply);
    expect(query.get("enrollment_reference")).toBe(requestId);
    const done = await t.raw(reply.headers.get("location")!, { headers: { accept: "text/html" } });
    const link = /href="([^"]*profile_token[^"]*)"/.exec(await done.text())![1]!;
    const file = await t.raw(link);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/x-apple-aspen-config"]);
    const profile = Buffer.from(await file.arrayBuffer());
    expect((await t.raw(link)).status, "the token was used").toBe(403);
    const device = await installProfile(t, profile, { UDID: info.UDID!, SerialNumber: "C02USER" });
    expect((await device.authenticate()).status).toBe(200);
    expect((await device.tokenUpdate({ AwaitingConfiguration: true })).status).toBe(200);
    expect((await device.idle())?.command, "the provider named no name").toEqual({
      RequestType: "AccountConfiguration",
      PrimaryAccountUserName: SSO_USER.email.split("@")[0],
      PrimaryAccountFullName: SSO_USER.email,
      LockPrimaryAccountInfo: true,
    });
    const [host] = await t.store.hosts.list();
    expect(await t.store.hostEmails.list()).toMatchObject([
      { host_id: host!.id, email: SSO_USER.email, source: "mdm_idp_accounts" },
    ]);
    expect(await t.store.hostMdm.get(host!.id)).toMatchObject({ enrollment_status: "On (automatic)" });
    t.clock.advance(minutes(16));
    await runJob(t.services, "end_user_sign_ins");
    expect(await t.store.endUserSignIns.count()).toBe(0);
  });
});

const ENROLL = "/api/mdm/vendora/account_driven_enroll";

async function signInWithAccount(t: TestApp): Promise<string> {
  const begun = await t.raw("/mdm/sso/account?user-identifier=ada.sso@example.com");
  expect(begun.status).toBe(303);
  const cookie = begun.headers
    .getSetCookie()
    .find((one) => one.startsWith(`${COOKIE}=`))!
    .split(";")[0]!;
  const request = new URL(begun.headers.get("location")!).searchParams.get("SAMLRequest")!;
  const requestId = /ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(request, "base64")).toString())![1]!;
  const reply = await deliver(t, answer(t, requestId), cookie, CALLBACK);
  expect(reply.status).toBe(302);
  const result = new URL(reply.headers.get("location")!);
  expect(result.protocol).toBe("apple-remotemanagement-user-login:");
  return result.searchParams.get("access-token")!;
}

it("a token that is used on two servers at the same time gives one profile", async () => {
  const { t, teamId } = await start("postgres");
  await withSecondServer(t, async (there) => {
    const { cookie, requestId } = await open(t, teamId);
    const token = queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("profile_token")!;
    const path = `/mdm/sso/profile?profile_token=${token}`;
    const replies = await Promise.all([t.raw(path), there.raw(path)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403]);
    expect(await t.store.scepChallenges.count()).toBe(1);
  });
});

const phone = { PRODUCT: "iPhone15,2", OS_VERSION: "18.1", LANGUAGE: "en" };

async function askAsPhone(t: TestApp, token?: string, model: PlistDict = phone) {
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const body = new Uint8Array(await apple.sign(model));
  return t.raw(ENROLL, { method: "POST", body, ...(headers ? { headers } : {}) });
}

describe.each(bothEngines)("a user's own iPhone on %s", (engine) => {
  it("enrolls with the account of its user, as a personal device", async () => {
    const { t } = await start(engine);
    const team = await makeTeam(t, "Personal");
    await t.store.abmTokens.update({ where: eq("vendora_id", "admin@example.com"), set: { byod_team_id: team.id } });
    const discovery = await (await t.raw("/mdm/vendora/service_discovery")).json();
    expect(discovery).toEqual({ Servers: [{ Version: "mdm-byod", BaseURL: `https://svc.example.com${ENROLL}` }] });
    const asked = await askAsPhone(t);
    expect([asked.status, asked.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer method="apple-as-web", url="https://svc.example.com/mdm/sso/account"',
    ]);
    const token = await signInWithAccount(t);
    expect((await t.raw(`/mdm/sso/profile?profile_token=${token}`)).status, "no automatic enrollment").toBe(403);
    expect((await askAsPhone(t, token, { PRODUCT: "MacBookPro18,3" })).status).toBe(400);
    const reply = await askAsPhone(t, token);
    expect(reply.status).toBe(200);
    expect((await askAsPhone(t, token)).status, "the token was used").toBe(401);
    const profile = Buffer.from(await reply.arrayBuffer());
    expect(payloadIn(readPlistDict(profile), "com.apple.mdm")).toMatchObject({
      EnrollmentMode: "BYOD",
      AssignedManagedAppleID: SSO_USER.email,
    });
    const device = await installProfile(t, profile, {});
    expect((await device.authenticate()).status, "with a UDID").toBe(403);
    const EnrollmentID = "A1B2C3D4-PERSONAL";
    const type = "application/x-apple-aspen-mdm-checkin";
    const send = (fields: PlistDict) => device.send({ EnrollmentID, Topic: "t", ...fields }, type);
    expect((await send({ MessageType: "Authenticate", ProductName: "iPhone15,2" })).status).toBe(200);
    const tokens = { Token: Buffer.from("3q2+7w==", "base64"), PushMagic: "magic" };
    expect((await send({ MessageType: "TokenUpdate", ...tokens })).status).toBe(200);
    const host = (await t.store.hosts.first({ where: eq("platform", "ios") }))!;
    expect(host.team_id).toBe(team.id);
    expect(await t.store.hostMdm.get(host.id)).toMatchObject({ enrollment_status: "On (personal)" });
    expect(await t.store.hostEmails.list()).toMatchObject([{ host_id: host.id, email: SSO_USER.email }]);

    expect((await send({ MessageType: "CheckOut" })).status).toBe(200);
    const entries = (await t.store.activities.list()).filter(({ type }) => type.startsWith("mdm_"));
    expect(entries.map((entry) => [entry.type, entry.details])).toEqual(
      ["mdm_enrolled", "mdm_unenrolled"].map((name) => [
        name,
        expect.objectContaining({ enrollment_id: EnrollmentID }),
      ]),
    );
  });

  it("does not enroll without a signature of Apple's, with a token of a managed device, or without a license", async () => {
    const { t, teamId } = await start(engine);
    const body = new Uint8Array(await (await deviceAuthority(1)).sign(phone));
    expect((await t.raw(ENROLL, { method: "POST", body })).status).toBe(400);
    const { cookie, requestId } = await open(t, teamId);
    const token = queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("profile_token")!;
    expect((await askAsPhone(t, token)).status).toBe(401);
    const free = await startApp({ engine, tier: "free", settings: { apple_device_ca: apple.file } });
    await allowEnrollment(free);
    expect((await askAsPhone(free)).status).toBe(402);
    expect((await free.raw("/mdm/sso/account")).status).toBe(402);
  });
});

describe.each(rulesEngines)("the sign-in of a device's user on %s", (engine) => {
  it("shows the license agreement of the organization before the profile", async () => {
    const { t, teamId } = await start(engine);
    expect((await t.post("/setup_experience/eula", eulaForm("%PDF-1.7 terms"))).status).toBe(200);
    const { cookie, requestId } = await open(t, teamId);
    const reply = await deliver(t, answer(t, requestId), cookie, CALLBACK);
    expect(queryOf(reply).get("eula_token")).toBeTruthy();
    const page = await (await t.raw(reply.headers.get("location")!, { headers: { accept: "text/html" } })).text();
    const [, link] = /href="([^"]*\/eula\/[^"]*)"/.exec(page)!;
    expect(await (await t.raw(link!)).text()).toBe("%PDF-1.7 terms");
    const [, profile] = /href="([^"]*profile_token[^"]*)"/.exec(page)!;
    expect((await t.raw(profile!)).headers.get("content-type")).toBe("application/x-apple-aspen-config");
  });

  it("needs no issuer_uri if the metadata names one provider", async () => {
    const { t, teamId } = await start(engine, "");
    const { cookie, requestId } = await open(t, teamId);
    expect(queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("profile_token")).toBeTruthy();
  });

  it("can be started by a program: on an assigned device, or for an account", async () => {
    const { t, teamId } = await start(engine);
    const token = new URL(`https://x${await page(t, teamId)}`).searchParams.get("token")!;
    const ask = async (body: object, headers: Record<string, string> = {}) =>
      t.raw(`/api/v1/svc/mdm/sso?${new URLSearchParams({ token })}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    const signed = { "x-apple-aspen-deviceinfo": (await apple.sign(info)).toString("base64") };
    const started = await ask({ initiator: "setup_experience" }, signed);
    expect([started.status, await started.json()]).toEqual([200, { url: expect.stringContaining("SAMLRequest=") }]);
    expect(started.headers.get("set-cookie")).toMatch(/^__Host-SVCSSOSESSIONID=.+; Max-Age=900; /);
    expect((await ask({ initiator: "setup_experience" })).status).toBe(403);
    expect((await ask({})).status).toBe(403);
    expect((await ask({ initiator: "account_driven_enroll" })).status).toBe(200);
    expect((await ask({ initiator: "device_page" })).status).toBe(400);
  });

  it("is asked for by teams that want it only, and begins on assigned devices only", async () => {
    const { t, teamId } = await start(engine);
    expect((await wholeProfile(t.services, {}, null)).configuration_web_url).toBeUndefined();
    const path = await page(t, teamId);
    const bad = (await (await deviceAuthority(1)).sign(info)).toString("base64");
    expect((await t.raw(path)).status, "a browser").toBe(403);
    expect((await t.raw(path, { headers: { "x-apple-aspen-deviceinfo": bad } })).status).toBe(403);
    expect(await t.store.endUserSignIns.count()).toBe(0);
  });

  it("fails for forged, foreign, late and repeated responses, and gives no profile then", async () => {
    const { t, teamId } = await start(engine);
    await turnOnSso(t, key);
    const attempt = async (xml: (requestId: string) => string, sent?: string | null) => {
      const { cookie, requestId } = await open(t, teamId);
      const query = queryOf(await deliver(t, xml(requestId), sent === undefined ? cookie : sent, CALLBACK));
      expect([query.get("error"), query.get("profile_token")]).toEqual(["true", null]);
      return query.get("reason");
    };
    const stranger = await makeSigningKey();
    const forged = (id: string) => signedAssertion({ now: t.clock.now(), requestId: id }, stranger, ours);
    expect(await attempt(forged)).toBeNull();
    expect(await attempt((id) => answer(t, id).replace(SSO_USER.email, "eve@example.com"))).toBeNull();
    expect(await attempt((id) => answer(t, id, { audience: "somebody-else" }))).toBeNull();
    expect(await attempt(() => answer(t, "_another-request"))).toBeNull();
    expect(await attempt((id) => answer(t, id, { recipient: ACS.replace("/mdm", "") })), "for users").toBeNull();
    expect(await attempt((id) => answer(t, id), null), "no cookie").toBe("session_expired");
    expect(await attempt((id) => answer(t, id), `${COOKIE}=wrong`)).toBe("session_expired");
    // A sign-in of a user of this server has the same cookie, but is another one.
    const other = await begin(t);
    expect(await attempt(() => answer(t, other.requestId), other.cookie)).toBe("session_expired");
    const { cookie, requestId } = await open(t, teamId);
    expect(queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("profile_token")).toBeTruthy();
    expect(queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("reason")).toBe("session_expired");
    const late = await open(t, teamId);
    t.clock.advance(minutes(15));
    expect(queryOf(await deliver(t, answer(t, late.requestId), late.cookie, CALLBACK)).get("reason")).toBe(
      "session_expired",
    );
    expect((await t.raw("/mdm/sso/profile?profile_token=wrong")).status).toBe(403);
    expect((await t.raw("/mdm/sso/profile")).status).toBe(403);
    const shown = await t.raw("/mdm/sso/done?error=true&reason=session_expired");
    expect([shown.status, await shown.text()]).toEqual([403, expect.stringContaining("took too long")]);
    expect((await deliver(t, "no xml", late.cookie, CALLBACK)).status).toBe(302);
    expect(await t.store.scepChallenges.count(), "no profile was given").toBe(0);
  });

  it("does not help a device that has left the portal", async () => {
    const { t, teamId } = await start(engine);
    const { cookie, requestId } = await open(t, teamId);
    const token = queryOf(await deliver(t, answer(t, requestId), cookie, CALLBACK)).get("profile_token")!;
    await t.store.portalDevices.update({ where: eq("serial", "C02USER"), set: { deleted_at: t.clock.iso() } });
    expect((await t.raw(`/mdm/sso/profile?profile_token=${token}`)).status).toBe(403);
  });
});
