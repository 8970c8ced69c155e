// Simulated Apple devices against the server, through a socket.
import { describe, expect, it, vi } from "vitest";
import type { AppleCommand } from "../../src/server/devices/apple/commands/send.ts";
import { sendAppleCommands } from "../../src/server/devices/apple/commands/send.ts";
import { appleProfileCommand } from "../../src/server/devices/apple/profiles/commands.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { AppleFleet, type AppleOptions } from "../../src/simulator/apple/fleet.ts";
import { isComplete, renderAppleReport } from "../../src/simulator/apple/report.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { IDENTIFIER, listen, makeEnrollmentProfile } from "../support/apple-server.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeProfile, mobileconfig } from "../support/profiles.ts";

async function start(t: TestApp, options: Partial<AppleOptions> = {}) {
  const url: string = await listen(async (path, init) =>
    path === "/profile" ? new Response(await makeEnrollmentProfile(t, url)) : t.raw(path, init),
  );
  const fleet = new AppleFleet({ devices: 3, keys: 1, pollSeconds: 0, ...options });
  return { fleet, enroll: () => fleet.enrollAll({ url: `${url}/profile` }) };
}
const send = (t: TestApp, commands: readonly AppleCommand[]) =>
  t.store.tx((store) => sendAppleCommands({ ...serviceContext(t.services), store }, appleProfileCommand, commands));
const install = (hostId: number, identifier: string): AppleCommand => ({
  hostId,
  command: { RequestType: "InstallProfile", Payload: Buffer.from(mobileconfig(identifier)) },
});
const statuses = async (t: TestApp) =>
  (await t.store.mdmCommands.list()).map(({ request_type, status }) => [request_type, status]);

describe.each(rulesEngines)("simulated Apple devices on %s", (engine) => {
  it("enroll by SCEP, do their commands, and leave when they are told to", async () => {
    const t = await startApp({ engine });
    const { fleet, enroll } = await start(t, { families: ["macos"] });
    await enroll();
    const hosts = await t.store.hosts.list();
    expect(hosts.map(({ platform }) => platform)).toEqual(["darwin", "darwin", "darwin"]);
    const [mac] = hosts;
    const device = fleet.devices.find(({ facts }) => facts.udid === mac!.uuid)!;
    await send(t, [
      install(mac!.id, "com.example.wifi"),
      { hostId: mac!.id, command: { RequestType: "RemoveProfile", Identifier: "com.example.unknown" } },
      { hostId: mac!.id, command: { RequestType: "SecurityInfo" } },
      { hostId: mac!.id, command: { RequestType: "Invented" } },
      { hostId: mac!.id, command: { RequestType: "RemoveProfile", Identifier: IDENTIFIER } },
    ]);
    await device.connect();
    expect([...device.state.profiles.keys()]).toEqual(["com.example.wifi"]);
    expect(device.isEnrolled).toBe(false);
    // What was answered before the device left; leaving drops only what waits.
    expect(await statuses(t)).toEqual([
      ["InstallProfile", "Acknowledged"],
      ["RemoveProfile", "Error"],
      ["SecurityInfo", "Acknowledged"],
      ["Invented", "Error"],
      ["RemoveProfile", "Acknowledged"],
    ]);
    const { host } = (await (await t.get(`/hosts/${mac!.id}`)).json()) as { host: { mdm: object } };
    expect(host.mdm).toMatchObject({ enrollment_status: "Off", connected_to_svc: false });
    const report = await fleet.stop();
    expect(report).toMatchObject({ enrolled: 3, left: 1, acknowledged: 3, refused: 2, repeated: 0, errors: 0 });
    expect(isComplete(report)).toBe(true);
    expect(renderAppleReport(report)).toContain("3, 3 enrolled");
  });

  it("encrypt their disks, and escrow the keys, when their team turns it on", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { fleet, enroll } = await start(t, { devices: 1, families: ["macos"] });
    await enroll();
    expect((await t.post("/disk_encryption", { enable_disk_encryption: true })).status).toBe(204);
    const [device] = fleet.devices;
    const escrowed = async () => {
      await device!.connect();
      const [disk] = await t.store.hostDiskEncryption.list();
      return disk?.status;
    };
    await expect.poll(escrowed).toBe("verifying");
    expect(device!.state.recoveryKey).not.toBeNull();
    expect(await fleet.stop()).toMatchObject({ keysEscrowed: 1, errors: 0 });
  });

  it("report what becomes of an update of their system, with its deadline", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { fleet, enroll } = await start(t, { devices: 1, families: ["macos"] });
    await enroll();
    const [host] = await t.store.hosts.list();
    const mdm = { macos_updates: { minimum_version: "26.1", deadline: "2026-12-24" } };
    expect((await t.patch("/config", { mdm })).status).toBe(200);
    await vi.waitFor(async () => {
      await fleet.connectAll();
      const [report] = await t.store.appleUpdateReports.list();
      expect(report).toMatchObject({ id: host!.id, install_state: "downloading", pending_version: "26.1" });
      expect(report!.device).toMatch(/^J\w+AP$/);
      expect(report!.is_accepted).toBe(true);
    }, 10_000);
    await fleet.stop();
  });

  it("get a profile again at once when it has failed, and then no more", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { fleet, enroll } = await start(t, { devices: 1, families: ["macos"], errors: 1 });
    await enroll();
    await makeProfile(t, { name: "com.example.wifi", content: mobileconfig("com.example.wifi") });
    await t.services.running.of(profileReconciler).run();
    await vi.waitFor(async () => {
      await fleet.connectAll();
      const [row] = await t.store.hostProfiles.list();
      expect([row!.status, row!.retries]).toEqual(["failed", 1]);
    }, 10_000);
    const sent = (await statuses(t)).filter(([type]) => type === "InstallProfile");
    expect(sent).toEqual([
      ["InstallProfile", "Error"],
      ["InstallProfile", "Error"],
    ]);
    await fleet.stop();
  });

  it("postpone commands, fail at others, and come back until everything is answered", async () => {
    const t = await startApp({ engine });
    const { fleet, enroll } = await start(t, { families: ["macos"], notNow: 0.5, errors: 0.3, seed: 7 });
    await enroll();
    const hosts = await t.store.hosts.list();
    await send(
      t,
      hosts.flatMap(({ id }) => Array.from({ length: 8 }, (_, i) => install(id, `com.example.p${i}`))),
    );
    for (let i = 0; i < 30 && fleet.devices.some(({ postpones }) => postpones || i === 0); i++)
      await fleet.connectAll();
    const report = await fleet.stop();
    expect(report.postponed).toBeGreaterThan(0);
    expect(report.refused).toBeGreaterThan(0);
    expect(report).toMatchObject({ repeated: 0, unsentAnswers: 0, errors: 0 });
    expect(report.acknowledged + report.refused).toBe(24);
    const answers = (await statuses(t)).map(([, status]) => status);
    expect(answers.filter((status) => status === "Acknowledged").length).toBe(report.acknowledged);
    expect(answers.filter((status) => status === "Error").length).toBe(report.refused);
  });

  it("send an answer again that the server has not accepted, and do nothing twice", async () => {
    const t = await startApp({ engine });
    let lost = 0;
    const url: string = await listen(async (path, init) => {
      if (path === "/profile") return new Response(await makeEnrollmentProfile(t, url));
      const reply = await t.raw(path, init);
      const isAnswer = Buffer.from((init.body ?? []) as Uint8Array).includes("Acknowledged");
      return isAnswer && lost++ === 0 ? new Response("", { status: 503 }) : reply;
    });
    const fleet = new AppleFleet({ devices: 1, keys: 1, families: ["macos"], pollSeconds: 0 });
    await fleet.enrollAll({ url: `${url}/profile` });
    const [host] = await t.store.hosts.list();
    await send(t, [install(host!.id, "com.example.wifi")]);
    const [device] = fleet.devices;
    await device!.connect();
    expect(device!.hasUnsent).toBe(true);
    await device!.connect();
    expect([device!.hasUnsent, lost]).toEqual([false, 2]);
    expect(await statuses(t)).toEqual([["InstallProfile", "Acknowledged"]]);
    expect(fleet.stats.profilesInstalled).toBe(1);
    expect((await fleet.stop()).unsentAnswers).toBe(0);
  });

  it("refuse a SCEP server with another certificate than the profile names", async () => {
    const t = await startApp({ engine });
    const url: string = await listen(async (path, init) =>
      path === "/profile" ? new Response(await makeEnrollmentProfile(t, url, Buffer.alloc(20))) : t.raw(path, init),
    );
    const fleet = new AppleFleet({ devices: 1, keys: 1 });
    await fleet.enrollAll({ url: `${url}/profile` });
    const report = await fleet.stop();
    expect(report.enrolled).toBe(0);
    expect(report.recentErrors).toEqual(["identity: the SCEP server has another certificate than the profile names"]);
    expect(isComplete(report)).toBe(false);
  });
});

describe("the push service for simulated devices", () => {
  it("wakes the device that a push is for, and refuses what Apple's refuses", async () => {
    const t = await startApp();
    const { fleet, enroll } = await start(t);
    const address = await fleet.listen({ host: "127.0.0.1", port: 0 });
    await enroll();
    const { facts } = fleet.devices[0]!;
    const { default: http2 } = await import("node:http2");
    const session = http2.connect(address);
    const push = (token: string, body: object, headers: object = {}) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": `/3/device/${token}`,
          "apns-topic": "com.apple.mgmt.test",
          "apns-push-type": "mdm",
          ...headers,
        });
        let status = 0;
        let text = "";
        stream.on("response", (given) => {
          status = given[":status"] ?? 0;
        });
        stream.setEncoding("utf8");
        stream.on("data", (chunk: string) => {
          text += chunk;
        });
        stream.on("end", () => resolve({ status, text }));
        stream.on("error", reject);
        stream.end(JSON.stringify(body));
      });
    const token = facts.token.toString("hex");
    expect(await push(token, { mdm: facts.magic })).toEqual({ status: 200, text: "" });
    expect(await push("00ff", { mdm: facts.magic })).toEqual({ status: 410, text: '{"reason":"Unregistered"}' });
    expect(await push(token, { mdm: "other" })).toMatchObject({ status: 410 });
    expect(await push(token, {})).toMatchObject({ status: 400 });
    expect(await push(token, { mdm: facts.magic }, { "apns-push-type": "alert" })).toMatchObject({ status: 400 });
    session.close();
    await expect.poll(() => fleet.stats.requests.poll.latency.count).toBe(1);
    expect((await fleet.stop()).pushes).toBe(1);
  });
});
