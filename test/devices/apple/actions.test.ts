// Lock, unlock and wipe of Apple devices: their states, their commands (docs/protocols/apple.md, Commands), and lost
// mode.
import { describe, expect, it } from "vitest";
import { DRY_RUN } from "../../../src/api/dry-run.ts";
import { bytesIn, stringIn } from "../../../src/plist/value.ts";
import { sendAppleCommands } from "../../../src/server/devices/apple/commands/send.ts";
import { appleProfileCommand } from "../../../src/server/devices/apple/profiles/commands.ts";
import { moveEnrolledHosts } from "../../../src/server/hosts/enrollment/move.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, enrolledDevice } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";
import { withSecondServer } from "../../support/second-server.ts";

const IPHONE = { ProductName: "iPhone17,1", DeviceName: "Ana's iPhone", OSVersion: "18.1" };

async function started(engine: (typeof bothEngines)[number]) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}

const act = async (caller: Pick<TestApp, "post">, id: number, action: string) => {
  const reply = await caller.post(`/hosts/${id}/${action}`);
  return [reply.status, (await reply.json()) as Record<string, unknown>] as const;
};

async function refused(t: TestApp, id: number, action: string): Promise<[number, string]> {
  const [status, body] = await act(t, id, action);
  return [status, (body.errors as { reason: string }[])[0]!.reason];
}

async function stateOf(t: TestApp, id: number) {
  const { host } = (await (await t.get(`/hosts/${id}`)).json()) as { host: { mdm: Record<string, unknown> } };
  const { device_status, pending_action, action_failure } = host.mdm;
  return [device_status, pending_action, ...(action_failure === undefined ? [] : [action_failure])];
}

const ErrorChain = [{ ErrorCode: 12_078, ErrorDomain: "MCMDMErrorDomain", USEnglishDescription: "not supervised" }];

describe.each(bothEngines)("an Apple device on %s", (engine) => {
  it("is locked with a PIN as a Mac, and unlocked by whoever enters it", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    const [status, reply] = await act(t, id, "lock?view_pin=true");
    expect([status, reply]).toEqual([
      200,
      { device_status: "unlocked", pending_action: "lock", unlock_pin: expect.stringMatching(/^\d{6}$/) },
    ]);
    const command = await device.idle();
    expect(command).toMatchObject({ type: "DeviceLock", command: { PIN: reply.unlock_pin } });
    expect(await device.idle(), "not answered: the same again").toEqual(command);
    expect(await stateOf(t, id)).toEqual(["unlocked", "lock"]);
    expect(await device.answer(command!.uuid, "Acknowledged")).toBeNull();
    expect(await stateOf(t, id)).toEqual(["locked", ""]);
    await device.answer(command!.uuid, "Error", { ErrorChain });
    expect(await stateOf(t, id), "a repeated answer").toEqual(["locked", ""]);

    expect(await act(t, id, "unlock")).toEqual([
      200,
      { host_id: id, device_status: "locked", pending_action: "", unlock_pin: reply.unlock_pin },
    ]);
    await device.idle();
    expect(await stateOf(t, id), "it asks while it locks itself").toEqual(["locked", ""]);
    t.clock.advance(5_000);
    await device.idle();
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    expect((await t.store.hostActions.get(id))!.pin).toBeNull();
    expect(await refused(t, id, "unlock")).toEqual([409, "the host is already unlocked"]);
  });

  it("does not store PINs as plain text, and shows each only to those who asked", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    expect((await act(t, id, "lock"))[1]).not.toHaveProperty("unlock_pin");
    const lock = (await device.idle())!;
    const pin = stringIn(lock.command, "PIN")!;
    expect(pin).toMatch(/^\d{6}$/);
    const contents = await t.store.operationContents.list();
    expect(contents.filter(({ content }) => content.includes("DeviceLock"))).toHaveLength(1);
    expect(JSON.stringify(contents)).not.toContain(pin);
    expect(JSON.stringify(await t.store.activities.list())).not.toContain(pin);
    await device.answer(lock.uuid, "Acknowledged");
    const dry = await t.request("POST", `/hosts/${id}/unlock`, undefined, { [DRY_RUN]: "true" });
    expect([dry.status, await dry.text()]).toEqual([200, expect.not.stringContaining(pin)]);
    expect((await act(t, id, "unlock"))[1]).toMatchObject({ unlock_pin: pin });
  });

  it("is erased, and stays wiped until it enrolls again", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    expect(await act(t, id, "wipe")).toEqual([200, { device_status: "unlocked", pending_action: "wipe" }]);
    const command = await device.idle();
    expect(command).toMatchObject({
      type: "EraseDevice",
      command: { PIN: expect.stringMatching(/^\d{6}$/), ObliterationBehavior: "Default" },
    });
    await device.answer(command!.uuid, "Acknowledged");
    expect(await stateOf(t, id)).toEqual(["wiped", ""]);
    await device.checkIn("CheckOut");
    expect(await stateOf(t, id)).toEqual(["wiped", ""]);
    await enrolledDevice(t, { UDID: device.udid }, { key: 1 });
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
  });

  it("goes into lost mode as an iPhone, and leaves it", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    expect(await act(t, id, "lock?view_pin=true")).toEqual([
      200,
      { device_status: "unlocked", pending_action: "lock" },
    ]);
    const lock = await device.idle();
    expect(lock).toMatchObject({ type: "EnableLostMode", command: { Message: expect.stringContaining("locked") } });
    expect(lock!.command).not.toHaveProperty("PIN");
    await device.answer(lock!.uuid, "Acknowledged");
    expect(await stateOf(t, id)).toEqual(["locked", ""]);
    t.clock.advance(60_000);
    await device.idle();
    expect(await stateOf(t, id), "it answers in lost mode").toEqual(["locked", ""]);
    expect(await act(t, id, "unlock")).toEqual([
      200,
      { host_id: id, device_status: "locked", pending_action: "unlock" },
    ]);
    const unlock = await device.idle();
    expect(unlock).toMatchObject({ type: "DisableLostMode" });
    await device.answer(unlock!.uuid, "Acknowledged");
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    await act(t, id, "wipe");
    const { command } = (await device.idle())!;
    expect(command).toEqual({ RequestType: "EraseDevice" });
  });
});

describe.each(rulesEngines)("actions on Apple devices on %s", (engine) => {
  it("come before all other commands, and again after the device has postponed them", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const command = { RequestType: "RemoveProfile", Identifier: "com.example" };
    const ctx = serviceContext(t.services);
    await t.store.tx((store) => sendAppleCommands({ ...ctx, store }, appleProfileCommand, [{ hostId: id, command }]));
    expect(await device.idle()).toMatchObject({ type: "RemoveProfile" });
    await act(t, id, "lock");
    const lock = await device.idle();
    expect(lock).toMatchObject({ type: "EnableLostMode" });
    expect(await device.answer(lock!.uuid, "NotNow")).toMatchObject({ type: "RemoveProfile" });
    expect(await device.idle()).toMatchObject({ uuid: lock!.uuid });
  });

  it("keep the state if the device refuses them, with its reason", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    await act(t, id, "lock");
    await device.answer((await device.idle())!.uuid, "Error", { ErrorChain });
    expect(await stateOf(t, id)).toEqual(["unlocked", "", "the device refused the lock: not supervised"]);
    expect((await t.store.hostActions.get(id))!.pin).toBeNull();

    const [, { unlock_pin }] = await act(t, id, "lock?view_pin=true");
    await device.answer((await device.idle())!.uuid, "Acknowledged");
    await act(t, id, "wipe");
    await device.answer((await device.idle())!.uuid, "CommandFormatError");
    expect(await stateOf(t, id)).toEqual(["locked", "", "the device refused the wipe: CommandFormatError"]);
    expect((await act(t, id, "unlock"))[1], "the PIN is still that of the lock").toMatchObject({ unlock_pin });
    const types = (await t.store.activities.list()).map(({ type }) => type);
    expect(types.slice(-5)).toEqual(["locked_host", "locked_host", "wiped_host", "failed_wipe", "unlocked_host"]);
  });

  it("end when the device enrolls again or leaves, and not when an agent does", async () => {
    const t = await started(engine);
    await t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "s3cret" }] } });
    const { device, id } = await enrolledDevice(t);
    await act(t, id, "lock");
    const lock = await device.idle();
    const agent = await t.raw("/api/v1/qengine/enroll", {
      method: "POST",
      body: JSON.stringify({ enroll_secret: "s3cret", host_identifier: device.udid }),
    });
    expect(await agent.json()).toMatchObject({ node_key: expect.any(String) });
    expect(await t.store.hosts.count()).toBe(1);
    expect(await stateOf(t, id)).toEqual(["unlocked", "lock"]);

    const again = (await enrolledDevice(t, { UDID: device.udid }, { key: 1 })).device;
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    expect(await again.idle()).toBeNull();
    await again.answer(lock!.uuid, "Acknowledged");
    expect(await stateOf(t, id), "an answer to what was asked before").toEqual(["unlocked", ""]);

    await act(t, id, "lock");
    await again.answer((await again.idle())!.uuid, "Acknowledged");
    expect(await stateOf(t, id)).toEqual(["locked", ""]);
    await enrolledDevice(t, { UDID: device.udid }, { key: 2 });
    expect(await stateOf(t, id), "it was set up again").toEqual(["unlocked", ""]);
  });

  it("end when an agent moves the host to another team, with the PIN of the previous team", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    await act(t, id, "lock");
    await t.delete(`/hosts/${id}/mdm`);
    const team = await makeTeam(t);
    const { display_name } = (await t.store.hosts.get(id))!;
    await t.store.tx((store) =>
      moveEnrolledHosts(
        { ...t.services, store, agent: "query_engine" },
        [{ id, display_name, team_id: null }],
        team.id,
      ),
    );
    expect([await device.idle(), await t.store.mdmCommands.count()]).toEqual([null, 0]);
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    expect(await t.store.hostActions.get(id)).toMatchObject({ pin: null, reference: "" });
    expect(await t.store.hostMdm.get(id)).toMatchObject({ leaving: false, connected_to_svc: true });
  });

  it("are shown as upcoming, and can be cancelled until the device got them", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    await act(t, id, "lock");
    const upcoming = async () => {
      const reply = await t.get(`/hosts/${id}/activities/upcoming`);
      return ((await reply.json()) as { activities: { uuid: string }[] }).activities;
    };
    const [first] = await upcoming();
    expect(first).toMatchObject({ type: "locked_host", details: { host_id: id, view_pin: false } });
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${first!.uuid}`)).status).toBe(204);
    expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    expect([await device.idle(), await t.store.mdmCommands.count(), await upcoming()]).toEqual([null, 0, []]);
    await act(t, id, "lock");
    await device.idle();
    const [second] = await upcoming();
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${second!.uuid}`)).status).toBe(400);
    expect(await stateOf(t, id)).toEqual(["unlocked", "lock"]);
  });

  it("are done only by the answer of the device that was asked", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t);
    const { device: other } = await enrolledDevice(t, {}, { key: 1 });
    await act(t, id, "lock");
    const lock = await device.idle();
    await other.answer(lock!.uuid, "Acknowledged");
    expect((await other.send({ UDID: device.udid, CommandUUID: lock!.uuid, Status: "Acknowledged" })).status).toBe(403);
    expect(await stateOf(t, id)).toEqual(["unlocked", "lock"]);
  });

  it("are refused without device management, while one is pending, or in the wrong state", async () => {
    const t = await startApp({ engine });
    const mac = await makeHost(t, { platform: "darwin", display_name: "mac" });
    for (const action of ["lock", "unlock", "wipe"])
      expect(await refused(t, mac.id, action)).toEqual([
        422,
        `mac does not have MDM turned on, which darwin needs for ${action}`,
      ]);
    const { device, id } = await enrolledDevice(t);
    for (const action of ["lock", "wipe"])
      expect(await refused(t, id, action)).toEqual([400, "device management is not turned on"]);
    await turnOnAppleMdm(t);
    expect(await refused(t, id, "unlock")).toEqual([409, "the host is already unlocked"]);
    await act(t, id, "lock");
    for (const action of ["lock", "unlock", "wipe"])
      expect(await refused(t, id, action)).toEqual([422, expect.stringContaining("pending lock")]);
    await device.answer((await device.idle())!.uuid, "Acknowledged");
    expect(await refused(t, id, "lock")).toEqual([409, "the host is already locked"]);
    await device.checkIn("CheckOut");
    expect(await refused(t, id, "lock")).toEqual([422, expect.stringContaining("MDM turned on")]);
  });

  it("are for admins and maintainers of the host's team", async () => {
    const t = await started(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const { id } = await enrolledDevice(t, IPHONE, { teamId: team.id });
    for (const role of ["observer", "observer_plus", "technician", "gitops"] as const) {
      const member = await makeUser(t, { teams: [{ id: team.id, role }] });
      for (const action of ["lock", "clear_passcode"])
        expect([role, action, (await act(member, id, action))[0]]).toEqual([role, action, 403]);
    }
    const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect((await act(stranger, id, "lock"))[0]).toBe(404);
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    for (const action of ["clear_passcode", "lock"]) expect((await act(maintainer, id, action))[0]).toBe(200);
  });

  it("clear the passcode of an iPhone with the token that it has sent last", async () => {
    const t = await started(engine);
    const { device, id } = await enrolledDevice(t, IPHONE);
    const [status, { command_uuid, ...reply }] = await act(t, id, "clear_passcode");
    expect([status, reply]).toEqual([200, { request_type: "ClearPasscode", platform: "ios" }]);
    await device.tokenUpdate({ UnlockToken: Buffer.from("a newer token") });
    const command = await device.idle();
    expect(command).toMatchObject({ uuid: command_uuid, type: "ClearPasscode" });
    expect(bytesIn(command!.command, "UnlockToken")!.toString()).toBe("a newer token");
    await device.answer(command!.uuid, "Acknowledged");
    const [activity] = await t.store.activities.list({ where: eq("type", "cleared_passcode") });
    expect(activity).toMatchObject({ host_id: id, actor_email: "ada@example.com" });

    const { id: mac } = await enrolledDevice(t, { DeviceName: "mac" }, { key: 1 });
    expect(await refused(t, mac, "clear_passcode")).toEqual([422, "mac is not an iPhone or iPad"]);
    await t.store.appleEnrollments.update({ where: eq("host_id", id), set: { unlock_token: null } });
    expect(await refused(t, id, "clear_passcode")).toEqual([422, expect.stringContaining("has not sent a token")]);
    await device.checkIn("CheckOut");
    expect(await refused(t, id, "clear_passcode")).toEqual([422, expect.stringContaining("MDM turned on")]);
  });
});

it("actions happen once, whichever of two servers is asked and answered", async () => {
  const t = await started("postgres");
  const { device, identity, id } = await enrolledDevice(t);
  await withSecondServer(t, async (second) => {
    const there = appleDevice(second, identity, { UDID: device.udid });
    for (let round = 0; round < 3; round++) {
      const asked = await Promise.all([t, second, t, second].map((server) => act(server, id, "lock?view_pin=true")));
      expect(asked.map(([status]) => status).sort()).toEqual([200, 422, 422, 422]);
      const [, { unlock_pin }] = asked.find(([status]) => status === 200)!;
      const commands = await Promise.all([device.idle(), there.idle(), device.idle(), there.idle()]);
      expect(new Set(commands.map((command) => JSON.stringify(command))).size, "all get the same command").toBe(1);
      const { uuid, command } = commands[0]!;
      expect(command.PIN).toBe(unlock_pin);
      const answers = ["Acknowledged", "Acknowledged", "Acknowledged"].map((status, i) =>
        (i % 2 === 0 ? there : device).answer(uuid, status),
      );
      await Promise.all(answers);
      expect(await stateOf(second, id)).toEqual(["locked", ""]);
      expect((await act(second, id, "unlock"))[1]).toMatchObject({ unlock_pin });
      t.clock.advance(5_000);
      await Promise.all([there.idle(), device.idle(), there.idle()]);
      expect(await stateOf(t, id)).toEqual(["unlocked", ""]);
    }
    const both = await Promise.all([
      act(t, id, "lock"),
      t.delete(`/hosts/${id}/mdm`),
      second.delete(`/hosts/${id}/mdm`),
    ]);
    expect([both[0][0], both[1].status, both[2].status]).toEqual([200, 204, 204]);
    const lock = (await there.idle())!;
    const leave = (await there.answer(lock.uuid, "Error"))!;
    expect(leave.type).toBe("RemoveProfile");
    await Promise.all([there.answer(leave.uuid, "Acknowledged").catch(() => null), device.checkIn("CheckOut")]);
    expect(await t.store.hostMdm.get(id)).toMatchObject({ connected_to_svc: false, leaving: false });
    expect(await t.store.activities.count(eq("type", "mdm_unenrolled"))).toBe(1);
  });
});
