// A Windows device that its user has enrolled and the agent on it are one host.
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { isSerialNumber } from "../../../src/server/hosts/hosts/serial-number.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { type SyncCommand, syncCommand } from "../../../src/syncml/value.ts";
import { enroll, enrollment, makeSecret, throughApp } from "../../edge/agent/agents.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { type Directory, startDirectory, TENANT } from "../../support/directory-tokens.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { makeManaged } from "../../support/managed.ts";
import { enrollWindows, headerStatus, statusFor } from "../../support/windows-device.ts";

const NODE = "./DevDetail/Ext/Microsoft/SMBIOSSerialNumber";
const SERIAL = "5CG1234XYZ";

async function started(engine: (typeof bothEngines)[number]): Promise<{ t: TestApp; directory: Directory }> {
  const directory = await startDirectory();
  const t = await startApp({ engine, settings: directory.settings });
  const mdm = { windows_enabled_and_configured: true, windows_directory_tenant_ids: [TENANT] };
  expect((await t.patch("/config", { mdm })).status).toBe(200);
  await makeSecret(t);
  return { t, directory };
}

type Device = Awaited<ReturnType<typeof enrollWindows>>;
let tokens = 0;
const enrolled = async ({ t, directory }: { t: TestApp; directory: Directory }, more: Record<string, string> = {}) =>
  enrollWindows(t, await directory.sign(t, { claims: { jti: `join-${++tokens}` } }), more);

/** The device reports its serial number. Returns what it is asked afterwards. */
async function reports(device: Device, serial: string): Promise<readonly SyncCommand[]> {
  const { commands } = await device.start();
  const get = commands.find(({ items }) => items[0]?.target === NODE)!;
  expect(get.verb).toBe("Get");
  const answers = commands.map(({ cmdId, verb }) => statusFor(cmdId, verb, "200"));
  const results = syncCommand("Results", "9", {
    msgRef: "1",
    cmdRef: get.cmdId,
    items: [{ source: NODE, data: serial }],
  });
  return (await device.send([headerStatus, ...answers, results])).commands;
}

const queryAgent = (t: TestApp, hardware_serial: string, more: { uuid?: string; enroll_secret?: string } = {}) => {
  const { uuid = `UUID-${hardware_serial}`, ...given } = more;
  const { host_details } = enrollment();
  return enroll(throughApp(t), {
    ...given,
    host_identifier: uuid,
    platform_type: "2",
    host_details: {
      ...host_details,
      os_version: { ...host_details.os_version, platform: "windows", name: "Microsoft Windows 11 Pro" },
      system_info: { ...host_details.system_info, uuid, hardware_serial },
    },
  });
};

describe.each(bothEngines)("a Windows device that its user enrolls on %s", (engine) => {
  it("becomes the host of the agent that has its serial number", async () => {
    const all = await started(engine);
    const { t } = all;
    const team = await makeTeam(t);
    const agent = await makeManaged(t, { platform: "windows", hardware_serial: SERIAL });
    const { id } = await agent.host();
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [id] });
    const device = await enrolled(all);
    expect([await t.store.hosts.count(), device.hostId === id]).toEqual([2, false]);

    await reports(device, SERIAL.toLowerCase());
    const hosts = await t.store.hosts.list();
    expect(hosts).toMatchObject([{ id, team_id: team.id, hardware_serial: SERIAL }]);
    expect(await t.store.hostMdm.list()).toMatchObject([
      { id, connected_to_svc: true, enrollment_status: "On (automatic)" },
    ]);
    expect(await t.store.windowsEnrollments.list()).toMatchObject([{ host_id: id, is_alone: false }]);
    const emails = await t.store.hostEmails.list({ where: eq("host_id", id) });
    expect(emails).toMatchObject([{ email: "ada@example.com" }]);
    expect((await device.start()).status, "it stays authenticated").toBe("212");
    expect(await (await t.get("/hosts?mdm_enrollment_status=automatic")).json()).toMatchObject({ hosts: [{ id }] });

    // The device gets what its host is sent.
    const { host } = (await (await t.get(`/hosts/${id}`)).json()) as { host: { uuid: string } };
    const command = Buffer.from("<Exec><Item><Target><LocURI>./x</LocURI></Target></Item></Exec>").toString("base64");
    expect((await t.post("/commands/run", { command, host_uuids: [host.uuid] })).status).toBe(200);
    expect((await device.start()).commands).toMatchObject([{ items: [{ target: "./x" }] }]);
    // The user enrolls the device again.
    expect((await enrolled(all, device.facts)).hostId).toBe(id);
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("becomes the host of an agent that is installed later, in the agent's team", async () => {
    const all = await started(engine);
    const { t } = all;
    const team = await makeTeam(t);
    await makeSecret(t, "secret-of-the-team", team.id);
    const device = await enrolled(all);
    await reports(device, SERIAL);
    expect(await t.store.hosts.list()).toMatchObject([{ id: device.hostId, hardware_serial: SERIAL }]);
    await queryAgent(t, SERIAL, { enroll_secret: "secret-of-the-team" });
    await expect.poll(() => t.store.hosts.count()).toBe(1);
    const [host] = await t.store.hosts.list();
    expect(host).toMatchObject({ team_id: team.id, node_key_hash: expect.any(String) });
    expect(await t.store.windowsEnrollments.list()).toMatchObject([{ host_id: host!.id }]);
    expect((await device.start()).status).toBe("212");
  });
});

describe.each(rulesEngines)("a serial number that a Windows device reports on %s", (engine) => {
  it("takes no host from another enrollment, and none of several", async () => {
    const all = await started(engine);
    const { t } = all;
    await queryAgent(t, SERIAL);
    const owner = await enrolled(all);
    await reports(owner, SERIAL);
    expect(await t.store.hosts.count()).toBe(1);
    const stranger = await enrolled(all);
    await reports(stranger, SERIAL);
    expect(await t.store.hosts.count(), "the host has a device").toBe(2);
    expect((await owner.start()).status).toBe("212");

    await queryAgent(t, "COPY", { uuid: "copy-1" });
    await queryAgent(t, "COPY", { uuid: "copy-2" });
    await reports(await enrolled(all), "COPY");
    await runJob(t.services, "windows_joins");
    expect(await t.store.hosts.count(), "two machines have the number").toBe(5);
  });

  it("that is a placeholder, or missing, names no machine", async () => {
    const all = await started(engine);
    const { t } = all;
    for (const serial of ["Default string", "", "0"]) {
      await queryAgent(t, serial, { uuid: `placeholder-${serial}` });
      const before = await t.store.hosts.count();
      await reports(await enrolled(all), serial);
      expect(await t.store.hosts.count()).toBe(before + 1);
    }
    await runJob(t.services, "windows_joins");
    expect(await t.store.hosts.count()).toBe(6);
  });

  it("waits while the device has to be wiped", async () => {
    const all = await started(engine);
    const { t } = all;
    const device = await enrolled(all);
    await reports(device, SERIAL);
    expect((await t.post(`/hosts/${device.hostId}/wipe`)).status).toBe(200);
    await queryAgent(t, SERIAL);
    await runJob(t.services, "windows_joins");
    expect(await t.store.hosts.count()).toBe(2);
    expect((await device.start()).commands).toMatchObject([{ verb: "Exec" }]);
  });
});

it("knows what firmware says instead of a serial number", () => {
  const texts = ["", " ", "0", "0000000", "Default string", "To be filled by O.E.M.", "System Serial Number", "None"];
  expect(texts.filter(isSerialNumber)).toEqual([]);
  const serials = ["5CG1234XYZ", "VMware-56 4d 1c", "0012345", "MJ0A", "1"];
  expect(serials.filter(isSerialNumber)).toEqual(["5CG1234XYZ", "VMware-56 4d 1c", "0012345", "MJ0A"]);
});
