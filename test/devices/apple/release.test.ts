// Devices that wait in their setup assistant are released when everything that comes first has ended.
import { describe, expect, it } from "vitest";
import { endUserFacts } from "../../../src/server/devices/apple/channel/end-user.ts";
import { continueSetups, MAX_WAIT } from "../../../src/server/devices/apple/setup/release.ts";
import { hasItsProfiles } from "../../../src/server/devices/profiles/reconcile.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { minutes } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { eq, everything } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeManagedMac, makeProfile, mobileconfig } from "../../support/profiles.ts";
import { countedStore } from "../../support/statements.ts";

const automatic = { kind: "automatic" };

async function waitingDevice(t: TestApp, { facts = automatic as Record<string, string>, more = {} } = {}) {
  const device = appleDevice(t, await newIdentity(t, null, 0, facts), more);
  expect((await device.authenticate()).status).toBe(200);
  expect((await device.tokenUpdate({ AwaitingConfiguration: true })).status).toBe(200);
  const enrollment = async () => (await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) }))!;
  const { host_id: hostId } = await enrollment();
  return { device, hostId, waits: async () => (await enrollment()).awaiting_configuration };
}
const setupOf = (t: TestApp, hostId: number) => t.store.appleSetups.get(hostId);
const queued = (t: TestApp, hostId: number, type: string) =>
  t.store.mdmCommands.first({ where: eq("request_type", type) }).then((row) => row?.host_id === hostId);

describe.each(bothEngines)("a device that waits in its setup assistant, on %s,", (engine) => {
  it("is released after its profiles", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await makeProfile(t, { content: mobileconfig("com.example.first"), name: "com.example.first" });
    await makeProfile(t, { content: mobileconfig("com.example.second"), name: "com.example.second" });
    const { device, hostId, waits } = await waitingDevice(t);
    await expect.poll(() => t.store.hostProfiles.count(eq("status", "pending"))).toBe(2);
    const first = (await device.idle())!;
    expect(first.type).toBe("InstallProfile");
    const second = (await device.answer(first.uuid, "Acknowledged"))!;
    expect([second.type, await queued(t, hostId, "DeviceConfigured")]).toEqual(["InstallProfile", false]);
    const last = (await device.answer(second.uuid, "Acknowledged"))!;
    expect(last, "in the same connection").toMatchObject({ command: { RequestType: "DeviceConfigured" } });
    expect(await waits()).toBe(true);
    expect(await device.answer(last.uuid, "Acknowledged")).toBeNull();
    expect([await waits(), await setupOf(t, hostId)]).toEqual([false, null]);
  });

  it("waits only for a time: the job releases it", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await makeProfile(t, { content: mobileconfig("com.example.first"), name: "com.example.first" });
    const { device, hostId } = await waitingDevice(t);
    await expect.poll(() => t.store.hostProfiles.count(eq("status", "pending"))).toBe(1);
    t.clock.advance(MAX_WAIT - minutes(1));
    await runJob(t.services, "setup_experience");
    expect(await setupOf(t, hostId)).toMatchObject({ begun: "profiles", released_at: null });
    t.clock.advance(minutes(1));
    await runJob(t.services, "setup_experience");
    expect(await device.idle(), "before the profile that still waits").toMatchObject({ type: "DeviceConfigured" });
    await runJob(t.services, "setup_experience");
    expect(await t.store.mdmCommands.count(eq("request_type", "DeviceConfigured")), "sent once").toBe(1);
  });
});

describe.each(rulesEngines)("the profiles that a device has to have, on %s,", (engine) => {
  it("are compared by a number of calls that does not grow with them", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const host = await makeManagedMac(t);
    const { services, calls } = countedStore(t);
    const ctx = serviceContext(services, "setup");
    const used: number[] = [];
    for (const count of [1, 6]) {
      for (let i = await t.store.configurationProfiles.count(); i < count; i++)
        await makeProfile(t, { content: mobileconfig(`com.example.${i}`), name: `com.example.${i}` });
      await expect.poll(() => t.store.hostProfiles.count(eq("status", "pending"))).toBe(count === 1 ? 1 : 5);
      expect(await hasItsProfiles(ctx, host.id)).toBe(false);
      await t.store.hostProfiles.update({ where: everything, set: { status: "verified" } });
      const before = await calls();
      expect(await hasItsProfiles(ctx, host.id)).toBe(true);
      used.push((await calls()) - before);
    }
    expect(used[1]).toBe(used[0]);
    await t.store.hostProfiles.delete(everything);
    const before = await calls();
    expect(await hasItsProfiles(ctx, host.id), "it has none of them").toBe(false);
    expect((await calls()) - before).toBeLessThan(6);
  });
});

describe.each(bothEngines)("the release of a device on %s", (engine) => {
  it("happens once, whoever continues: the device's answer, or jobs of several servers", async () => {
    const t = await startApp({ engine });
    const facts = { ...automatic, [endUserFacts.email]: "ana@example.com" };
    const { device, hostId } = await waitingDevice(t, { facts });
    const { uuid } = (await device.idle())!;
    t.clock.advance(MAX_WAIT);
    const { signal } = new AbortController();
    const servers = [1, 2, 3].map(() => continueSetups(t.services, signal));
    await Promise.all([...servers, device.answer(uuid, "Acknowledged")]);
    expect(await t.store.mdmCommands.count(eq("request_type", "DeviceConfigured"))).toBe(1);
    const { uuid: last } = (await device.idle())!;
    await Promise.all([device.answer(last, "Acknowledged"), device.answer(last, "Acknowledged")]);
    expect(await setupOf(t, hostId)).toBeNull();
  });
});

describe.each(rulesEngines)("the setup assistant on %s", (engine) => {
  it("ends at once if nothing comes first, and is not concerned with devices that do not wait", async () => {
    const t = await startApp({ engine });
    const { device } = await waitingDevice(t);
    expect(await device.idle()).toMatchObject({ type: "DeviceConfigured" });
    const other = appleDevice(t, await newIdentity(t, null, 1, automatic));
    await other.authenticate();
    await other.tokenUpdate();
    expect(await other.idle()).toBeNull();
  });

  it("is given the account of the user who had signed in, after the profiles and before the end", async () => {
    const t = await startApp({ engine });
    await t.patch("/setup_experience", { lock_end_user_info: false });
    const facts = { ...automatic, [endUserFacts.email]: "_Ana+x@example.com", [endUserFacts.name]: "Ana Lopez" };
    const { device } = await waitingDevice(t, { facts });
    const account = (await device.idle())!;
    expect(account.command).toEqual({
      RequestType: "AccountConfiguration",
      PrimaryAccountUserName: "anax",
      PrimaryAccountFullName: "Ana Lopez",
      LockPrimaryAccountInfo: false,
    });
    expect(await device.answer(account.uuid, "Error")).toMatchObject({ type: "DeviceConfigured" });
    const phone = appleDevice(t, await newIdentity(t, null, 1, facts), { ProductName: "iPhone15,2" });
    await phone.authenticate();
    await phone.tokenUpdate({ AwaitingConfiguration: true });
    expect(await phone.idle(), "phones have no accounts").toMatchObject({ type: "DeviceConfigured" });
  });

  it("is left to an administrator if the settings say so", async () => {
    const t = await startApp({ engine });
    await t.patch("/setup_experience", { enable_release_device_manually: true });
    const { device, hostId, waits } = await waitingDevice(t);
    expect(await device.idle()).toBeNull();
    expect([await waits(), await setupOf(t, hostId)]).toEqual([true, null]);
  });

  it("begins again with a new enrollment, and ends when the device leaves or needs it no more", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await makeProfile(t, { content: mobileconfig("com.example.first"), name: "com.example.first" });
    const { device, hostId } = await waitingDevice(t);
    t.clock.advance(minutes(20));
    await device.authenticate();
    expect(await setupOf(t, hostId)).toBeNull();
    await device.tokenUpdate({ AwaitingConfiguration: true });
    expect(await setupOf(t, hostId)).toMatchObject({ started_at: t.clock.iso() });
    await device.tokenUpdate({ AwaitingConfiguration: false });
    await runJob(t.services, "setup_experience");
    expect(await setupOf(t, hostId), "it was released by other means").toBeNull();
    await device.authenticate();
    await device.tokenUpdate({ AwaitingConfiguration: true });
    await device.checkIn("CheckOut");
    expect(await setupOf(t, hostId)).toBeNull();
  });
});
