// What Windows and Android devices may send: the limit, and one more.
import { describe, expect, it } from "vitest";
import { textsIn } from "../../src/server/delivery/managed-agent/field-limits.ts";
import { AndroidDevice, androidLimits } from "../../src/server/devices/android/devices/report.ts";
import { windowsAnswer } from "../../src/server/devices/windows/channel/answers.ts";
import { windowsCustomCommand } from "../../src/server/devices/windows/commands/custom.ts";
import { sendWindowsCommands } from "../../src/server/devices/windows/commands/send.ts";
import { windowsDeviceLimits } from "../../src/server/devices/windows/enroll/enroll.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { type SyncCommand, syncCommand } from "../../src/syncml/value.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeManaged } from "../support/managed.ts";
import {
  enrollWindows,
  factsOf,
  headerStatus,
  managedWindows,
  requestToken,
  statusFor,
  turnOnWindowsMdm,
  userToken,
} from "../support/windows-device.ts";

const [ids, texts] = windowsDeviceLimits.map(({ max }) => max) as [number, number];

describe.each(rulesEngines)("a Windows device on %s", (engine) => {
  it.each(["DeviceID", "HWDevID"])("enrolls with a %s up to its size", async (name) => {
    const t = await startApp({ engine });
    await turnOnWindowsMdm(t);
    const agent = await makeManaged(t, { platform: "windows" });
    const { fault } = await requestToken(t, userToken(agent.key), factsOf({ [name]: "x".repeat(ids + 1) }));
    expect(fault).toMatchObject({ code: "MessageFormat", reason: expect.stringContaining(name) });
    expect(await t.store.windowsEnrollments.count()).toBe(0);
    await enrollWindows(t, userToken(agent.key), { [name]: "x".repeat(ids) });
    expect(await t.store.windowsEnrollments.count()).toBe(1);
  });

  it("has limited texts about itself", async () => {
    const t = await startApp({ engine });
    await turnOnWindowsMdm(t);
    const agent = await makeManaged(t, { platform: "windows" });
    const long = "x".repeat(texts + 1);
    await enrollWindows(t, userToken(agent.key), { DeviceName: long, OSVersion: long });
    const stored = JSON.stringify([await t.store.windowsEnrollments.list(), await t.store.hosts.list({})]);
    expect(stored).not.toContain(long);
  });
});

/** Everything that is stored, as one text. */
const allStored = async (t: TestApp) =>
  JSON.stringify([
    await t.store.hosts.list({}),
    await t.store.windowsEnrollments.list(),
    await t.store.mdmCommands.list(),
    await t.store.operations.list(),
    await t.store.hostProfiles.list(),
    await t.store.activities.list(),
  ]);

/** Paths of the texts in a value: "items.0.source". */
const textPaths = (value: unknown, at = ""): string[] =>
  typeof value === "string"
    ? [at]
    : Object.entries(value ?? {}).flatMap(([key, field]) => textPaths(field, at === "" ? key : `${at}.${key}`));

function withText<T>(value: T, path: string, text: string): T {
  const [first, ...rest] = path.split(".") as [string, ...string[]];
  const fields = value as Record<string, unknown>;
  const field = rest.length === 0 ? text : withText(fields[first], rest.join("."), text);
  return (Array.isArray(value) ? value.with(Number(first), field) : { ...fields, [first]: field }) as T;
}

describe.each(rulesEngines)("a message in a session of a Windows device on %s", (engine) => {
  const item = { target: "./T", source: "./DevInfo/Mod", format: "chr", type: "text/plain", data: "d" };
  const long = "z".repeat(100_000);
  /** What a device may send besides the answers to commands: about itself, and about commands that it did not get. */
  const messages: Readonly<Record<string, SyncCommand>> = {
    "facts of the device": syncCommand("Replace", "4", { items: [item] }),
    "an alert": syncCommand("Alert", "5", { data: "1226", items: [item] }),
    "the status of an unknown command": syncCommand("Status", "6", {
      msgRef: "1",
      cmdRef: "7",
      cmd: "Add",
      data: "200",
    }),
    "results of an unknown command": syncCommand("Results", "7", {
      msgRef: "1",
      cmdRef: "8",
      cmd: "Get",
      items: [item],
    }),
  };

  for (const [what, command] of Object.entries(messages))
    it(`stores no long text of ${what}`, async () => {
      const t = await startApp({ engine });
      const { device } = await managedWindows(t);
      const paths = textPaths(command).filter((path) => path !== "verb");
      expect(paths.length).toBeGreaterThan(3);
      for (const path of paths) {
        await device.start();
        await device.send([headerStatus, withText(command, path, long)]).catch(() => {});
      }
      expect(await allStored(t)).not.toContain("z".repeat(10_000));
    });

  it("stores the answer to a command up to its size", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const ctx = serviceContext(t.services);
    const get = syncCommand("Get", "", { items: [{ target: "./DevDetail/SwV" }] });
    const [id] = await t.store.tx((store) =>
      sendWindowsCommands({ ...ctx, store }, windowsCustomCommand, [{ hostId, command: get }]),
    );
    await device.start();
    const results = (data: string) =>
      syncCommand("Results", "9", {
        msgRef: "1",
        cmdRef: id!,
        cmd: "Get",
        items: [{ source: "./DevDetail/SwV", data }],
      });
    // A message has at most 2 MiB, so the answer comes in several.
    const part = "z".repeat(windowsAnswer.max / 3);
    for (let sent = 0; sent <= windowsAnswer.max; sent += part.length)
      await device.send([headerStatus, results(part)], { isFinal: false });
    await device.send([headerStatus, statusFor(id!, "Get", "200")]);
    const [row] = await t.store.mdmCommands.list();
    expect(row!.status).toBe("200");
    expect(Buffer.from(row!.result!, "base64").length).toBeLessThanOrEqual(windowsAnswer.max);
  });
});

/** An object in which only this text is set: "hardwareInfo.brand", "memoryEvents[].eventType". */
function objectWith(path: string, text: string): Record<string, unknown> {
  const [first, ...rest] = path.split(".") as [string, ...string[]];
  const isList = first.endsWith("[]");
  const value: unknown = rest.length === 0 ? text : objectWith(rest.join("."), text);
  return { [isList ? first.slice(0, -2) : first]: isList ? [value] : value };
}

describe("a report about an Android device", () => {
  const fields = textsIn(AndroidDevice);
  const name = "enterprises/e/devices/d";
  const parsed = (path: string, text: string) =>
    JSON.stringify(AndroidDevice.parse({ name, ...objectWith(path, text) }));

  it("has a size for every text", () => {
    expect(fields.length).toBeGreaterThan(20);
    for (const { name: field, max } of fields) expect([field, max === null]).toEqual([field, false]);
  });

  it.each(fields.filter(({ name: field }) => field !== "name").map((field) => [field.name, field.max!] as const))(
    "has %s up to its size",
    (field, max) => {
      expect(parsed(field, "x".repeat(max))).toContain("x".repeat(max));
      expect(parsed(field, "x".repeat(max + 1))).not.toContain("xx");
    },
  );

  it("is refused with a name of the device that is too long", () => {
    const named = (size: number) => AndroidDevice.safeParse({ name: name.padEnd(size, "x") }).success;
    expect([named(1024), named(1025)]).toEqual([true, false]);
  });

  it("has lists up to their lengths", () => {
    const { events, applications, previousNames } = androidLimits;
    const some = (length: number, item: unknown) => Array.from({ length }, () => item);
    const lists = AndroidDevice.parse({
      name,
      memoryEvents: some(events.max + 1, {}),
      nonComplianceDetails: some(events.max + 1, {}),
      applicationReports: some(applications.max + 1, { packageName: "a" }),
      previousDeviceNames: some(previousNames.max + 1, "n"),
    });
    expect(lists.memoryEvents).toHaveLength(events.max);
    expect(lists.nonComplianceDetails).toHaveLength(events.max);
    expect(lists.applicationReports ?? []).toEqual([]);
    expect(lists.previousDeviceNames).toEqual([]);
  });
});
