// Simulated Android devices and the stand-in of the vendor's API against the server, through sockets.

import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import type { SettingsInput } from "../../src/server/platform/core/settings/settings.ts";
import { AndroidFleet, type AndroidOptions } from "../../src/simulator/android/fleet.ts";
import { openFolder } from "../../src/simulator/android/folder.ts";
import { isAndroidComplete, renderAndroidReport } from "../../src/simulator/android/report.ts";
import { sendAndroidPolicies } from "../support/android.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { listen } from "../support/apple-server.ts";
import { allowLocal } from "../support/ca-fakes.ts";
import { rulesEngines } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { addSecret, SECRET } from "../support/managed.ts";
import { makeProfile } from "../support/profiles.ts";
import { haveScepServer, startScepServer } from "../support/scep-server.ts";

const own = (settings: Readonly<Record<string, string>>): SettingsInput =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name.replace("SVC_", "").toLowerCase(), value]),
  ) as SettingsInput;

async function start(engine: "lowdb" | "postgres", options: Partial<AndroidOptions> = {}, more: SettingsInput = {}) {
  const port = await freePort();
  const folder = await openFolder(mkdtempSync(join(tmpdir(), "svc-stand-in-")), `http://127.0.0.1:${port}`);
  const t = await startApp({ engine, settings: { ...own(folder.settings), ...more } });
  const url = await listen((path, init) => t.raw(path, init));
  expect((await t.patch("/config", { server_settings: { server_url: url } })).status).toBe(200);
  await addSecret(t);
  const fleet = new AndroidFleet({
    devices: 4,
    personal: 0.5,
    keys: folder.keys,
    listen: { host: "127.0.0.1", port },
    serverUrl: url,
    ownUrl: url,
    enrollSecret: SECRET,
    pollSeconds: 0,
    reactionSeconds: 0,
    postponedSeconds: 0,
    repeats: 0.5,
    now: () => t.clock.now(),
    ...options,
  });
  await fleet.listen();
  const signUp = await t.get("/android_enterprise/signup_url");
  expect(signUp.status).toBe(200);
  await fleet.signUp(((await signUp.json()) as Record<string, string>).android_enterprise_signup_url!);
  return { t, fleet, folder };
}

const statusesOf = async (t: TestApp) => (await t.store.hostProfiles.list()).map(({ status }) => status).sort();

describe.each(rulesEngines)("simulated Android devices on %s", (engine) => {
  it("enroll by tokens, apply policies, do commands, and leave when they are erased", async () => {
    const { t, fleet } = await start(engine, { seed: 3 });
    await fleet.enrollAll();
    const hosts = await t.store.hosts.list();
    expect(hosts.map(({ platform }) => platform)).toEqual(Array(4).fill("android"));
    const personal = fleet.devices.filter(({ facts }) => facts.isPersonal).length;
    expect(personal, "of both kinds").toBeGreaterThan(0);
    const statuses = (await t.store.hostMdm.list()).map(({ enrollment_status }) => enrollment_status);
    expect(statuses.filter((status) => status === "On (personal)")).toHaveLength(personal);

    await makeProfile(t, { name: "camera", content: '{"cameraDisabled": true}' });
    await t.services.running.of(profileReconciler).run();
    await vi.waitFor(async () => expect(await statusesOf(t)).toEqual(Array(4).fill("verified")), 10_000);

    const device = fleet.devices.find(({ facts }) => !facts.isPersonal)!;
    const row = await t.store.androidDevices.list();
    const { host_id: hostId } = row.find(({ name }) => name === device.name)!;
    expect((await t.post(`/hosts/${hostId}/wipe`)).status).toBe(200);
    await vi.waitFor(() => expect(device.hasLeft).toBe(true), 10_000);
    const report = await fleet.stop();
    expect(report).toMatchObject({ enrolled: 4, done: 1, left: 1, wiped: 1, unsentMessages: 0 });
    expect(report.repeated).toBeGreaterThan(0);
    expect(isAndroidComplete(report)).toBe(true);
    expect(renderAndroidReport(report)).toContain("4, 4 enrolled");
    const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as { host: { mdm: Record<string, unknown> } };
    expect(host.mdm).toMatchObject({ device_status: "wiped" });
    expect(await t.store.androidDevices.count()).toBe(3);
  });

  it("fail commands and policies at the given share, and are away for a while", async () => {
    const { t, fleet } = await start(engine, { devices: 2, personal: 0, errors: 1, notNow: 1 });
    await fleet.enrollAll();
    await makeProfile(t, { name: "camera", content: '{"cameraDisabled": true}' });
    await t.services.running.of(profileReconciler).run();
    await vi.waitFor(async () => expect(await statusesOf(t)).toEqual(Array(2).fill("failed")), 10_000);
    const [host] = await t.store.hosts.list();
    expect((await t.post(`/hosts/${host!.id}/lock`)).status).toBe(200);
    await vi.waitFor(() => expect(fleet.stats.refused).toBe(1), 10_000);
    expect(await fleet.stop()).toMatchObject({ done: 0, refused: 1, postponed: 1, unsentMessages: 0 });
    const [command] = await t.store.mdmCommands.list();
    expect(command).toMatchObject({ status: "Error", command_status: "failed" });
  });
});

describe.skipIf(!haveScepServer())("certificates of simulated Android devices", () => {
  const AGENT = "com.example.agent";
  const statuses = async (t: TestApp) => (await t.store.hostCertificates.list()).map(({ status }) => status);

  async function startWithTemplate(options: Partial<AndroidOptions>) {
    const { url } = await startScepServer("static");
    const started = await start("lowdb", options, { ...allowLocal, android_agent_package: AGENT });
    const { t } = started;
    const scep = { name: "SCEP", url, challenge: "static" };
    const made = await t.post("/certificate_authorities?skip_check=true", { custom_scep_proxy: scep });
    const { id } = (await made.json()) as { id: number };
    const template = {
      name: "Wi-Fi",
      certificate_authority_id: id,
      subject_name: "/CN=$SVC_VAR_HOST_UUID",
      subject_alternative_name: "DNS=$SVC_VAR_HOST_UUID.example.com",
    };
    expect((await t.post("/certificates", template)).status).toBe(200);
    return started;
  }

  it("are requested by the agent's app through the server's proxy, and reported", async () => {
    const { t, fleet } = await startWithTemplate({ devices: 2 });
    await fleet.enrollAll();
    await sendAndroidPolicies(t);
    await expect.poll(() => statuses(t)).toEqual(["verified", "verified"]);
    for (const { serial, not_valid_after } of await t.store.hostCertificates.list()) {
      expect(serial).toMatch(/^[0-9A-F]+$/);
      expect(Date.parse(not_valid_after!)).toBeGreaterThan(Date.now());
    }
    expect(await t.store.hosts.count(), "the app enrolls as its device's host").toBe(2);
    const report = await fleet.stop();
    expect(report).toMatchObject({ certificatesInstalled: 2, certificatesFailed: 0, errors: 0 });
    expect(renderAndroidReport(report)).toContain("2 installed, 0 failed");
  });

  it("fail at the given share", async () => {
    const { t, fleet } = await startWithTemplate({ devices: 1, errors: 1 });
    await fleet.enrollAll();
    await sendAndroidPolicies(t);
    await expect.poll(() => statuses(t)).toEqual(["failed"]);
    expect((await t.store.hostCertificates.list())[0]!.detail).toBe("the device has no screen lock");
    expect(await fleet.stop()).toMatchObject({ certificatesInstalled: 0, certificatesFailed: 1 });
  });
});

describe("the stand-in", () => {
  it("keeps its keys in files that nobody else reads, and answers only its own service account", async () => {
    const { t, fleet, folder } = await start("lowdb");
    const { settingsFile, settings, keys } = folder;
    for (const file of [settingsFile, settings.SVC_ANDROID_SERVICE_ACCOUNT!])
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    const again = await openFolder(join(settingsFile, ".."), "http://127.0.0.1:1");
    expect([again.isNew, again.keys.enterprise, again.keys.token]).toEqual([false, keys.enterprise, keys.token]);
    const api = settings.SVC_ANDROID_MANAGEMENT_URL!;
    expect((await fetch(`${api}/${keys.enterprise}/devices/1`)).status).toBe(401);
    const form = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "e30.e30.",
    });
    expect((await fetch(settings.SVC_GOOGLE_TOKEN_URL!, { method: "POST", body: form })).status).toBe(400);
    expect((await t.get("/android_enterprise")).status).toBe(200);
    await fleet.stop();
  });
});
