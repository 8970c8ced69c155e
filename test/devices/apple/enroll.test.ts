// Enrollment profiles: what is in them, who gets them, and which hosts they make.
import { X509Certificate } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pem, readCertificate } from "../../../src/pki/x509.ts";
import { readPlistDict } from "../../../src/plist/read.ts";
import { arrayIn, bytesIn, dictIn, type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { deviceCa } from "../../../src/server/certificates/device-ca/ca.ts";
import { days, hours } from "../../../src/server/platform/core/clock.ts";
import { makeUser } from "../../support/accounts.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { allowEnrollment, turnOnAppleMdm } from "../../support/apple.ts";
import { installProfile, payloadIn } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam } from "../../support/make.ts";
import { TOPIC } from "../../support/push-certificate.ts";
import { WebVisitor } from "../../support/web.ts";

const MANUAL = "/enrollment_profiles/manual";
const SECRET = "enroll-secret-of-workstations-1";

async function profileOf(reply: Response): Promise<Buffer> {
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/x-apple-aspen-config");
  return Buffer.from(await reply.arrayBuffer());
}
const challengeIn = (profile: PlistDict): string =>
  stringIn(dictIn(payloadIn(profile, "com.apple.security.scep")!, "PayloadContent")!, "Challenge")!;

async function withTeam(t: TestApp) {
  const team = await makeTeam(t, "Workstations");
  await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: SECRET }] });
  return team;
}
const enroll = async (t: TestApp, profile: Buffer, more = {}) => {
  const device = await installProfile(t, profile, more);
  const first = await device.authenticate();
  return { device, status: first.status === 200 ? (await device.tokenUpdate()).status : first.status };
};
const serials = async (t: TestApp) =>
  (await t.store.hosts.list()).map(({ hardware_serial, team_id }) => [hardware_serial, team_id]);

describe.each(bothEngines)("an enrollment profile on %s", (engine) => {
  it("is for one address: after that has changed, its devices are counted until they enroll again", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const manual = async () => profileOf(await t.get("/mdm/manual_enrollment_profile"));
    const lost = async () =>
      ((await (await t.get("/mdm/vendora/status")).json()) as { devices_to_enroll_again: number })
        .devices_to_enroll_again;
    const move = async (server_url: string) =>
      expect((await t.patch("/config", { server_settings: { server_url } })).status).toBe(200);
    const same = { UDID: "MOVING", SerialNumber: "C02MOVING" };
    expect((await enroll(t, await manual(), same)).status).toBe(200);
    expect(await lost()).toBe(0);
    await move("https://new.example.com");
    expect(await lost()).toBe(1);
    expect((await enroll(t, await manual(), same)).status).toBe(200);
    expect(await lost()).toBe(0);
    await move("https://svc.example.com");
    await t.patch("/config", { mdm: { vendora_server_url: "https://new.example.com" } });
    expect(await lost(), "devices have an address of their own").toBe(0);
  });

  it("contains an identity and the address, and enrolls one device in the team of the secret", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const team = await withTeam(t);
    const reply = await t.get(`/mdm/manual_enrollment_profile?enroll_secret=${SECRET}`);
    expect(reply.headers.get("content-disposition")).toContain("enrollment.mobileconfig");
    const file = await profileOf(reply);
    const profile = readPlistDict(file);
    expect(profile).toMatchObject({
      PayloadType: "Configuration",
      PayloadVersion: 1,
      PayloadIdentifier: "com.svc.mdm",
    });
    const scep = payloadIn(profile, "com.apple.security.scep")!;
    const management = payloadIn(profile, "com.apple.mdm")!;
    expect(management).toMatchObject({
      IdentityCertificateUUID: stringIn(scep, "PayloadUUID"),
      Topic: TOPIC,
      ServerURL: "https://svc.example.com/mdm/vendora/mdm",
      SignMessage: true,
      AccessRights: 8191,
      CheckOutWhenRemoved: true,
      UseDevelopmentAPNS: false,
    });
    expect(dictIn(scep, "PayloadContent")).toMatchObject({
      URL: "https://svc.example.com/mdm/vendora/scep",
      Subject: [[["O", "svc"]], [["CN", "svc identity"]]],
      Keysize: 2048,
      "Key Type": "RSA",
      "Key Usage": 5,
    });
    const { certificate } = await deviceCa(t.services);
    const fingerprint = new X509Certificate(certificate.der).fingerprint.replaceAll(":", "").toLowerCase();
    expect(bytesIn(dictIn(scep, "PayloadContent")!, "CAFingerprint")!.toString("hex")).toBe(fingerprint);
    expect(arrayIn(profile, "PayloadContent")).toHaveLength(2);

    expect(await enroll(t, file, { SerialNumber: "C02A" })).toMatchObject({ status: 200 });
    expect(await serials(t)).toEqual([["C02A", team.id]]);
    const { host } = (await (await t.get("/hosts/identifier/C02A")).json()) as { host: { mdm: object } };
    expect(host.mdm).toMatchObject({
      enrollment_status: "On (manual)",
      name: "svc",
      server_url: "https://svc.example.com/mdm/vendora/mdm",
    });
    await expect(installProfile(t, file, {}, 1), "the challenge is used up").rejects.toThrow("badRequest");
  });

  it("of a known host enrolls this host, in the team that it is in by then, and no other device", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const team = await withTeam(t);
    const mac = { uuid: "0A1B2C3D-0000-4000-8000-00000000000A", hardware_serial: "C02KNOWN", platform: "darwin" };
    const host = await makeHost(t, { ...mac, identifier: "instance-1" });
    const page = `/device/${await deviceToken(t, host.id)}/enroll/profile`;
    const visitor = new WebVisitor(t);
    const download = async () => Buffer.from((await visitor.get(page)).text);
    const stranger = await installProfile(t, await download(), { SerialNumber: "C02OTHER" });
    expect((await stranger.authenticate()).status).toBe(403);
    const file = await download();
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [host.id] });
    expect(await enroll(t, file, { UDID: mac.uuid.toLowerCase(), SerialNumber: "c02known" })).toMatchObject({
      status: 200,
    });
    expect(await t.store.hosts.pick(["id", "team_id"])).toEqual([{ id: host.id, team_id: team.id }]);
  });
});

const deviceToken = async (t: TestApp, id: number) => {
  const { setDeviceToken } = await import("../../../src/server/inventory/device-tokens/tokens.ts");
  const { serviceContext } = await import("../../../src/server/platform/core/context.ts");
  await setDeviceToken(serviceContext(t.services), id, "token-of-a-device");
  return "token-of-a-device";
};

describe.each(rulesEngines)("enrollment profiles on %s", (engine) => {
  it("are refused while device management is off, for wrong secrets, and to those who may not read secrets", async () => {
    const t = await startApp({ engine });
    expect((await t.get(MANUAL)).status).toBe(400);
    await turnOnAppleMdm(t);
    expect((await t.get(MANUAL)).status, "the push certificate is missing").toBe(400);
    expect(await t.store.scepChallenges.count()).toBe(0);
    await allowEnrollment(t);
    const team = await withTeam(t);
    expect((await t.get(`${MANUAL}?enroll_secret=wrong`)).status).toBe(422);
    expect((await t.get(`${MANUAL}?enroll_secret=${SECRET}&team_id=${team.id}`)).status).toBe(400);
    expect((await t.get(`${MANUAL}?team_id=99`)).status).toBe(404);
    expect((await t.as(null).get(MANUAL)).status).toBe(401);
    const maintainer = await makeUser(t, { [team.id]: "maintainer" });
    expect((await maintainer.get(MANUAL)).status).toBe(403);
    expect((await maintainer.get(`${MANUAL}?enroll_secret=${SECRET}`)).status).toBe(200);
    const observer = await makeUser(t, { [team.id]: "observer" });
    expect((await observer.get(`${MANUAL}?enroll_secret=${SECRET}`)).status).toBe(403);
    expect(await t.store.scepChallenges.count()).toBe(1);
  });

  it("can be installed within a week, or an hour if somebody downloads it for their own device", async () => {
    const t = await startApp({ engine, settings: { session_duration: "100d", session_max_age: "100d" } });
    await allowEnrollment(t);
    await withTeam(t);
    const own = () => t.raw(`/enroll/profile?enroll_secret=${SECRET}`);
    const [early, late] = [await profileOf(await t.get(MANUAL)), await profileOf(await t.get(MANUAL))];
    const [soon, later] = [await profileOf(await own()), await profileOf(await own())];
    expect(new Set([early, late, soon, later].map((file) => challengeIn(readPlistDict(file)))).size).toBe(4);
    t.clock.advance(hours(1) - 1000);
    await installProfile(t, soon);
    t.clock.advance(1000);
    await expect(installProfile(t, later)).rejects.toThrow("badRequest");
    t.clock.advance(days(6));
    await installProfile(t, early);
    t.clock.advance(days(1));
    await expect(installProfile(t, late)).rejects.toThrow("badRequest");
  });

  it("contain the certificate of the server if it is private", async () => {
    const t = await startApp({ engine });
    const { certificate } = await deviceCa(t.services);
    const file = join(await mkdtemp(join(tmpdir(), "svc-tls-")), "cert.pem");
    await writeFile(file, pem("CERTIFICATE", certificate.der));
    Object.assign(t.services.settings, { tls_cert: file });
    await allowEnrollment(t);
    const root = payloadIn(readPlistDict(await profileOf(await t.get(MANUAL))), "com.apple.security.root")!;
    expect(readCertificate(bytesIn(root, "PayloadContent")!).der.equals(certificate.der)).toBe(true);
  });
});

describe.each(rulesEngines)("the page for enrollment on %s", (engine) => {
  it("explains what to click, and gives the profile", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    await withTeam(t);
    const visitor = new WebVisitor(t);
    const page = await visitor.get(`/enroll?enroll_secret=${SECRET}`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("On an iPhone or iPad")]);
    const link = /href="([^"]*\/profile[^"]*)"/.exec(page.text)![1]!;
    expect(payloadIn(readPlistDict(await profileOf(await t.raw(link))), "com.apple.mdm")).toBeDefined();
  });

  it("says what is wrong, and limits guesses", async () => {
    const t = await startApp({ engine });
    expect((await new WebVisitor(t).get(`/enroll?enroll_secret=${SECRET}`)).text).toContain("does not manage Apple");
    await allowEnrollment(t);
    Object.assign(t.services.settings, { trusted_proxies: ["127.0.0.1"] });
    const from = { "x-forwarded-for": "192.0.2.7" };
    const visitor = new WebVisitor(t);
    for (const path of ["/enroll", "/enroll?enroll_secret=wrong", "/enroll/profile?enroll_secret=wrong"]) {
      const page = await visitor.get(path, from);
      expect([page.status, page.text]).toEqual([422, expect.stringContaining("no longer valid")]);
    }
    let last = 0;
    for (let i = 0; i < 30 && last !== 429; i++) last = (await visitor.get("/enroll?enroll_secret=no", from)).status;
    expect(last).toBe(429);
  });

  it("is offered on the page of a Mac that is not enrolled", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { platform: "darwin" });
    const path = `/device/${await deviceToken(t, host.id)}`;
    const url = () => t.as(null).get(`${path}/mdm/vendora/manual_enrollment_profile`);
    const visitor = new WebVisitor(t);
    expect((await visitor.get(path)).text).not.toContain(`${path}/enroll`);
    expect((await url()).status).toBe(400);
    await allowEnrollment(t);
    expect((await visitor.get(path)).text).toContain(`href="${path}/enroll"`);
    expect((await visitor.get(`${path}/enroll`)).text).toContain(`${path}/enroll/profile`);
    expect(await (await url()).json()).toEqual({ enroll_url: `https://svc.example.com${path}/enroll` });
    expect((await visitor.get("/device/wrong/enroll")).status).toBe(401);
    expect((await visitor.get("/device/wrong/enroll/profile")).status).toBe(401);
    await t.store.hostMdm.insert({ id: host.id, enrollment_status: "On (manual)", connected_to_svc: true });
    expect((await visitor.get(path)).text).not.toContain(`${path}/enroll`);
  });
});
