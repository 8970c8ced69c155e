// Names of Apple devices by a template of their team: sent, confirmed, sent again, and given up.
import { describe, expect, it } from "vitest";
import { arrayIn, type PlistDict } from "../../../src/plist/value.ts";
import { keepHostNames } from "../../../src/server/devices/apple/names/keep.ts";
import { and, eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, enrolledDevice } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";
import { withSecondServer } from "../../support/second-server.ts";

type Engine = (typeof bothEngines)[number];
type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

async function started(engine: Engine) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}
const setTemplate = async (t: TestApp, name_template: string, team_id?: number) => {
  const res = await t.post("/host_name_template", { team_id, name_template });
  expect(res.status, await res.clone().text()).toBe(204);
};
const stateOf = async (t: TestApp, id: number) => {
  const { host } = (await (await t.get(`/hosts/${id}`)).json()) as {
    host: { mdm: { os_settings: Record<string, { status: string; detail: string }> } };
  };
  return host.mdm.os_settings.host_name_template;
};
const resend = async (t: TestApp, id: number) => (await t.post(`/hosts/${id}/name_template/resend`)).status;
const pending = (t: TestApp, type = "Settings") =>
  t.store.mdmCommands.count(and(eq("request_type", type), eq("command_status", "pending")));
const nameIn = (command: PlistDict) => (arrayIn(command, "Settings")?.[0] as PlistDict | undefined)?.DeviceName;
const done = { Settings: [{ Item: "DeviceName", Status: "Acknowledged" }] };

/** The device gets the command that names it, takes the name, and reports this one. Returns the name. */
async function named(device: Device, reports?: string): Promise<string> {
  const set = (await device.idle())!;
  expect(set.type).toBe("Settings");
  const name = nameIn(set.command) as string;
  const check = (await device.answer(set.uuid, "Acknowledged", done))!;
  expect(check.command).toEqual({ RequestType: "DeviceInformation", Queries: ["DeviceName"] });
  await device.answer(check.uuid, "Acknowledged", { QueryResponses: { DeviceName: reports ?? name } });
  return name;
}

describe.each(bothEngines)("the name of an Apple device on %s", (engine) => {
  it("is made of the template of its team, sent, confirmed, sent again, and left when the template is cleared", async () => {
    const t = await started(engine);
    const team = await makeTeam(t);
    const { device, id } = await enrolledDevice(t, {}, { teamId: team.id });
    const other = await enrolledDevice(t, {}, { key: 1 });
    const { hardware_serial: serial } = (await t.store.hosts.get(id))!;
    expect([await resend(t, id), await stateOf(t, id)]).toEqual([404, undefined]);

    await setTemplate(t, "Mac-$SVC_VAR_HOST_HARDWARE_SERIAL", team.id);
    await expect.poll(() => stateOf(t, id)).toEqual({ status: "pending", detail: "" });
    expect(await resend(t, id)).toBe(409);
    expect(await other.device.idle(), "of no team").toBeNull();
    const set = (await device.idle())!;
    expect(set.command).toEqual({
      RequestType: "Settings",
      Settings: [{ Item: "DeviceName", DeviceName: `Mac-${serial}` }],
    });
    const check = (await device.answer(set.uuid, "Acknowledged", done))!;
    expect([await stateOf(t, id), await resend(t, id)]).toMatchObject([{ status: "verifying" }, 409]);
    await device.answer(check.uuid, "Acknowledged", { QueryResponses: { DeviceName: `Mac-${serial}` } });
    expect(await stateOf(t, id)).toEqual({ status: "verified", detail: "" });
    expect((await t.store.hosts.get(id))!.refetch_requested).toBe(true);

    expect(await resend(t, id)).toBe(202);
    expect(await stateOf(t, id)).toMatchObject({ status: "pending" });
    expect(await named(device)).toBe(`Mac-${serial}`);

    await setTemplate(t, "", team.id);
    await expect.poll(() => stateOf(t, id)).toBeUndefined();
    expect(await device.idle(), "it keeps the name that it has").toBeNull();
    expect(await resend(t, id)).toBe(404);
    expect(await (await t.post(`/hosts/${id}/name_template/resend`)).json()).toMatchObject({
      errors: [{ reason: expect.stringContaining("is not named by a template") }],
    });
  });

  it("counts as a setting of the host, and is recorded as a change of settings", async () => {
    const t = await started(engine);
    await setTemplate(t, "Mac-$SVC_VAR_HOST_UUID");
    const { device } = await enrolledDevice(t);
    const counts = async () => (await t.get("/configuration_profiles/summary")).json();
    await expect.poll(counts).toMatchObject({ pending: 1 });
    await named(device);
    expect(await counts()).toEqual({ verified: 1, verifying: 0, pending: 0, failed: 0 });
    const [edited] = await t.store.activities.list({ where: eq("type", "edited_config") });
    expect(edited!.details).toMatchObject({
      changes: [{ path: "mdm.name_template", old: "", new: "Mac-$SVC_VAR_HOST_UUID" }],
    });
  });
});

describe.each(rulesEngines)("names of Apple devices on %s", (engine) => {
  it("take the value of a custom variable when they are sent, and change with it", async () => {
    const t = await started(engine);
    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "SVC_SECRET_SITE", value: "Oslo-9" }] });
    await setTemplate(t, "$SVC_SECRET_SITE $SVC_VAR_HOST_HARDWARE_SERIAL");
    const { device, id } = await enrolledDevice(t);
    const { hardware_serial: serial } = (await t.store.hosts.get(id))!;
    await expect.poll(() => pending(t)).toBe(1);
    const stored = await (await t.get("/commands")).text();
    const contents = await t.store.operationContents.list();
    expect(`${stored}${JSON.stringify(contents)}`).not.toContain("Oslo-9");
    expect(await named(device)).toBe(`Oslo-9 ${serial}`);
    const { custom_variables } = (await (await t.get("/custom_variables")).json()) as {
      custom_variables: { id: number }[];
    };
    const refused = await t.delete(`/custom_variables/${custom_variables[0]!.id}`);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("template of names")]);

    await t.request("PUT", "/spec/secret_variables", { secrets: [{ name: "SVC_SECRET_SITE", value: "Bergen" }] });
    await expect.poll(() => stateOf(t, id)).toMatchObject({ status: "pending" });
    expect(await named(device)).toBe(`Bergen ${serial}`);
  });

  it("fail with the device's reason, and with the name that it reports in place of this one", async () => {
    const t = await started(engine);
    await setTemplate(t, "A");
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => pending(t)).toBe(1);
    const set = (await device.idle())!;
    const ErrorChain = [{ ErrorCode: 12, ErrorDomain: "MDM", LocalizedDescription: "Not supervised" }];
    await device.answer(set.uuid, "Acknowledged", { Settings: [{ Item: "DeviceName", Status: "Error", ErrorChain }] });
    expect(await stateOf(t, id)).toEqual({ status: "failed", detail: "Not supervised" });
    expect(await resend(t, id)).toBe(202);
    await named(device, "Ada's Mac");
    expect(await stateOf(t, id)).toEqual({
      status: "failed",
      detail: 'The device reports another name: "Ada\'s Mac".',
    });
  });

  it("fail when a later report has another name, and are verified when it has this one", async () => {
    const t = await started(engine);
    await setTemplate(t, "A");
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => pending(t)).toBe(1);
    await named(device);
    const reports = async (computer_name: string) => {
      t.clock.advance(60_000);
      await t.store.hosts.updateEach([{ id, computer_name, detail_updated_at: t.clock.iso() }]);
      await keepHostNames(t.services);
      return stateOf(t, id);
    };
    expect(await reports("B")).toEqual({ status: "failed", detail: 'The device reports another name: "B".' });
    expect(await device.idle(), "it is not renamed by itself").toBeNull();
    expect(await reports("A")).toEqual({ status: "verified", detail: "" });
  });

  it("are not sent while a value is missing, and are sent when the host has it", async () => {
    const t = await started(engine);
    await setTemplate(t, "$SVC_VAR_HOST_END_USER_IDP_USERNAME");
    const { device, id } = await enrolledDevice(t);
    await expect
      .poll(() => stateOf(t, id))
      .toEqual({
        status: "failed",
        detail: "This host has no value for $SVC_VAR_HOST_END_USER_IDP_USERNAME.",
      });
    expect(await device.idle()).toBeNull();
    expect(
      (await t.request("PUT", `/hosts/${id}/device_mapping`, { email: "ada@example.com", source: "idp" })).status,
    ).toBe(200);
    await keepHostNames(t.services);
    expect(await named(device)).toBe("ada@example.com");
  });

  it("replace a name that the device has not taken yet, whose late answer counts for nothing", async () => {
    const t = await started(engine);
    await setTemplate(t, "A");
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => pending(t)).toBe(1);
    const first = (await device.idle())!;
    await setTemplate(t, "B");
    await expect.poll(async () => (await t.store.hostNames.get(id))?.name).toBe("B");
    const next = (await device.answer(first.uuid, "Acknowledged", done))!;
    expect(nameIn(next.command)).toBe("B");
    expect(await stateOf(t, id)).toMatchObject({ status: "pending" });
  });

  it("end with the enrollment, and are sent again after the next one", async () => {
    const t = await started(engine);
    await setTemplate(t, "A");
    const { device, id } = await enrolledDevice(t);
    await expect.poll(() => pending(t)).toBe(1);
    await named(device);
    await device.checkIn("CheckOut");
    await keepHostNames(t.services);
    expect(await t.store.hostNames.list()).toEqual([]);
    expect(await resend(t, id)).toBe(404);
  });

  it("refuse variables that names cannot have, undefined ones, and texts of more than one line", async () => {
    const t = await started(engine);
    const team = await makeTeam(t);
    const refused = [
      ["$SVC_VAR_HOST_IP", "$SVC_VAR_HOST_IP cannot be used"],
      ["$SVC_HOST_VITAL_1", "$SVC_HOST_VITAL_1 cannot be used"],
      ["$SVC_VAR_SCEP_RENEWAL_ID", "cannot be used"],
      ["$SVC_SECRET_MISSING", "$SVC_SECRET_MISSING is not defined"],
      ["a\nb", "one line"],
      ["  ", "blank"],
    ] as const;
    for (const [name_template, why] of refused)
      for (const team_id of [0, team.id]) {
        const res = await t.post("/host_name_template", { team_id, name_template });
        const body = await res.json();
        expect([res.status, body], name_template).toEqual([
          422,
          expect.objectContaining({ errors: [{ name: "name_template", reason: expect.stringContaining(why) }] }),
        ]);
        const path = team_id === 0 ? "/config" : `/teams/${team.id}`;
        const patched = await t.patch(path, { mdm: { name_template } });
        expect(await patched.json()).toMatchObject({
          errors: [{ name: "mdm.name_template", reason: expect.stringContaining(why) }],
        });
      }
    expect((await t.post("/host_name_template", { team_id: 999, name_template: "A" })).status).toBe(404);
    const spec = { specs: [{ name: "New", mdm: { name_template: "$SVC_SECRET_MISSING" } }] };
    const applied = await t.post("/spec/teams", spec);
    expect([applied.status, await applied.text()]).toEqual([422, expect.stringContaining("SVC_SECRET_MISSING")]);
  });

  it("need Apple device management, and are not for users without the right", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const off = await t.post("/host_name_template", { team_id: team.id, name_template: "A" });
    expect([off.status, await off.text()]).toEqual([422, expect.stringContaining("Apple")]);
    await turnOnAppleMdm(t);
    const observer = await makeUser(t, "observer");
    const answer = await observer.post("/host_name_template", { name_template: "A" });
    expect(answer.status).toBe(403);
  });
});

it("a name is sent once, whichever of two servers compares, is asked and is answered", async () => {
  const t = await started("postgres");
  const { device, identity, id } = await enrolledDevice(t);
  await withSecondServer(t, async (second) => {
    const there = appleDevice(second, identity, { UDID: device.udid });
    await setTemplate(second, "A");
    // A server that has not been notified yet would take the name back until it is.
    await expect.poll(async () => (await t.services.config.current()).mdm.name_template).toBe("A");
    await Promise.all([t, second, t, second].map(({ services }) => keepHostNames(services)));
    const asked = await Promise.all([device.idle(), there.idle(), device.idle()]);
    expect(new Set(asked.map((command) => JSON.stringify(command))).size, "all get the same command").toBe(1);
    const { uuid, command } = asked[0]!;
    expect(nameIn(command)).toBe("A");
    await Promise.all([device.answer(uuid, "Acknowledged", done), there.answer(uuid, "Acknowledged", done)]);
    const check = (await there.idle())!;
    await device.answer(check.uuid, "Acknowledged", { QueryResponses: { DeviceName: "A" } });
    expect(await stateOf(second, id)).toEqual({ status: "verified", detail: "" });
    expect(await t.store.mdmCommands.count(eq("host_id", id))).toBe(2);
    const again = await Promise.all([resend(t, id), resend(second, id)]);
    expect(again.sort()).toEqual([202, 409]);
  });
});
