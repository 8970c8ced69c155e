// Declarative management of Apple devices: what they read, and what their reports make of profiles.
import { describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { declarativeSession } from "../../support/apple-declarations.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { base64, declaration, makeProfile, mobileconfig } from "../../support/profiles.ts";
import { withSecondServer } from "../../support/second-server.ts";

async function enrolled(t: TestApp) {
  const identity = await newIdentity(t);
  const device = appleDevice(t, identity);
  await device.authenticate();
  await device.tokenUpdate();
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
  return { t, identity, device, hostId: row!.host_id, ddm: declarativeSession(device) };
}

async function start(engine: EngineName) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return enrolled(t);
}
type Scene = Awaited<ReturnType<typeof start>>;

/** The device waits for a notification of changed declarations, and acknowledges all that it gets. */
async function acknowledge({ device }: Scene): Promise<void> {
  let command: Awaited<ReturnType<typeof device.idle>> = null;
  await expect
    .poll(async () => {
      command = await device.idle();
      return command?.type;
    })
    .toBe("DeclarativeManagement");
  while (command !== null) command = await device.answer(command.uuid, "Acknowledged");
}

const profilesOf = async ({ t, hostId }: Scene) => {
  const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as {
    host: { mdm: { profiles: { name: string; status: string; detail: string }[] } };
  };
  return host.mdm.profiles.map(({ name, status, detail }) => [name, status, detail]);
};

describe.each(bothEngines)("declarations on %s", (engine) => {
  it("are read by the device, verified by its reports, read again when they change, and removed", async () => {
    const scene = await start(engine);
    const { t, ddm } = scene;
    const uuid = await makeProfile(t, { name: "Passcode", content: declaration("com.example.passcode", { Min: 6 }) });
    await acknowledge(scene);
    expect(await profilesOf(scene)).toEqual([["Passcode", "verifying", ""]]);
    const names = [`activation/svc.activation.${uuid}`, "configuration/com.example.passcode"];
    expect(await ddm.sync()).toEqual(names);
    expect(ddm.get(names[1]!)).toMatchObject({
      Type: "com.apple.configuration.management.test",
      Payload: { Min: 6 },
    });
    expect(ddm.get(names[0]!)).toMatchObject({
      Type: "com.apple.activation.simple",
      Payload: { StandardConfigurations: ["com.example.passcode"] },
    });
    expect(await ddm.sync(), "nothing has changed").toEqual([]);
    await ddm.report();
    expect(await profilesOf(scene)).toEqual([["Passcode", "verified", ""]]);

    await makeProfile(t, { name: "Wi-Fi", content: declaration("com.example.wifi") });
    await acknowledge(scene);
    expect((await ddm.sync()).filter((name) => name.startsWith("configuration/"))).toEqual([
      "configuration/com.example.wifi",
    ]);
    await ddm.report();
    const replaced = { profile: base64(declaration("com.example.passcode", { Min: 8 })), display_name: "Passcode" };
    await t.post("/configuration_profiles/batch", { configuration_profiles: [replaced] });
    await acknowledge(scene);
    await expect
      .poll(async () => {
        await ddm.sync();
        await ddm.report();
        return profilesOf(scene);
      })
      .toEqual([["Passcode", "verified", ""]]);
    expect(ddm.names()).toEqual(names);
    expect(ddm.get(names[1]!)!.Payload).toEqual({ Min: 8 });

    await t.delete(`/mdm/profiles/${uuid}`);
    await acknowledge(scene);
    await ddm.sync();
    expect(ddm.names()).toEqual([]);
    await expect.poll(() => t.store.hostProfiles.count()).toBe(0);
  });
});

describe.each(rulesEngines)("a status report on %s", (engine) => {
  async function withTwo() {
    const scene = await start(engine);
    await makeProfile(scene.t, { name: "A", content: declaration("com.example.a") });
    await acknowledge(scene);
    await makeProfile(scene.t, { name: "B", content: declaration("com.example.b") });
    await acknowledge(scene);
    await scene.ddm.sync();
    return scene;
  }
  const [a, b] = ["configuration/com.example.a", "configuration/com.example.b"] as const;

  it("verifies what is valid and active, and shows the reasons of what is not", async () => {
    const scene = await withTwo();
    const { ddm } = scene;
    const reasons = [
      { code: "Error.ConfigurationCannotBeApplied", description: "Configuration cannot be applied" },
      { code: "Info.Other", details: { Error: "4" } },
    ];
    await ddm.report({ [a]: { active: false }, [b]: { valid: "invalid", active: false, reasons } });
    expect(await profilesOf(scene)).toEqual([
      ["A", "verifying", ""],
      ["B", "failed", "Error.ConfigurationCannotBeApplied: Configuration cannot be applied; Info.Other"],
    ]);
    await ddm.report({ [a]: { valid: "unknown", active: false }, [b]: {} }, false);
    expect(await profilesOf(scene)).toEqual([
      ["A", "verifying", ""],
      ["B", "verified", ""],
    ]);
    const activation = ddm
      .names()
      .find((name) => ddm.get(name)!.Payload.StandardConfigurations?.toString().endsWith("a"))!;
    await ddm.report({ [a]: { active: false }, [activation]: { valid: "invalid", active: false } });
    expect((await profilesOf(scene))[0]).toEqual([
      "A",
      "failed",
      "The device reports the declaration as invalid, without a reason.",
    ]);
    await ddm.report();
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["verified", "verified"]);
  });

  it("does not count for content that has been replaced since", async () => {
    const scene = await withTwo();
    const { t, ddm } = scene;
    await t.post("/configuration_profiles/batch", {
      configuration_profiles: ["a", "b"].map((name) => ({
        profile: base64(declaration(`com.example.${name}`, { Echo: "new" })),
        display_name: name.toUpperCase(),
      })),
    });
    await expect.poll(() => scene.device.idle()).toMatchObject({ type: "DeclarativeManagement" });
    await ddm.report();
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["pending", "pending"]);
    await ddm.sync();
    await ddm.report();
    expect(
      (await profilesOf(scene)).map(([, status]) => status),
      "before the command is answered",
    ).toEqual(["verified", "verified"]);
    await acknowledge(scene);
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["verified", "verified"]);
  });

  it("shows what is missing, and what has been removed, if it is a full one", async () => {
    const scene = await withTwo();
    const { t, ddm } = scene;
    await ddm.report();
    const nothing = { StatusItems: { management: { declarations: { configurations: [] } } } };
    t.clock.advance(2 * 3_600_000);
    await ddm.status(nothing);
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["verified", "verified"]);
    await ddm.status({ ...nothing, FullReport: true });
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["pending", "pending"]);

    await t.post("/configuration_profiles/batch", { configuration_profiles: [] });
    await expect.poll(() => t.store.hostProfiles.count(eq("operation_type", "remove"))).toBe(2);
    await ddm.status({ ...nothing, FullReport: true });
    expect(await t.store.hostProfiles.count()).toBe(0);
  });

  it("of a profile that is sent again is awaited: the device reads it again", async () => {
    const scene = await withTwo();
    const { t, ddm, hostId } = scene;
    await ddm.report();
    const { profile_uuid: uuid } = (await t.store.hostProfiles.first({ where: eq("name", "A") }))!;
    expect((await t.post(`/hosts/${hostId}/configuration_profiles/${uuid}/resend`)).status).toBe(202);
    await acknowledge(scene);
    expect(await ddm.sync()).toEqual([a]);
  });
});

describe.each(rulesEngines)("the declarations of a device on %s", (engine) => {
  it("contain its own values, escaped, and change with them", async () => {
    const scene = await start(engine);
    const { t, ddm, hostId } = scene;
    const content = declaration("com.example.account", { Name: "$SVC_VAR_HOST_END_USER_IDP_USERNAME" });
    await makeProfile(t, { name: "Account", content });
    await expect
      .poll(() => profilesOf(scene))
      .toMatchObject([["Account", "failed", expect.stringContaining("no value")]]);
    expect(await ddm.sync()).toEqual([]);
    const put = (email: string) =>
      t.store.hostEmails.upsert([{ host_id: hostId, email, source: "mdm_idp_accounts" }], {
        on: ["host_id", "source", "email"],
      });
    await put('ana"\\@example.com');
    await t.store.tx((store) => store.notify("svc_profiles", JSON.stringify({})));
    await acknowledge(scene);
    await ddm.sync();
    expect(ddm.get("configuration/com.example.account")!.Payload).toEqual({ Name: 'ana"\\@example.com' });
  });

  it("are none for users of a Mac, and for profiles of other kinds", async () => {
    const scene = await start(engine);
    const { t, ddm, device } = scene;
    await t.post("/configuration_profiles/batch", {
      configuration_profiles: [
        { profile: base64(mobileconfig("com.example.file")) },
        { profile: base64(declaration("com.example.a")), display_name: "A" },
      ],
    });
    await expect.poll(() => ddm.sync()).toHaveLength(2);
    const user = declarativeSession({
      checkIn: (type, fields) => device.checkIn(type, { ...fields, UserID: "U-1", UserShortName: "ana" }),
    });
    expect(await user.read("declaration-items")).toMatchObject({
      Declarations: { Activations: [], Assets: [], Configurations: [], Management: [] },
    });
    await user.sync();
    await user.report();
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["pending", "pending"]);
  });

  it("are refused in a way that devices understand: 404 for what is gone, 400 for what is malformed", async () => {
    const { t, ddm, device, identity } = await start(engine);
    await makeProfile(t, { name: "A", content: declaration("com.example.a") });
    await expect.poll(() => ddm.sync()).toHaveLength(2);
    for (const endpoint of ["declaration/configuration/com.example.b", "declaration/asset/com.example.a", "other", ""])
      expect((await ddm.send(endpoint)).status, endpoint).toBe(404);
    const entry = { identifier: "com.example.a", valid: "valid", active: true };
    const configurations = (value: unknown) =>
      JSON.stringify({ StatusItems: { management: { declarations: { configurations: value } } }, FullReport: true });
    const bad = ["", "{", "null", "[]", "7", '{"StatusItems":[]}', configurations({}), configurations([{}, entry])];
    for (const text of bad) expect((await ddm.send("status", { Data: Buffer.from(text) })).status, text).toBe(400);
    expect((await ddm.send("status", { Data: Buffer.alloc(3 * 1024 * 1024, "[") })).status).toBe(400);
    expect((await ddm.send("status")).status).toBe(400);
    expect((await device.checkIn("DeclarativeManagement")).status).toBe(400);
    for (const text of ["{}", configurations([]), configurations([{ ...entry, reasons: 7, active: "x", extra: [] }])])
      expect((await ddm.send("status", { Data: Buffer.from(text) })).status, text).toBe(200);

    await device.checkIn("CheckOut");
    expect((await ddm.send("tokens")).status).toBe(403);
    const again = appleDevice(t, identity, { UDID: device.udid });
    await again.authenticate();
    expect((await declarativeSession(again).send("tokens")).status, "before its token").toBe(403);
  });
});

it("devices read the same from two servers", async () => {
  const scene = await start("postgres");
  const { t, ddm, device, identity } = scene;
  await withSecondServer(t, async (second) => {
    const there = appleDevice(second, identity, { UDID: device.udid });
    for (const name of ["A", "B", "C"]) {
      await makeProfile(t, { name, content: declaration(undefined, { Host: "$SVC_VAR_HOST_UUID" }) });
      await acknowledge(scene);
      const items = await ddm.read("declaration-items");
      expect(await declarativeSession(there).read("declaration-items")).toEqual(items);
    }
    await ddm.sync();
    const elsewhere = declarativeSession(there);
    await elsewhere.sync();
    await elsewhere.report();
    expect((await profilesOf(scene)).map(([, status]) => status)).toEqual(["verified", "verified", "verified"]);
  });
});
