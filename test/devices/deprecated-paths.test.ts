// The deprecated paths of profiles and commands answer as those that replace them.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeUser } from "../support/make.ts";
import { appleCommand, base64, declaration, profileForm } from "../support/profiles.ts";

const OLD = "/mdm/vendora";

describe.each(rulesEngines)("deprecated paths of device management on %s", (engine) => {
  const same = async (t: TestApp, older: string, newer: string) => {
    const [old, current] = await Promise.all([t.get(older), t.get(newer)]);
    expect([old.status, current.status], older).toEqual([200, 200]);
    const body = await current.json();
    expect(await old.json(), older).toEqual(body);
    return body;
  };

  it("store, list, show and delete profiles", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const created = await t.post(`${OLD}/profiles`, profileForm(declaration("com.example.a"), {}, "a.json"));
    const { profile_uuid } = (await created.json()) as { profile_uuid: string };
    expect(created.status).toBe(200);
    expect(await same(t, `${OLD}/profiles`, "/mdm/profiles")).toMatchObject({ profiles: [{ profile_uuid }] });
    await same(t, `${OLD}/profiles/${profile_uuid}`, `/mdm/profiles/${profile_uuid}`);
    await same(t, `${OLD}/profiles/summary`, "/mdm/profiles/summary");
    expect((await t.delete(`${OLD}/profiles/${profile_uuid}`)).status).toBe(200);
    expect(await t.store.configurationProfiles.count()).toBe(0);
    const profiles = [{ profile: base64(declaration("com.example.b")), display_name: "b" }];
    expect((await t.post(`${OLD}/profiles/batch`, { configuration_profiles: profiles })).status).toBe(204);
    expect(await t.store.configurationProfiles.list()).toMatchObject([{ name: "b" }]);
  });

  it("send commands, and list these and their results", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const { id } = await enrolledDevice(t);
    const { uuid } = (await t.store.hosts.get(id))!;
    const admin = await makeUser(t, "admin");
    const body = { command: appleCommand("DeviceInformation", { Queries: ["OSVersion"] }), device_ids: [uuid] };
    const sent = await admin.post(`${OLD}/enqueue`, body);
    expect(sent.status, await sent.clone().text()).toBe(200);
    const { command_uuid } = (await sent.json()) as { command_uuid: string };
    const listed = await same(t, `${OLD}/commands`, "/mdm/commands");
    expect(JSON.stringify(listed)).toContain(command_uuid);
    const results = `commandresults?command_uuid=${command_uuid}`;
    await same(t, `${OLD}/${results}`, `/mdm/${results}`);
  });
});
