// Management sessions of Windows devices: authentication, commands and their answers.
import { describe, expect, it } from "vitest";
import { windowsCustomCommand } from "../../../src/server/devices/windows/commands/custom.ts";
import { sendWindowsCommands } from "../../../src/server/devices/windows/commands/send.ts";
import { minutes } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { alerts, UNENROLLED_BY_USER } from "../../../src/syncml/codes.ts";
import { type SyncCommand, syncCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeManaged } from "../../support/managed.ts";
import {
  enrollWindows,
  headerStatus,
  MANAGEMENT,
  managedWindows,
  statusFor,
  turnOnWindowsMdm,
  userToken,
  windowsDevice,
} from "../../support/windows-device.ts";

const NODE = "./Device/Vendor/MSFT/Policy/Config/Test/Node";
const add = (target = NODE, data = "1") =>
  syncCommand("Add", "", { items: [{ target, format: "int", type: "text/plain", data }] });
const atomic = (...commands: SyncCommand[]) => syncCommand("Atomic", "", { commands });

const send = (t: TestApp, hostId: number, ...commands: SyncCommand[]) => {
  const ctx = serviceContext(t.services);
  return t.store.tx((store) =>
    sendWindowsCommands(
      { ...ctx, store },
      windowsCustomCommand,
      commands.map((command) => ({ hostId, command })),
    ),
  );
};
const command = async (t: TestApp, uuid: string) => {
  const row = await t.store.mdmCommands.first({ where: eq("command_uuid", uuid) });
  const operation = row && (await t.store.operations.get(row.id));
  return [row?.status, row?.command_status, operation?.state];
};
const ids = (commands: readonly SyncCommand[]) => commands.map(({ cmdId }) => cmdId);

describe.each(bothEngines)("a session of a Windows device on %s", (engine) => {
  it("gets its commands in order, answers each once, and leaves", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    expect((await device.start()).commands).toEqual([]);
    const [first, second] = await send(
      t,
      hostId,
      add(),
      syncCommand("Get", "", { items: [{ target: "./DevDetail/SwV" }] }),
    );
    const began = await device.start();
    expect(began).toMatchObject({ status: "212" });
    expect(began.message.header).toMatchObject({ sessionId: "2", target: device.facts.DeviceID });
    expect(began.message.commands.slice(0, 2)).toMatchObject([
      { verb: "Status", cmdRef: "0", cmd: "SyncHdr" },
      { verb: "Status", cmdRef: "4", cmd: "Replace", data: "200" },
    ]);
    expect(ids(began.commands)).toEqual([first, second]);
    expect(began.commands[0]!.items).toEqual(add().items);
    const results = syncCommand("Results", "9", {
      msgRef: "1",
      cmdRef: second!,
      cmd: "Get",
      items: [{ source: "./DevDetail/SwV", data: "10.0.22631" }],
    });
    const next = await device.send([
      headerStatus,
      statusFor(first!, "Add", "200"),
      statusFor(second!, "Get", "200"),
      results,
    ]);
    expect(next.commands).toEqual([]);
    await device.send([headerStatus, statusFor(first!, "Add", "500")]);
    expect(await command(t, first!), "a repeated answer changes nothing").toEqual(["200", "ran", "answered"]);
    expect(await command(t, second!)).toEqual(["200", "ran", "answered"]);
    const reply = (await (await t.get(`/mdm/commandresults?command_uuid=${second}`)).json()) as {
      results: { payload: string; result: string }[];
    };
    expect(Buffer.from(reply.results[0]!.result, "base64").toString()).toContain("10.0.22631");
    expect(Buffer.from(reply.results[0]!.payload, "base64").toString()).toContain(`<CmdID>${second}</CmdID>`);

    const goodbye = syncCommand("Alert", "9", {
      data: alerts.generic,
      items: [{ type: UNENROLLED_BY_USER, data: "1" }],
    });
    await send(t, hostId, add());
    expect((await device.start([goodbye])).commands, "it gets nothing more").toEqual([]);
    expect(await t.store.hostMdm.get(hostId)).toMatchObject({ enrollment_status: "Off", connected_to_svc: false });
    expect((await device.start()).status).toBe("401");
    const types = (await t.store.activities.list()).map(({ type }) => type).filter((type) => type.startsWith("mdm_"));
    expect(types).toEqual(["mdm_enrolled", "mdm_unenrolled"]);
  });

  it("sends again in the next session what was not answered, and only then", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const [first] = await send(t, hostId, add());
    expect(ids((await device.start()).commands)).toEqual([first]);
    expect(ids((await device.send([headerStatus])).commands)).toEqual([]);
    expect(ids((await device.start()).commands)).toEqual([first]);
    expect(await command(t, first!)).toEqual(["101", "pending", "sent"]);
  });

  it("gets an Add again as Replace, once, if the node exists", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const [uuid] = await send(t, hostId, atomic(add(), add(`${NODE}2`)));
    const [sent] = (await device.start()).commands;
    expect(ids(sent!.commands)).toEqual([`${uuid}.1`, `${uuid}.2`]);
    const again = await device.send([
      headerStatus,
      statusFor(uuid!, "Atomic", "507"),
      statusFor(`${uuid}.1`, "Add", "418"),
      statusFor(`${uuid}.2`, "Add", "216"),
    ]);
    expect(again.commands[0]!.commands.map(({ verb }) => verb)).toEqual(["Replace", "Add"]);
    expect(again.commands[0]!.cmdId).toBe(uuid);
    await device.send([
      headerStatus,
      statusFor(uuid!, "Atomic", "507"),
      statusFor(`${uuid}.1`, "Replace", "216"),
      statusFor(`${uuid}.2`, "Add", "418"),
    ]);
    expect(await command(t, uuid!)).toEqual(["507", "failed", "failed"]);
    const row = await t.store.operations.first({ where: eq("uuid", uuid!) });
    expect(row!.result).toMatchObject({ detail: `${NODE}2: status 418 (exists already)` });
  });
});

describe.each(rulesEngines)("messages of Windows devices on %s", (engine) => {
  it("need a digest with a fresh nonce, each time", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    await send(t, hostId, add());
    const credentials = device.digest(device.nonce!);
    const nobody = await device.start([], { credentials: null });
    expect([nobody.status, nobody.commands.length]).toEqual(["407", 0]);
    expect(nobody.message.commands, "nothing of it was processed").toHaveLength(1);
    expect(nobody.message.commands[0]!.challenge).toMatchObject({ format: "b64", type: "syncml:auth-md5" });
    expect((await device.send([headerStatus], { credentials })).status).toBe("212");
    expect((await device.send([headerStatus], { credentials })).status, "the same again").toBe("401");
    const wrong = { ...credentials, data: "AAAAAAAAAAAAAAAAAAAAAA==" };
    const tried = device.digest(device.nonce!);
    expect((await device.send([headerStatus], { credentials: wrong })).status).toBe("401");
    expect((await device.send([headerStatus], { credentials: tried })).status, "after a wrong try").toBe("212");
    const late = device.digest(device.nonce!);
    t.clock.advance(minutes(5) + 1);
    expect((await device.send([headerStatus], { credentials: late })).status, "too late").toBe("401");
    expect((await device.send([headerStatus])).status).toBe("212");
  });

  it("are accepted from the device, however many strangers use its name and its session", async () => {
    const t = await startApp({ engine });
    const { device } = await managedWindows(t);
    const { account } = (await t.store.windowsEnrollments.first({}))!;
    const credentials = device.digest(device.nonce!);
    const stranger = windowsDevice(t, {
      deviceId: device.facts.DeviceID,
      name: account,
      secret: "guessed",
      firstNonce: device.nonce!,
    });
    const wrong = { ...credentials, data: "AAAAAAAAAAAAAAAAAAAAAA==" };
    for (let i = 0; i < 30; i++)
      for (const tried of [null, wrong]) {
        const reply = await stranger.start([], { credentials: tried });
        expect([["401", "407"].includes(reply.status), reply.commands]).toEqual([true, []]);
      }
    expect(await t.store.windowsNonces.count(), "strangers add none").toBe(1);
    expect((await device.start([], { credentials })).status).toBe("212");
    expect((await device.send([headerStatus])).status, "with the next nonce").toBe("212");
    const again = device.digest(device.nonce!);
    await stranger.start([], { credentials: null });
    expect((await device.send([headerStatus], { credentials: again })).status).toBe("212");
    expect((await device.send([headerStatus], { credentials: again })).status, "the same again").toBe("401");
  });

  it("prove nothing by the name of the sender", async () => {
    const t = await startApp({ engine });
    const ana = await managedWindows(t);
    const ben = await managedWindows(t);
    const [uuid] = await send(t, ana.hostId, add());
    const seen = await t.store.hostMdm.get(ana.hostId);
    const goodbye = syncCommand("Alert", "9", { data: alerts.generic, items: [{ type: UNENROLLED_BY_USER }] });
    for (const credentials of [null, ben.device.digest(ben.device.nonce!)]) {
      const reply = await ben.device.start([goodbye, statusFor(uuid!, "Add", "200")], {
        source: ana.device.facts.DeviceID,
        credentials,
      });
      expect([["401", "407"].includes(reply.status), reply.commands]).toEqual([true, []]);
    }
    expect(await command(t, uuid!)).toEqual(["101", "pending", "queued"]);
    expect(await t.store.hostMdm.get(ana.hostId)).toEqual(seen);
    expect((await ben.device.start([], { source: "NOBODY", credentials: null })).status).toBe("407");
  });

  it("cannot answer commands of other devices, nor those that were not sent yet", async () => {
    const t = await startApp({ engine });
    const ana = await managedWindows(t);
    const ben = await managedWindows(t);
    const [uuid] = await send(t, ana.hostId, add());
    await ben.device.start([statusFor(uuid!, "Add", "200")]);
    expect(await command(t, uuid!)).toEqual(["101", "pending", "queued"]);
    await ana.device.start([statusFor(uuid!, "Add", "200")]);
    expect(await command(t, uuid!), "it got the command with the reply").toEqual(["101", "pending", "sent"]);
    await ana.device.send([headerStatus, statusFor(uuid!, "Add", "200")]);
    expect(await command(t, uuid!)).toEqual(["200", "ran", "answered"]);
  });

  it("may have several parts: the server waits for the last one, and for the results of a Get", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const [uuid] = await send(t, hostId, syncCommand("Get", "", { items: [{ target: "./DevDetail/SwV" }] }));
    await device.start();
    await send(t, hostId, add());
    const part = await device.send([headerStatus, statusFor(uuid!, "Get", "200")], { isFinal: false });
    expect(part.commands).toEqual([]);
    expect(part.message.commands.at(-1)).toMatchObject({ verb: "Alert", data: alerts.nextMessage });
    expect(await command(t, uuid!)).toEqual(["101", "pending", "sent"]);
    const results = syncCommand("Results", "2", {
      msgRef: "1",
      cmdRef: uuid!,
      items: [{ source: "./DevDetail/SwV", data: "10.0" }],
    });
    expect((await device.send([results])).commands).toHaveLength(1);
    expect(await command(t, uuid!)).toEqual(["200", "ran", "answered"]);
  });

  it("are answered with as many commands as fit, and the rest after the next message", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const large = Array.from({ length: 5 }, (_, i) => add(`${NODE}${i}`, "x".repeat(90_000)));
    const uuids = await send(t, hostId, ...large);
    expect(ids((await device.start()).commands)).toEqual(uuids.slice(0, 3));
    expect(ids((await device.send([headerStatus])).commands)).toEqual(uuids.slice(3));
    expect(ids((await device.start([], { maxMsgSize: 8_192 })).commands), "room for less").toEqual(uuids.slice(0, 1));
  });

  it("are refused with 400 if they are not SyncML", async () => {
    const t = await startApp({ engine });
    const { device } = await managedWindows(t);
    for (const body of ["", "<a/>", '<!DOCTYPE a [<!ENTITY b "c">]><SyncML xmlns="SYNCML:SYNCML1.2">&b;</SyncML>'])
      expect((await device.post(body)).status).toBe(400);
    expect((await t.raw(`${MANAGEMENT}?mode=Maintenance&Platform=WoA`, { method: "POST", body: "<a/>" })).status).toBe(
      400,
    );
  });

  it("of a device that enrolls again end what was asked of it before", async () => {
    const t = await startApp({ engine });
    const { agent, device, hostId } = await managedWindows(t);
    const [uuid] = await send(t, hostId, add());
    const again = await enrollWindows(t, userToken(agent.key), { DeviceID: "NEW", HWDevID: device.facts.HWDevID });
    expect(again.hostId).toBe(hostId);
    expect(await t.store.operations.first({ where: eq("uuid", uuid!) })).toMatchObject({ state: "cancelled" });
    expect((await again.start()).commands).toEqual([]);
    expect((await device.start()).status).toBe("401");
  });
});

it("cancels and lists commands that users run on Windows hosts", async () => {
  const t = await startApp();
  const { device, hostId } = await managedWindows(t);
  const { uuid: host_uuid } = (await t.store.hosts.get(hostId))!;
  const run = (text: string) =>
    t.post("/mdm/commands/run", { command: Buffer.from(text).toString("base64"), host_uuids: [host_uuid] });
  const reply = await run(
    "<Exec><CmdID>x</CmdID><Item><Target><LocURI>./Device/Vendor/MSFT/Reboot/RebootNow</LocURI></Target></Item></Exec>",
  );
  const { command_uuid, request_type } = (await reply.json()) as Record<string, string>;
  expect([reply.status, request_type]).toEqual([200, "./Device/Vendor/MSFT/Reboot/RebootNow"]);
  const shown = async () =>
    ((await (await t.get(`/commands?command_uuid=${command_uuid}`)).json()) as { results: object[] }).results;
  expect(await shown()).toMatchObject([{ status: "101", command_status: "pending" }]);
  expect(ids((await device.start()).commands)).toEqual([command_uuid]);
  await device.send([headerStatus, statusFor(command_uuid!, "Exec", "200")]);
  expect(await shown()).toMatchObject([{ status: "200", command_status: "ran" }]);
  const item = "<Item><Target><LocURI>./a</LocURI></Target></Item>";
  const refused: [string, RegExp][] = [
    ["<Exec/>", /one Exec with one Item, but it has 0/],
    ["<Exec><Item/></Exec>", /no Target/],
    [`<Exec>${item}${item}</Exec>`, /one Exec with one Item, but it has 2/],
    ["<Status><CmdID>1</CmdID></Status>", /but it is Status/],
    [" ", /one Exec/],
    [`<Exec>${item}</Exec><Exec>${item}</Exec>`, /one after the other/],
    ...["Get", "Replace", "Add", "Delete"].map((verb): [string, RegExp] => [
      `<${verb}>${item}</${verb}>`,
      /one Exec with one Item/,
    ]),
    [`<Atomic><Exec>${item}</Exec></Atomic>`, /but it is Atomic/],
    ["<plist/>", /not a command/],
  ];
  for (const [text, reason] of refused) {
    const reply = await run(text);
    const { errors } = (await reply.json()) as { errors: { reason: string }[] };
    expect([reply.status, errors[0]!.reason], text).toEqual([422, expect.stringMatching(reason)]);
  }
});

it("has nothing for hosts that are not enrolled", async () => {
  const t = await startApp();
  await turnOnWindowsMdm(t);
  const agent = await makeManaged(t, { platform: "windows" });
  const { uuid } = await agent.host();
  const command = Buffer.from("<Exec><Item><Target><LocURI>./a</LocURI></Target></Item></Exec>").toString("base64");
  expect((await t.post("/mdm/commands/run", { command, host_uuids: [uuid] })).status).toBe(422);
});
