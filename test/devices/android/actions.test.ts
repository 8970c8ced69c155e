// Lock, wipe, commands and leaving of Android devices (docs/protocols/android.md).
import { beforeEach, describe, expect, it } from "vitest";
import type { Host } from "../../../src/api/hosts/host.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days, minutes } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { makeSecret } from "../../edge/agent/agents.ts";
import {
  type AndroidDeviceData,
  type AndroidService,
  ENTERPRISE,
  enrollAndroid,
  startAndroid,
  turnAndroidOn,
} from "../../support/android.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const SECRET = "secret-of-no-team";
const encoded = (command: unknown) =>
  Buffer.from(typeof command === "string" ? command : JSON.stringify(command)).toString("base64");

interface Result {
  readonly status: string;
  readonly request_type: string;
  readonly payload: string;
  readonly result: string;
}

describe.each(bothEngines)("an Android device on %s", (engine) => {
  let service: AndroidService;
  let t: TestApp;
  beforeEach(async () => {
    service = await startAndroid();
    t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, SECRET);
    await turnAndroidOn(t, service);
  });

  const read = async <T>(path: string): Promise<T> => (await t.get(path)).json() as Promise<T>;
  const hosts = async () => (await read<{ hosts: Host[] }>("/hosts?per_page=500")).hosts;
  const enroll = async (id: string, more: Record<string, unknown> = {}) => {
    const device = await enrollAndroid(t, service, { id, secret: SECRET, more });
    const host = (await hosts()).find(({ uuid }) => uuid === `ESID-${id}`)!;
    return { device, id: host.id, uuid: host.uuid };
  };
  const personal = { ownership: "PERSONALLY_OWNED", managementMode: "PROFILE_OWNER" };
  const mdmOf = async (id: number) => (await read<{ host: Host }>(`/hosts/${id}`)).host.mdm;
  const isIssued = async (count = 1) => {
    await expect.poll(() => service.commands.length, { timeout: 20_000 }).toBe(count);
    // The vendor has answered: its name of the command is stored.
    await expect.poll(() => t.store.androidCommands.count(), { timeout: 20_000 }).toBe(count);
    return service.commands.at(-1)!;
  };
  /** Waits until what had failed is sent: an attempt that had begun before may put off the next one. */
  const sendLater = () =>
    expect
      .poll(
        async () => {
          t.clock.advance(minutes(60));
          await runJob(t.services, "android_commands");
          return service.commands.length;
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(0);
  const answer = (operation: string, more: Record<string, unknown> = {}, messageId?: string) =>
    service.send(
      t,
      "COMMAND",
      { name: operation, done: true, metadata: { type: "LOCK" }, ...more },
      messageId === undefined ? {} : { messageId },
    );
  const run = async (command: unknown, uuids: readonly string[]) =>
    t.post("/commands/run", { command: encoded(command), host_uuids: uuids });
  const ran = async (command: unknown, uuids: readonly string[]): Promise<string> => {
    const reply = await run(command, uuids);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { command_uuid: string }).command_uuid;
  };
  const resultsOf = async (uuid: string) =>
    (await read<{ results?: Result[] }>(`/commands/results?command_uuid=${uuid}`)).results ?? [];
  const types = async () =>
    (await read<{ activities: { type: string }[] }>("/activities?order_key=id&order_direction=desc")).activities.map(
      ({ type }) => type,
    );

  it("is locked once, and its user unlocks it", async () => {
    const { id } = await enroll("d1");
    expect(await (await t.post(`/hosts/${id}/lock`)).json()).toEqual({
      device_status: "unlocked",
      pending_action: "lock",
    });
    expect((await t.post(`/hosts/${id}/lock`)).status, "it is pending").toBe(422);
    const { device, command, operation } = await isIssued();
    expect([device, command]).toEqual([`${ENTERPRISE}/devices/d1`, { type: "LOCK", duration: "2592000s" }]);
    expect((await answer(operation)).status).toBe(200);
    expect(await mdmOf(id)).toMatchObject({ device_status: "unlocked", pending_action: "" });
    expect((await types())[0]).toBe("locked_host");
    expect((await t.post(`/hosts/${id}/lock`)).status, "again").toBe(200);
    await isIssued(2);
    expect((await t.post(`/hosts/${id}/unlock`)).status, "nothing unlocks it").toBe(422);
  });

  it("that refuses a lock shows why, and takes each answer once", async () => {
    const { id } = await enroll("d1");
    await t.post(`/hosts/${id}/lock`);
    const { operation } = await isIssued();
    const refusal = { metadata: { type: "LOCK", errorCode: "API_LEVEL" }, error: { code: 9, message: "too old" } };
    await answer(operation, refusal, "m1");
    await answer(operation, refusal, "m1");
    await answer(operation, {}, "m2");
    expect(await mdmOf(id)).toMatchObject({
      pending_action: "",
      action_failure: "the device refused the lock: API_LEVEL: too old",
    });
  });

  it("of the organization is wiped by a command, and has left when it reports nothing more", async () => {
    const { id, device } = await enroll("d1");
    expect((await t.post(`/hosts/${id}/wipe`)).status).toBe(200);
    const { command, operation } = await isIssued();
    expect(command).toMatchObject({ type: "WIPE" });
    expect(service.deleted).toEqual([]);
    await answer(operation, { done: false });
    expect(await mdmOf(id)).toMatchObject({ device_status: "unlocked", pending_action: "wipe" });
    await answer(operation);
    expect(await mdmOf(id)).toMatchObject({ device_status: "wiped", pending_action: "" });
    await service.send(t, "STATUS_REPORT", { ...device, appliedState: "DELETED" });
    expect(await mdmOf(id)).toMatchObject({ device_status: "wiped", enrollment_status: "Off" });
    expect((await t.post(`/hosts/${id}/lock`)).status, "it is not managed").toBe(422);
    await enroll("d1");
    expect(await mdmOf(id)).toMatchObject({ device_status: "unlocked", enrollment_status: "On (manual)" });
  });

  it("that leaves after it was asked to wipe was wiped; another one was not", async () => {
    const wiped = await enroll("d1");
    const left = await enroll("d2");
    await t.post(`/hosts/${wiped.id}/wipe`);
    await isIssued();
    await t.post(`/hosts/${left.id}/lock`);
    await isIssued(2);
    for (const { device } of [wiped, left])
      await service.send(t, "STATUS_REPORT", { ...device, appliedState: "DELETED" });
    expect(await mdmOf(wiped.id)).toMatchObject({ device_status: "wiped", pending_action: "" });
    expect(await mdmOf(left.id)).toMatchObject({ device_status: "unlocked", pending_action: "" });
    expect(await t.store.operations.count(eq("state", "sent"))).toBe(0);
  });

  it("of its user loses the work profile only, by a wipe or because management is turned off", async () => {
    const wiped = await enroll("d1", personal);
    const left = await enroll("d2", personal);
    expect((await t.post(`/hosts/${wiped.id}/wipe`)).status).toBe(200);
    await expect.poll(() => service.deleted, { timeout: 20_000 }).toEqual([wiped.device.name]);
    await expect.poll(async () => (await mdmOf(wiped.id)).enrollment_status, { timeout: 20_000 }).toBe("Off");
    expect(await mdmOf(wiped.id)).toMatchObject({ device_status: "wiped", pending_action: "" });
    expect((await t.post(`/hosts/${left.id}/lock`)).status).toBe(200);
    await isIssued();
    for (const _ of [1, 2]) expect([204, 422]).toContain((await t.delete(`/hosts/${left.id}/mdm`)).status);
    await expect.poll(async () => (await mdmOf(left.id)).enrollment_status, { timeout: 20_000 }).toBe("Off");
    expect(service.deleted).toEqual([wiped.device.name, left.device.name]);
    expect(await mdmOf(left.id)).toMatchObject({ device_status: "unlocked", pending_action: "" });
  });

  it("of the organization is not erased because management is turned off", async () => {
    const { id } = await enroll("d1");
    const reply = await t.delete(`/hosts/${id}/mdm`);
    expect([reply.status, await reply.text()]).toEqual([422, expect.stringContaining("wipe it instead")]);
    expect(service.deleted).toEqual([]);
    expect((await mdmOf(id)).enrollment_status).toBe("On (manual)");
  });

  it("gets what users ask, and shows what became of it", async () => {
    const [one, two] = [await enroll("d1"), await enroll("d2")];
    const command = { type: "RESET_PASSWORD", newPassword: "a-new-password", resetPasswordFlags: ["LOCK_NOW"] };
    const uuid = await ran(command, [one.uuid, two.uuid]);
    await isIssued(2);
    expect(service.commands.map(({ command: sent }) => sent)).toEqual([
      { ...command, duration: "2592000s" },
      { ...command, duration: "2592000s" },
    ]);
    expect(await resultsOf(uuid)).toEqual([]);
    const [first, second] = service.commands;
    await answer(first!.operation, { metadata: command, response: {} });
    await answer(second!.operation, { metadata: { type: "RESET_PASSWORD" }, error: { code: 4, message: "" } });
    const results = await resultsOf(uuid);
    expect(results.map(({ status, request_type }) => [status, request_type]).sort()).toEqual([
      ["Acknowledged", "RESET_PASSWORD"],
      ["Error", "RESET_PASSWORD"],
    ]);
    const texts = results.flatMap(({ payload, result }) => [payload, result]).map((text) => atob(text));
    expect(texts.join()).toContain("********");
    expect(texts.join()).not.toContain("a-new-password");
    const rows = await t.store.mdmCommands.list();
    expect(rows.map(({ sealed_content }) => sealed_content)).toEqual([null, null]);
    const listed = await read<{ results: { status: string }[] }>(
      `/commands?host_identifier=${one.uuid}&command_status=ran`,
    );
    expect(listed.results).toHaveLength(1);
    expect((await types()).slice(0, 2)).toEqual(["ran_custom_mdm_command", "ran_custom_mdm_command"]);
  });

  it("refuses what is no command, and needs premium and the role for some", async () => {
    const { uuid, id } = await enroll("d1");
    const cases: [unknown, string][] = [
      ["<plist/>", "not a JSON object"],
      ["[]", "not a JSON object"],
      [{}, "no type"],
      [{ type: "lock" }, "no type"],
      [{ type: "DELETE_DEVICE" }, "not a type"],
      [`{"type":"LOCK","a":${"[".repeat(100)}${"]".repeat(100)}}`, "more than 64"],
    ];
    for (const [command, reason] of cases) {
      const reply = await run(command, [uuid]);
      expect([reply.status, await reply.text()], JSON.stringify(command)).toEqual([
        422,
        expect.stringContaining(reason),
      ]);
    }
    const team = await makeTeam(t, "Phones");
    await t.store.hosts.updateEach([{ id, team_id: team.id }]);
    for (const role of ["observer", "observer_plus", "technician"] as const) {
      const member = await makeUser(t, { teams: [{ id: team.id, role }] });
      const body = { command: encoded({ type: "REBOOT" }), host_uuids: [uuid] };
      expect((await member.post("/commands/run", body)).status, role).toBe(403);
      expect((await member.post(`/hosts/${id}/lock`)).status, role).toBe(403);
      expect((await member.delete(`/hosts/${id}/mdm`)).status, role).toBe(403);
    }
    expect(service.commands).toEqual([]);
    const refused = await ran({ type: "UNKNOWN_THING" }, [uuid]);
    await expect.poll(async () => (await resultsOf(refused))[0]?.status, { timeout: 20_000 }).toBe("Error");
  });

  it("gets a command after the vendor was away, and not if it was cancelled meanwhile", async () => {
    const { id, uuid } = await enroll("d1");
    service.fault = ({ url }) => (url.pathname.endsWith(":issueCommand") ? { status: 503 } : null);
    const kept = await ran({ type: "REBOOT" }, [uuid]);
    const cancelled = await ran({ type: "LOCK" }, [uuid]);
    await expect
      .poll(async () => (await t.store.androidCommandQueues.first({}))?.failures, { timeout: 20_000 })
      .toBeGreaterThan(0);
    expect((await t.delete(`/hosts/${id}/commands/${cancelled}`)).status).toBe(204);
    t.clock.advance(minutes(60));
    await runJob(t.services, "android_commands");
    expect(service.commands).toEqual([]);
    service.fault = () => null;
    await sendLater();
    const { command, operation } = await isIssued();
    expect(command).toMatchObject({ type: "REBOOT" });
    expect((await t.delete(`/hosts/${id}/commands/${kept}`)).status, "the device has it").toBe(400);
    await answer(operation);
    expect((await resultsOf(kept))[0]).toMatchObject({ status: "Acknowledged" });
  });

  it("gets a command again if the reply of the vendor was lost", async () => {
    const { id, uuid } = await enroll("d1");
    service.fault = ({ url }) => (url.pathname.endsWith(":issueCommand") ? { status: 500 } : null);
    const command = await ran({ type: "REBOOT" }, [uuid]);
    await expect
      .poll(async () => (await t.store.androidCommandQueues.first({}))?.failures, { timeout: 20_000 })
      .toBeGreaterThan(0);
    expect((await t.delete(`/hosts/${id}/commands/${command}`)).status, "it may have been accepted").toBe(400);
    // An answer to the command whose name is not known yet has to be sent again.
    expect((await answer(`${ENTERPRISE}/devices/d1/operations/77`, {}, "early")).status).toBe(503);
    service.fault = () => null;
    await sendLater();
    await isIssued();
    expect((await answer(`${ENTERPRISE}/devices/d1/operations/77`, {}, "early")).status).toBe(200);
    expect(await resultsOf(command)).toEqual([]);
  });

  it("does not answer for another one, nor for its own earlier enrollment", async () => {
    const [one, two] = [await enroll("d1"), await enroll("d2")];
    await t.post(`/hosts/${one.id}/lock`);
    const { operation } = await isIssued();
    const number = operation.split("/").at(-1)!;
    expect((await answer(`${two.device.name}/operations/${number}`)).status).toBe(200);
    expect((await answer(`enterprises/other/devices/d1/operations/${number}`)).status).toBe(200);
    expect((await answer("operations/1")).status).toBe(400);
    expect((await service.send(t, "COMMAND", { name: operation, done: true }, { token: "wrong" })).status).toBe(401);
    expect(await mdmOf(one.id)).toMatchObject({ pending_action: "lock" });
    const same = { hardwareInfo: { serialNumber: "SER-d1", enterpriseSpecificId: "ESID-d1" } };
    await enrollAndroid(t, service, { id: "d3", secret: SECRET, more: same });
    expect(await mdmOf(one.id)).toMatchObject({ pending_action: "" });
    await t.post(`/hosts/${one.id}/lock`);
    await isIssued(2);
    expect((await answer(operation)).status).toBe(200);
    expect(await mdmOf(one.id)).toMatchObject({ pending_action: "lock" });
  });

  it("is asked at the vendor what became of its commands, in case that messages were lost", async () => {
    const { uuid } = await enroll("d1");
    const [done, open, lost] = [
      await ran({ type: "REBOOT" }, [uuid]),
      await ran({ type: "STOP_LOST_MODE" }, [uuid]),
      await ran({ type: "LOCK" }, [uuid]),
    ];
    await isIssued(3);
    const named = (type: string) => service.commands.find(({ command }) => command.type === type)!.operation;
    const reboot = named("REBOOT");
    service.operations.set(reboot, { name: reboot, done: true, metadata: { type: "REBOOT" }, response: {} });
    service.operations.delete(named("LOCK"));
    t.clock.advance(days(1));
    await runJob(t.services, "android_sync");
    expect((await resultsOf(done))[0]).toMatchObject({ status: "Acknowledged" });
    expect(await resultsOf(open)).toEqual([]);
    expect((await resultsOf(lost))[0]).toMatchObject({ status: "Error" });
  });

  it("that the vendor does not know any more has left", async () => {
    const { id, device } = await enroll("d1");
    service.devices.delete((device as AndroidDeviceData).name);
    await t.post(`/hosts/${id}/lock`);
    await expect.poll(async () => (await mdmOf(id)).enrollment_status, { timeout: 20_000 }).toBe("Off");
    expect(await mdmOf(id)).toMatchObject({ device_status: "unlocked", pending_action: "" });
  });

  it("is not reached while management is turned off", async () => {
    const { id } = await enroll("d1");
    await t.post(`/hosts/${id}/wipe`);
    await isIssued();
    expect((await t.delete("/android_enterprise")).status).toBe(200);
    expect((await t.post(`/hosts/${id}/lock`)).status).toBe(400);
  });
});
