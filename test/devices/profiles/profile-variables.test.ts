// Custom variables and custom host vitals in profiles: how they reach devices, and what becomes of secrets.
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { type PlistDict, stringIn } from "../../../src/plist/value.ts";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { declarativeSession } from "../../support/apple-declarations.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { bothEngines } from "../../support/engines.ts";
import { declaration, mobileconfig, profileForm } from "../../support/profiles.ts";
import { headerStatus, managedWindows, statusFor } from "../../support/windows-device.ts";

type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

const SECRET = `se"cr<e>t-&'value`;
const setSecret = (t: TestApp, value: string) =>
  t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "TOKEN", value }] });
const setVital = (t: TestApp, hostId: number, value: string) =>
  t.request("PUT", `/hosts/${hostId}/custom_host_vitals/1`, { value });
const upload = (t: TestApp, content: string, fileName = "wifi.mobileconfig") =>
  t.post("/configuration_profiles", profileForm(content, {}, fileName));
const wifi = (password: string) =>
  mobileconfig(
    "com.example.wifi",
    `<dict><key>PayloadType</key><string>com.apple.wifi.managed</string><key>Password</key><string>${password}</string></dict>`,
    "Wi-Fi",
  );
const passwordIn = (profile: unknown): string | null =>
  stringIn((readPlistDict(profile as Buffer).PayloadContent as PlistDict[])[0]!, "Password");

/** Acknowledges everything; the password in the profile that the device gets next, or null. */
async function sync(device: Device): Promise<string | null> {
  let password: string | null = null;
  for (let command = await device.idle(); command !== null; ) {
    if (command.type === "InstallProfile") password = passwordIn(command.command.Payload);
    command = await device.answer(command.uuid, "Acknowledged");
  }
  return password;
}
const refusal = async (response: Response) => ({
  status: response.status,
  reason: ((await response.json()) as { errors: { reason: string }[] }).errors[0]!.reason,
});
const statusOn = async (t: TestApp, hostId: number) => {
  const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as {
    host: { mdm: { profiles: { status: string; detail: string }[] } };
  };
  return host.mdm.profiles.map(({ status, detail }) => [status, detail]);
};

describe.each(bothEngines)("profiles with custom variables on %s", (engine) => {
  it("reach Apple devices with the value, which nothing else contains, and again when it changes", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { device, id } = await enrolledDevice(t);
    await setSecret(t, SECRET);
    const uploaded = await upload(t, wifi("$SVC_SECRET_TOKEN/$SVC_VAR_HOST_UUID"));
    expect(uploaded.status, await uploaded.clone().text()).toBe(200);
    const { uuid } = (await t.store.hosts.get(id))!;
    await expect.poll(() => sync(device)).toBe(`${SECRET}/${uuid}`);

    const contents = (await t.store.operationContents.list()).filter(({ content }) => content.includes("Payload"));
    const stored = contents.map(({ content }) => passwordIn(readPlistDict(Buffer.from(content)).Payload));
    expect(stored).toEqual([`\${SVC_SECRET_TOKEN}/${uuid}`]);
    const rows = [
      await t.store.hostProfiles.list(),
      await t.store.activities.list(),
      await t.store.profileContents.list(),
    ];
    expect(JSON.stringify(rows)).not.toContain("value");
    const { profile_uuid } = (await t.store.hostProfiles.list())[0]!;
    const file = await (await t.get(`/configuration_profiles/${profile_uuid}?alt=media`)).text();
    expect(file).toContain("$SVC_SECRET_TOKEN/$SVC_VAR_HOST_UUID");

    expect((await setSecret(t, "newer")).status).toBe(200);
    await expect.poll(() => sync(device)).toBe(`newer/${uuid}`);
    expect(await statusOn(t, id)).toEqual([["verifying", ""]]);
  });

  it("reach Apple devices as declarations", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { device } = await enrolledDevice(t);
    const ddm = declarativeSession(device);
    await setSecret(t, SECRET);
    const content = declaration("com.example.a", { Token: "x $SVC_SECRET_TOKEN" });
    expect((await upload(t, content, "a.json")).status).toBe(200);
    const read = async () => {
      await sync(device);
      await ddm.sync();
      return ddm.get("configuration/com.example.a")?.Payload.Token;
    };
    await expect.poll(read).toBe(`x ${SECRET}`);
    expect((await setSecret(t, "newer")).status).toBe(200);
    await expect.poll(read).toBe("x newer");
  });

  it("reach Windows devices", async () => {
    const t = await startApp({ engine });
    const { device } = await managedWindows(t);
    await setSecret(t, SECRET);
    const node = "./Device/Vendor/MSFT/WiFi/Key";
    const content = `<Replace><Item><Target><LocURI>${node}</LocURI></Target><Data>$SVC_SECRET_TOKEN</Data></Item></Replace>`;
    expect((await upload(t, content, "wifi.xml")).status).toBe(200);
    let found: readonly SyncCommand[] = [];
    const ask = async () => {
      found = (await device.start()).commands;
      return found.length;
    };
    await expect.poll(ask).toBe(1);
    const atomic = found[0]!;
    expect(atomic.commands[0]!.items[0]!.data).toBe(SECRET);
    const inner = statusFor(`${atomic.cmdId}.1`, "Replace", "200");
    await device.send([headerStatus, statusFor(atomic.cmdId, "Atomic", "200"), inner]);
    const stored = (await t.store.operationContents.list()).map(({ content: text }) => text).join();
    expect(stored).toContain("{SVC_SECRET_TOKEN}");
    expect(stored).not.toContain("value");
  });

  it("are refused if the variable does not exist, and keep it from being deleted", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    expect(await refusal(await upload(t, wifi("$SVC_SECRET_TOKEN $SVC_HOST_VITAL_1")))).toMatchObject({
      status: 422,
      reason: expect.stringContaining("$SVC_SECRET_TOKEN, $SVC_HOST_VITAL_1"),
    });
    await setSecret(t, SECRET);
    await t.post("/custom_host_vitals", { name: "Site" });
    const uploaded = await upload(t, wifi("$SVC_SECRET_TOKEN $SVC_HOST_VITAL_1"));
    for (const path of ["/custom_variables/1", "/custom_host_vitals/1"])
      expect(await refusal(await t.delete(path))).toMatchObject({
        status: 409,
        reason: expect.stringContaining("Wi-Fi"),
      });
    const { profile_uuid } = (await uploaded.json()) as { profile_uuid: string };
    expect((await t.delete(`/configuration_profiles/${profile_uuid}`)).status).toBe(200);
    for (const path of ["/custom_variables/1", "/custom_host_vitals/1"])
      expect((await t.delete(path)).status).toBe(200);
  });

  it("get the host's vitals, and wait for those that it lacks", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { device, id } = await enrolledDevice(t);
    await t.post("/custom_host_vitals", { name: "Site" });
    await upload(t, wifi("$SVC_HOST_VITAL_1"));
    await expect.poll(() => statusOn(t, id)).toEqual([["failed", expect.stringContaining("$SVC_HOST_VITAL_1")]]);
    expect((await setVital(t, id, "Berlin & Bonn")).status).toBe(200);
    await expect.poll(() => sync(device)).toBe("Berlin & Bonn");
    await setVital(t, id, "Bremen");
    await expect.poll(() => sync(device)).toBe("Bremen");
  });

  it("give hosts no secret that only a value of the host names", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await setSecret(t, SECRET);
    await t.post("/custom_host_vitals", { name: "Site" });
    const { device, id } = await enrolledDevice(t);
    await setVital(t, id, "$SVC_SECRET_TOKEN");
    await upload(t, wifi("$SVC_HOST_VITAL_1"));
    await expect.poll(() => statusOn(t, id)).toEqual([["failed", expect.stringContaining("names a custom variable")]]);
    expect(await sync(device)).toBeNull();
  });
});
