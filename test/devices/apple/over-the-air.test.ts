// Enrollment over the air: the device says what it is, gets an identity, says it again, and gets its enrollment profile.
import { beforeAll, describe, expect, it } from "vitest";
import { signData } from "../../../src/pki/signed-data.ts";
import { readPlistDict } from "../../../src/plist/read.ts";
import { dictIn, type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { writePlist } from "../../../src/plist/write.ts";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { makeSecret } from "../../edge/agent/agents.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { allowEnrollment } from "../../support/apple.ts";
import {
  appleDevice,
  type Identity,
  identityFrom,
  installProfile,
  newIdentity,
  payloadIn,
} from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { type DeviceAuthority, deviceAuthority, machineInfo } from "../../support/machine-info.ts";
import { makeTeam } from "../../support/make.ts";

const SECRET = "secret-over-the-air";
const info = machineInfo("C02AIR");

let apple: DeviceAuthority;
beforeAll(async () => {
  apple = await deviceAuthority();
});

async function start(engine: "lowdb" | "postgres") {
  const t = await startApp({ engine, settings: { apple_device_ca: apple.file } });
  await allowEnrollment(t);
  const team = await makeTeam(t, "Phones");
  await makeSecret(t.services, SECRET, team.id);
  return { t, team };
}
const begin = (t: TestApp, secret = SECRET) =>
  t.raw(`/api/latest/svc/enrollment_profiles/ota?enroll_secret=${encodeURIComponent(secret)}`);
const step = (t: TestApp, message: Buffer, secret = SECRET) =>
  t.raw(`/api/v1/svc/ota_enrollment?enroll_secret=${encodeURIComponent(secret)}`, {
    method: "POST",
    body: new Uint8Array(message),
  });
const signedBy = (identity: Identity, dict: PlistDict) =>
  signData(Buffer.from(writePlist(dict)), { ...identity, digest: "sha256" });
const fileOf = async (reply: Response): Promise<Buffer> => {
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/x-apple-aspen-config"]);
  return Buffer.from(await reply.arrayBuffer());
};
const firstIdentity = async (t: TestApp) => identityFrom(t, await fileOf(await step(t, await apple.sign(info))));

describe.each(bothEngines)("enrollment over the air on %s", (engine) => {
  it("takes two steps, and makes a host in the team of the secret", async () => {
    const { t, team } = await start(engine);
    const service = readPlistDict(await fileOf(await begin(t)));
    expect(service).toMatchObject({
      PayloadType: "Profile Service",
      PayloadContent: { DeviceAttributes: expect.any(Array) },
    });
    const url = new URL(stringIn(dictIn(service, "PayloadContent")!, "URL")!);
    expect(`${url.origin}${url.pathname}`).toBe("https://svc.example.com/api/v1/svc/ota_enrollment");
    const body = new Uint8Array(await apple.sign(info));
    const first = await fileOf(await t.raw(`${url.pathname}${url.search}`, { method: "POST", body }));
    expect(payloadIn(readPlistDict(first), "com.apple.mdm")).toBeUndefined();
    const profile = await fileOf(await step(t, signedBy(await identityFrom(t, first), info)));
    const device = await installProfile(t, profile, { UDID: info.UDID!, SerialNumber: "C02AIR" });
    expect((await device.authenticate()).status).toBe(200);
    expect((await device.tokenUpdate()).status).toBe(200);
    expect(await t.store.hosts.pick(["hardware_serial", "team_id"])).toMatchObject([
      { hardware_serial: "C02AIR", team_id: team.id },
    ]);
  });
});

describe.each(rulesEngines)("the steps over the air on %s", (engine) => {
  it("need the secret and the signature of a device", async () => {
    const { t } = await start(engine);
    expect([(await begin(t, "wrong")).status, (await begin(t, "")).status]).toEqual([422, 400]);
    const good = await apple.sign(info);
    const tampered = Buffer.from(good);
    tampered[tampered.indexOf("C02AIR") + 3] = 0x58;
    expect((await step(t, good, "wrong")).status).toBe(422);
    const stranger = await deviceAuthority(1);
    for (const message of [tampered, await stranger.sign(info), Buffer.alloc(0), Buffer.from("<plist/>")])
      expect((await step(t, message)).status).toBe(403);
    expect((await step(t, Buffer.alloc(70_000))).status).toBe(413);
    expect(await t.store.scepChallenges.count()).toBe(0);
  });

  it("need the identity of the first step for the second, for the same device, at once", async () => {
    const { t } = await start(engine);
    await makeSecret(t.services, "global-secret");
    const identity = await firstIdentity(t);
    expect((await step(t, signedBy(identity, { ...info, SERIAL: "C02OTHER" }))).status, "another device").toBe(403);
    expect((await step(t, signedBy(identity, { ...info, UDID: "other" }))).status, "another device").toBe(403);
    expect((await step(t, signedBy(identity, info), "global-secret")).status, "another team").toBe(403);
    const managed = await newIdentity(t, null, 1);
    expect((await step(t, signedBy(managed, info), "global-secret")).status, "an enrolled device's").toBe(403);
    const early = appleDevice(t, identity, { UDID: info.UDID!, SerialNumber: "C02AIR" });
    expect((await early.authenticate()).status, "it cannot check in with it").toBe(403);
    expect((await step(t, signedBy(identity, info))).status).toBe(200);
    t.clock.advance(hours(1) + 1000);
    expect((await step(t, signedBy(identity, info))).status, "too late").toBe(403);
  });

  it("are answered while device management is on only", async () => {
    const t = await startApp({ engine });
    expect([(await begin(t)).status, (await step(t, Buffer.alloc(0))).status]).toEqual([400, 400]);
  });
});
