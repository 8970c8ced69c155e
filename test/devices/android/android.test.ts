// Management of Android devices (docs/protocols/android.md).
import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { Host } from "../../../src/api/hosts/host.ts";
import { androidPolicySender } from "../../../src/server/devices/android/policies/sender.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { makeSecret } from "../../edge/agent/agents.ts";
import {
  type AndroidDeviceData,
  type AndroidService,
  ENTERPRISE,
  enrollAndroid,
  startAndroid,
  turnAndroidOn,
} from "../../support/android.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";

async function recorded(t: TestApp): Promise<string[]> {
  const reply = await t.get("/activities?order_key=id&order_direction=desc");
  const { activities } = (await reply.json()) as { activities: { type: string }[] };
  return activities.map(({ type }) => type);
}
const read = async <T>(t: TestApp, path: string): Promise<T> => (await t.get(path)).json() as Promise<T>;
const hostsNow = async (t: TestApp) => (await read<{ hosts: Host[] }>(t, "/hosts?per_page=500")).hosts;
const isOn = async (t: TestApp) =>
  (await read<{ mdm: { android_enabled_and_configured: boolean } }>(t, "/config")).mdm.android_enabled_and_configured;
const SECRET = "secret-of-no-team";

describe.each(bothEngines)("management of Android on %s", (engine) => {
  let service: AndroidService;
  let t: TestApp;
  beforeEach(async () => {
    service = await startAndroid();
    t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, SECRET);
  });

  it("is turned on by a sign-up, and off by deleting the organization", async () => {
    expect((await t.get("/android_enterprise")).status).toBe(404);
    await turnAndroidOn(t, service);
    expect(await read(t, "/android_enterprise")).toEqual({ android_enterprise_id: "LC0test" });
    expect(service.enterprises.get(ENTERPRISE)).toMatchObject({
      enabledNotificationTypes: ["ENROLLMENT", "STATUS_REPORT", "COMMAND"],
      pubsubTopic: "projects/example-project/topics/devices",
    });
    expect(await isOn(t)).toBe(true);
    expect((await recorded(t))[0]).toBe("enabled_android_mdm");
    expect((await t.get("/android_enterprise/signup_url")).status).toBe(409);
    await enrollAndroid(t, service, { id: "d1", secret: SECRET });
    expect((await t.delete("/android_enterprise")).status).toBe(200);
    expect(service.enterprises.size).toBe(0);
    expect(await isOn(t)).toBe(false);
    expect((await recorded(t)).slice(0, 2)).toEqual(["disabled_android_mdm", "mdm_unenrolled"]);
    expect((await hostsNow(t))[0]!.mdm.enrollment_status).toBe("Off");
    expect((await t.get("/android_enterprise")).status).toBe(404);
  });

  it("accepts the end of a sign-up once, and only for tokens that it has made", async () => {
    const reply = await read<{ android_enterprise_signup_url: string }>(t, "/android_enterprise/signup_url");
    const callback = new URL(new URL(reply.android_enterprise_signup_url).searchParams.get("callbackUrl")!).pathname;
    const wrong = callback.replace(/[^/]+$/, "x".repeat(43));
    expect((await t.raw(`${wrong}?enterpriseToken=ET1`)).status).toBe(404);
    expect((await t.raw(callback)).status).toBe(404);
    const ends = await Promise.all([1, 2, 3].map(() => t.raw(`${callback}?enterpriseToken=ET1`)));
    expect(ends.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    const page = ends.find(({ status }) => status === 200)!;
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("window.close()");
  });

  it("reports the end of a sign-up to those who wait for it", async () => {
    const none = await t.get("/android_enterprise/signup_sse");
    expect(await none.text()).toContain("event: error\ndata: no sign-up is in progress");
    await t.get("/android_enterprise/signup_url");
    const waiting = t.get("/android_enterprise/signup_sse").then((stream) => stream.text());
    await turnAndroidOn(t, service);
    expect(await waiting).toMatch(/^: .*\n\n(: .*\n\n)*data: Device management of Android is turned on\.\n\n$/);
  });

  it("shows why a sign-up failed", async () => {
    const reply = await read<{ android_enterprise_signup_url: string }>(t, "/android_enterprise/signup_url");
    const callback = new URL(new URL(reply.android_enterprise_signup_url).searchParams.get("callbackUrl")!).pathname;
    const page = await t.raw(`${callback}?enterpriseToken=WRONG`);
    expect(page.status).toBe(502);
    expect(await page.text()).toContain("enterpriseToken is not valid");
    const events = await (await t.get("/android_enterprise/signup_sse")).text();
    expect(events).toContain("event: error\ndata: the Android Management API has refused the request");
    expect(await isOn(t)).toBe(false);
  });

  it("makes devices that enroll hosts of the secret's team", async () => {
    await turnAndroidOn(t, service);
    const team = await makeTeam(t, "Phones");
    await makeSecret(t, "secret-of-phones", team.id);
    await enrollAndroid(t, service, { id: "d1", secret: "secret-of-phones" });
    await enrollAndroid(t, service, {
      id: "d2",
      secret: SECRET,
      more: { ownership: "PERSONALLY_OWNED", managementMode: "PROFILE_OWNER" },
    });
    const hosts = await hostsNow(t);
    expect(hosts.find(({ uuid }) => uuid === "ESID-d1")).toMatchObject({
      platform: "android",
      team_id: team.id,
      hardware_serial: "SER-d1",
      display_name: "Google Pixel 8",
      hardware_model: "Pixel 8",
      hardware_vendor: "Google",
      os_version: "Android 15",
      build: "AP4A.250105.002",
      memory: 8_000_000_000,
      gigs_disk_space_available: 64,
      gigs_total_disk_space: 128,
      percent_disk_space_available: 50,
      primary_mac: "aa:bb:cc:00:11:22",
      status: "online",
      mdm: { enrollment_status: "On (manual)", connected_to_svc: true },
    });
    expect(hosts.find(({ uuid }) => uuid === "ESID-d2")).toMatchObject({
      team_id: null,
      hardware_serial: "ESID-d2",
      mdm: { enrollment_status: "On (personal)" },
    });
    const enrolled = await t.store.activities.list({ where: eq("type", "mdm_enrolled") });
    expect(enrolled.map(({ details }) => (details as { enrollment_id: unknown }).enrollment_id)).toEqual([
      null,
      "ESID-d2",
    ]);
    // Each device is given a policy of its own.
    await expect.poll(() => service.policyOf.size, { timeout: 10_000 }).toBe(2);
    expect(service.policyOf.get(`${ENTERPRISE}/devices/d1`)).toBe(`${ENTERPRISE}/policies/d1`);
  });

  it("needs an enroll secret, and no token, for enrollment tokens", async () => {
    const none = await t.as(null).get(`/android_enterprise/enrollment_token?enroll_secret=${SECRET}`);
    expect(none.status).toBe(404);
    await turnAndroidOn(t, service);
    expect((await t.as(null).get("/android_enterprise/enrollment_token?enroll_secret=wrong")).status).toBe(422);
    const reply = await t.as(null).get(`/android_enterprise/enrollment_token?enroll_secret=${SECRET}`);
    expect(await reply.json()).toEqual({
      android_enrollment_token: "TOKENVALUE",
      android_enrollment_url: "https://enterprise.google.com/android/enroll?et=TOKENVALUE",
      android_enrollment_qrcode: '{"qr":"TOKENVALUE"}',
    });
    const asked = JSON.parse(service.requests.at(-1)!.body.toString());
    expect(asked).toMatchObject({ duration: "3600s", allowPersonalUsage: "PERSONAL_USAGE_ALLOWED" });
    expect(asked.additionalData).not.toContain(SECRET);
    expect(asked.additionalData.length).toBeLessThan(1024);
  });

  it("ignores devices without a note of this server, or with an altered or old one", async () => {
    await turnAndroidOn(t, service);
    await t.as(null).get(`/android_enterprise/enrollment_token?enroll_secret=${SECRET}`);
    const { note } = service;
    const [head, body, signature] = note.split(".");
    const other = Buffer.from(JSON.stringify({ team: 1, aud: "android enrollment" })).toString("base64url");
    for (const data of ["", "junk", `${head}.${other}.${signature}`, `${head}.${body}.`])
      expect((await service.send(t, "ENROLLMENT", service.device("x", { enrollmentTokenData: data }))).status).toBe(
        200,
      );
    t.clock.advance(days(9));
    expect((await service.send(t, "ENROLLMENT", service.device("x", { enrollmentTokenData: note }))).status).toBe(200);
    expect(await t.store.hosts.count()).toBe(0);
  });

  it("refuses messages that the vendor has not sent", async () => {
    await turnAndroidOn(t, service);
    await t.as(null).get(`/android_enterprise/enrollment_token?enroll_secret=${SECRET}`);
    const device = service.device("d1");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const past = Math.floor(t.clock.now() / 1000) - 600;
    const forged = [
      { token: "another-secret-of-that-length" },
      { token: "" },
      { jwt: "" },
      { jwt: "a.b.c" },
      { jwt: await service.jwt({ key: privateKey }) },
      { jwt: await service.jwt({ audience: "https://svc.example.com/" }) },
      { jwt: await service.jwt({ email: "someone@example.com" }) },
      { jwt: await service.jwt({ issuer: "https://accounts.example.com" }) },
      { jwt: await service.jwt({ expires: past }) },
    ];
    for (const given of forged) {
      const reply = await service.send(t, "ENROLLMENT", device, given);
      expect(reply.status, JSON.stringify(given)).toBe(401);
    }
    expect(await hostsNow(t)).toEqual([]);
    expect((await service.send(t, "ENROLLMENT", device)).status).toBe(200);
    expect(await hostsNow(t)).toHaveLength(1);
  });

  it("answers malformed messages with 400, and takes unknown types", async () => {
    await turnAndroidOn(t, service);
    const path = "/api/v1/svc/android_enterprise/pubsub?token=a-secret-of-the-push-address";
    const headers = { authorization: `Bearer ${await service.jwt()}` };
    for (const body of ["", "{", "[]", '{"message":{}}', '{"message":{"messageId":"1","data":"%"}}'])
      expect((await t.raw(path, { method: "POST", headers, body })).status).toBe(body.includes("%") ? 200 : 400);
    expect((await service.send(t, "STATUS_REPORT", { name: "devices/1" })).status).toBe(400);
    expect((await service.send(t, "USAGE_LOGS", {})).status).toBe(200);
    const foreign = service.device("d1", { name: "enterprises/other/devices/d1" });
    expect((await service.send(t, "ENROLLMENT", foreign)).status).toBe(200);
    expect(await hostsNow(t)).toEqual([]);
  });

  it("takes each message once, in whatever order they arrive", async () => {
    await turnAndroidOn(t, service);
    const device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
    const app = (packageName: string) => ({
      packageName,
      displayName: packageName,
      versionName: "1",
      state: "INSTALLED",
    });
    const report = (time: string, version: string) => ({
      ...device,
      lastStatusReportTime: time,
      softwareInfo: { androidVersion: version },
      applicationReports: [app("com.example.one"), { ...app("com.example.gone"), state: "REMOVED" }],
    });
    const newer = report("2026-03-02T10:00:00Z", "16");
    await service.send(t, "STATUS_REPORT", newer, { messageId: "m1" });
    await service.send(t, "STATUS_REPORT", report("2026-03-02T09:00:00Z", "14"), { messageId: "m0" });
    await service.send(t, "STATUS_REPORT", report("2026-03-03T09:00:00Z", "17"), { messageId: "m1" });
    const [host] = await hostsNow(t);
    expect(host).toMatchObject({ os_version: "Android 16" });
    const { software } = await read<{ software: { name: string; source: string }[] }>(t, `/hosts/${host!.id}/software`);
    expect(software).toMatchObject([{ name: "com.example.one", source: "android_apps" }]);
    expect(await t.store.androidMessages.count()).toBe(3);
  });

  it("forgets devices that have left, and knows them again", async () => {
    await turnAndroidOn(t, service);
    const device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
    await service.send(t, "STATUS_REPORT", { ...device, appliedState: "DELETED" });
    const [host] = await hostsNow(t);
    expect(host!.mdm.enrollment_status).toBe("Off");
    expect((await recorded(t))[0]).toBe("mdm_unenrolled");
    // The device was reset, and is another device to the vendor.
    await enrollAndroid(t, service, {
      id: "d2",
      secret: SECRET,
      more: { hardwareInfo: { serialNumber: "SER-d1", enterpriseSpecificId: "ESID-d1" } },
    });
    const hosts = await hostsNow(t);
    expect(hosts.map(({ id, mdm }) => [id, mdm.enrollment_status])).toEqual([[host!.id, "On (manual)"]]);
  });

  it("keeps the host of a company's device that enrolls again, while the vendor still lists the former device", async () => {
    await turnAndroidOn(t, service);
    // The vendor gives company-owned devices no id that stays.
    const hardwareInfo = { serialNumber: "SER-1", manufacturer: "Google", model: "Pixel 8" };
    const at = (day: number) => ({ hardwareInfo, enrollmentTime: `2026-03-0${day}T10:00:00Z` });
    await enrollAndroid(t, service, { id: "d1", secret: SECRET, more: at(1) });
    const [host] = await hostsNow(t);
    await enrollAndroid(t, service, { id: "d2", secret: SECRET, more: at(2) });
    expect((await hostsNow(t)).map(({ id }) => id)).toEqual([host!.id]);
    // The former device is not taken for one that has enrolled again.
    await runJob(t.services, "android_sync");
    expect((await hostsNow(t)).map(({ id, mdm }) => [id, mdm.enrollment_status])).toEqual([[host!.id, "On (manual)"]]);
    expect(await t.store.androidDevices.list()).toMatchObject([{ name: `${ENTERPRISE}/devices/d2` }]);
    // Without a serial number, the names that the vendor knows are enough.
    const previousDeviceNames = [`${ENTERPRISE}/devices/d1`, `${ENTERPRISE}/devices/d2`];
    const more = { previousDeviceNames, hardwareInfo: { serialNumber: "" }, enrollmentTime: "2026-03-03T10:00:00Z" };
    await enrollAndroid(t, service, { id: "d3", secret: SECRET, more });
    expect((await hostsNow(t)).map(({ id }) => id)).toEqual([host!.id]);
    // Others are other hosts, also when their makers left the number out.
    for (const [id, serialNumber] of [
      ["d4", "SER-2"],
      ["d5", "0"],
      ["d6", "0"],
    ] as const)
      await enrollAndroid(t, service, { id, secret: SECRET, more: { hardwareInfo: { serialNumber } } });
    expect(await hostsNow(t)).toHaveLength(4);
    const serials = (await t.store.hosts.list()).map(({ hardware_serial }) => hardware_serial);
    expect(serials.sort()).toEqual(["", "", "SER-1", "SER-2"]);
    // Unknown values of a later report erase nothing.
    const unknown = { serialNumber: "unknown", manufacturer: "unknown", model: "" };
    const later = { hardwareInfo: unknown, enrollmentTime: "2026-03-04T10:00:00Z", previousDeviceNames };
    await enrollAndroid(t, service, { id: "d7", secret: SECRET, more: later });
    expect(await t.store.hosts.get(host!.id)).toMatchObject({
      hardware_serial: "SER-1",
      hardware_vendor: "Google",
      hardware_model: "Pixel 8",
    });
  });

  it("finds out by itself what messages did not say", async () => {
    await turnAndroidOn(t, service);
    const device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
    await enrollAndroid(t, service, { id: "d2", secret: SECRET });
    service.devices.delete(device.name);
    const second = service.device("d2", { softwareInfo: { androidVersion: "99" } });
    service.devices.set(second.name, second);
    await runJob(t.services, "android_sync");
    const hosts = await hostsNow(t);
    expect(Object.fromEntries(hosts.map(({ uuid, mdm }) => [uuid, mdm.enrollment_status]))).toEqual({
      "ESID-d1": "Off",
      "ESID-d2": "On (manual)",
    });
    expect(hosts.find(({ uuid }) => uuid === "ESID-d2")!.os_version).toBe("Android 99");
  });
});

describe.each(bothEngines)("profiles of Android devices on %s", (engine) => {
  let service: AndroidService;
  let t: TestApp;
  let hostId: number;
  let device: AndroidDeviceData;
  beforeEach(async () => {
    service = await startAndroid();
    t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, SECRET);
    await turnAndroidOn(t, service);
    device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
    hostId = (await hostsNow(t))[0]!.id;
  });
  const upload = async (name: string, settings: unknown): Promise<Response> => {
    const form = new FormData();
    const text = typeof settings === "string" ? settings : JSON.stringify(settings);
    form.append("profile", new Blob([text]), `${name}.json`);
    return t.post("/configuration_profiles", form);
  };
  const added = async (name: string, settings: unknown): Promise<string> => {
    const reply = await upload(name, settings);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { profile_uuid: string }).profile_uuid;
  };
  const POLICY = `${ENTERPRISE}/policies/d1`;
  const content = () => service.policies.get(POLICY)?.content ?? {};
  const statuses = async () => {
    const { host } = await read<{ host: { mdm: { profiles: { name: string; status: string; detail: string }[] } } }>(
      t,
      `/hosts/${hostId}`,
    );
    return Object.fromEntries(host.mdm.profiles.map(({ name, status, detail }) => [name, [status, detail]]));
  };
  const isSent = () =>
    expect.poll(async () => [await t.store.androidPolicies.count(eq("due", true)), Object.keys(content()).sort()], {
      timeout: 20_000,
    });
  /** The device applies the newest policy. */
  const apply = async (nonComplianceDetails: object[] = []) => {
    t.clock.advance(1000);
    const applied = {
      ...device,
      lastStatusReportTime: t.clock.iso(),
      appliedPolicyName: POLICY,
      appliedPolicyVersion: String(service.policies.get(POLICY)!.version),
      nonComplianceDetails,
    };
    expect((await service.send(t, "STATUS_REPORT", applied)).status).toBe(200);
  };

  it("become one policy, which the device applies", async () => {
    const uuid = await added("Camera", { cameraDisabled: true });
    expect(uuid).toMatch(/^g/);
    await added("Screen", { screenCaptureDisabled: true, maximumTimeToLock: "60000" });
    await isSent().toEqual([
      0,
      ["cameraDisabled", "maximumTimeToLock", "screenCaptureDisabled", "statusReportingSettings"],
    ]);
    expect(await statuses()).toMatchObject({ Camera: ["pending", ""], Screen: ["pending", ""] });
    await apply();
    expect(await statuses()).toEqual({ Camera: ["verified", ""], Screen: ["verified", ""] });
    expect((await t.delete(`/configuration_profiles/${uuid}`)).status).toBe(200);
    await isSent().toEqual([0, ["maximumTimeToLock", "screenCaptureDisabled", "statusReportingSettings"]]);
    await apply();
    expect(await statuses()).toEqual({ Screen: ["verified", ""] });
    expect((await recorded(t)).slice(0, 3)).toEqual([
      "deleted_android_profile",
      "created_android_profile",
      "created_android_profile",
    ]);
  });

  it("are not verified by reports of an earlier policy", async () => {
    await added("Camera", { cameraDisabled: true });
    await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
    const late = { ...device, lastStatusReportTime: t.clock.iso(), appliedPolicyName: POLICY };
    await service.send(t, "STATUS_REPORT", { ...late, appliedPolicyVersion: "0" });
    const other = { ...late, appliedPolicyName: `${ENTERPRISE}/policies/default`, appliedPolicyVersion: "99" };
    await service.send(t, "STATUS_REPORT", other);
    expect(await statuses()).toEqual({ Camera: ["pending", ""] });
  });

  it("are given to the device again when it reports another policy than its own", async () => {
    await added("Camera", { cameraDisabled: true });
    await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
    const assigned = () =>
      service.requests.filter((one) => one.method === "PATCH" && one.url.pathname.endsWith(device.name));
    const before = assigned().length;
    const reportedPolicy = async (policyName: string) => {
      t.clock.advance(1000);
      const report = { ...device, lastStatusReportTime: t.clock.iso(), policyName };
      expect((await service.send(t, "STATUS_REPORT", report)).status).toBe(200);
      await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
    };
    await reportedPolicy(POLICY);
    await reportedPolicy("");
    expect(assigned()).toHaveLength(before);
    await reportedPolicy(`${ENTERPRISE}/policies/default`);
    expect(assigned()).toHaveLength(before + 1);
    expect(JSON.parse(assigned().at(-1)!.body.toString())).toEqual({ policyName: POLICY });
  });

  it("fail with the reason that the device reports, and are verified once it has applied them", async () => {
    await added("Camera", { cameraDisabled: true });
    await added("Apps", { applications: [{ packageName: "com.example", installType: "FORCE_INSTALLED" }] });
    await isSent().toEqual([0, ["applications", "cameraDisabled", "statusReportingSettings"]]);
    await apply([
      { settingName: "applications", nonComplianceReason: "APP_NOT_INSTALLED", packageName: "com.example" },
    ]);
    expect(await statuses()).toEqual({
      Camera: ["verified", ""],
      Apps: ["failed", "applications is not applied: APP_NOT_INSTALLED."],
    });
    await apply();
    expect(await statuses()).toEqual({ Camera: ["verified", ""], Apps: ["verified", ""] });
  });

  it("say which of two profiles with the same setting is applied", async () => {
    await added("A", { cameraDisabled: true });
    await added("B", { cameraDisabled: false, screenCaptureDisabled: true });
    await isSent().toEqual([0, ["cameraDisabled", "screenCaptureDisabled", "statusReportingSettings"]]);
    expect(content().cameraDisabled).toBe(false);
    await apply();
    expect(await statuses()).toEqual({
      A: ["failed", "cameraDisabled is replaced by the profile B."],
      B: ["verified", ""],
    });
  });

  it("that the vendor refuses fail, and do not keep the others from the device", async () => {
    await added("Camera", { cameraDisabled: true });
    await added("Wrong", { unknownSetting: true });
    const refused = ["failed", expect.stringContaining('Unknown name "unknownSetting"')];
    await expect.poll(async () => (await statuses()).Wrong).toEqual(refused);
    await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
    await apply();
    expect(await statuses()).toMatchObject({ Camera: ["verified", ""], Wrong: refused });
  });

  it("are sent again after the vendor was away", async () => {
    service.fault = ({ method }) => (method === "PATCH" ? { status: 503 } : null);
    await added("Camera", { cameraDisabled: true });
    await expect
      .poll(async () => (await t.store.androidPolicies.first({}))?.failures, { timeout: 20_000 })
      .toBeGreaterThan(0);
    service.fault = () => null;
    t.clock.advance(60_000);
    await runJob(t.services, "android_policies");
    await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
  });

  it("are sent after the vendor was away for an hour, and is asked ever more rarely meanwhile", async () => {
    const { running } = t.services;
    service.fault = ({ method, url }) => (method === "PATCH" || url.pathname === "/token" ? { status: 503 } : null);
    await added("Camera", { cameraDisabled: true });
    await expect.poll(statuses, { timeout: 20_000 }).toEqual({ Camera: ["pending", ""] });
    await expect
      .poll(async () => (await t.store.androidPolicies.first({}))?.failures, { timeout: 20_000 })
      .toBeGreaterThan(0);
    for (let minute = 0; minute < 60; minute++) {
      t.clock.advance(60_000);
      await runJob(t.services, "android_policies");
    }
    // 10 s, 20 s ... 30 min: as often as that fits into an hour, with the first time.
    expect((await t.store.androidPolicies.first({}))!.failures).toBeLessThan(12);
    expect(await statuses(), "nothing has failed").toEqual({ Camera: ["pending", ""] });
    service.fault = () => null;
    t.clock.advance(30 * 60_000);
    await runJob(t.services, "android_policies");
    await running.of(androidPolicySender).run();
    await isSent().toEqual([0, ["cameraDisabled", "statusReportingSettings"]]);
    await apply();
    expect(await statuses()).toEqual({ Camera: ["verified", ""] });
  });

  it("contain the values of the host", async () => {
    await added("Names", { shortSupportMessage: { defaultMessage: "Serial $SVC_VAR_HOST_HARDWARE_SERIAL" } });
    await isSent().toEqual([0, ["shortSupportMessage", "statusReportingSettings"]]);
    expect(content().shortSupportMessage).toEqual({ defaultMessage: "Serial SER-d1" });
  });

  it("are refused with the reason", async () => {
    const cases: [unknown, string][] = [
      ["{", "not valid JSON"],
      ["{}", "no settings"],
      [{ statusReportingSettings: {} }, "statusReportingSettings cannot be set"],
      [{ version: "3" }, "version cannot be set"],
      [{ "a b": 1 }, "is not the name of a setting"],
      [`{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "more than 64"],
      [`{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "more than 64"],
    ];
    for (const [settings, reason] of cases) {
      const reply = await upload("x", settings);
      expect([reply.status, await reply.text()]).toEqual([422, expect.stringContaining(reason)]);
    }
    await added("Camera", { cameraDisabled: true });
    expect((await upload("Camera", { cameraDisabled: true })).status).toBe(409);
  });
});

describe("without a service account", () => {
  it("profiles are refused", async () => {
    const t = await startApp({});
    const form = new FormData();
    form.append("profile", new Blob(['{"cameraDisabled":true}']), "camera.json");
    expect((await t.post("/configuration_profiles", form)).status).toBe(400);
  });

  it("names the setting", async () => {
    const t = await startApp({});
    const reply = await t.get("/android_enterprise/signup_url");
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain("SVC_ANDROID_SERVICE_ACCOUNT");
  });
});
