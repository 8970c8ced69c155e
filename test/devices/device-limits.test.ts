// What Windows and Android devices may send: the limit, and one more.
import { describe, expect, it } from "vitest";
import { textsIn } from "../../src/server/delivery/managed-agent/field-limits.ts";
import { AndroidDevice, androidLimits } from "../../src/server/devices/android/devices/report.ts";
import { windowsDeviceLimits } from "../../src/server/devices/windows/enroll/enroll.ts";
import { startApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeManaged } from "../support/managed.ts";
import { enrollWindows, factsOf, requestToken, turnOnWindowsMdm, userToken } from "../support/windows-device.ts";

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
