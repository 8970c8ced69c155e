// Update deadlines of Apple devices: declared as the settings of their teams have them.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/jobs/start.ts";
import { eq } from "../../src/server/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { declarativeSession } from "../support/apple-declarations.ts";
import { appleDevice, newIdentity } from "../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";
import { openCommands } from "../support/profiles.ts";

const UPDATE = "configuration/svc.update";
const ACTIVATION = "activation/svc.activation.update";
let keys = 0;

async function enrolled(t: TestApp, facts: Record<string, string> = {}, teamId: number | null = null) {
  keys = (keys + 1) % 4;
  const device = appleDevice(t, await newIdentity(t, teamId, keys), facts);
  await device.authenticate();
  await device.tokenUpdate();
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
  const ddm = declarativeSession(device);
  return {
    hostId: row!.host_id,
    /** What the device finds when it asks; null: no deadline. */
    async update() {
      await ddm.sync();
      const found = ddm.get(UPDATE);
      expect(ddm.names()).toEqual(found ? [ACTIVATION, UPDATE] : []);
      return found?.Payload ?? null;
    },
    async acknowledgeAll() {
      for (let command = await device.idle(); command; ) command = await device.answer(command.uuid, "Acknowledged");
    },
  };
}

async function set(t: TestApp, mdm: object, teamId?: number): Promise<void> {
  const res = teamId === undefined ? await t.patch("/config", { mdm }) : await t.patch(`/teams/${teamId}`, { mdm });
  expect(res.status, await res.clone().text()).toBe(200);
}
/** The hosts that are to read their declarations. */
const notified = async (t: TestApp) =>
  (await openCommands(t)).flatMap(({ host_id, request_type }) =>
    request_type === "DeclarativeManagement" ? [host_id] : [],
  );
const updates = (minimum_version: string, deadline: string) => ({ minimum_version, deadline });
const target = (version: string, day: string) => ({
  TargetOSVersion: version,
  TargetLocalDateTime: `${day}T12:00:00`,
});

describe.each(bothEngines)("an update deadline on %s", (engine) => {
  it("is declared to the devices of its team and platform, and again when it changes", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const team = await makeTeam(t);
    const mac = await enrolled(t);
    const macOfTeam = await enrolled(t, {}, team.id);
    const phone = await enrolled(t, { ProductName: "iPhone15,2", OSVersion: "17.2" }, team.id);
    expect(await notified(t)).toEqual([]);
    await set(t, { macos_updates: updates("15.2", "2026-03-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.2", "2026-03-01"));
    expect(await notified(t)).toEqual([mac.hostId]);
    await set(t, { ios_updates: updates("17.4", "2026-04-01") }, team.id);
    await expect.poll(() => phone.update()).toEqual(target("17.4", "2026-04-01"));
    expect(await macOfTeam.update()).toBeNull();
    await set(t, { macos_updates: updates("15.2", "2026-05-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.2", "2026-05-01"));
    expect(await notified(t), "one command serves for both changes").toEqual([mac.hostId, phone.hostId]);
    await mac.acknowledgeAll();
    await set(t, { macos_updates: updates("15.2", "2026-06-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.2", "2026-06-01"));
    expect(await notified(t)).toEqual([phone.hostId, mac.hostId]);

    await t.post("/hosts/transfer", { team_id: team.id, hosts: [mac.hostId] });
    await expect.poll(() => mac.update()).toBeNull();
    await set(t, { ios_updates: updates("", "") }, team.id);
    await expect.poll(() => phone.update()).toBeNull();
    expect(await t.store.appleUpdates.count()).toBe(0);
    expect(await notified(t)).toEqual([phone.hostId, mac.hostId]);
    await Promise.all([mac.acknowledgeAll(), phone.acknowledgeAll()]);
    await runJob(t.services, "apple_updates");
    expect(await notified(t), "nothing has changed").toEqual([]);
  });
});

describe.each(rulesEngines)("update deadlines on %s", (engine) => {
  it("wait for devices that enroll later, and for systems that are new enough", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await set(t, { macos_updates: updates("15.2", "2026-03-01"), ipados_updates: updates("17.4", "2026-03-01") });
    const mac = await enrolled(t);
    expect(await notified(t)).toHaveLength(1);
    expect(await mac.update()).toEqual(target("15.2", "2026-03-01"));
    const tablet = await enrolled(t, { ProductName: "iPad13,1", OSVersion: "16.7" });
    const older = await enrolled(t, { OSVersion: "13.6" });
    expect([await tablet.update(), await older.update()]).toEqual([null, null]);
    expect(await notified(t)).toHaveLength(1);
    await t.store.hosts.update({ where: eq("id", older.hostId), set: { os_version: "macOS 14.0" } });
    await runJob(t.services, "apple_updates");
    expect([await tablet.update(), await older.update()]).toEqual([null, target("15.2", "2026-03-01")]);
    expect(await notified(t)).toHaveLength(2);
    await older.acknowledgeAll();
    expect(await notified(t)).toHaveLength(1);
  });

  it("are gone with the team, which leaves its hosts with the settings of no team", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const team = await makeTeam(t);
    await set(t, { macos_updates: updates("15.2", "2026-03-01") }, team.id);
    const mac = await enrolled(t, {}, team.id);
    expect(await mac.update()).not.toBeNull();
    expect((await t.delete(`/teams/${team.id}`)).status).toBe(200);
    await expect.poll(() => mac.update()).toBeNull();
  });
});
