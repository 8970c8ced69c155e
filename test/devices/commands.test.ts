// Commands of device management: sent, answered, listed and cancelled by the API.
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../src/plist/read.ts";
import { stringIn } from "../../src/plist/value.ts";
import { runCommand } from "../../src/server/devices/commands/run.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { days, hours } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { appleDevice, newIdentity } from "../support/apple-device.ts";
import { bothEngines, type EngineName, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { appleCommand, base64, makeManagedMac } from "../support/profiles.ts";
import { countedStore } from "../support/statements.ts";

type Json = Record<string, unknown>;
type Caller = Pick<TestApp, "get" | "post" | "delete">;
const json = async (res: Response | Promise<Response>) => (await (await res).json()) as Json;
const reasonOf = async (res: Response) => [res.status, ((await json(res)).errors as { reason: string }[])[0]!.reason];

async function start(engine: EngineName, settings = {}) {
  const t = await startApp({ engine, settings });
  await turnOnAppleMdm(t);
  return t;
}
/** A device that has enrolled. */
async function enrolled(t: TestApp, key = 0) {
  const device = appleDevice(t, await newIdentity(t, null, key));
  await device.authenticate();
  await device.tokenUpdate();
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
  return { device, hostId: row!.host_id };
}
const run = (caller: Pick<Caller, "post">, command: string, ...host_uuids: string[]) =>
  caller.post("/mdm/commands/run", { command, host_uuids });
const sent = async (caller: Pick<Caller, "post">, type: string, ...uuids: string[]) =>
  (await json(run(caller, appleCommand(type), ...uuids))).command_uuid as string;
interface ListedCommands {
  readonly count: number | null;
  readonly results: Json[];
  readonly meta: Json;
}
const list = async (caller: Pick<Caller, "get">, query = "") =>
  (await json(caller.get(`/mdm/commands${query}`))) as unknown as ListedCommands;
const resultsOf = (caller: Pick<Caller, "get">, uuid: string, more = "") =>
  json(caller.get(`/mdm/commandresults?command_uuid=${uuid}${more}`));
const activities = async (t: TestApp, type: string) =>
  t.store.activities.list({ where: eq("type", type), order: [{ column: "id", direction: "asc" }] });

describe.each(bothEngines)("a command of device management on %s", (engine) => {
  it("is refused with 400 while device management is off, for unknown hosts too", async () => {
    const t = await startApp({ engine });
    const off = await run(t, appleCommand("ProfileList"), "nobody");
    expect(off.status).toBe(400);
    expect((await json(off)).message).toBe("device management is not turned on");
    await turnOnAppleMdm(t);
    expect((await run(t, appleCommand("ProfileList"), "nobody")).status).toBe(404);
  });

  it("is sent to several hosts with the uuid that its author chose, and each answers it", async () => {
    const t = await start(engine);
    const [ana, ben] = [await enrolled(t), await enrolled(t, 1)];
    const command = appleCommand("ProfileList", { ManagedOnly: true }, "0001_ProfileList");
    const reply = await run(t, command.replace(/=+$/, ""), ana.device.udid.toLowerCase(), ben.device.udid);
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { command_uuid: "0001_ProfileList", request_type: "ProfileList" },
    ]);
    expect(await resultsOf(t, "0001_ProfileList")).toEqual({});
    expect(await list(t, `?host_identifier=${ana.device.udid}`)).toMatchObject({
      count: null,
      meta: { has_next_results: false, has_previous_results: false },
      results: [
        {
          host_uuid: ana.device.udid,
          command_uuid: "0001_ProfileList",
          status: "Pending",
          command_status: "pending",
          request_type: "ProfileList",
          name: null,
        },
      ],
    });

    expect(await ana.device.idle()).toMatchObject({
      uuid: "0001_ProfileList",
      type: "ProfileList",
      command: { ManagedOnly: true },
    });
    expect(await ana.device.answer("0001_ProfileList", "Acknowledged", { ProfileList: [] })).toBeNull();
    const { results } = (await resultsOf(t, "0001_ProfileList")) as { results: Json[] };
    expect(results).toMatchObject([{ host_uuid: ana.device.udid, status: "Acknowledged", command_status: "ran" }]);
    expect(results[0]!.payload, "the command as it was sent").toBe(
      appleCommand("ProfileList", { ManagedOnly: true }, "0001_ProfileList"),
    );
    const answer = readPlistDict(Buffer.from(String(results[0]!.result), "base64"));
    expect(stringIn(answer, "Status")).toBe("Acknowledged");

    expect(await ben.device.idle()).toMatchObject({ uuid: "0001_ProfileList" });
    expect(await ben.device.answer("0001_ProfileList", "Error")).toBeNull();
    expect(await resultsOf(t, "0001_ProfileList", `&host_identifier=${ben.device.udid}`)).toMatchObject({
      results: [{ host_uuid: ben.device.udid, status: "Error", command_status: "failed" }],
    });
    expect((await activities(t, "ran_custom_mdm_command")).map(({ host_id }) => host_id)).toEqual([
      ana.hostId,
      ben.hostId,
    ]);
    expect(await reasonOf(await run(t, command, ana.device.udid))).toEqual([
      422,
      "a command with this uuid was sent before: give the command another one",
    ]);
  });

  it("waits among what is upcoming on the host, and can be cancelled before the device receives it", async () => {
    const t = await start(engine);
    const { device, hostId } = await enrolled(t);
    const [lock, first] = [await sent(t, "DeviceLock", device.udid), await sent(t, "ProfileList", device.udid)];
    const { host } = (await json(t.get(`/hosts/${hostId}`))) as { host: { display_name: string } };
    const upcoming = async () =>
      (await json(t.get(`/hosts/${hostId}/activities/upcoming`))) as { count: number; activities: Json[] };
    expect(await upcoming()).toMatchObject({
      count: 2,
      activities: [
        {
          type: "ran_custom_mdm_command",
          svc_initiated: false,
          details: {
            host_id: hostId,
            host_display_name: host.display_name,
            host_uuid: device.udid,
            command_uuid: lock,
            request_type: "DeviceLock",
            platform: "darwin",
          },
        },
        { details: { command_uuid: first } },
      ],
    });
    const cancel = (uuid: string) => t.delete(`/hosts/${hostId}/commands/${uuid}`);
    expect((await cancel("unknown")).status).toBe(404);
    expect((await cancel(first)).status, "a type that cannot be cancelled").toBe(400);
    expect((await cancel(lock)).status).toBe(204);
    expect((await cancel(lock)).status, "cancelled").toBe(404);
    expect((await activities(t, "canceled_mdm_command"))[0]).toMatchObject({
      host_id: hostId,
      details: { host_id: hostId, host_display_name: host.display_name, command_type: "DeviceLock" },
    });
    expect(await device.idle()).toMatchObject({ uuid: first });
    expect(await device.answer(first, "Acknowledged")).toBeNull();

    const clear = await sent(t, "ClearPasscode", device.udid);
    const [{ uuid }] = (await upcoming()).activities as [{ uuid: string }];
    expect((await t.delete(`/hosts/${hostId}/activities/upcoming/${uuid}`)).status).toBe(204);
    expect((await list(t, `?command_uuid=${clear}`)).results).toEqual([]);
    const received = await sent(t, "ClearPasscode", device.udid);
    expect(await device.idle()).toMatchObject({ uuid: received });
    expect((await cancel(received)).status, "received").toBe(400);
    expect(await device.answer(received, "NotNow")).toBeNull();
    expect((await cancel(received)).status, "postponed: it waits again").toBe(204);
    expect(await device.idle()).toBeNull();
  });

  it("reaches thousands of hosts with few statements", async () => {
    const t = await start(engine);
    const template = await t.store.hosts.get((await makeHost(t, { platform: "darwin" })).id);
    const { id: _id, revision: _revision, ...row } = template!;
    const many = 3_000;
    const hosts = await t.store.hosts.insertMany(
      Array.from({ length: many }, (_, i) => ({ ...row, identifier: `many ${i}`, uuid: `MANY-${i}` })),
    );
    await t.store.hostMdm.insertMany(
      hosts.map(({ id }) => ({ id, enrollment_status: "On (manual)", connected_to_svc: true }) as const),
    );
    const { services, calls } = countedStore(t);
    const request = { command: appleCommand("ProfileList"), host_uuids: hosts.map((host) => host.uuid) };
    const { command_uuid: uuid } = await runCommand(serviceContext(services), request);
    expect(await calls()).toBeGreaterThan(20);
    expect(await calls()).toBeLessThan(80);
    const waiting = await list(t, `?command_uuid=${uuid}&command_status=pending&per_page=1000&page=2`);
    expect([waiting.count, waiting.results.length, waiting.meta.has_next_results]).toEqual([many, 1_000, false]);
    expect(await t.store.operationContents.count()).toBe(1);
    expect(await t.store.operations.count()).toBe(many);
  });

  it("is deleted with its answer a month after the device has answered, but not while it waits", async () => {
    const t = await start(engine);
    const { device } = await enrolled(t);
    const [done, waits] = [await sent(t, "ProfileList", device.udid), await sent(t, "SecurityInfo", device.udid)];
    await device.idle();
    await device.answer(done, "Acknowledged");
    t.clock.advance(days(29));
    await runJob(t.services, "operations");
    expect(await t.store.mdmCommands.count()).toBe(2);
    t.clock.advance(days(2));
    await runJob(t.services, "operations");
    expect(await t.store.mdmCommands.list()).toMatchObject([{ command_uuid: waits }]);
    expect(await t.store.operations.count()).toBe(1);
    expect(await t.store.operationContents.count(), "what waits keeps its content").toBe(1);
  });
});

describe.each(rulesEngines)("commands of device management on %s", (engine) => {
  it("with passwords are stored sealed, shown with a mask, and change the state of the host when they are done", async () => {
    const t = await start(engine);
    const { device, hostId } = await enrolled(t);
    const command = appleCommand("DeviceLock", { PIN: "402913", Message: "Lost" }, "lock-1");
    expect((await run(t, command, device.udid)).status).toBe(200);
    const lock = (await device.idle())!;
    expect(lock.command).toEqual({ RequestType: "DeviceLock", PIN: "402913", Message: "Lost" });
    const kept = async () => JSON.stringify([await t.store.operationContents.list(), await t.store.activities.list()]);
    expect(await kept()).not.toContain("402913");
    await device.answer(lock.uuid, "Acknowledged");
    const { results } = (await resultsOf(t, "lock-1")) as { results: { payload: string }[] };
    const payload = Buffer.from(results[0]!.payload, "base64").toString();
    expect(payload).toContain("Lost");
    expect(payload).not.toContain("402913");
    expect((await t.store.mdmCommands.first({ where: eq("command_uuid", "lock-1") }))!.sealed_content).toBeNull();
    const stateOf = async () => ((await json(t.get(`/hosts/${hostId}`))).host as { mdm: Json }).mdm;
    expect(await stateOf()).toMatchObject({ device_status: "locked", pending_action: "" });
    expect(await json(t.post(`/hosts/${hostId}/unlock`))).toMatchObject({ unlock_pin: "402913" });
    t.clock.advance(days(1));
    await device.idle();
    expect(await stateOf()).toMatchObject({ device_status: "unlocked" });
    await run(t, appleCommand("EraseDevice", { PIN: "111111" }, "wipe-1"), device.udid);
    await device.answer((await device.idle())!.uuid, "Acknowledged");
    expect(await stateOf()).toMatchObject({ device_status: "wiped" });
  });

  it("are refused as a whole if one host is missing, not managed, or of another platform", async () => {
    const t = await start(engine);
    const mac = await makeManagedMac(t, { uuid: "MAC-1" });
    const off = await makeHost(t, { platform: "darwin", uuid: "MAC-OFF" });
    const linux = await makeManagedMac(t, { uuid: "LINUX-1", platform: "ubuntu" });
    const command = appleCommand("ProfileList");
    expect(await reasonOf(await run(t, command, mac.uuid, "nowhere"))).toEqual([404, "no host has the uuid nowhere"]);
    expect(await reasonOf(await run(t, command, mac.uuid, off.uuid))).toEqual([
      422,
      `device management is not turned on for the host ${off.display_name}`,
    ]);
    expect(await reasonOf(await run(t, command, mac.uuid, linux.uuid))).toEqual([
      422,
      "all hosts have to be of one platform",
    ]);
    expect(await reasonOf(await run(t, command, linux.uuid))).toEqual([
      422,
      "commands cannot be sent to hosts of the platform ubuntu",
    ]);
    await makeHost(t, { platform: "darwin", uuid: "mac-1" });
    expect((await run(t, command, mac.uuid)).status, "a copy that is not enrolled does not matter").toBe(200);
    await makeManagedMac(t, { uuid: "MAC-1" });
    expect(await reasonOf(await run(t, command, mac.uuid))).toEqual([422, "several managed hosts have the uuid MAC-1"]);
    expect(await t.store.operations.count()).toBe(1);
  });

  it("are refused with a reason if they are not commands", async () => {
    const t = await start(engine);
    const { uuid } = await makeManagedMac(t);
    const nested = `<plist version="1.0">${"<array>".repeat(70)}${"</array>".repeat(70)}</plist>`;
    for (const [command, reason] of [
      ["%%%", /not base64/],
      [base64("hello"), /not a property list/],
      [base64(nested), /not a property list/],
      [base64('<!DOCTYPE x [<!ENTITY a "b">]><plist version="1.0"><dict/></plist>'), /not a property list/],
      [base64('<plist version="1.0"><dict/></plist>'), /no dictionary named Command/],
      [base64('<plist version="1.0"><dict><key>Command</key><dict/></dict></plist>'), /no RequestType/],
      [appleCommand("ProfileList", {}, "a/b"), /CommandUUID/],
      [appleCommand("ProfileList", {}, ".."), /CommandUUID/],
    ] as const)
      expect(await reasonOf(await run(t, command, uuid))).toEqual([422, expect.stringMatching(reason)]);
    const large = await run(t, base64("x".repeat(2 * 1024 * 1024 + 1)), uuid);
    expect(large.status).toBe(413);
    expect((await t.post("/commands/run", { command: appleCommand("ProfileList"), host_uuids: [] })).status).toBe(422);
    expect(await t.store.operations.count()).toBe(0);
  });

  it("are for managed devices: 400 while device management is turned off", async () => {
    const t = await startApp({ engine });
    const { uuid, id } = await makeManagedMac(t);
    for (const res of [
      await run(t, appleCommand("ProfileList"), uuid),
      await t.get("/mdm/commands"),
      await t.delete(`/hosts/${id}/commands/x`),
    ])
      expect(await reasonOf(res)).toEqual([400, "device management is not turned on"]);
  });

  it("that lock or erase need the premium tier; those that erase are wipes, with their rules", async () => {
    const free = await startApp({ engine, tier: "free" });
    await turnOnAppleMdm(free);
    const own = await makeManagedMac(free);
    for (const type of ["EraseDevice", "DeviceLock"])
      expect((await run(free, appleCommand(type), own.uuid)).status).toBe(402);
    expect((await run(free, appleCommand("RestartDevice"), own.uuid)).status).toBe(200);
    expect((await free.delete(`/hosts/${own.id}/commands/x`)).status).toBe(402);

    const t = await start(engine, { wipes_per_hour: 1 });
    const macs = [await makeManagedMac(t), await makeManagedMac(t)];
    const both = macs.map((mac) => mac.uuid);
    expect((await run(t, appleCommand("EraseDevice"), ...both)).status, "more than the budget").toBe(429);
    expect((await run(t, appleCommand("DeviceLock"), ...both)).status).toBe(200);
    expect((await run(t, appleCommand("EraseDevice"), both[0]!)).status).toBe(200);

    const strict = await start(engine, { require_approval: true });
    const [mac] = [await makeManagedMac(strict)];
    expect(await reasonOf(await run(strict, appleCommand("EraseDevice"), mac.uuid))).toEqual([
      422,
      expect.stringContaining("another user has to approve wipes"),
    ]);
  });

  it("are sent, seen and cancelled only by those who may do so on the host's team", async () => {
    const t = await start(engine);
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const mine = await makeManagedMac(t, { team_id: own.id });
    const theirs = await makeManagedMac(t, { team_id: other.id });
    const maintainer = await makeUser(t, { teams: [{ id: own.id, role: "maintainer" }] });
    const observer = await makeUser(t, { teams: [{ id: own.id, role: "observer" }] });
    const gitops = await makeUser(t, { teams: [{ id: own.id, role: "gitops" }] });
    const command = appleCommand("ProfileList");

    expect((await run(observer, command, mine.uuid)).status).toBe(403);
    expect((await run(maintainer, command, theirs.uuid)).status).toBe(404);
    expect((await run(maintainer, command, mine.uuid, theirs.uuid)).status, "all or none").toBe(404);
    expect((await run(gitops, command, mine.uuid)).status).toBe(200);
    expect((await gitops.get("/mdm/commands")).status).toBe(403);
    const actions = ["EraseDevice", "DeviceLock", "EnableLostMode", "DisableLostMode", "ClearPasscode"].map((type) =>
      appleCommand(type),
    );
    const leave = appleCommand("RemoveProfile", { Identifier: "com.svc.mdm" });
    for (const action of [...actions, leave])
      expect(await reasonOf(await run(gitops, action, mine.uuid)), "what hosts:lock allows").toEqual([
        403,
        expect.stringContaining("need the right to do that"),
      ]);
    expect((await run(gitops, appleCommand("RemoveProfile", { Identifier: "wifi" }), mine.uuid)).status).toBe(200);
    const shared = await sent(t, "ClearPasscode", mine.uuid, theirs.uuid);
    const foreign = await sent(t, "ClearPasscode", theirs.uuid);

    for (const caller of [maintainer, observer]) {
      const seen = await list(caller, "?per_page=100");
      expect(new Set(seen.results.map(({ host_uuid }) => host_uuid))).toEqual(new Set([mine.uuid]));
      expect((await caller.get(`/mdm/commands?host_identifier=${theirs.uuid}`)).status).toBe(404);
      expect((await caller.get(`/mdm/commandresults?command_uuid=${foreign}`)).status).toBe(404);
      expect((await list(caller, `?command_uuid=${foreign}`)).results).toEqual([]);
      expect((await list(caller, `?command_uuid=${shared}&command_status=pending`)).count).toBe(1);
    }
    await t.store.mdmCommands.update({
      where: eq("command_uuid", shared),
      set: { result: base64("answer"), status: "Acknowledged", command_status: "ran" },
    });
    const answers = async (caller: Caller) => ((await resultsOf(caller, shared)).results as Json[]).length;
    expect([await answers(t), await answers(maintainer)]).toEqual([2, 1]);
    const profile = await sent(t, "InstallProfile", mine.uuid);
    await t.store.mdmCommands.update({ where: eq("command_uuid", profile), set: { result: base64("done") } });
    const payload = async (caller: Caller) => ((await resultsOf(caller, profile)).results as Json[])[0]!.payload;
    expect(await payload(observer), "observers read no profiles").toBe("");
    expect(await payload(maintainer)).not.toBe("");
    expect((await observer.delete(`/hosts/${mine.id}/commands/${shared}`)).status).toBe(403);
    expect((await maintainer.delete(`/hosts/${theirs.id}/commands/${foreign}`)).status).toBe(404);
    expect((await maintainer.delete(`/hosts/${mine.id}/commands/${foreign}`)).status, "of another host").toBe(404);
  });

  it("are listed by host, type and status, in every order, page by page", async () => {
    const t = await start(engine);
    const [ana, ben] = [
      await makeManagedMac(t, { hostname: "ana", uuid: "U-2" }),
      await makeManagedMac(t, { hostname: "ben", uuid: "U-1" }),
    ];
    const uuids: string[] = [];
    for (const [type, host] of [
      ["ProfileList", ana],
      ["SecurityInfo", ben],
      ["ProfileList", ben],
    ] as const) {
      t.clock.advance(hours(1));
      uuids.push(await sent(t, type, host.uuid));
    }
    const [first, second, third] = uuids as [string, string, string];
    await t.store.mdmCommands.update({
      where: eq("command_uuid", first),
      set: { status: "Acknowledged", command_status: "ran" },
    });
    const found = async (query: string) => (await list(t, query)).results.map(({ command_uuid }) => command_uuid);
    expect(await found("")).toEqual([third, second, first]);
    expect(await found("?order_key=updated_at&order_direction=asc&per_page=2")).toEqual([first, second]);
    expect(await found("?order_key=hostname&per_page=1")).toEqual([first]);
    expect(await found("?order_key=host_uuid&per_page=1&page=2")).toEqual([first]);
    expect(await found("?order_key=request_type&order_direction=desc&per_page=1")).toEqual([second]);
    expect(await found("?order_key=status&per_page=1")).toEqual([first]);
    expect(await found("?order_key=command_uuid")).toEqual([...uuids].sort());
    expect(await found(`?order_key=command_uuid&after=${[...uuids].sort()[1]}`)).toEqual([[...uuids].sort()[2]]);
    expect(await found("?host_identifier=BEN")).toEqual([third, second]);
    expect(await found("?request_type=ProfileList")).toEqual([third, first]);
    expect(await found("?host_identifier=ana&command_status=ran,failed")).toEqual([first]);
    expect((await list(t, "?host_identifier=ben&command_status=pending")).count).toBe(2);
    expect((await list(t, "?host_identifier=ben&command_status=pending,ran")).count).toBeNull();
    const refused = async (query: string) => (await t.get(`/commands${query}`)).status;
    expect(await refused("?command_status=pending"), "of which host").toBe(422);
    expect(await refused("?host_identifier=ana&command_status=done")).toBe(422);
    expect(await refused("?host_identifier=nobody")).toBe(404);
    expect(await refused("?per_page=1001")).toBe(400);
    expect(await refused("?page=101")).toBe(400);
    expect(await refused("?order_key=result")).toBe(400);
  });

  it("that are larger together than a reply may be are shown in parts", async () => {
    const t = await start(engine);
    const macs = await Promise.all(Array.from({ length: 4 }, () => makeManagedMac(t)));
    const uuid = await sent(t, "ProfileList", ...macs.map((mac) => mac.uuid));
    const large = "A".repeat(12 * 1024 * 1024);
    await t.store.mdmCommands.update({ where: eq("command_uuid", uuid), set: { result: large } });
    const results = (more: string) => t.get(`/commands/results?command_uuid=${uuid}${more}`);
    expect(await reasonOf(await results(""))).toEqual([422, expect.stringContaining("larger than 32 MiB")]);
    const page = (await json(results("&per_page=2&page=1"))) as unknown as ListedCommands;
    expect([page.results.length, page.meta]).toEqual([2, { has_next_results: false, has_previous_results: true }]);
  });
});
