// Profiles of Windows devices that agents find there or not, and what edited profiles no longer have.
import { beforeEach, describe, expect, it } from "vitest";
import { isSameValue } from "../../../src/server/devices/windows/profiles/compare.ts";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { readCommands } from "../../../src/syncml/read.ts";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { enroll, enrollment, type Send, throughApp } from "../../edge/agent/agents.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { SECRET } from "../../support/managed.ts";
import { headerStatus, managedWindows, statusFor } from "../../support/windows-device.ts";

const NODE = "./Device/Vendor/MSFT/Policy/Config/Camera/AllowCamera";
const set = (node: string, data = "0", verb = "Replace", format = "int") =>
  `<${verb}><Item><Target><LocURI>${node}</LocURI></Target><Meta><Format xmlns="syncml:metinf">${format}</Format></Meta><Data>${data}</Data></Item></${verb}>`;

type Windows = Awaited<ReturnType<typeof managedWindows>>;
const PATIENCE = { timeout: 10_000 };
const NAME = "svc_detail_query_windows_profiles";

describe.each(bothEngines)("profiles of Windows devices that agents report on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  let key: string;
  let windows: Windows;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    windows = await managedWindows(t);
    send = throughApp(t);
    const { uuid } = windows.agent;
    const made = enrollment({ host_identifier: uuid });
    const os_version = { ...made.host_details.os_version, platform: "windows", name: "Windows" };
    const system_info = { ...made.host_details.system_info, uuid };
    key = await enroll(send, {
      host_identifier: uuid,
      enroll_secret: SECRET,
      host_details: { ...made.host_details, os_version, system_info },
    });
    expect(await t.store.hosts.count()).toBe(1);
  });

  const upload = async (content: string, name = "camera") => {
    const profile = Buffer.from(content).toString("base64");
    const response = await t.post("/mdm/profiles/batch", { configuration_profiles: [{ profile, display_name: name }] });
    expect(response.status, await response.text()).toBe(204);
  };
  /** The device gets these commands in its next sessions, and does them. */
  const done = async (verbs: readonly string[], statuses: Readonly<Record<string, string>> = {}) => {
    const commands: SyncCommand[] = [];
    await expect
      .poll(async () => {
        commands.splice(0, commands.length, ...(await windows.device.start()).commands);
        return commands.map(({ verb }) => verb);
      }, PATIENCE)
      .toEqual(verbs);
    const inner = (command: SyncCommand) =>
      command.commands.map((one) => statusFor(one.cmdId, one.verb, statuses[one.items[0]!.target!] ?? "200"));
    await windows.device.send([
      headerStatus,
      ...commands.flatMap((one) => [statusFor(one.cmdId, one.verb, "200"), ...inner(one)]),
    ]);
    return commands;
  };
  const asked = async (): Promise<SyncCommand[] | null> => {
    await t.post(`/hosts/${windows.hostId}/refetch`, {});
    const { json } = await send("/api/v1/qengine/distributed/read", { node_key: key });
    const sql: string | undefined = json.queries[NAME];
    if (sql === undefined) return null;
    expect(json.discovery[NAME]).toContain("mdm_bridge");
    const [, body] = /mdm_command_input = '<SyncBody>(.*)<\/SyncBody>';$/s.exec(sql)!;
    return [...readCommands(body!.replaceAll("''", "'"))];
  };
  type Values = Readonly<Record<string, string | [status: string]>>;
  const outputFor = (gets: readonly SyncCommand[], values: Values) => {
    const replies = gets.map(({ cmdId, items }, i) => {
      const node = items[0]!.target!;
      const value = values[node] ?? ["404"];
      const status = (code: string) =>
        `<Status><CmdID>${10 + i}</CmdID><MsgRef>1</MsgRef><CmdRef>${cmdId}</CmdRef><Cmd>Get</Cmd><Data>${code}</Data></Status>`;
      if (typeof value !== "string") return status(value[0]);
      return `${status("200")}<Results><CmdID>${100 + i}</CmdID><MsgRef>1</MsgRef><CmdRef>${cmdId}</CmdRef><Item><Source><LocURI>${node}</LocURI></Source><Data>${value}</Data></Item></Results>`;
    });
    return `<?xml version="1.0" encoding="utf-16"?><SyncML><SyncHdr/><SyncBody>${replies.join("")}<Final/></SyncBody></SyncML>`;
  };
  const report = (output: string, status = 0) =>
    send("/api/v1/qengine/distributed/write", {
      node_key: key,
      queries: { [NAME]: status === 0 ? [{ raw_mdm_command_output: output }] : [] },
      statuses: { [NAME]: status },
      messages: {},
      stats: {},
    });
  const state = async () => {
    const { host } = (await (await t.get(`/hosts/${windows.hostId}`)).json()) as {
      host: { mdm: { profiles: { status: string; detail: string }[] } };
    };
    return host.mdm.profiles.map(({ status, detail }) => [status, detail]);
  };

  it("are verified if the device has all values, and sent again an hour after one was lost", async () => {
    await upload(set(NODE) + set(`${NODE}'2`, "on &amp; off", "Add", "chr"));
    await done(["Atomic"]);
    expect(await state()).toEqual([["verifying", ""]]);
    const gets = (await asked())!;
    expect(gets.map(({ verb, items }) => [verb, items[0]!.target])).toEqual([
      ["Get", NODE],
      ["Get", `${NODE}'2`],
    ]);
    for (const { cmdId } of gets) expect(Number(cmdId)).toBeLessThan(2 ** 32);
    const good = { [NODE]: "00", [`${NODE}'2`]: "on &amp; off" };
    await report(outputFor(gets, good), 1);
    await report("no SyncML");
    await report(outputFor(gets.slice(1), good));
    await report(outputFor(gets, { ...good, [NODE]: "1" }));
    expect(await state(), "a fresh profile may not be there yet").toEqual([["verifying", ""]]);
    await report(outputFor(gets, good));
    expect(await state()).toEqual([["verified", ""]]);
    t.clock.advance(hours(2));
    await report(outputFor(gets, { ...good, [NODE]: "1" }));
    await done(["Atomic"]);
    t.clock.advance(hours(2));
    await report(outputFor(gets, { [NODE]: "1" }));
    expect(await state()).toEqual([["failed", `${NODE}: it has another value; ${NODE}'2: status 404 (no such node)`]]);
    await report(outputFor(gets, good));
    expect(await state()).toEqual([["verified", ""]]);
  });

  it("are not verified by answers about an earlier content", async () => {
    await upload(set(NODE));
    await done(["Atomic"]);
    const gets = (await asked())!;
    await upload(set(NODE, "1"));
    await done(["Atomic"]);
    await report(outputFor(gets, { [NODE]: "1" }));
    expect(await state()).toEqual([["verifying", ""]]);
    await report(outputFor((await asked())!, { [NODE]: "1" }));
    expect(await state()).toEqual([["verified", ""]]);
  });

  it("are verified without proof where nothing can be read", async () => {
    await upload(set("./User/Vendor/MSFT/Policy/Config/Start/HideSleep"));
    await done(["Atomic"]);
    expect(await state()).toEqual([["verified", ""]]);
    expect(await asked()).toBeNull();
    const admx = "./Device/Vendor/MSFT/Policy/ConfigOperations/ADMXInstall/App/Policy/File";
    await upload(set(admx, "x", "Add", "chr") + set("./Device/Vendor/MSFT/Policy/Config/App~Policy~X/Y", "x"), "admx");
    await done(["Sequence", "Atomic"]);
    await report(outputFor((await asked())!, {}));
    expect(await state()).toEqual([["verified", ""]]);
  });

  it("lose the nodes that an edited profile no longer has, but not those of other profiles", async () => {
    const other = { profile: Buffer.from(set(`${NODE}3`)).toString("base64"), display_name: "other" };
    const both = async (content: string) => {
      const own = { profile: Buffer.from(content).toString("base64"), display_name: "camera" };
      expect((await t.post("/mdm/profiles/batch", { configuration_profiles: [own, other] })).status).toBe(204);
    };
    await both(set(NODE) + set(`${NODE}2`) + set(`${NODE}3`));
    await done(["Atomic", "Atomic"]);
    await both(set(NODE, "1"));
    const [sequence] = await done(["Sequence", "Atomic"], { [`${NODE}2`]: "404" });
    expect(sequence!.commands.map(({ verb, items }) => [verb, items[0]!.target])).toEqual([["Delete", `${NODE}2`]]);
    expect((await t.store.windowsProfileNodes.list()).map(({ nodes, obsolete }) => [nodes, obsolete])).toEqual([
      [[NODE], []],
      [[`${NODE}3`], []],
    ]);
    await both(set(NODE, "2"));
    await done(["Atomic"]);
    await t.post("/mdm/profiles/batch", { configuration_profiles: [] });
    const deleted = (await done(["Sequence", "Sequence"])).flatMap(({ commands }) =>
      commands.map(({ items }) => items[0]!.target),
    );
    expect(deleted.sort()).toEqual([NODE, `${NODE}3`]);
    expect(await state()).toEqual([]);
    expect(await t.store.windowsProfileNodes.list()).toEqual([]);
  });
});

describe("the value of a node", () => {
  const wifi = (name: string, key: string, more = "") =>
    `<?xml version="1.0"?><WLANProfile xmlns="http://www.microsoft.com/networking/WLAN/profile/v1"><name>${name}</name><SSIDConfig><SSID>${more}<name>${name}</name></SSID></SSIDConfig><MSM>${key}</MSM></WLANProfile>`;
  const policy = (a: string, b: string) => `<enabled/><data id="A" value="${a}"/> <data id="B" value="${b}"/>`;

  it.each([
    ["chr", " x\r\ny ", "x\ny", true],
    ["chr", "x", "X", false],
    ["int", "1", "01", true],
    ["int", "1", "2", false],
    ["bool", "true", "True", true],
    ["b64", "QUJD\r\nRA==", "QUJDRA==", true],
    ["chr", policy("1", "2"), '<data value="2" id="B"></data><data id="A" value="1"/><enabled/>', true],
    ["chr", policy("1", "2"), policy("2", "1"), false],
    ["chr", policy("1", "2"), "<disabled/>", false],
    ["chr", "<a><b/><c/></a>", "<a> <b></b>\n<c/></a>", true],
    ["chr", "<a><b/><c/></a>", "<a><c/><b/></a>", false],
    ["chr", wifi("Office", "secret"), wifi("Office", "encrypted", "<hex>4F6666696365</hex>"), true],
    ["chr", wifi("Office", "secret"), wifi("Guests", "secret"), false],
    ["chr", wifi("Office", "secret"), "<WLANProfile", false],
  ])("as %s, %j and %j", (format, wanted, found, expected) => {
    expect(isSameValue(format, wanted, found)).toBe(expected);
  });
});
