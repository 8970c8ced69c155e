// Profiles of Windows devices: uploads, their way to a device, and their removal.
import { describe, expect, it } from "vitest";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { headerStatus, managedWindows, statusFor, turnOnWindowsMdm } from "../../support/windows-device.ts";

const NODE = "./Device/Vendor/MSFT/Policy/Config/Camera/AllowCamera";
const command = (verb = "Replace", node = NODE, data = "0") =>
  `<${verb}><Item><Target><LocURI>${node}</LocURI></Target><Meta><Format xmlns="syncml:metinf">int</Format></Meta><Data>${data}</Data></Item></${verb}>`;

async function upload(t: TestApp, content: string, name = "camera.xml") {
  const form = new FormData();
  form.set("profile", new File([content], name));
  const response = await t.post("/configuration_profiles", form);
  const json = (await response.json()) as { profile_uuid?: string; errors?: { reason: string }[] };
  return { status: response.status, uuid: json.profile_uuid ?? "", reason: json.errors?.[0]?.reason ?? "" };
}
const profilesOf = async (t: TestApp, hostId: number) => {
  const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as {
    host: { mdm: { profiles: { name: string; status: string; operation_type: string; detail: string }[] } };
  };
  return host.mdm.profiles.map(({ name, status, operation_type, detail }) => ({
    name,
    status,
    operation_type,
    detail,
  }));
};
type Device = Awaited<ReturnType<typeof managedWindows>>["device"];
/** The first session in which the device gets a command. */
const nextCommand = async (device: Device) => {
  const found: SyncCommand[] = [];
  const ask = async () => {
    found.splice(0, found.length, ...(await device.start()).commands);
    return found.length;
  };
  await expect.poll(ask, { timeout: 10_000 }).toBe(1);
  return found[0]!;
};

describe.each(bothEngines)("a profile for Windows on %s", (engine) => {
  it("takes the name of the file that replaces it, and has no identifier", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const { uuid } = await upload(t, command());
    const installs = async () => {
      const atomic = await nextCommand(device);
      await device.send([headerStatus, statusFor(atomic.cmdId, "Atomic", "200")]);
      return atomic.commands.map(({ items }) => items[0]!.data);
    };
    await installs();
    await upload(t, command("Replace", `${NODE}2`), "taken.xml");
    await installs();
    const replace = async (content: string, name: string) => {
      const form = new FormData();
      form.set("profile", new File([content], name));
      return t.patch(`/configuration_profiles/${uuid}`, form);
    };
    const renamed = await replace(command(), "No camera.xml");
    expect(renamed.status, await renamed.text()).toBe(200);
    expect((await profilesOf(t, hostId)).map(({ name }) => name).sort(), "the same content stays").toEqual([
      "No camera",
      "taken",
    ]);
    expect((await device.start()).commands).toEqual([]);
    expect((await replace(command("Replace", NODE, "1"), "Camera.xml")).status).toBe(200);
    expect(await installs()).toEqual(["1"]);
    expect((await replace(command(), "taken.xml")).status).toBe(409);

    const shown = (await (await t.get(`/configuration_profiles/${uuid}`)).json()) as object;
    expect(shown).toMatchObject({ name: "Camera", platform: "windows" });
    expect(shown).not.toHaveProperty("identifier");
    const { profiles } = (await (await t.get(`/hosts/${hostId}/configuration_profiles`)).json()) as {
      profiles: object[];
    };
    expect(profiles.some((profile) => "identifier" in profile)).toBe(false);
    // A list with the new name changes the profile.
    const list = [{ profile: Buffer.from(command()).toString("base64"), display_name: "Camera" }];
    expect((await t.post("/configuration_profiles/batch", { configuration_profiles: list })).status).toBe(204);
    const { profiles: kept } = (await (await t.get("/configuration_profiles")).json()) as { profiles: object[] };
    expect(kept).toMatchObject([{ profile_uuid: uuid, name: "Camera" }]);
  });

  it("is installed as a whole, and removed node by node", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    const { uuid, status } = await upload(t, command() + command("Add", `${NODE}2`));
    expect([status, uuid[0]]).toEqual([200, "w"]);
    const atomic = await nextCommand(device);
    expect([atomic.verb, atomic.commands.map(({ verb, cmdId }) => [verb, cmdId])]).toEqual([
      "Atomic",
      [
        ["Replace", `${atomic.cmdId}.1`],
        ["Add", `${atomic.cmdId}.2`],
      ],
    ]);
    await device.send([
      headerStatus,
      statusFor(atomic.cmdId, "Atomic", "200"),
      statusFor(`${atomic.cmdId}.1`, "Replace", "200"),
      statusFor(`${atomic.cmdId}.2`, "Add", "200"),
    ]);
    expect(await profilesOf(t, hostId)).toEqual([
      { name: "camera", status: "verifying", operation_type: "install", detail: "" },
    ]);
    expect((await t.delete(`/configuration_profiles/${uuid}`)).status).toBe(200);
    const sequence = await nextCommand(device);
    expect(sequence.commands.map(({ verb, items }) => [verb, items[0]!.target])).toEqual([
      ["Delete", `${NODE}2`],
      ["Delete", NODE],
    ]);
    await device.send([
      headerStatus,
      statusFor(sequence.cmdId, "Sequence", "200"),
      statusFor(`${sequence.cmdId}.1`, "Delete", "404"),
      statusFor(`${sequence.cmdId}.2`, "Delete", "200"),
    ]);
    expect(await profilesOf(t, hostId)).toEqual([]);
    const types = (await t.store.activities.list()).map(({ type }) => type).filter((type) => type.includes("_profile"));
    expect(types).toEqual(["created_windows_profile", "deleted_windows_profile"]);
  });

  it("fails with the nodes that failed, after it was tried again", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    await upload(t, `<Atomic>${command()}${command("Replace", `${NODE}2`)}</Atomic>`);
    for (const _ of [1, 2]) {
      const atomic = await nextCommand(device);
      await device.send([
        headerStatus,
        statusFor(atomic.cmdId, "Atomic", "507"),
        statusFor(`${atomic.cmdId}.1`, "Replace", "216"),
        statusFor(`${atomic.cmdId}.2`, "Replace", "405"),
      ]);
    }
    expect(await profilesOf(t, hostId)).toEqual([
      {
        name: "camera",
        status: "failed",
        operation_type: "install",
        detail: `${NODE}2: status 405 (not allowed for this node)`,
      },
    ]);
  });
});

const SCEP = "./Device/Vendor/MSFT/ClientCertificateInstall/SCEP/wifi/Install";

it("is refused with the reason", async () => {
  const t = await startApp();
  await turnOnWindowsMdm(t);
  const refused: [string, RegExp][] = [
    [`<?xml version="1.0"?>${command()}`, /XML declaration/],
    ["<Replace>", /not well-formed/],
    [command("Get"), /cannot have the command Get/],
    [command("Delete"), /cannot have the command Delete/],
    ["<Replace/>", /no Item/],
    ["<Replace><Item/></Replace>", /without the LocURI/],
    ["<Atomic/>", /no commands/],
    [`<Atomic>${command()}</Atomic>${command()}`, /only command/],
    [`<Atomic><Atomic>${command()}</Atomic></Atomic>`, /cannot have the command Atomic/],
    [command("Replace", "./Device/Vendor/MSFT/BitLocker/RequireDeviceEncryption"), /disk encryption/],
    [command("Replace", "./Vendor/MSFT/Bit%4Cocker/RequireDeviceEncryption"), /disk encryption/],
    [command("Replace", "./Device/Vendor/MSFT/Policy/Config/Update/AllowAutoUpdate"), /deadlines of updates/],
    [command() + command("Add"), /both a command Replace and a command Add/],
    [command("Replace", NODE, "$SVC_VAR_UNKNOWN"), /not a variable/],
    [command("Exec", "./Device/Vendor/MSFT/Reboot/RebootNow"), /cannot be executed by profiles/],
    [`<Atomic>${command("Exec", `${SCEP}/KeyLength`)}</Atomic>`, /cannot be executed by profiles/],
  ];
  for (const [content, reason] of refused) {
    const { status, reason: given } = await upload(t, content);
    expect([status, given]).toEqual([422, expect.stringMatching(reason)]);
  }
  expect((await upload(t, command("Add", `${SCEP}/KeyLength`) + command("Exec", `${SCEP}/Enroll`))).status).toBe(200);
  expect((await upload(t, command())).status, "the same name").toBe(409);
});

it("is refused while device management of Windows hosts is turned off", async () => {
  const t = await startApp();
  expect((await upload(t, command())).status).toBe(400);
});
