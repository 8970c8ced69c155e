// What iPhones and iPads report of themselves, and when Apple devices were last seen.
import { describe, expect, it } from "vitest";
import type { PlistDict } from "../../../src/plist/value.ts";
import { deviceSeen } from "../../../src/server/devices/reports/seen.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const HOUR = 3_600_000;
const IPHONE = { ProductName: "iPhone17,1", DeviceName: "Ana's iPhone", OSVersion: "18.1" };
const FACTS = {
  DeviceName: "Bo's iPhone",
  OSVersion: "18.2",
  BuildVersion: "22C152",
  ProductName: "iPhone17,1",
  DeviceCapacity: 128,
  AvailableDeviceCapacity: 40.256,
  WiFiMAC: "AC:DE:48:00:11:22",
  TimeZone: "Europe/Paris",
};
const APPLICATIONS: readonly PlistDict[] = [
  { Identifier: "org.mozilla.ios.Firefox", Name: "Firefox", ShortVersion: "133.1", Version: "4711" },
  { Identifier: "com.example.tool", Name: "", Version: "7" },
];

async function started(engine: (typeof bothEngines)[number]) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}

type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

/** The device answers everything that waits for it. Returns the types of the commands. */
async function work(device: Device, answers: Readonly<Record<string, PlistDict | "Error">>): Promise<string[]> {
  const types: string[] = [];
  let command = await device.idle();
  while (command) {
    types.push(command.type);
    const answer = answers[command.type] ?? "Error";
    command = await (answer === "Error"
      ? device.answer(command.uuid, "Error")
      : device.answer(command.uuid, "Acknowledged", answer));
  }
  return types;
}

const WHOLE = {
  DeviceInformation: { QueryResponses: FACTS },
  InstalledApplicationList: { InstalledApplicationList: APPLICATIONS },
};
const ALL = ["DeviceInformation", "InstalledApplicationList", "CertificateList", "ProfileList"];

const hostOf = async (t: TestApp, id: number) =>
  ((await (await t.get(`/hosts/${id}`)).json()) as { host: Record<string, unknown> }).host;

describe.each(bothEngines)("the details of an iPhone on %s", (engine) => {
  it("are requested when it enrolls, and become fields, software and certificates of its host", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const { certificate } = await newIdentity(t, null, 1);
    const CertificateList = [
      { CommonName: "svc identity", IsIdentity: true, Data: certificate },
      { CommonName: "broken", IsIdentity: false, Data: Buffer.from("no certificate") },
    ];
    expect(await work(device, { ...WHOLE, CertificateList: { CertificateList } })).toEqual(ALL);
    expect(await hostOf(t, id)).toMatchObject({
      platform: "ios",
      display_name: "Bo's iPhone",
      hostname: "Bo's iPhone",
      os_version: "iOS 18.2",
      build: "22C152",
      hardware_model: "iPhone17,1",
      primary_mac: "ac:de:48:00:11:22",
      timezone: "Europe/Paris",
      gigs_total_disk_space: 128,
      gigs_disk_space_available: 40.26,
      percent_disk_space_available: 31,
      refetch_requested: false,
      detail_updated_at: t.clock.iso(),
      software_updated_at: t.clock.iso(),
      software: [
        { name: "Firefox", version: "133.1", source: "ios_apps", bundle_identifier: "org.mozilla.ios.Firefox" },
        { name: "com.example.tool", version: "7", source: "ios_apps", bundle_identifier: "com.example.tool" },
      ],
    });
    const reply = await t.get(`/hosts/${id}/certificates`);
    expect(await reply.json()).toMatchObject({
      certificates: [
        {
          common_name: "svc identity",
          key_algorithm: "rsa",
          key_strength: 2048,
          certificate_authority: false,
          subject: { common_name: "svc identity", organization: "svc" },
        },
      ],
    });
  });

  it("are requested by users, and as often as those of other hosts", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const { device: mac } = await enrolledDevice(t, {}, { key: 1 });
    await runJob(t.services, "apple_details");
    expect(await work(device, WHOLE), "once, although they are due").toEqual(ALL);
    await runJob(t.services, "apple_details");
    expect(await work(device, WHOLE), "not due").toEqual([]);

    for (const _ of [1, 2]) expect((await t.post(`/hosts/${id}/refetch`)).status).toBe(200);
    expect(await hostOf(t, id)).toMatchObject({ refetch_requested: true });
    expect(await work(device, { ...WHOLE, DeviceInformation: "Error" }), "once, although asked twice").toEqual(ALL);
    expect(await hostOf(t, id)).toMatchObject({ refetch_requested: false, os_version: "iOS 18.2" });

    t.clock.advance(HOUR);
    await runJob(t.services, "apple_details");
    const newer = { QueryResponses: { OSVersion: "18.3" } };
    const InstalledApplicationList = { InstalledApplicationList: APPLICATIONS.slice(1) };
    expect(await work(device, { DeviceInformation: newer, InstalledApplicationList })).toEqual(ALL);
    expect(await hostOf(t, id)).toMatchObject({
      os_version: "iOS 18.3",
      display_name: "Bo's iPhone",
      software: [{ name: "com.example.tool" }],
    });
    expect(await work(mac, {}), "a Mac has an agent").toEqual([]);
  });
});

describe.each(rulesEngines)("details of devices on %s", (engine) => {
  it("are read from the device that was asked, and not while another answers for it", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const { device: other } = await enrolledDevice(t, { ...IPHONE, DeviceName: "other" }, { key: 1 });
    const command = (await device.idle())!;
    await other.answer(command.uuid, "Acknowledged", { QueryResponses: { ...FACTS, DeviceName: "forged" } });
    expect(await hostOf(t, id)).toMatchObject({ display_name: "Ana's iPhone", refetch_requested: true });
    await device.answer(command.uuid, "Acknowledged", { QueryResponses: FACTS });
    await device.answer(command.uuid, "Acknowledged", { QueryResponses: { ...FACTS, DeviceName: "again" } });
    expect(await hostOf(t, id)).toMatchObject({ display_name: "Bo's iPhone" });
  });

  it("are requested again if the server ended before it has read an answer", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    await work(device, WHOLE);
    await t.store.hosts.updateEach([{ id, detail_updated_at: null }]);
    await runJob(t.services, "apple_details");
    expect(await work(device, WHOLE)).toEqual(ALL);
    expect((await hostOf(t, id)).detail_updated_at).toBe(t.clock.iso());
  });

  it("accept any values without harm", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const odd = { DeviceName: "x".repeat(5_000), DeviceCapacity: -1, AvailableDeviceCapacity: "much", OSVersion: 18 };
    await work(device, {
      DeviceInformation: { QueryResponses: odd },
      InstalledApplicationList: { InstalledApplicationList: [{ Name: 5 }, "text", { Identifier: "a", Version: 1 }] },
      CertificateList: { CertificateList: "none" },
    });
    const host = await hostOf(t, id);
    expect(host).toMatchObject({ os_version: "iOS 18.1", gigs_total_disk_space: 0, software: [{ name: "a" }] });
    expect(String(host.display_name)).toHaveLength(255);
  });

  it("are requested by those who may refetch the host", async () => {
    const t = await started(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const { device, id } = await enrolledDevice(t, IPHONE, { teamId: team.id });
    await work(device, WHOLE);
    const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect((await stranger.post(`/hosts/${id}/refetch`)).status).toBe(404);
    const gitops = await makeUser(t, { teams: [{ id: team.id, role: "gitops" }] });
    expect((await gitops.post(`/hosts/${id}/refetch`)).status).toBe(403);
    expect(await work(device, WHOLE)).toEqual([]);
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect((await observer.post(`/hosts/${id}/refetch`)).status).toBe(200);
    expect(await work(device, WHOLE)).toEqual(ALL);
  });

  it("stop when device management is turned off", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolledDevice(t, IPHONE);
    await work(device, WHOLE);
    t.clock.advance(HOUR);
    await runJob(t.services, "apple_details");
    expect(await work(device, WHOLE)).toEqual([]);
  });

  it("show when a device has checked in, and it is online until it has to connect again", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    await t.services.running.of(deviceSeen).flush();
    t.clock.advance(HOUR);
    expect(await hostOf(t, id)).toMatchObject({ status: "online" });
    t.clock.advance(HOUR);
    expect(await hostOf(t, id)).toMatchObject({ status: "offline" });
    await device.idle();
    await t.services.running.of(deviceSeen).flush();
    const now = t.clock.iso();
    expect(await hostOf(t, id)).toMatchObject({ status: "online", last_mdm_checked_in_at: now, seen_time: now });
  });
});
