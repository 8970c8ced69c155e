// The rules for profiles and commands hold for what devices get: neither escapes nor values of variables lead around them.
import { describe, expect, it } from "vitest";
import { makeSecret } from "../edge/agent/agents.ts";
import { enrollAndroid, startAndroid, turnAndroidOn } from "../support/android.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { declarativeSession } from "../support/apple-declarations.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeUser } from "../support/make.ts";
import { mobileconfig, profileForm } from "../support/profiles.ts";
import { managedWindows } from "../support/windows-device.ts";

const upload = (t: TestApp, content: string, fileName: string) =>
  t.post("/configuration_profiles", profileForm(content, {}, fileName));
const reasonIn = async (response: Response) =>
  ((await response.json()) as { errors: { reason: string }[] }).errors[0]!.reason;
const replacing = (node: string) =>
  `<Replace><Item><Target><LocURI>${node}</LocURI></Target><Data>1</Data></Item></Replace>`;
const executing = (node: string) =>
  `<Exec><CmdID>1</CmdID><Item><Target><LocURI>${node}</LocURI></Target></Item></Exec>`;
const payload = (type: string, more = "") =>
  mobileconfig("com.example.p", `<dict><key>PayloadType</key><string>${type}</string>${more}</dict>`, "P");
const profilesOn = async (t: TestApp, id: number) => {
  const reply = (await (await t.get(`/hosts/${id}`)).json()) as {
    host: { mdm: { profiles: { status: string; detail: string }[] } };
  };
  return reply.host.mdm.profiles.map(({ status, detail }) => [status, detail]);
};

describe.each(rulesEngines)("rules for what devices get on %s", (engine) => {
  it("hold for nodes of Windows however they are written", async () => {
    const t = await startApp({ engine });
    const { hostId } = await managedWindows(t);
    const { uuid } = (await t.store.hosts.get(hostId))!;
    const maintainer = await makeUser(t, "maintainer");
    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "NODE", value: "RemoteWipe" }] });
    for (const node of [
      "./Device/Vendor/MSFT/Remote%57ipe/x",
      "./Device/Vendor/MSFT/Remote%57ipe/%zz",
      "./Device/Vendor/MSFT//RemoteWipe",
      "./Device/Vendor/MSFT/RemoteWipe/%",
      "./Device/Vendor/MSFT/RemoteWip%65%ff/doWipe",
      "./Device/Vendor/MSFT/$SVC_SECRET_NODE/doWipe",
      "./Device/Vendor/MSFT/DMClient/%",
    ])
      expect((await upload(t, replacing(node), "p.xml")).status, node).toBe(422);
    const run = (node: string) =>
      maintainer.post("/commands/run", {
        command: Buffer.from(executing(node)).toString("base64"),
        host_uuids: [uuid],
      });
    for (const node of ["./Device/Vendor/MSFT/RemoteWipe/%zz", "./Device/Vendor/MSFT/RemoteLock/Lock%"])
      expect(await reasonIn(await run(node)), node).toContain("broken escape");
    expect(await t.store.operations.list()).toEqual([]);
  });

  it("hold for nodes of Windows that a host's values make", async () => {
    const t = await startApp({ engine });
    const { hostId } = await managedWindows(t);
    await t.post("/custom_host_vitals", { name: "Node" });
    await t.request("PUT", `/hosts/${hostId}/custom_host_vitals/1`, { value: "RemoteWipe" });
    expect((await upload(t, replacing("./Device/Vendor/MSFT/$SVC_HOST_VITAL_1/x"), "p.xml")).status).toBe(200);
    await expect
      .poll(() => profilesOn(t, hostId))
      .toEqual([["failed", expect.stringContaining("devices are wiped by POST /hosts/:id/wipe")]]);
    await t.request("PUT", `/hosts/${hostId}/custom_host_vitals/1`, { value: "WiFi" });
    await expect.poll(async () => (await profilesOn(t, hostId))[0]![0]).toBe("pending");
  });

  it("hold for payloads of Apple devices that a host's values make", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { id } = await enrolledDevice(t);
    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "TYPE", value: "com.apple.mdm" }] });
    for (const hostile of [
      payload("$SVC_SECRET_TYPE"),
      payload("com.apple.MCX", `<key>\${SVC_SECRET_TYPE}</key><true/>`),
      payload("com.example.x", "<key>PayloadIdentifier</key><string>$SVC_SECRET_TYPE</string>"),
    ])
      expect(await reasonIn(await upload(t, hostile, "p.mobileconfig"))).toContain("cannot contain a secret");
    await t.post("/custom_host_vitals", { name: "Type" });
    await t.request("PUT", `/hosts/${id}/custom_host_vitals/1`, { value: "mdm" });
    expect((await upload(t, payload("com.apple.$SVC_HOST_VITAL_1"), "p.mobileconfig")).status).toBe(200);
    await expect
      .poll(() => profilesOn(t, id))
      .toEqual([["failed", expect.stringContaining("it would enroll the device elsewhere")]]);
  });

  it("hold for declarations that a host's values make", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { id, device } = await enrolledDevice(t);
    const ddm = declarativeSession(device);
    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "TYPE", value: "passcode.settings" }] });
    await t.post("/custom_host_vitals", { name: "Type" });
    const setVital = (value: string) => t.request("PUT", `/hosts/${id}/custom_host_vitals/1`, { value });
    await setVital("management.status-subscriptions");
    const declared = (Type: string, Payload: object = {}) =>
      JSON.stringify({ Type, Identifier: "com.example.d", Payload });
    const hostile = declared("com.apple.configuration.$SVC_HOST_VITAL_1");
    expect((await upload(t, hostile, "d.json")).status).toBe(200);
    await expect
      .poll(() => profilesOn(t, id))
      .toEqual([["failed", expect.stringContaining("the server subscribes to the status that it needs")]]);
    await ddm.sync();
    expect(ddm.names(), "it is not declared either").toEqual([]);
    await setVital("passcode.settings");
    await expect.poll(async () => (await profilesOn(t, id))[0]![0]).toBe("pending");
    await ddm.sync();
    expect(ddm.get("configuration/com.example.d")).toMatchObject({ Type: "com.apple.configuration.passcode.settings" });
    await setVital("management.status-subscriptions");
    await expect.poll(async () => (await profilesOn(t, id))[0]![0]).toBe("failed");
    await ddm.sync();
    expect(ddm.names()).toEqual([]);
  });

  it("hold for types of declarations that secrets would make", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const value = "management.status-subscriptions";
    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "TYPE", value }] });
    const secret = "$SVC_SECRET_TYPE";
    for (const [Type, Identifier] of [
      [`com.apple.configuration.${secret}`, "com.example.a"],
      ["com.apple.configuration.passcode.settings", `com.example.${secret}`],
    ] as const) {
      const res = await upload(t, JSON.stringify({ Type, Identifier, Payload: {} }), "d.json");
      expect(res.status).toBe(422);
      expect(await reasonIn(res)).toContain("cannot contain a secret");
    }
    // A second key of the same name does not reach the device.
    const twice = `{"Type":"com.apple.configuration.${value}","Type":"com.apple.configuration.x","Identifier":"i","Payload":{}}`;
    expect((await upload(t, twice, "twice.json")).status).toBe(200);
    const { id, device } = await enrolledDevice(t);
    await expect.poll(async () => (await profilesOn(t, id)).length).toBe(1);
    const ddm = declarativeSession(device);
    await expect.poll(async () => (await ddm.sync()).length).toBeGreaterThan(0);
    expect(ddm.get("configuration/i")).toMatchObject({ Type: "com.apple.configuration.x" });
  });

  it("hold for settings of Android that values make", async () => {
    const service = await startAndroid();
    const t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, "android-secret");
    await turnAndroidOn(t, service);
    await t.request("PUT", "/spec/secret_variables", {
      secrets: [
        { name: "KEY", value: "statusReportingSettings" },
        { name: "JSON", value: '"},"statusReportingSettings":{"x":"' },
      ],
    });
    await t.post("/custom_host_vitals", { name: "Text" });
    for (const key of ["$SVC_SECRET_KEY", "$SVC_HOST_VITAL_1", "name", "statusReportingSettings"])
      expect((await upload(t, JSON.stringify({ [key]: {} }), "a.json")).status, key).toBe(422);
    const message = { shortSupportMessage: { defaultMessage: "$SVC_SECRET_JSON $SVC_HOST_VITAL_1" } };
    expect((await upload(t, JSON.stringify(message), "message.json")).status).toBe(200);
    const { name } = await enrollAndroid(t, service, { id: "d1", secret: "android-secret" });
    const host = (await t.store.hosts.first({}))!;
    const value = '"}, "name": "x';
    await t.request("PUT", `/hosts/${host.id}/custom_host_vitals/1`, { value });
    const sent = () => service.policies.get(service.policyOf.get(name) ?? "")?.content;
    await expect
      .poll(() => sent()?.shortSupportMessage)
      .toEqual({ defaultMessage: `"},"statusReportingSettings":{"x":" ${value}` });
    expect(sent()!.statusReportingSettings).not.toHaveProperty("x");
  });
});
