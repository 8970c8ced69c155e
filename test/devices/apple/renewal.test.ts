// Renewal of devices' identities: they get their enrollment profile again long before the end.
import { describe, expect, it } from "vitest";
import { bytesIn } from "../../../src/plist/value.ts";
import { profileForHost } from "../../../src/server/devices/apple/enroll/manual.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { appleDevice, identityFrom, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";

const renew = (t: TestApp) => runJob(t.services, "apple_identity_renewal");

async function enrolled(t: TestApp, facts: { UDID: string; SerialNumber: string }, key = 0) {
  const device = appleDevice(t, await newIdentity(t, null, key), facts);
  expect((await device.authenticate()).status).toBe(200);
  expect((await device.tokenUpdate()).status).toBe(200);
  return device;
}
const ana = { UDID: "ANAS-MAC", SerialNumber: "C02ANA" };
const ben = { UDID: "BENS-MAC", SerialNumber: "C02BEN" };
const idle = async (device: ReturnType<typeof appleDevice>) =>
  (await device.send({ Status: "Idle", UDID: device.udid })).status;

describe.each(bothEngines)("an identity that ends on %s", (engine) => {
  it("is renewed by the enrollment profile, and the old one is then refused", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const old = await enrolled(t, ana);
    t.clock.advance(days(184));
    await renew(t);
    expect(await old.idle(), "too early").toBeNull();
    t.clock.advance(days(2));
    await renew(t);
    await renew(t);
    const command = (await old.idle())!;
    expect(command.type).toBe("InstallProfile");
    const profile = bytesIn(command.command, "Payload")!;
    const stored = JSON.stringify(await t.store.operationContents.list());
    expect(stored).not.toContain(profile.toString("base64").slice(0, 100));
    const renewed = appleDevice(t, await identityFrom(t, profile, 1), ana);
    expect(await old.idle(), "the old one is valid until the new one is used").toMatchObject({ uuid: command.uuid });
    expect(await renewed.answer(command.uuid, "Acknowledged")).toBeNull();
    expect([await idle(old), await idle(renewed)]).toEqual([403, 200]);
    expect((await renewed.tokenUpdate()).status).toBe(200);
    await renew(t);
    t.clock.advance(days(8));
    await renew(t);
    expect(await renewed.idle(), "not again").toBeNull();
    expect(await t.store.hosts.count()).toBe(1);
    expect((await t.store.activities.list()).filter(({ type }) => type === "mdm_enrolled")).toHaveLength(1);
  });
});

describe.each(rulesEngines)("a renewed identity on %s", (engine) => {
  it("is for one enrollment only, and comes from its own renewal", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const [first, second] = [await enrolled(t, ana), await enrolled(t, ben, 1)];
    t.clock.advance(days(200));
    await renew(t);
    const profile = bytesIn((await first.idle())!.command, "Payload")!;
    const again = bytesIn((await first.idle())!.command, "Payload")!;
    const own = await identityFrom(t, profile, 2);
    expect(await idle(appleDevice(t, own, ben)), "with another's UDID").toBe(403);
    const host = (await t.store.hosts.first({ where: eq("hardware_serial", "C02ANA") }))!;
    const page = await identityFrom(t, await profileForHost(serviceContext(t.services), host), 3);
    expect(await idle(appleDevice(t, page, ana)), "from the page of the host").toBe(403);
    const newer = appleDevice(t, await identityFrom(t, again, 4), ana);
    expect(await idle(newer)).toBe(200);
    expect(await idle(appleDevice(t, own, ana)), "an older one does not come back").toBe(403);
    expect(await idle(second), "others are not concerned").toBe(200);
  });

  it("is asked for again after a week, and not while device management is off", async () => {
    const t = await startApp({ engine });
    const device = await enrolled(t, ana);
    t.clock.advance(days(200));
    await renew(t);
    expect(await device.idle()).toBeNull();
    await allowEnrollment(t);
    await renew(t);
    const { uuid } = (await device.idle())!;
    expect(await device.answer(uuid, "Error")).toBeNull();
    t.clock.advance(days(6));
    await renew(t);
    expect(await device.idle()).toBeNull();
    t.clock.advance(days(2));
    await renew(t);
    expect(await device.idle()).toMatchObject({ type: "InstallProfile" });
  });
});
