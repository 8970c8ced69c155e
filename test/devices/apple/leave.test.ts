// Device management is turned off for Apple devices: they are asked to remove their enrollment profile.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, enrolledDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const mdmOf = async (t: TestApp, id: number) =>
  ((await (await t.get(`/hosts/${id}`)).json()) as { host: { mdm: Record<string, unknown> } }).host.mdm;
const managed = { connected_to_svc: true, enrollment_status: "On (manual)" };
const unmanaged = { connected_to_svc: false, enrollment_status: "Off" };

async function started(engine: (typeof bothEngines)[number]) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}

describe.each(bothEngines)("device management of an Apple device on %s", (engine) => {
  it("is off when the device has removed its profile", async () => {
    const t = await started(engine);
    for (const [key, method, path, status] of [
      [0, "DELETE", (id: number) => `/hosts/${id}/mdm`, 204],
      [1, "PATCH", (id: number) => `/mdm/hosts/${id}/unenroll`, 200],
    ] as const) {
      const { device, id } = await enrolledDevice(t, {}, { key });
      await t.post(`/hosts/${id}/lock`);
      for (const _ of [1, 2]) expect((await t.request(method, path(id))).status).toBe(status);
      expect(await mdmOf(t, id)).toMatchObject({ ...managed, unenroll_pending: true });
      const lock = await device.idle();
      const removal = await device.answer(lock!.uuid, "Error");
      expect(removal).toMatchObject({ type: "RemoveProfile", command: { Identifier: "com.svc.mdm" } });
      expect(await device.answer(removal!.uuid, "Acknowledged")).toBeNull();
      const after = await mdmOf(t, id);
      expect(after).toMatchObject(unmanaged);
      expect(after).not.toHaveProperty("unenroll_pending");
      expect((await device.send({ UDID: device.udid, Status: "Idle" })).status).toBe(403);
      expect((await device.checkIn("CheckOut")).status).toBe(200);
      const activities = await t.store.activities.list();
      const left = activities.filter(({ type, host_id }) => type === "mdm_unenrolled" && host_id === id);
      expect(left.map(({ actor_email }) => actor_email)).toEqual(["ada@example.com"]);
      expect((await t.request(method, path(id))).status).toBe(400);
    }
  });
});

describe.each(rulesEngines)("turning off device management of Apple devices on %s", (engine) => {
  it("ends with a CheckOut too, and with a new enrollment is over", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    await t.delete(`/hosts/${id}/mdm`);
    await device.checkIn("CheckOut");
    expect(await mdmOf(t, id)).toMatchObject(unmanaged);
    const again = appleDevice(t, await newIdentity(t, null, 1), { UDID: device.udid });
    await again.authenticate();
    await again.tokenUpdate();
    expect(await again.idle()).toBeNull();
    expect(await mdmOf(t, id)).toMatchObject(managed);
    await t.delete(`/hosts/${id}/mdm`);
    const last = appleDevice(t, await newIdentity(t, null, 2), { UDID: device.udid });
    await last.authenticate();
    expect(await mdmOf(t, id)).not.toHaveProperty("unenroll_pending");
  });

  it("leaves the host managed if the device refuses, or the request is cancelled", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    await t.delete(`/hosts/${id}/mdm`);
    await device.answer((await device.idle())!.uuid, "Error");
    expect(await mdmOf(t, id)).toMatchObject(managed);
    expect(await mdmOf(t, id)).not.toHaveProperty("unenroll_pending");
    await t.delete(`/hosts/${id}/mdm`);
    const upcoming = (await (await t.get(`/hosts/${id}/activities/upcoming`)).json()) as {
      activities: { uuid: string }[];
    };
    expect(upcoming.activities).toMatchObject([{ details: { script_name: "turn off device management" } }]);
    await t.delete(`/hosts/${id}/activities/upcoming/${upcoming.activities[0]!.uuid}`);
    expect(await device.idle()).toBeNull();
    expect(await mdmOf(t, id)).not.toHaveProperty("unenroll_pending");
  });

  it("is for admins and maintainers of the host's team", async () => {
    const t = await started(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const { device, id } = await enrolledDevice(t, {}, { teamId: team.id });
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect((await observer.delete(`/hosts/${id}/mdm`)).status).toBe(403);
    const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect((await stranger.delete(`/hosts/${id}/mdm`)).status).toBe(404);
    expect(await device.idle()).toBeNull();
  });
});
