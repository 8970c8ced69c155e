// What is asked of Windows devices and their agents: wipe, leave, and turning device management on and off.
import { describe, expect, it } from "vitest";
import { channels, hostsPayload } from "../../../src/server/platform/core/channels.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeUser } from "../../support/make.ts";
import { makeManaged } from "../../support/managed.ts";
import { headerStatus, managedWindows, statusFor, turnOnWindowsMdm } from "../../support/windows-device.ts";

const hostOf = async (t: TestApp, id: number) =>
  ((await (await t.get(`/hosts/${id}`)).json()) as { host: { mdm: Record<string, unknown> } }).host.mdm;

describe.each(bothEngines)("a Windows host on %s", (engine) => {
  it("is wiped before it does anything else", async () => {
    const t = await startApp({ engine });
    const unmanaged = await makeManaged(t, { platform: "windows" });
    const { id } = await unmanaged.host();
    expect((await t.post(`/hosts/${id}/wipe`)).status, "device management is off").toBe(400);
    const { device, hostId } = await managedWindows(t);
    expect((await t.post(`/hosts/${id}/wipe`)).status, "not enrolled").toBe(422);
    expect((await t.post(`/hosts/${hostId}/wipe`)).status).toBe(200);
    expect(await hostOf(t, hostId)).toMatchObject({ device_status: "unlocked", pending_action: "wipe" });
    const [exec] = (await device.start()).commands;
    expect(exec).toMatchObject({
      verb: "Exec",
      items: [{ target: "./Device/Vendor/MSFT/RemoteWipe/doWipeProtected", format: "chr", data: "" }],
    });
    await device.send([headerStatus, statusFor(exec!.cmdId, "Exec", "500")]);
    expect(await hostOf(t, hostId)).toMatchObject({ pending_action: "" });
    const wrong = await t.post(`/hosts/${hostId}/wipe`, { windows: { wipe_type: "doWipePersistUserData" } });
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining("windows.wipe_type")]);
    const plain = await t.post(`/hosts/${hostId}/wipe`, { windows: { wipe_type: "doWipe" } });
    expect(plain.status, "the first one has failed").toBe(200);
    const [again] = (await device.start()).commands;
    expect(again!.items[0]!.target).toBe("./Device/Vendor/MSFT/RemoteWipe/doWipe");
    await device.send([headerStatus, statusFor(again!.cmdId, "Exec", "200")]);
    expect(await hostOf(t, hostId)).toMatchObject({ device_status: "wiped", pending_action: "" });
  });

  it("is wiped in the way that was asked for, also after an approval", async () => {
    const t = await startApp({ engine, settings: { require_approval: true } });
    const { device, hostId } = await managedWindows(t);
    const wipe = (wipe_type: string) => t.post(`/hosts/${hostId}/wipe`, { windows: { wipe_type } });
    const asked = await wipe("doWipe");
    expect(asked.status).toBe(202);
    expect((await wipe("doWipe")).status, "the same request").toBe(202);
    expect((await wipe("doWipeProtected")).status).toBe(409);
    const { approval } = (await asked.json()) as { approval: { id: number } };
    const other = await makeUser(t, "admin");
    expect((await other.post(`/approvals/${approval.id}/approve`)).status).toBe(200);
    const [exec] = (await device.start()).commands;
    expect(exec!.items[0]!.target).toBe("./Device/Vendor/MSFT/RemoteWipe/doWipe");
  });

  it("is asked to leave once, and stays managed until it has answered", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    for (const _ of [1, 2]) expect((await t.delete(`/hosts/${hostId}/mdm`)).status).toBe(204);
    expect(await hostOf(t, hostId)).toMatchObject({ connected_to_svc: true });
    const { commands } = await device.start();
    expect(commands.map(({ items }) => items[0]!.target)).toEqual([
      "./Device/Vendor/MSFT/DMClient/Provider/svc/Unenroll",
    ]);
    expect((await device.send([headerStatus, statusFor(commands[0]!.cmdId, "Exec", "202")])).commands).toEqual([]);
    expect(await hostOf(t, hostId)).toMatchObject({ connected_to_svc: false, enrollment_status: "Off" });
    expect((await device.start()).status).toBe("401");
  });

  it("enrolls by its agent, and leaves when device management is turned off", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t, { platform: "windows" });
    const notifications = async (of = agent) => (await of.call("/config")).json.notifications;
    expect(await notifications()).toEqual({});
    const { agent: other } = await managedWindows(t);
    expect(await notifications()).toEqual({
      needs_programmatic_windows_mdm_enrollment: true,
      windows_mdm_discovery_endpoint: "https://svc.example.com/api/mdm/windows/discovery",
    });
    expect(await notifications(other), "it is enrolled").toEqual({});
    expect(await notifications(await makeManaged(t)), "not for Linux").toEqual({});
    await t.patch("/config", { mdm: { enable_turn_on_windows_mdm_manually: true } });
    expect(await notifications()).toEqual({});
    await t.patch("/config", { mdm: { enable_turn_on_windows_mdm_manually: false } });

    const { id } = await agent.host();
    const report = (row: { enrollment_status: "On (manual)" | "Off"; is_server: boolean }) =>
      t.store.tx(async (store) => {
        await store.hostMdm.upsert([{ id, ...row }], { on: ["id"] });
        await store.notify(channels.hosts, hostsPayload([id]));
      });
    await report({ enrollment_status: "On (manual)", is_server: false });
    expect(await notifications(), "another product manages it").toEqual({});
    await t.patch("/config", { mdm: { windows_migration_enabled: true } });
    expect(await notifications()).toEqual({ needs_mdm_migration: true });
    await report({ enrollment_status: "Off", is_server: true });
    expect(await notifications(), "a server").toEqual({});

    await turnOnWindowsMdm(t, false);
    expect(await notifications(other)).toEqual({ needs_programmatic_windows_mdm_unenrollment: true });
    expect(await notifications()).toEqual({});
  });
});

it("turns on only for a server that devices can reach by https", async () => {
  const t = await startApp();
  await t.patch("/config", { server_settings: { server_url: "http://svc.example.com" } });
  expect((await t.patch("/config", { mdm: { windows_enabled_and_configured: true } })).status).toBe(422);
  await t.patch("/config", { server_settings: { server_url: "http://127.0.0.1:8412" } });
  expect((await t.patch("/config", { mdm: { windows_enabled_and_configured: true } })).status).toBe(200);
});
