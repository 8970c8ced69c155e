// Updates of store apps on iPhones, at the times of day that teams choose.
import { describe, expect, it } from "vitest";
import { isInWindow, localTime } from "../../src/server/delivery/store-apps/updates.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { isOlder } from "../../src/text/versions.ts";
import { startApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { bothEngines } from "../support/engines.ts";
import { addVppToken, startLicenseService } from "../support/license-service.ts";
import { makeInventory } from "../support/make.ts";

const MESSENGER = "310633997";

describe.each(bothEngines)("updates of store apps on %s", (engine) => {
  it("reach iPhones with an older version, in the window of their own time zone, once a day", async () => {
    const service = await startLicenseService();
    const t = await startApp({ engine, settings: service.settings });
    await turnOnAppleMdm(t);
    await addVppToken(t, service);
    const iphone = { ProductName: "iPhone17,1" };
    const [paris, tokyo, current] = [
      await enrolledDevice(t, { ...iphone, SerialNumber: "PARIS" }),
      await enrolledDevice(t, { ...iphone, SerialNumber: "TOKYO" }, { key: 1 }),
      await enrolledDevice(t, { ...iphone, SerialNumber: "CURRENT" }, { key: 2 }),
    ];
    await t.store.hosts.update({ where: eq("id", tokyo.id), set: { timezone: "Asia/Tokyo" } });
    const reply = await t.post("/software/app_store_apps", { app_store_id: MESSENGER, team_id: 0, platform: "ios" });
    const { software_title_id: title_id } = (await reply.json()) as { software_title_id: number };
    const made = (version: string) =>
      t.store.software.insert({
        title_id,
        name: "Messenger",
        version,
        source: "ios_apps",
        key: `messenger ${version}`,
      });
    const [old, newest] = [await made("26.1.9"), await made("26.2")];
    for (const { id } of [paris, tokyo]) await makeInventory(t, id, [old]);
    await makeInventory(t, current.id, [newest]);
    const asked = async () => {
      const rows = await t.store.storeAppInstalls.list({ order: [{ column: "id", direction: "asc" }] });
      return rows.map(({ host_id }) => host_id);
    };
    await runJob(t.services, "store_app_updates");
    expect(await asked(), "no updates without a window").toEqual([]);
    // The time is 12:00 in UTC, and 21:00 in Tokyo.
    const window = { auto_update_enabled: true, auto_update_window_start: "20:00", auto_update_window_end: "04:00" };
    const edited = await t.patch(`/software/titles/${title_id}/app_store_app`, { team_id: 0, ...window });
    expect(edited.status).toBe(200);
    await runJob(t.services, "store_app_updates");
    await runJob(t.services, "store_app_updates");
    expect(await asked()).toEqual([tokyo.id]);
    t.clock.advance(hours(10));
    await runJob(t.services, "store_app_updates");
    expect(await asked()).toEqual([tokyo.id, paris.id]);
  });
});

it.each([
  ["02:00", "04:00", "03:00", true],
  ["02:00", "04:00", "04:00", false],
  ["02:00", "04:00", "01:59", false],
  ["22:00", "04:00", "23:00", true],
  ["22:00", "04:00", "00:00", true],
  ["22:00", "04:00", "12:00", false],
])("a window from %s until %s contains %s: %s", (auto_update_window_start, auto_update_window_end, time, inside) => {
  expect(isInWindow({ auto_update_window_start, auto_update_window_end }, time)).toBe(inside);
});

it("knows the time of day where a host is", () => {
  const noon = Date.parse("2026-01-10T12:05:00Z");
  expect([null, "Asia/Tokyo", "America/New_York", "Nowhere/Land"].map((zone) => localTime(noon, zone))).toEqual([
    "12:05",
    "21:05",
    "07:05",
    "12:05",
  ]);
});

it.each([
  ["9.9", "9.10", true],
  ["9.10", "9.9", false],
  ["26.2", "26.2.0", false],
  ["1", "1.0.1", true],
])("version %s is older than %s: %s", (version, latest, older) => {
  expect(isOlder(version, latest)).toBe(older);
});
