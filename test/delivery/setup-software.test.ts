// Devices that wait in their setup assistant are released after their software and their script.
import { describe, expect, it } from "vitest";
import { continueSetups, MAX_WAIT } from "../../src/server/devices/apple/setup/release.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { appleDevice, newIdentity } from "../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { addSecret, ManagedAgent } from "../support/managed.ts";
import { makeProfile, mobileconfig } from "../support/profiles.ts";
import {
  chooseScript,
  chooseSoftware,
  installNext,
  notified,
  offerScript,
  statesOf,
  statusFor,
} from "../support/setups.ts";

/** A Mac that waits in its setup assistant, and its agent, which is installed meanwhile. */
async function waitingMac(t: TestApp) {
  const device = appleDevice(t, await newIdentity(t, null, 0, { kind: "automatic" }));
  await device.authenticate();
  await device.tokenUpdate({ AwaitingConfiguration: true });
  const { host_id: hostId } = (await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) }))!;
  await addSecret(t);
  const { hardware_serial } = (await t.store.hosts.get(hostId))!;
  const details = { hardware_uuid: device.udid, hardware_serial, platform: "darwin" };
  const agent = new ManagedAgent(t, details);
  return { device, hostId, agent };
}
const released = (t: TestApp) => t.store.mdmCommands.count(eq("request_type", "DeviceConfigured"));
const setupRow = (t: TestApp, hostId: number) => t.store.appleSetups.get(hostId);

async function chooseAll(t: TestApp): Promise<void> {
  await turnOnAppleMdm(t);
  await chooseSoftware(t, "macos", [await offerScript(t, "tool.sh")]);
  await chooseScript(t);
}

describe.each(bothEngines)("a Mac that waits in its setup assistant, on %s,", (engine) => {
  it("gets its profiles, then software, then the script, and is released at once", async () => {
    const t = await startApp({ engine });
    await chooseAll(t);
    await makeProfile(t, { content: mobileconfig("com.example.first"), name: "com.example.first" });
    const { device, hostId, agent } = await waitingMac(t);
    await agent.enroll();
    expect((await agent.host()).id, "the same host").toBe(hostId);
    expect(await notified(agent)).toEqual({ run_setup_experience: true });
    await expect.poll(() => t.store.hostProfiles.count(eq("status", "pending"))).toBe(1);
    expect((await agent.call("/setup_experience/init")).json).toEqual({ result: { enabled: true } });
    const waiting = await agent.call("/setup_experience/status");
    expect(statesOf(waiting.json.setup_experience_results)).toEqual(["tool pending", "setup.sh pending"]);
    expect(waiting.json.setup_experience_results.configuration_profiles).toEqual([
      { profile_uuid: expect.any(String), name: "com.example.first", status: "pending" },
    ]);
    expect(await notified(agent), "profiles come first").toEqual({ run_setup_experience: true });

    const profile = (await device.idle())!;
    expect(profile.type).toBe("InstallProfile");
    expect(await device.answer(profile.uuid, "Acknowledged")).toBeNull();
    expect(await setupRow(t, hostId)).toMatchObject({ begun: "software and script", released_at: null });
    await installNext(agent);
    expect(statesOf(await statusFor(agent))).toEqual(["tool success", "setup.sh running"]);
    expect(await released(t)).toBe(0);
    await agent.runScript();
    expect(statesOf(await statusFor(agent))).toEqual(["tool success", "setup.sh success"]);
    expect(await released(t)).toBe(1);
    expect(await device.idle()).toMatchObject({ type: "DeviceConfigured" });
    await runJob(t.services, "setup_experience");
    await statusFor(agent);
    expect(await released(t), "once").toBe(1);
  });
});

describe.each(rulesEngines)("the wait of a Mac for its software on %s", (engine) => {
  it("is for an agent too, but limited, and what is left is done afterwards", async () => {
    const t = await startApp({ engine });
    await chooseAll(t);
    const { hostId, agent } = await waitingMac(t);
    t.clock.advance(MAX_WAIT - minutes(1));
    await continueSetups(t.services, new AbortController().signal);
    expect([await released(t), await t.store.softwareInstallRuns.count()]).toEqual([0, 0]);
    expect(await setupRow(t, hostId)).toMatchObject({ begun: "software and script" });
    t.clock.advance(minutes(1));
    await continueSetups(t.services, new AbortController().signal);
    expect(await released(t)).toBe(1);
    await agent.enroll();
    expect(statesOf(await statusFor(agent))).toEqual(["tool running", "setup.sh pending"]);
  });

  it("ends when its agent does not wait any longer", async () => {
    const t = await startApp({ engine });
    await chooseAll(t);
    const { agent } = await waitingMac(t);
    await agent.enroll();
    await statusFor(agent);
    expect(await released(t)).toBe(0);
    expect(statesOf(await statusFor(agent, { force_release: true }))).toEqual(["tool running", "setup.sh pending"]);
    expect(await released(t)).toBe(1);
    await statusFor(agent, { force_release: true });
    expect(await released(t)).toBe(1);
  });

  it("ends without a release, where an administrator does that", async () => {
    const t = await startApp({ engine });
    await chooseAll(t);
    expect((await t.patch("/setup_experience", { enable_release_device_manually: true })).status).toBe(204);
    const { hostId, agent } = await waitingMac(t);
    await agent.enroll();
    await statusFor(agent);
    await installNext(agent);
    await statusFor(agent);
    await agent.runScript();
    expect(statesOf(await statusFor(agent, { force_release: true }))).toEqual(["tool success", "setup.sh success"]);
    expect([await released(t), await setupRow(t, hostId)]).toEqual([0, null]);
  });

  it("begins again when the Mac was erased", async () => {
    const t = await startApp({ engine });
    await chooseAll(t);
    const { device, hostId, agent } = await waitingMac(t);
    await agent.enroll();
    await statusFor(agent);
    await installNext(agent);
    await statusFor(agent);
    await agent.runScript();
    await statusFor(agent);
    expect(await t.store.hostSetups.get(hostId)).toMatchObject({ state: "ended" });
    await device.authenticate();
    await device.tokenUpdate({ AwaitingConfiguration: true });
    await agent.enroll();
    expect(statesOf(await statusFor(agent))).toEqual(["tool running", "setup.sh pending"]);
  });
});
