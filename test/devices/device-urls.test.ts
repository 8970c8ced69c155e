// Device management that is on limits the server's URL, and only changes of that are refused because of it.
import { expect, it } from "vitest";
import { deviceServerUrl } from "../../src/server/devices/apple/trust/service.ts";
import { windowsUrl } from "../../src/server/devices/windows/channel/devices.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";

/** Turns device management on without the API. */
async function turnOn(t: TestApp, fields: object) {
  const mdm = await readSection(t.store, sections.mdm);
  await writeSection(t.store, sections.mdm, { ...mdm, ...fields }, t.clock.iso());
  await t.store.notify(channels.config, "mdm");
}

const URL_NAME = "server_settings.server_url";
const withUrl = (server_url: string) => ({ server_settings: { server_url } });
const namesOf = async (response: Response) => {
  expect(response.status, await response.clone().text()).toBe(422);
  return (await errorOf(response)).errors?.map(({ name }) => name);
};

it.each([
  ["Apple", { enabled_and_configured: true }],
  ["Windows", { windows_enabled_and_configured: true }],
  ["Android", { android_enabled_and_configured: true }],
])("a URL to which devices do not connect is refused while management of %s devices is on", async (name, fields) => {
  const t = await startApp();
  expect((await t.patch("/config", withUrl("http://other.example.com"))).status, "it is off").toBe(200);
  await t.patch("/config", withUrl("https://svc.example.com"));
  await turnOn(t, fields);
  const response = await t.patch("/config", withUrl("http://other.example.com"));
  expect((await errorOf(response.clone())).errors?.[0]?.reason).toContain(`management of ${name} devices is on`);
  expect(await namesOf(response)).toEqual([URL_NAME]);
  // A configuration file may lack the field; other settings can still be changed then.
  expect((await t.patch("/config", withUrl(""))).status).toBe(200);
  expect(
    (await t.patch("/config", { mdm: { windows_updates: { deadline_days: 5, grace_period_days: 2 } } })).status,
  ).toBe(200);
  for (const url of ["https://other.example.com", "http://127.0.0.1:8412"])
    expect((await t.patch("/config", withUrl(url))).status, url).toBe(200);
});

it("other settings are not refused because of a URL that was there before", async () => {
  const t = await startApp();
  await t.patch("/config", withUrl("http://other.example.com"));
  await turnOn(t, { windows_enabled_and_configured: true, enabled_and_configured: true });
  expect((await t.patch("/config", { mdm: { windows_migration_enabled: true } })).status).toBe(200);
  expect((await t.patch("/config", { ...withUrl("http://other.example.com"), mdm: {} })).status).toBe(200);
  expect((await t.patch("/config", { mdm: { windows_enabled_and_configured: false } })).status).toBe(200);
  expect(await namesOf(await t.patch("/config", { mdm: { windows_enabled_and_configured: true } }))).toEqual([
    "mdm.windows_enabled_and_configured",
  ]);
});

it("Apple devices may have a URL of their own", async () => {
  const t = await startApp();
  await turnOn(t, { enabled_and_configured: true });
  const own = (vendora_server_url: string) => ({ mdm: { vendora_server_url } });
  expect(await namesOf(await t.patch("/config", own("http://mdm.example.com")))).toEqual(["mdm.vendora_server_url"]);
  expect((await t.patch("/config", own("https://mdm.example.com"))).status).toBe(200);
  expect((await t.patch("/config", withUrl("http://other.example.com"))).status).toBe(200);
  expect(await namesOf(await t.patch("/config", own("")))).toEqual(["mdm.vendora_server_url"]);
});

it("without a configured URL, that of the server's own settings counts", async () => {
  const t = await startApp({ settings: { server_url: "https://flag.example.com" } });
  expect((await t.patch("/config", withUrl(""))).status).toBe(200);
  expect((await t.patch("/config", { mdm: { windows_enabled_and_configured: true } })).status).toBe(200);
  await turnOn(t, { enabled_and_configured: true });
  expect(await windowsUrl(t.services, "/x")).toBe("https://flag.example.com/x");
  expect((await deviceServerUrl(t.services))!.href).toBe("https://flag.example.com/");
  expect((await t.patch("/config", withUrl("https://svc.example.com"))).status).toBe(200);
  expect((await t.patch("/config", withUrl(""))).status).toBe(200);
  expect(await namesOf(await t.patch("/config", withUrl("http://other.example.com")))).toEqual([URL_NAME]);
});
