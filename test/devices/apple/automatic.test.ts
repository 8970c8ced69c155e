// Automatic enrollment: devices of the business portal get their profile at their first start.
import { beforeAll, describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import type { PlistDict } from "../../../src/plist/value.ts";
import { wholeProfile } from "../../../src/server/devices/apple/portal/assign.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { isOlder } from "../../../src/text/versions.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { installProfile, payloadIn } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { type DeviceAuthority, deviceAuthority, machineInfo } from "../../support/machine-info.ts";
import { makeTeam } from "../../support/make.ts";
import { expectDevice } from "../../support/portal.ts";
import { NEW_MAC, startVersionList } from "../../support/version-list.ts";

let apple: DeviceAuthority;
beforeAll(async () => {
  apple = await deviceAuthority();
});

async function start(engine: "lowdb" | "postgres", settings: object = {}): Promise<TestApp> {
  const t = await startApp({ engine, settings: { apple_device_ca: apple.file, ...settings } });
  await allowEnrollment(t);
  return t;
}

/** The address from the setup assistant profile. */
async function address(t: TestApp): Promise<string> {
  const { url, await_device_configured } = await wholeProfile(t.services, {});
  expect(await_device_configured).toBe(true);
  const { pathname, search } = new URL(String(url));
  return `${pathname}${search}`;
}
const post = async (t: TestApp, message: Buffer, at?: string) =>
  t.raw(at ?? (await address(t)), { method: "POST", body: new Uint8Array(message) });
const ask = async (t: TestApp, info: PlistDict, at?: string) => post(t, await apple.sign(info), at);
const profileOf = async (reply: Response) => {
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/x-apple-aspen-config"]);
  return Buffer.from(await reply.arrayBuffer());
};

describe.each(bothEngines)("automatic enrollment on %s", (engine) => {
  it("makes the expected host a managed one, in the team that it is in by then", async () => {
    const t = await start(engine);
    const team = await makeTeam(t, "Macs");
    const host = await expectDevice(t, "C02AUTO");
    const info = machineInfo("C02AUTO");
    const profile = await profileOf(await ask(t, info));
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [host.id] });
    const device = await installProfile(t, profile, { UDID: info.UDID!, SerialNumber: "C02AUTO" });
    expect((await device.authenticate()).status).toBe(200);
    expect((await device.tokenUpdate({ AwaitingConfiguration: true })).status).toBe(200);
    expect(await t.store.hosts.pick(["id", "team_id", "uuid"])).toEqual([
      { id: host.id, team_id: team.id, uuid: info.UDID },
    ]);
    expect(await t.store.hostMdm.get(host.id)).toMatchObject({
      enrollment_status: "On (automatic)",
      connected_to_svc: true,
    });
    expect(await t.store.appleEnrollments.first({})).toMatchObject({ kind: "automatic", awaiting_configuration: true });
    const enrolled = await t.store.activities.first({ where: eq("type", "mdm_enrolled") });
    expect(enrolled).toMatchObject({ details: { host_serial: "C02AUTO", installed_from_dep: true } });
  });

  it("makes one host of a device that the license had no room for when it was assigned", async () => {
    const t = await start(engine);
    const team = await makeTeam(t, "Macs");
    const host = await expectDevice(t, "C02LATE");
    await t.store.portalDevices.update({ where: eq("host_id", host.id), set: { host_id: null } });
    await t.store.abmTokens.update({ where: eq("vendora_id", "admin@example.com"), set: { macos_team_id: team.id } });
    await t.store.hosts.delete(eq("id", host.id));
    const info = machineInfo("C02LATE");
    const device = await installProfile(t, await profileOf(await ask(t, info)), {
      UDID: info.UDID!,
      SerialNumber: "C02LATE",
    });
    expect((await device.authenticate()).status).toBe(200);
    expect((await t.store.hosts.list()).map(({ team_id }) => team_id)).toEqual([team.id]);
  });
});

describe.each(rulesEngines)("requests for automatic enrollment on %s", (engine) => {
  it("have the machine info in the body or in a header", async () => {
    const t = await start(engine);
    await expectDevice(t, "C02HEAD");
    const message = await apple.sign(machineInfo("C02HEAD"));
    const headers = { "x-apple-aspen-deviceinfo": message.toString("base64") };
    const reply = await t.raw(await address(t), { headers });
    expect(payloadIn(readPlistDict(await profileOf(reply)), "com.apple.mdm")).toBeDefined();
  });

  it("are refused with 403 unless a device that is assigned to this server has signed them", async () => {
    const t = await start(engine);
    await expectDevice(t, "C02MINE");
    const info = machineInfo("C02MINE");
    const good = await apple.sign(info);
    const stranger = await (await deviceAuthority(1)).sign(info);
    const tampered = Buffer.from(good);
    tampered[tampered.indexOf("C02MINE") + 3] = 0x58;
    const path = (await address(t)).split("?")[0]!;
    const refused: [string, Promise<Response>][] = [
      ["another token", post(t, good, `${path}?token=wrong`)],
      ["no token", post(t, good, path)],
      ["another authority", post(t, stranger)],
      ["tampered", post(t, tampered)],
      ["another serial number", ask(t, machineInfo("C02OTHER"))],
      ["no serial number", ask(t, machineInfo(""))],
      ["no UDID", ask(t, machineInfo("C02MINE", { UDID: "" }))],
      ["not signed", post(t, Buffer.from("<plist/>"))],
      ["nothing", post(t, Buffer.alloc(0))],
      ["no header", t.raw(await address(t))],
      ["a broken header", t.raw(await address(t), { headers: { "x-apple-aspen-deviceinfo": "????" } })],
    ];
    for (const [what, reply] of refused) expect((await reply).status, what).toBe(403);
    expect((await post(t, Buffer.alloc(70_000))).status).toBe(413);
    await t.store.portalDevices.update({ where: eq("serial", "C02MINE"), set: { deleted_at: t.clock.iso() } });
    expect((await post(t, good)).status, "it has left the portal").toBe(403);
    expect(await t.store.scepChallenges.count()).toBe(0);
  });

  it("give a profile that only this device can use", async () => {
    const t = await start(engine);
    await expectDevice(t, "C02ONE");
    const info = machineInfo("C02ONE");
    const profile = await profileOf(await ask(t, info));
    const thief = await installProfile(t, profile, { UDID: "another", SerialNumber: "C02ONE" });
    expect((await thief.authenticate()).status).toBe(403);
    await expect(installProfile(t, profile, { UDID: info.UDID! }, 1), "used").rejects.toThrow("badRequest");
  });

  it("answer that the device has to be updated first, if the team asks for that and the device can do it", async () => {
    const t = await start(engine);
    const team = await makeTeam(t, "Macs");
    await expectDevice(t, "C02OLD", "macos", team.id);
    await expectDevice(t, "PHONE", "ios");
    const updates = { minimum_version: "15.2", deadline: "2027-01-01" };
    const set = (update_new_hosts: boolean) =>
      t.patch(`/teams/${team.id}`, { mdm: { macos_updates: { ...updates, update_new_hosts } } });
    expect((await set(true)).status).toBe(200);
    const can = { MDM_CAN_REQUEST_SOFTWARE_UPDATE: true };
    const reply = await ask(t, machineInfo("C02OLD", can));
    expect([reply.status, await reply.json()]).toEqual([
      403,
      { code: "com.apple.softwareupdate.required", details: { OSVersion: "15.2" } },
    ]);
    expect((await ask(t, machineInfo("C02OLD"))).status, "it cannot").toBe(200);
    expect((await ask(t, machineInfo("C02OLD", { ...can, OS_VERSION: "15.2" }))).status, "it is new enough").toBe(200);
    expect((await set(false)).status).toBe(200);
    expect((await ask(t, machineInfo("C02OLD", can))).status, "not wanted").toBe(200);
    const phone = machineInfo("PHONE", { ...can, PRODUCT: "iPhone15,2", OS_VERSION: "17.0" });
    expect((await ask(t, phone)).status).toBe(200);
    await t.patch("/config", { mdm: { ios_updates: { minimum_version: "18.0", deadline: "2027-01-01" } } });
    expect((await ask(t, phone)).status).toBe(403);
  });

  it("answer with the newest version for the device, as far as the vendor's list is known", async () => {
    const service = await startVersionList();
    const t = await start(engine, service.settings);
    const team = await makeTeam(t, "Macs");
    await expectDevice(t, "C02OLD", "macos", team.id);
    await expectDevice(t, "PHONE", "ios", team.id);
    const latest = { minimum_version: "latest", deadline_days: 14 };
    const mdm = { macos_updates: latest, ios_updates: latest };
    expect((await t.patch(`/teams/${team.id}`, { mdm })).status).toBe(200);
    const can = { MDM_CAN_REQUEST_SOFTWARE_UPDATE: true };
    const mac = machineInfo("C02OLD", { ...can, SOFTWARE_UPDATE_DEVICE_ID: NEW_MAC });
    expect((await ask(t, mac)).status, "the list was not read").toBe(200);
    await runJob(t.services, "apple_versions");
    const details = async (info: Parameters<typeof ask>[1]) =>
      ((await (await ask(t, info)).json()) as { details: unknown }).details;
    expect(await details(mac)).toEqual({ OSVersion: "15.2" });
    const phone = machineInfo("PHONE", { ...can, PRODUCT: "iPhone15,2", OS_VERSION: "17.0" });
    expect(await details(phone)).toEqual({ OSVersion: "18.2" });
    expect((await ask(t, machineInfo("C02OLD", can))).status, "it does not report which Mac it is").toBe(200);
  });

  it("compare versions part by part", () => {
    expect(isOlder("15.1", "15.2")).toBe(true);
    expect(isOlder("9.3", "15.2")).toBe(true);
    expect(isOlder("15.2", "15.2.0")).toBe(false);
    expect(isOlder("15.10", "15.2")).toBe(false);
    expect(isOlder("15", "15.0.1")).toBe(true);
  });

  it("are answered while device management is on only", async () => {
    const t = await startApp({ engine, settings: { apple_device_ca: apple.file } });
    expect((await ask(t, machineInfo("C02OFF"))).status).toBe(400);
  });
});

describe("the certificate that signs machine info", () => {
  it("is Apple's unless another is set, and a wrong file stops the start", async () => {
    const { loadAnchors } = await import("../../../src/server/devices/apple/enroll/device-anchors.ts");
    const t = await startApp();
    const [own] = await loadAnchors(t.services.settings);
    expect(own!.subject).toContain("CN=Apple iPhone Device CA");
    for (const apple_device_ca of ["/nothing", "package.json"])
      await expect(loadAnchors({ ...t.services.settings, apple_device_ca })).rejects.toThrow("apple_device_ca: ");
  });
});
