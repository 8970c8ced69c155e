// Update deadlines of Apple devices: declared as the settings of their teams have them.
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { declarativeSession } from "../../support/apple-declarations.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { openCommands } from "../../support/profiles.ts";
import { listed, NEW_MAC, OLD_MAC, startVersionList } from "../../support/version-list.ts";

const UPDATE = "configuration/svc.update";
const REPORTS = "configuration/svc.update.reports";
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
    ddm,
    /** What the device finds when it asks; null: no deadline. */
    async update() {
      await ddm.sync();
      const found = ddm.get(UPDATE);
      const names = ddm.names().filter((name) => name !== UPDATE);
      expect(found === undefined ? [[], [ACTIVATION, REPORTS]] : [[ACTIVATION, REPORTS]]).toContainEqual(names);
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

interface UpdateState {
  readonly status: string;
  readonly detail: string;
  readonly minimum_version: string;
  readonly install_state: string;
  readonly pending_version: string;
}
const stateOf = async (t: TestApp, hostId: number): Promise<UpdateState | undefined> => {
  const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as {
    host: { mdm: { os_settings: { os_update?: UpdateState } } };
  };
  return host.mdm.os_settings.os_update;
};
type Device = Awaited<ReturnType<typeof enrolled>>;
/** What the device reports of its software updates. */
async function report({ ddm }: Device, softwareupdate: object): Promise<void> {
  expect((await ddm.status({ StatusItems: { softwareupdate }, Errors: [] })).status).toBe(200);
}
const latest = (deadline_days: number) => ({ minimum_version: "latest", deadline_days });

describe.each(bothEngines)("the newest version as a deadline on %s", (engine) => {
  it("is that of the vendor's list for each device, and follows the list", async () => {
    const service = await startVersionList();
    const t = await startApp({ engine, settings: service.settings });
    await turnOnAppleMdm(t);
    await runJob(t.services, "apple_versions");
    await set(t, { macos_updates: latest(14), ios_updates: latest(7), ipados_updates: latest(7) });
    const phone = await enrolled(t, { ProductName: "iPhone15,2", OSVersion: "17.2" });
    const tablet = await enrolled(t, { ProductName: "iPad13,1", OSVersion: "17.2" });
    expect(await phone.update()).toEqual(target("18.2", "2026-01-11"));
    expect(await tablet.update()).toEqual(target("17.7.3", "2026-01-11"));

    const [mac, older] = [await enrolled(t), await enrolled(t)];
    expect(await mac.update(), "it has not reported which Mac it is").toBeNull();
    expect(mac.ddm.get(REPORTS)?.Payload.StatusItems).toContainEqual({ Name: "softwareupdate.device-id" });
    await mac.acknowledgeAll();
    await report(mac, { "device-id": NEW_MAC });
    await report(older, { "device-id": OLD_MAC });
    expect(await notified(t)).toContain(mac.hostId);
    expect(await mac.update()).toEqual(target("15.2", "2026-01-19"));
    expect(await older.update()).toEqual(target("14.7.2", "2026-01-17"));

    service.list.PublicAssetSets.macOS!.push(listed("15.3", "2026-02-01", [NEW_MAC]));
    await runJob(t.services, "apple_versions");
    await runJob(t.services, "apple_updates");
    expect(await mac.update()).toEqual(target("15.3", "2026-02-15"));
    expect(await older.update()).toEqual(target("14.7.2", "2026-01-17"));
    const before = await t.store.appleUpdates.list();
    await runJob(t.services, "apple_updates");
    expect(await t.store.appleUpdates.list(), "nothing has changed").toEqual(before);

    await set(t, { macos_updates: updates("15.2", "2026-03-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.2", "2026-03-01"));
  });
});

describe.each(rulesEngines)("what devices report about updates on %s", (engine) => {
  it("is the state of the deadline on the host", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const mac = await enrolled(t);
    expect(await stateOf(t, mac.hostId)).toBeUndefined();
    await set(t, { macos_updates: updates("15.2", "2026-03-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.2", "2026-03-01"));
    expect(await stateOf(t, mac.hostId)).toEqual({
      status: "pending",
      detail: "",
      minimum_version: "15.2",
      deadline: "2026-03-01",
      install_state: "",
      pending_version: "",
    });
    await mac.ddm.report();
    expect(await stateOf(t, mac.hostId)).toMatchObject({ status: "verified", detail: "" });
    await report(mac, { "install-state": "downloading", "pending-version": { "os-version": "15.2" } });
    expect(await stateOf(t, mac.hostId)).toMatchObject({ install_state: "downloading", pending_version: "15.2" });
    await report(mac, { "failure-reason": { count: 1, reason: "not enough space" } });
    expect(await stateOf(t, mac.hostId)).toMatchObject({ status: "failed", detail: "not enough space" });
    await report(mac, { "failure-reason": { count: 0 }, "install-state": "none", "pending-version": {} });
    expect(await stateOf(t, mac.hostId)).toMatchObject({
      status: "verified",
      install_state: "none",
      pending_version: "",
    });
    await mac.ddm.report({ [UPDATE]: { valid: "invalid", active: false, reasons: [{ code: "Error.NoSuchVersion" }] } });
    expect(await stateOf(t, mac.hostId)).toMatchObject({ status: "failed", detail: "Error.NoSuchVersion" });
    await set(t, { macos_updates: updates("15.3", "2026-04-01") });
    await expect.poll(() => mac.update()).toEqual(target("15.3", "2026-04-01"));
    expect(await stateOf(t, mac.hostId)).toMatchObject({ status: "pending", detail: "", minimum_version: "15.3" });
    await set(t, { macos_updates: updates("", "") });
    await expect.poll(() => stateOf(t, mac.hostId)).toBeUndefined();
  });

  it("may be anything: what is not as expected is left out", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const mac = await enrolled(t);
    await set(t, { macos_updates: updates("15.2", "2026-03-01") });
    await expect.poll(() => mac.update()).not.toBeNull();
    await report(mac, {
      "device-id": 7,
      "install-state": "x".repeat(5_000),
      "pending-version": "15.2",
      "failure-reason": { count: "many", reason: [] },
    });
    const row = (await t.store.appleUpdateReports.list())[0]!;
    expect([row.device, row.pending_version, row.failure]).toEqual(["", "", ""]);
    expect(row.install_state.length).toBeLessThan(1_000);
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
