// Disk encryption: what the setting of a team demands of its hosts, and the keys that they escrow.
import { describe, expect, it } from "vitest";
import { envelop } from "../../src/pki/enveloped-data.ts";
import { readCertificate } from "../../src/pki/x509.ts";
import { readPlistDict } from "../../src/plist/read.ts";
import { bytesIn, dictsIn, stringIn } from "../../src/plist/value.ts";
import { enforceFilevault } from "../../src/server/devices/apple/filevault/enforce.ts";
import { settleDiskEncryption } from "../../src/server/devices/encryption-settings/states.ts";
import { applyEvents } from "../../src/server/devices/profiles/host-rows.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { keepBitlockerKey } from "../../src/server/hosts/disk-encryption/keys.ts";
import { macState } from "../../src/server/hosts/disk-encryption/macs.ts";
import { setDiskStates } from "../../src/server/hosts/disk-encryption/states.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq, oneOf } from "../../src/server/platform/store/query.ts";
import { enroll, enrollment, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { type AppleCommand, enrolledDevice } from "../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";
import { base64, mobileconfig, profileForm } from "../support/profiles.ts";
import { WebVisitor } from "../support/web.ts";
import { turnOnWindowsMdm } from "../support/windows-device.ts";

const IDENTIFIER = "com.svc.disk-encryption";
const KEY = "ABCD-EFGH-1234-5678-IJKL-MNOP";

async function started(engine: (typeof bothEngines)[number]): Promise<TestApp> {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}

const turn = async (t: TestApp, isOn: boolean, team_id?: number) => {
  const res = await t.patch("/mdm/vendora/settings", { team_id, enable_disk_encryption: isOn });
  expect(res.status, await res.clone().text()).toBe(204);
};
const settle = async (t: TestApp) => {
  await enforceFilevault(t.services);
  await settleDiskEncryption(t.services);
};
const hostOf = async (t: TestApp, id: number) =>
  (
    (await (await t.get(`/hosts/${id}`)).json()) as {
      host: {
        mdm: {
          encryption_key_available: boolean;
          macos_settings: { disk_encryption: string | null; action_required: string | null };
          os_settings: { disk_encryption: { status: string | null; detail: string } };
          profiles: { name: string; status: string }[];
        };
      };
    }
  ).host.mdm;
const statusOf = async (t: TestApp, id: number) => (await hostOf(t, id)).os_settings.disk_encryption.status;
const summary = async (t: TestApp, query = "") =>
  (await (await t.get(`/mdm/disk_encryption/summary${query}`)).json()) as Record<string, Record<string, number>>;
const keyOf = async (t: TestApp, id: number) => {
  const res = await t.get(`/hosts/${id}/encryption_key`);
  return res.status === 200
    ? ((await res.json()) as { encryption_key: { key: string } }).encryption_key.key
    : res.status;
};

/** The certificate in the profile, to which the Mac envelops its key. */
function escrowCertificate({ command }: AppleCommand): Buffer {
  const profile = readPlistDict(bytesIn(command, "Payload")!);
  expect(stringIn(profile, "PayloadIdentifier")).toBe(IDENTIFIER);
  const payloads = dictsIn(profile, "PayloadContent");
  expect(payloads.map((one) => stringIn(one, "PayloadType")).sort()).toEqual([
    "com.apple.MCX",
    "com.apple.MCX.FileVault2",
    "com.apple.security.FDERecoveryKeyEscrow",
    "com.apple.security.pkcs1",
  ]);
  const of = (type: string) => payloads.find((one) => stringIn(one, "PayloadType") === type)!;
  const certificate = of("com.apple.security.pkcs1");
  expect(of("com.apple.security.FDERecoveryKeyEscrow").EncryptCertPayloadUUID).toBe(certificate.PayloadUUID);
  expect(of("com.apple.MCX.FileVault2")).toMatchObject({ Enable: "On", Defer: true, ShowRecoveryKey: false });
  return bytesIn(certificate, "PayloadContent")!;
}
const sealed = (certificate: Buffer, key = KEY): Buffer =>
  envelop(Buffer.from(key), readCertificate(certificate), "des-ede3-cbc");

type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

/** The Mac installs the profile. Returns the certificate for its key, and what it is asked next. */
async function installs(t: TestApp, device: Device) {
  await settle(t);
  await expect.poll(() => t.store.mdmCommands.count(eq("request_type", "InstallProfile"))).toBeGreaterThan(0);
  const install = (await device.idle())!;
  expect(install.type).toBe("InstallProfile");
  const certificate = escrowCertificate(install);
  await device.answer(install.uuid, "Acknowledged");
  await settle(t);
  return { certificate, next: await device.idle() };
}

/** Verifies profiles in place of the Mac's agent. */
async function verify(t: TestApp, hostId: number): Promise<void> {
  const rows = await t.store.hostProfiles.list({ where: eq("host_id", hostId) });
  const reported_at = t.clock.iso();
  await t.store.tx(async (store) => {
    const events = rows.map((row) => ({ row, event: { type: "listed", installed_at: null, reported_at } as const }));
    await applyEvents({ store, clock: t.clock }, events);
  });
}

describe.each(bothEngines)("FileVault on %s", (engine) => {
  it("is turned on by a profile, and its key comes from the Mac", async () => {
    const t = await started(engine);
    const team = await makeTeam(t);
    const { device, id } = await enrolledDevice(t, {}, { teamId: team.id });
    const other = await enrolledDevice(t, {}, { key: 1 });
    await turn(t, true, team.id);
    await settle(t);
    await expect.poll(() => statusOf(t, id)).toBe("enforcing");
    expect(await summary(t, `?team_id=${team.id}`)).toMatchObject({ enforcing: { macos: 1, windows: 0, linux: 0 } });
    const { certificate, next } = await installs(t, device);
    expect(await other.device.idle(), "of no team").toBeNull();
    expect(next!.command).toEqual({ RequestType: "SecurityInfo" });
    expect(await hostOf(t, id)).toMatchObject({
      encryption_key_available: false,
      macos_settings: { disk_encryption: "action_required", action_required: "log_out" },
      profiles: [{ name: "Disk encryption (FileVault)", status: "verifying" }],
    });
    expect(await (await t.get(`/hosts?os_settings=pending&team_id=${team.id}`)).json()).toMatchObject({
      hosts: [{ id }],
    });

    const SecurityInfo = { FDE_Enabled: true, FDE_PersonalRecoveryKeyCMS: sealed(certificate) };
    expect(await device.answer(next!.uuid, "Acknowledged", { SecurityInfo })).toBeNull();
    await expect.poll(() => statusOf(t, id)).toBe("verifying");
    expect(await keyOf(t, id)).toBe(404);
    await verify(t, id);
    expect(await hostOf(t, id)).toMatchObject({
      encryption_key_available: true,
      macos_settings: { disk_encryption: "verified", action_required: null },
    });
    expect(await keyOf(t, id)).toBe(KEY);
    expect((await t.store.hostDiskEncryption.get(id))!.key).toBeNull();
    const types = (await t.store.activities.list()).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["escrowed_disk_encryption_key", "read_host_disk_encryption_key"]));
    expect(types).toContain("enabled_macos_disk_encryption");
    expect(await (await t.get("/hosts?macos_settings_disk_encryption=verified")).json()).toMatchObject({
      hosts: [{ id }],
    });

    await turn(t, false, team.id);
    await settle(t);
    await expect.poll(() => statusOf(t, id)).toBe("removing_enforcement");
    await expect.poll(() => t.store.mdmCommands.count(eq("request_type", "RemoveProfile"))).toBe(1);
    const removal = (await device.idle())!;
    expect(removal.command).toEqual({ RequestType: "RemoveProfile", Identifier: IDENTIFIER });
    await device.answer(removal.uuid, "Acknowledged");
    expect(await hostOf(t, id)).toMatchObject({ os_settings: { disk_encryption: { status: null } }, profiles: [] });
  });

  it("takes the key from the agent, too, and asks the user if it cannot be read", async () => {
    const t = await started(engine);
    await makeSecret(t);
    await turn(t, true);
    const { device, id } = await enrolledDevice(t);
    const { certificate } = await installs(t, device);
    const stranger = await started("lowdb");
    await turn(stranger, true);
    const theirs = await installs(stranger, (await enrolledDevice(stranger)).device);
    const { uuid } = (await t.store.hosts.get(id))!;
    const made = enrollment({ host_identifier: uuid });
    const os_version = { ...made.host_details.os_version, platform: "darwin", name: "macOS" };
    const system_info = { ...made.host_details.system_info, uuid };
    const details = { ...made.host_details, os_version, system_info };
    const node_key = await enroll(throughApp(t), { host_identifier: uuid, host_details: details });
    expect(await t.store.hosts.count()).toBe(1);
    const report = (base64_encrypted: string) =>
      throughApp(t)("/api/v1/qengine/distributed/write", {
        node_key,
        queries: { svc_detail_query_filevault_key: [{ base64_encrypted }] },
        statuses: {},
        messages: {},
        stats: {},
      });
    await report(sealed(theirs.certificate).toString("base64"));
    expect((await hostOf(t, id)).macos_settings.action_required).toBe("rotate_key");
    await report("not an envelope");
    await report(sealed(certificate).toString("base64"));
    expect(await statusOf(t, id)).toBe("verifying");
    await report(sealed(theirs.certificate, "OTHER").toString("base64"));
    expect(await statusOf(t, id), "a readable key stays").toBe("verifying");
    await verify(t, id);
    expect(await keyOf(t, id)).toBe(KEY);
    await report(sealed(certificate, "NEW-KEY").toString("base64"));
    expect(await keyOf(t, id)).toBe("NEW-KEY");
    const types = (await t.store.activities.list()).map(({ type }) => type).filter((type) => type.endsWith("_key"));
    expect(types.filter((type) => type !== "read_host_disk_encryption_key")).toEqual([
      "escrowed_disk_encryption_key",
      "rotated_disk_encryption_key",
    ]);
  });

  it("follows hosts to other teams, and ends with the enrollment", async () => {
    const t = await started(engine);
    const [on, off] = [await makeTeam(t, "on"), await makeTeam(t, "off")];
    await turn(t, true, on.id);
    const { device, id } = await enrolledDevice(t, {}, { teamId: on.id });
    await installs(t, device);
    await t.post("/hosts/transfer", { team_id: off.id, hosts: [id] });
    await expect.poll(() => statusOf(t, id)).toBe("removing_enforcement");
    await device.checkIn("CheckOut");
    await settle(t);
    expect(await statusOf(t, id)).toBeNull();
  });
});

describe.each(rulesEngines)("the profile of FileVault on %s", (engine) => {
  it("is the server's own: not listed, replaced, changed or deleted by users", async () => {
    const t = await started(engine);
    await turn(t, true);
    await settle(t);
    const own = (await t.store.configurationProfiles.first({ where: eq("is_own", true) }))!;
    expect(await (await t.get("/configuration_profiles")).json()).toMatchObject({ profiles: [] });
    expect((await t.delete(`/configuration_profiles/${own.uuid}`)).status).toBe(400);
    const configuration_profiles = [{ profile: base64(mobileconfig("wifi")) }];
    expect((await t.post("/configuration_profiles/batch", { configuration_profiles })).status).toBe(204);
    expect(await t.store.configurationProfiles.count()).toBe(2);
    const form = profileForm(mobileconfig(IDENTIFIER), {}, "x.mobileconfig");
    expect((await t.post("/configuration_profiles", form)).status).toBe(422);
    await settle(t);
    expect(await t.store.configurationProfiles.get(own.id), "nothing is written without need").toEqual(own);
    await turn(t, false);
    await settle(t);
    expect(await t.store.configurationProfiles.count(eq("is_own", true))).toBe(0);
  });

  it("goes to Macs only, and a Mac without a key is asked once an hour", async () => {
    const t = await started(engine);
    const phone = await enrolledDevice(t, { ProductName: "iPhone15,2" });
    const { device, id } = await enrolledDevice(t, {}, { key: 1 });
    await turn(t, true);
    const { next } = await installs(t, device);
    expect(await t.store.hostProfiles.count(eq("host_id", phone.id))).toBe(0);
    await device.answer(next!.uuid, "Acknowledged", { SecurityInfo: { FDE_Enabled: false } });
    await settle(t);
    expect(await device.idle()).toBeNull();
    t.clock.advance(hours(1) + 1);
    await runJob(t.services, "filevault");
    expect((await device.idle())!.type).toBe("SecurityInfo");
    expect(await statusOf(t, id)).toBe("action_required");
  });
});

describe.each(rulesEngines)("disk encryption by agents on %s", (engine) => {
  it("is demanded of Windows and Linux hosts of teams that turn it on", async () => {
    const t = await started(engine);
    const team = await makeTeam(t);
    const managed = async (given: object, is_server = false) => {
      const { id } = await makeHost(t, { team_id: team.id, platform: "windows", ...given });
      await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true, is_server });
      return id;
    };
    const windows = await managed({});
    const server = await managed({}, true);
    const foreign = (await makeHost(t, { team_id: team.id, platform: "windows" })).id;
    const elsewhere = await managed({ team_id: null });
    const [open, locked] = [
      (await makeHost(t, { team_id: team.id, platform: "ubuntu" })).id,
      (await makeHost(t, { team_id: team.id, platform: "ubuntu", disk_encryption_enabled: true })).id,
    ];
    await turn(t, true, team.id);
    await settle(t);
    const all = async () =>
      Promise.all([windows, server, foreign, elsewhere, open, locked].map((id) => statusOf(t, id)));
    expect(await all()).toEqual(["enforcing", null, null, null, null, "action_required"]);
    expect(await summary(t, `?team_id=${team.id}`)).toEqual({
      verified: { macos: 0, windows: 0, linux: 0 },
      verifying: { macos: 0, windows: 0, linux: 0 },
      action_required: { macos: 0, windows: 0, linux: 1 },
      enforcing: { macos: 0, windows: 1, linux: 0 },
      failed: { macos: 0, windows: 0, linux: 0 },
      removing_enforcement: { macos: 0, windows: 0, linux: 0 },
    });
    expect(await summary(t)).toMatchObject({ enforcing: { windows: 0 } });
    expect(await (await t.get(`/configuration_profiles/summary?team_id=${team.id}`)).json()).toMatchObject({
      pending: 2,
    });
    const key = { encryption_key: Buffer.from("a key").toString("base64"), client_error: "" };
    await keepBitlockerKey(serviceContext(t.services), { hostId: windows }, key);
    await settle(t);
    expect((await all())[0], "not known to be encrypted").toBe("verifying");
    expect(await keyOf(t, windows)).toBe(404);
    await t.store.hosts.update({ where: eq("id", windows), set: { disk_encryption_enabled: true } });
    await settle(t);
    expect((await all())[0]).toBe("verified");
    await turn(t, false, team.id);
    await settle(t);
    expect(await all()).toEqual(["verified", null, null, null, null, null]);
    expect(await keyOf(t, windows)).toBe("a key");
  });

  it("may be demanded on single platforms, until it is set for all of them", async () => {
    const t = await started(engine);
    await turnOnWindowsMdm(t);
    const team = await makeTeam(t);
    const windows = (await makeHost(t, { team_id: team.id, platform: "windows" })).id;
    await t.store.hostMdm.insert({ id: windows, enrollment_status: "On (manual)", connected_to_svc: true });
    const linux = (await makeHost(t, { team_id: team.id, platform: "ubuntu", disk_encryption_enabled: true })).id;
    const set = async (given: object) => {
      const res = await t.post("/disk_encryption", { team_id: team.id, ...given });
      expect(res.status, await res.clone().text()).toBe(204);
      await settle(t);
      const profiles = await t.store.configurationProfiles.count(eq("is_own", true));
      return [profiles, await statusOf(t, windows), await statusOf(t, linux)];
    };
    const macs = { enable_disk_encryption: true, enable_escrow_disk_encryption_key: true };
    expect(await set({ macos_settings: macs })).toEqual([1, null, null]);
    expect(await set({ linux_settings: { enable_escrow_disk_encryption_key: true } })).toEqual([
      1,
      null,
      "action_required",
    ]);
    expect(
      await set({ enable_disk_encryption: true, linux_settings: { enable_escrow_disk_encryption_key: false } }),
    ).toEqual([1, "enforcing", null]);
    expect(await set({ macos_settings: { enable_disk_encryption: false } })).toEqual([0, "enforcing", null]);
    expect(await set({ windows_settings: { require_bitlocker_pin: true } })).toEqual([0, "enforcing", null]);
    const { mdm } = ((await (await t.get(`/teams/${team.id}`)).json()) as { team: { mdm: object } }).team;
    expect(mdm).toMatchObject({
      enable_disk_encryption: true,
      disk_encryption: { macos: false, windows: null, linux: false },
      windows_require_bitlocker_pin: true,
    });
    expect(await set({ enable_disk_encryption: false })).toEqual([0, null, null]);
    const off = ((await (await t.get(`/teams/${team.id}`)).json()) as { team: { mdm: object } }).team.mdm;
    expect(off).toMatchObject({
      disk_encryption: { macos: null, windows: null, linux: null },
      windows_require_bitlocker_pin: false,
    });
    for (const [given, field] of [
      [{ macos_settings: { enable_escrow_disk_encryption_key: true } }, "enable_escrow_disk_encryption_key"],
      [{ macos_settings: { ...macs, enable_escrow_disk_encryption_key: false } }, "enable_escrow_disk_encryption_key"],
      [{ windows_settings: { require_bitlocker_pin: true } }, "windows_require_bitlocker_pin"],
      [{ windows_settings: { enable_disk_encryption: 1 } }, "windows_settings.enable_disk_encryption"],
    ] as const) {
      const res = await t.post("/disk_encryption", { team_id: team.id, ...given });
      expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(field)]);
    }
  });

  it("is a setting whose rules name the field", async () => {
    const t = await started(engine);
    const refused = await t.post("/disk_encryption", { windows_require_bitlocker_pin: true });
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining("windows_require_bitlocker_pin"),
    ]);
    const given = { enable_disk_encryption: true, windows_require_bitlocker_pin: true };
    expect((await t.post("/disk_encryption", given)).status).toBe(204);
    const mdm = async () => ((await (await t.get("/config")).json()) as { mdm: object }).mdm;
    expect(await mdm()).toMatchObject(given);
    await turn(t, false);
    expect(await mdm()).toMatchObject({ enable_disk_encryption: false, windows_require_bitlocker_pin: false });
    expect((await t.post("/disk_encryption", { team_id: 999, enable_disk_encryption: true })).status).toBe(404);
    expect((await t.post("/disk_encryption", { enable_disk_encryption: "yes" })).status).toBe(422);
    for (const path of ["/disk_encryption", "/mdm/vendora/filevault/summary"])
      expect((await t.get(path)).status, path).toBe(200);
  });
});

describe.each(bothEngines)("agents on %s", (engine) => {
  const noticesOf = async (agent: Awaited<ReturnType<typeof makeManaged>>) =>
    ((await agent.call("/config")).json as { notifications: Record<string, unknown> }).notifications;
  const withToken = async (agent: Awaited<ReturnType<typeof makeManaged>>, token = "token-of-a-host-0001") => {
    expect((await agent.call("/device_token", { device_auth_token: token })).status).toBe(200);
    return `/device/${token}`;
  };

  it("of Windows hosts are asked to encrypt until they have escrowed a key", async () => {
    const t = await started(engine);
    const agent = await makeManaged(t, { platform: "windows" });
    const { id } = await agent.host();
    await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true });
    expect(await noticesOf(agent)).not.toHaveProperty("enforce_bitlocker_encryption");
    await turn(t, true);
    await settle(t);
    await expect.poll(() => noticesOf(agent)).toMatchObject({ enforce_bitlocker_encryption: true });
    const encryption_key = Buffer.from("111-222").toString("base64");
    expect((await agent.call("/disk_encryption_key", { encryption_key })).status).toBe(204);
    await expect.poll(() => noticesOf(agent)).not.toHaveProperty("enforce_bitlocker_encryption");
  });

  it("of Windows hosts are asked again after an error, until the setting is turned off", async () => {
    const t = await started(engine);
    const agent = await makeManaged(t, { platform: "windows" });
    const { id } = await agent.host();
    await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true });
    await turn(t, true);
    await settle(t);
    expect((await agent.call("/disk_encryption_key", { client_error: "no TPM" })).status).toBe(204);
    expect((await hostOf(t, id)).os_settings.disk_encryption).toEqual({ status: "failed", detail: "no TPM" });
    await expect.poll(() => noticesOf(agent)).toMatchObject({ enforce_bitlocker_encryption: true });
    await turn(t, false);
    await settle(t);
    await expect.poll(() => noticesOf(agent)).not.toHaveProperty("enforce_bitlocker_encryption");
  });

  it("of Windows hosts protect the disk again when its protection was turned off", async () => {
    const t = await started(engine);
    await makeSecret(t);
    const made = enrollment();
    const os_version = { ...made.host_details.os_version, platform: "windows", name: "Microsoft Windows 11 Pro" };
    const details = { ...made.host_details, os_version };
    const node_key = await enroll(throughApp(t), { host_details: details });
    const host = (await t.store.hosts.first({}))!;
    const { id } = host;
    const agent = await makeManaged(t, { platform: "windows", qengine_identifier: host.identifier });
    expect(await t.store.managedAgents.get(id), "one host").not.toBeNull();
    await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true });
    await turn(t, true);
    const report = (protection_status: string, conversion_status: string) =>
      throughApp(t)("/api/v1/qengine/distributed/write", {
        node_key,
        queries: {
          svc_detail_query_diskenc_windows: [{ drive_letter: "C:", protection_status, conversion_status }],
        },
        statuses: {},
        messages: {},
        stats: {},
      });
    const diskOf = async () => (await hostOf(t, id)).os_settings.disk_encryption;
    const isAsked = async () => (await noticesOf(agent)).enforce_bitlocker_encryption === true;
    const encryption_key = Buffer.from("111-222").toString("base64");
    const escrow = async (given: Record<string, unknown>) => {
      expect((await agent.call("/disk_encryption_key", given)).status).toBe(204);
    };
    const listed = async (state: string) =>
      ((await (await t.get(`/hosts?os_settings_disk_encryption=${state}`)).json()) as { hosts: unknown[] }).hosts
        .length;

    await expect.poll(diskOf).toEqual({ status: "enforcing", detail: "" });
    await report("0", "2");
    await escrow({ encryption_key });
    expect(await diskOf()).toEqual({ status: "verifying", detail: "" });
    expect((await t.store.hosts.get(id))!.refetch_requested, "the report verifies it").toBe(true);
    await report("0", "2");
    await settle(t);
    expect(await diskOf(), "Windows is still encrypting").toEqual({ status: "verifying", detail: "" });
    // No job has to run.
    await report("1", "1");
    await expect.poll(diskOf).toEqual({ status: "verified", detail: "" });
    expect(await isAsked()).toBe(false);

    // Somebody suspends the protection.
    await report("0", "1");
    await expect.poll(diskOf).toEqual({ status: "enforcing", detail: "" });
    expect(await summary(t)).toMatchObject({ verified: { windows: 0 }, enforcing: { windows: 1 } });
    expect([await listed("verified"), await listed("enforcing")]).toEqual([0, 1]);
    await expect.poll(isAsked).toBe(true);
    expect(await keyOf(t, id)).toBe(404);
    // The agent cannot turn it on.
    await escrow({ client_error: "the TPM is not ready" });
    await settle(t);
    expect(await diskOf()).toEqual({ status: "action_required", detail: "the TPM is not ready" });
    expect(await isAsked(), "it tries again by itself").toBe(true);
    expect((await t.store.hostDiskEncryption.get(id))!.key, "an error does not discard the key").toBe("111-222");
    await report("1", "1");
    await expect.poll(diskOf).toEqual({ status: "verified", detail: "" });
    expect(await keyOf(t, id)).toBe("111-222");

    // The disk is decrypted, and its agent encrypts it again.
    await escrow({ encryption_key });
    await report("0", "0");
    await expect.poll(diskOf).toEqual({ status: "enforcing", detail: "" });
    await escrow({ encryption_key });
    await report("0", "2");
    await settle(t);
    expect(await diskOf()).toEqual({ status: "verifying", detail: "" });
    await report("0", "0");
    await settle(t);
    expect((await diskOf()).status, "the report may be older than the key").toBe("verifying");
    t.clock.advance(hours(1) + 1);
    await settle(t);
    expect((await diskOf()).status).toBe("enforcing");

    // Nothing is demanded any more: the key stays readable.
    await turn(t, false);
    await settle(t);
    expect(await diskOf()).toEqual({ status: null, detail: "" });
    expect(await isAsked()).toBe(false);
    expect(await keyOf(t, id)).toBe("111-222");
    expect((await hostOf(t, id)).encryption_key_available).toBe(true);
  });

  it("of Linux hosts: a disk that is not encrypted any more is not verified", async () => {
    const t = await started(engine);
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const set = (disk_encryption_enabled: boolean) =>
      t.store.hosts.update({ where: eq("id", id), set: { disk_encryption_enabled } });
    await set(true);
    await turn(t, true);
    await settle(t);
    expect((await agent.call("/luks_data", { passphrase: "open sesame", salt: "s", key_slot: 1 })).status).toBe(204);
    expect(await statusOf(t, id)).toBe("verified");
    await set(false);
    await settle(t);
    expect(await statusOf(t, id)).toBeNull();
    await set(true);
    await settle(t);
    expect(await statusOf(t, id)).toBe("verified");
  });

  it("of Windows hosts report whether the disk needs a PIN, if the team requires one", async () => {
    const t = await started(engine);
    await makeSecret(t);
    const made = enrollment();
    const os_version = { ...made.host_details.os_version, platform: "windows", name: "Microsoft Windows 11 Pro" };
    const node_key = await enroll(throughApp(t), { host_details: { ...made.host_details, os_version } });
    const { id } = (await t.store.hosts.first({}))!;
    await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true });
    await t.store.hosts.update({ where: eq("id", id), set: { disk_encryption_enabled: true } });
    const report = (...types: string[]) =>
      throughApp(t)("/api/v1/qengine/distributed/write", {
        node_key,
        queries: {
          svc_detail_query_bitlocker_pin: types.map((type) => ({ drive_letter: "C:", key_protector_type: type })),
        },
        statuses: {},
        messages: {},
        stats: {},
      });
    const requirePin = async (windows_require_bitlocker_pin: boolean) => {
      const given = { enable_disk_encryption: true, windows_require_bitlocker_pin };
      expect((await t.post("/disk_encryption", given)).status).toBe(204);
    };
    const diskOf = async () => (await hostOf(t, id)).os_settings.disk_encryption;
    const lacking = { status: "action_required", detail: "The user has to set a BitLocker PIN." };

    await requirePin(true);
    await settle(t);
    expect(await statusOf(t, id), "no key yet").toBe("enforcing");
    const key = { encryption_key: Buffer.from("111-222").toString("base64"), client_error: "" };
    await keepBitlockerKey(serviceContext(t.services), { hostId: id }, key);
    await expect.poll(diskOf).toEqual(lacking);
    expect(await keyOf(t, id)).toBe(404);

    await report("1", "4", "3");
    await expect.poll(diskOf).toEqual({ status: "verified", detail: "" });
    expect(await keyOf(t, id)).toBe("111-222");
    await report("1", "3");
    await expect.poll(diskOf).toEqual(lacking);
    await requirePin(false);
    await expect.poll(diskOf).toEqual({ status: "verified", detail: "" });
    await requirePin(true);
    await expect.poll(diskOf).toEqual(lacking);
    await turn(t, false);
    await expect.poll(diskOf).toEqual({ status: "verified", detail: "" });
  });

  it("are asked for by the buttons on the pages of their hosts, where they make sense", async () => {
    const t = await started(engine);
    const user = new WebVisitor(t);
    const [linux, mac] = [await makeManaged(t), await makeManaged(t, { platform: "darwin" })];
    const [linuxId, macId] = [(await linux.host()).id, (await mac.host()).id];
    const [linuxPage, macPage] = [await withToken(linux), await withToken(mac, "token-of-a-mac-0001")];
    for (const page of [linuxPage, macPage])
      expect((await user.get(page)).text, "it is not encrypted").not.toContain("/disk-key/");
    await t.store.hosts.update({
      where: oneOf("id", [linuxId, macId]),
      set: { disk_encryption_enabled: true },
    });
    const lost = { status: "action_required", detail: "" } as const;
    const textOf = async (id: number, page: string) => {
      await t.store.tx((tx) => setDiskStates(tx, [{ id, ...lost }]));
      return (await user.get(page)).text;
    };
    await turn(t, true);
    await expect.poll(() => textOf(linuxId, linuxPage)).toContain(`${linuxPage}/disk-key/escrow`);
    const sent = await user.post(`${linuxPage}/disk-key/escrow`);
    expect([sent.status, sent.location]).toEqual([303, `${linuxPage}?status=key`]);
    await expect.poll(() => noticesOf(linux)).toMatchObject({ run_disk_encryption_escrow: true });
    await expect.poll(() => textOf(macId, macPage)).toContain(`${macPage}/disk-key/rotate`);
    expect((await user.post(`${macPage}/disk-key/rotate`)).status).toBe(303);
    await expect.poll(() => noticesOf(mac)).toMatchObject({ rotate_disk_encryption_key: true });
    await user.get(macPage);
    expect((await user.post(`${macPage}/disk-key/escrow`)).status, "not on a Mac").toBe(400);
    await user.get(macPage);
    expect((await user.post("/device/nobody/disk-key/rotate")).status).toBe(401);
  });

  it("of Linux hosts are asked once when their user wants to escrow a key", async () => {
    const t = await started(engine);
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const page = await withToken(agent);
    expect((await t.post(`${page}/mdm/linux/trigger_escrow`)).status, "not encrypted").toBe(400);
    expect((await t.post(`${page}/rotate_encryption_key`)).status, "no Mac").toBe(400);
    expect((await t.post("/device/nobody/mdm/linux/trigger_escrow")).status).toBe(401);
    await t.store.hosts.update({ where: eq("id", id), set: { disk_encryption_enabled: true } });
    const refused = await t.post(`${page}/mdm/linux/trigger_escrow`);
    expect([refused.status, await refused.text()], "encryption is turned off").toEqual([
      400,
      expect.stringContaining("turned off"),
    ]);
    await turn(t, true);
    expect((await t.post(`${page}/mdm/linux/trigger_escrow`)).status).toBe(204);
    await expect.poll(() => noticesOf(agent)).toMatchObject({ run_disk_encryption_escrow: true });
    await expect.poll(() => noticesOf(agent)).not.toHaveProperty("run_disk_encryption_escrow");
    // What was asked before encryption was turned off is not sent afterwards.
    expect((await t.post(`${page}/mdm/linux/trigger_escrow`)).status).toBe(204);
    await turn(t, false);
    expect(await noticesOf(agent)).not.toHaveProperty("run_disk_encryption_escrow");
    // A notice that the agent has not asked about meanwhile is dropped, too.
    await settle(t);
    await turn(t, true);
    for (let i = 0; i < 3; i++) expect(await noticesOf(agent)).not.toHaveProperty("run_disk_encryption_escrow");
    expect((await t.post(`${page}/mdm/linux/trigger_escrow`)).status).toBe(204);
    await turn(t, false);
    await settle(t);
    expect((await t.store.hostDiskEncryption.get(id))!.asked).toBeNull();
    await turn(t, true);
    for (let i = 0; i < 3; i++) expect(await noticesOf(agent)).not.toHaveProperty("run_disk_encryption_escrow");
    expect((await agent.call("/luks_data", { passphrase: "open sesame", salt: "s", key_slot: 1 })).status).toBe(204);
    expect(await statusOf(t, id)).toBe("verified");
  });

  it("of Macs are asked to replace a key that cannot be read, or when their user wants it", async () => {
    const t = await started(engine);
    const agent = await makeManaged(t, { platform: "darwin" });
    const { id } = await agent.host();
    const page = await withToken(agent);
    expect((await t.post(`${page}/rotate_encryption_key`)).status).toBe(200);
    await expect.poll(() => noticesOf(agent)).toMatchObject({ rotate_disk_encryption_key: true });
    await expect.poll(() => noticesOf(agent)).not.toHaveProperty("rotate_disk_encryption_key");
    await t.store.tx((tx) => setDiskStates(tx, [{ id, status: "action_required", detail: "rotate_key" }]));
    for (let i = 0; i < 2; i++)
      await expect.poll(() => noticesOf(agent)).toMatchObject({ rotate_disk_encryption_key: true });
  });
});

it("the state of a Mac follows its profile and its key", () => {
  const profile = { operation_type: "install", status: "verified", detail: "" } as const;
  const states = [
    macState(null, "readable"),
    macState({ ...profile, status: null }, null),
    macState({ ...profile, status: "pending" }, "readable"),
    macState({ ...profile, status: "failed", detail: "why" }, "readable"),
    macState({ ...profile, operation_type: "remove", status: "pending" }, "readable"),
    macState({ ...profile, status: "verifying" }, "readable"),
    macState(profile, "readable"),
    macState(profile, "unreadable"),
    macState(profile, null),
  ];
  expect(states.map(({ status, detail }) => `${status} ${detail}`.trim())).toEqual([
    "null",
    "enforcing",
    "enforcing",
    "failed why",
    "removing_enforcement",
    "verifying",
    "verified",
    "action_required rotate_key",
    "action_required log_out",
  ]);
});
