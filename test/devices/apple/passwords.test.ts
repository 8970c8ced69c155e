// Recovery locks and managed accounts of Macs: set, read, changed, and never shown elsewhere.

import { pbkdf2Sync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { bytesIn, dictIn, dictsIn, type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { forgetPasswords } from "../../../src/server/devices/host-passwords/rows.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, enrolledDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

type Engine = (typeof bothEngines)[number];
type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

const setLocks = async (t: TestApp, isOn: boolean, teamId?: number) => {
  const body = { mdm: { enable_recovery_lock_password: isOn } };
  const res = await t.patch(teamId === undefined ? "/config" : `/teams/${teamId}`, body);
  expect(res.status, await res.clone().text()).toBe(200);
};
async function started(engine: Engine) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}
const lockPath = (id: number) => `/hosts/${id}/recovery_lock_password`;
const accountPath = (id: number) => `/hosts/${id}/managed_account_password`;
async function read(t: TestApp, path: string): Promise<{ password: string; updated_at: string } | number> {
  const res = await t.get(path);
  if (res.status !== 200) return res.status;
  const [field] = Object.entries((await res.json()) as Record<string, object>).filter(([name]) => name !== "host_id");
  return field![1] as { password: string; updated_at: string };
}
const stateOf = async (t: TestApp, id: number) => {
  const { host } = (await (await t.get(`/hosts/${id}`)).json()) as {
    host: { mdm: { os_settings: Record<string, { status: string; detail: string }> } };
  };
  return host.mdm.os_settings;
};
const activitiesOf = async (t: TestApp, id: number) =>
  (await t.store.activities.list({ where: eq("host_id", id), order: [{ column: "id", direction: "asc" }] })).flatMap(
    ({ type, actor_email }) => (/recovery_lock|managed_local/.test(type) ? [[type, actor_email]] : []),
  );
const isDone = { PasswordVerified: true };
const asUser = "ada@example.com";

/** The device gets the command that sets its lock, and confirms it. Returns the password. */
async function setsLock(device: Device): Promise<string> {
  const set = (await device.idle())!;
  expect(set.type).toBe("SetRecoveryLock");
  const verify = (await device.answer(set.uuid, "Acknowledged"))!;
  const password = stringIn(set.command, "NewPassword")!;
  expect(verify.command).toEqual({ RequestType: "VerifyRecoveryLock", Password: password });
  expect(await device.answer(verify.uuid, "Acknowledged", isDone)).toBeNull();
  return password;
}

describe.each(bothEngines)("the recovery lock of a Mac on %s", (engine) => {
  it("is set where its team has turned it on, read by users, changed, and removed again", async () => {
    const t = await started(engine);
    const team = await makeTeam(t);
    const { device, id } = await enrolledDevice(t, {}, { teamId: team.id });
    const other = await enrolledDevice(t, {}, { key: 1 });
    await setLocks(t, true, team.id);
    await expect.poll(() => t.store.mdmCommands.count(eq("request_type", "SetRecoveryLock"))).toBe(1);
    expect(await other.device.idle(), "of no team").toBeNull();
    expect([await read(t, lockPath(id)), await stateOf(t, id)]).toMatchObject([
      404,
      { recovery_lock_password: { status: "pending" } },
    ]);

    const first = await setsLock(device);
    expect(first).toMatch(/^([A-Z2-9]{4}-){5}[A-Z2-9]{4}$/);
    expect(await read(t, lockPath(id))).toEqual({ password: first, updated_at: expect.any(String) });
    expect(await stateOf(t, id)).toMatchObject({ recovery_lock_password: { status: "verified", detail: "" } });

    expect((await t.post(`${lockPath(id)}/rotate`)).status).toBe(200);
    expect((await t.post(`${lockPath(id)}/rotate`)).status, "it is being changed").toBe(409);
    expect(await read(t, lockPath(id)), "until the Mac has the new one").toMatchObject({ password: first });
    const set = (await device.idle())!;
    expect(set.command).toMatchObject({ RequestType: "SetRecoveryLock", CurrentPassword: first });
    const second = stringIn(set.command, "NewPassword")!;
    const verify = (await device.answer(set.uuid, "Acknowledged"))!;
    expect(await read(t, lockPath(id)), "not confirmed").toBe(404);
    await device.answer(verify.uuid, "Acknowledged", isDone);
    expect(await read(t, lockPath(id))).toMatchObject({ password: second });
    expect(second).not.toBe(first);
    expect(await activitiesOf(t, id)).toEqual([
      ["set_host_recovery_lock_password", null],
      ["viewed_host_recovery_lock_password", asUser],
      ["viewed_host_recovery_lock_password", asUser],
      ["rotated_host_recovery_lock_password", asUser],
      ["viewed_host_recovery_lock_password", asUser],
    ]);

    await setLocks(t, false, team.id);
    await expect.poll(async () => (await t.store.recoveryLocks.get(id))?.step).toBe("set");
    const removal = (await device.idle())!;
    expect(removal.command).toEqual({ RequestType: "SetRecoveryLock", NewPassword: "", CurrentPassword: second });
    await device.answer(removal.uuid, "Acknowledged");
    expect([await read(t, lockPath(id)), await t.store.recoveryLocks.get(id)]).toEqual([404, null]);
  });

  it("counts as a setting of the host", async () => {
    const t = await started(engine);
    await setLocks(t, true);
    const { device } = await enrolledDevice(t);
    const counts = async () => (await t.get("/configuration_profiles/summary")).json();
    await expect.poll(counts).toMatchObject({ pending: 1 });
    const set = (await device.idle())!;
    const verify = (await device.answer(set.uuid, "Acknowledged"))!;
    expect(await counts()).toMatchObject({ pending: 0, verifying: 1 });
    await device.answer(verify.uuid, "Acknowledged", isDone);
    expect(await counts()).toEqual({ verified: 1, verifying: 0, pending: 0, failed: 0 });
  });
});

describe.each(rulesEngines)("recovery locks on %s", (engine) => {
  it("survive lost answers: the Mac refuses what it has already done, and has the new password", async () => {
    const t = await started(engine);
    await setLocks(t, true);
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => t.store.recoveryLocks.get(id)).not.toBeNull();
    const set = (await device.idle())!;
    const again = (await device.idle())!;
    expect(again.command, "its answer was lost").toEqual(set.command);
    const verify = (await device.answer(again.uuid, "Error"))!;
    expect(stringIn(verify.command, "Password")).toBe(stringIn(set.command, "NewPassword"));
    await device.answer(verify.uuid, "Acknowledged", isDone);
    expect(await read(t, lockPath(id))).toMatchObject({ password: stringIn(set.command, "NewPassword") });
    expect(await activitiesOf(t, id)).toMatchObject([
      ["set_host_recovery_lock_password", null],
      [expect.any(String), asUser],
    ]);
  });

  it("fail with the device's reason, and can be set again by a user", async () => {
    const t = await started(engine);
    await setLocks(t, true);
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => t.store.recoveryLocks.get(id)).not.toBeNull();
    const set = (await device.idle())!;
    const ErrorChain = [{ ErrorCode: 12, ErrorDomain: "MDM", LocalizedDescription: "Not supported" }];
    const verify = (await device.answer(set.uuid, "Error", { ErrorChain }))!;
    expect(await device.answer(verify.uuid, "Acknowledged", { PasswordVerified: false })).toBeNull();
    const { recovery_lock_password: state } = await stateOf(t, id);
    expect(state).toEqual({ status: "failed", detail: expect.stringContaining("Not supported") });
    expect((await t.post(`${lockPath(id)}/rotate`)).status).toBe(200);
    await setsLock(device);
    expect((await stateOf(t, id)).recovery_lock_password).toEqual({ status: "verified", detail: "" });
  });

  it("are not for phones and Macs with Intel processors, and are forgotten when a Mac leaves", async () => {
    const t = await started(engine);
    const intel = await enrolledDevice(t, {}, { key: 1 });
    await t.store.hosts.updateEach([{ id: intel.id, cpu_type: "x86_64h" }]);
    await enrolledDevice(t, { ProductName: "iPhone15,2" }, { key: 2 });
    const { device, id } = await enrolledDevice(t);
    await setLocks(t, true);
    await expect.poll(() => t.store.recoveryLocks.list()).toMatchObject([{ id }]);
    await setsLock(device);
    await device.checkIn("CheckOut");
    expect(await t.store.recoveryLocks.list()).toEqual([]);
  });

  it("are set anew on a Mac that enrolls again, or that an agent moves to another team", async () => {
    const t = await started(engine);
    await setLocks(t, true);
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => t.store.recoveryLocks.get(id)).not.toBeNull();
    const first = await setsLock(device);
    const again = appleDevice(t, await newIdentity(t, null, 1), { UDID: device.udid });
    await again.authenticate();
    expect(await read(t, lockPath(id))).toBe(404);
    await again.tokenUpdate();
    await expect.poll(async () => (await t.store.recoveryLocks.get(id))?.command_uuid).toBeTruthy();
    const set = (await again.idle())!;
    expect(set.command).toMatchObject({ CurrentPassword: first });
    await again.answer((await again.answer(set.uuid, "Acknowledged"))!.uuid, "Acknowledged", isDone);
    expect(await read(t, lockPath(id))).toMatchObject({ password: stringIn(set.command, "NewPassword") });

    await forgetPasswords({ store: t.store }, [id]);
    expect(await read(t, lockPath(id)), "entrusted to the other team").toBe(404);
    await runJob(t.services, "recovery_locks");
    const third = await setsLock(again);
    expect(await read(t, lockPath(id))).toMatchObject({ password: third });
  });

  it("are read and changed by the roles that may, and not by others", async () => {
    const t = await started(engine);
    const { id } = await enrolledDevice(t);
    const statuses = async (user: Pick<TestApp, "get" | "post">) =>
      Promise.all([
        user.get(lockPath(id)).then(({ status }) => status),
        user.post(`${lockPath(id)}/rotate`).then(({ status }) => status),
        user.get(accountPath(id)).then(({ status }) => status),
        user.post(`${accountPath(id)}/rotate`).then(({ status }) => status),
      ]);
    expect(await statuses(t), "there are no passwords").toEqual([404, 422, 404, 422]);
    expect(await statuses(await makeUser(t, "technician"))).toEqual([404, 403, 404, 403]);
    expect(await statuses(await makeUser(t, "observer"))).toEqual([403, 403, 403, 403]);
    expect(await statuses(await makeUser(t, "gitops"))).toEqual([403, 403, 403, 403]);
  });
});

describe.each(bothEngines)("the managed account of a Mac on %s", (engine) => {
  it("is created in the setup assistant, read by users, and gets other passwords", async () => {
    const t = await started(engine);
    const on = { enable_managed_local_account: true, end_user_local_account_type: "standard" };
    expect((await t.post("/managed_local_account", on)).status).toBe(204);
    const device = appleDevice(t, await newIdentity(t, null, 0, { kind: "automatic" }));
    await device.authenticate();
    await device.tokenUpdate({ AwaitingConfiguration: true });
    const { host_id: id } = (await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) }))!;
    const create = (await device.idle())!;
    const [account, ...others] = dictsIn(create.command, "AutoSetupAdminAccounts");
    expect([account, others]).toMatchObject([{ shortName: "svcadmin", hidden: true }, []]);
    expect(create.command).toMatchObject({ SetPrimarySetupAccountAsRegularUser: true });
    expect(await read(t, accountPath(id))).toBe(404);
    const release = (await device.answer(create.uuid, "Acknowledged"))!;
    expect(release.type).toBe("DeviceConfigured");
    await device.answer(release.uuid, "Acknowledged");
    const first = passwordFor(account!, await read(t, accountPath(id)));

    expect((await t.post(`${accountPath(id)}/rotate`)).status).toBe(204);
    expect((await t.post(`${accountPath(id)}/rotate`)).status).toBe(409);
    const find = (await device.idle())!;
    expect(find.command).toEqual({ RequestType: "DeviceInformation", Queries: ["AutoSetupAdminAccounts"] });
    const AutoSetupAdminAccounts = [{ GUID: "A-1", shortName: "svcadmin" }];
    const set = (await device.answer(find.uuid, "Acknowledged", { QueryResponses: { AutoSetupAdminAccounts } }))!;
    expect(set.command).toMatchObject({ RequestType: "SetAutoAdminPassword", GUID: "A-1" });
    expect(await read(t, accountPath(id)), "until the Mac has the new one").toMatchObject({ password: first });
    await device.answer(set.uuid, "Acknowledged");
    expect(passwordFor(set.command, await read(t, accountPath(id)))).not.toBe(first);

    await t.post(`${accountPath(id)}/rotate`);
    const missing = (await device.idle())!;
    expect(await device.answer(missing.uuid, "Acknowledged", { QueryResponses: {} })).toBeNull();
    expect(await stateOf(t, id)).toMatchObject({
      managed_local_account: { status: "failed", detail: "The Mac has no account svcadmin that this server created." },
    });
    const kinds = (await activitiesOf(t, id)).filter(([type]) => !type!.startsWith("read_"));
    expect(kinds).toEqual([
      ["created_managed_local_account", null],
      ["rotated_managed_local_account_password", asUser],
      ["failed_to_rotate_managed_local_account_password", asUser],
    ]);
  });
});

/** Compares the password with the hash that the Mac got. */
function passwordFor(given: PlistDict, shown: Awaited<ReturnType<typeof read>>): string {
  const { password } = shown as { password: string };
  const hash = dictIn(readPlistDict(bytesIn(given, "passwordHash")!), "SALTED-SHA512-PBKDF2")!;
  const entropy = pbkdf2Sync(password, bytesIn(hash, "salt")!, Number(hash.iterations), 128, "sha512");
  expect(bytesIn(hash, "entropy")).toEqual(entropy);
  return password;
}

describe.each(rulesEngines)("passwords of Macs on %s", (engine) => {
  it("are in no stored command, and the user may have no account of their own", async () => {
    const t = await started(engine);
    await setLocks(t, true);
    await t.post("/managed_local_account", { enable_managed_local_account: true, end_user_local_account_type: "none" });
    const device = appleDevice(t, await newIdentity(t, null, 0, { kind: "automatic" }));
    await device.authenticate();
    await device.tokenUpdate({ AwaitingConfiguration: true });
    await expect.poll(() => t.store.recoveryLocks.count({ op: "all" })).toBe(1);
    const secrets: string[] = [];
    for (let command = await device.idle(); command; ) {
      const account = dictsIn(command.command, "AutoSetupAdminAccounts")[0];
      if (account) expect(command.command).toMatchObject({ SkipPrimarySetupAccountCreation: true });
      secrets.push(
        ...["NewPassword", "Password"].flatMap((key) => stringIn(command!.command, key) ?? []),
        ...(account ? [bytesIn(account, "passwordHash")!.toString("base64")] : []),
      );
      command = await device.answer(command.uuid, "Acknowledged", isDone);
    }
    expect(secrets).toHaveLength(3);
    const commands = await t.store.mdmCommands.list();
    const shown = await Promise.all(
      commands.map(async ({ command_uuid }) => {
        const res = await t.get(`/commands/results?command_uuid=${command_uuid}`);
        const { results } = (await res.json()) as { results: { payload: string }[] };
        return results.map(({ payload }) => Buffer.from(payload, "base64").toString()).join();
      }),
    );
    const kept = `${shown.join()}${JSON.stringify(await t.store.activities.list())}`;
    for (const secret of secrets) expect(kept.replace(/\s/g, "")).not.toContain(secret);
    expect(shown.join()).toContain("SetRecoveryLock");
  });
});
