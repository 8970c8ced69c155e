// The server's own profile that configures the agent on Macs.
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { agentProfileKeeper } from "../../../src/server/devices/apple/agent-profile/keep.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { mobileconfig, payload, profileForm } from "../../support/profiles.ts";

const settings = { server_url: "https://svc.example.com" };

async function setSecrets(t: TestApp, secrets: readonly string[], teamId?: number): Promise<void> {
  const body = { secrets: secrets.map((secret) => ({ secret })) };
  const response =
    teamId === undefined
      ? await t.post("/spec/enroll_secret", { spec: body })
      : await t.patch(`/teams/${teamId}/secrets`, body);
  expect(response.status, await response.clone().text()).toBe(200);
}
const kept = (t: TestApp) => t.services.running.of(agentProfileKeeper).run();

type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];
/** The settings that the device gets next, and acknowledges; null: none now. */
async function settingsNow(device: Device): Promise<PlistDict | null> {
  for (
    let command = await device.idle();
    command !== null;
    command = await device.answer(command.uuid, "Acknowledged")
  ) {
    if (command.type !== "InstallProfile") continue;
    const { PayloadContent } = readPlistDict(command.command.Payload as Buffer);
    const found = (PayloadContent as PlistDict[]).find((one) => one.PayloadType === "com.svc.agent");
    if (!found) continue;
    await device.answer(command.uuid, "Acknowledged");
    return found;
  }
  return null;
}
async function nextSettings(device: Device) {
  let found: PlistDict | null = null;
  await expect
    .poll(async () => {
      found = await settingsNow(device);
      return found !== null;
    })
    .toBe(true);
  return { url: stringIn(found!, "ServerURL"), secret: stringIn(found!, "EnrollSecret") };
}

describe.each(bothEngines)("the profile of the agent on %s", (engine) => {
  it("brings Macs the newest secret of their team, and each later one", async () => {
    const t = await startApp({ engine, settings, agentProfile: true });
    await turnOnAppleMdm(t);
    const team = await makeTeam(t);
    const { device, id } = await enrolledDevice(t, {}, { teamId: team.id });
    const { device: phone } = await enrolledDevice(t, { ProductName: "iPhone15,2" }, { teamId: team.id, key: 1 });
    await kept(t);
    expect(await t.store.configurationProfiles.count(), "without a secret").toBe(0);

    await setSecrets(t, ["secret-one", "secret-two"], team.id);
    expect(await nextSettings(device)).toEqual({ url: settings.server_url, secret: "secret-two" });
    expect(await settingsNow(phone), "for Macs only").toBeNull();
    const stored = [...(await t.store.operationContents.list()), ...(await t.store.profileContents.list())];
    expect(JSON.stringify(stored)).not.toContain("secret-two");

    await setSecrets(t, ["secret-three"], team.id);
    expect((await nextSettings(device)).secret).toBe("secret-three");
    await setSecrets(t, ["secret-of-all"]);
    await t.post("/hosts/transfer", { team_id: null, hosts: [id] });
    expect((await nextSettings(device)).secret).toBe("secret-of-all");
    await kept(t);
    expect(await settingsNow(device), "nothing has changed").toBeNull();

    await setSecrets(t, [], team.id);
    await setSecrets(t, []);
    await expect.poll(() => t.store.configurationProfiles.count()).toBe(0);
  });

  it("is there although users have a profile of the same name, which stays", async () => {
    const t = await startApp({ engine, settings, agentProfile: true });
    await turnOnAppleMdm(t);
    const ofUsers = mobileconfig("com.example.agent", "", "Agent (svc)");
    expect((await t.post("/configuration_profiles", profileForm(ofUsers, {}))).status).toBe(200);
    await setSecrets(t, ["secret-of-all"]);
    const names = async () => {
      await kept(t);
      return (await t.store.configurationProfiles.list()).map(({ name }) => name).sort();
    };
    expect(await names()).toEqual(["Agent (svc)", "Agent (svc) (svc.agent)"]);
    await t.store.configurationProfiles.delete(eq("is_own", false));
    expect(await names()).toEqual(["Agent (svc)"]);
  });
});

describe.each(rulesEngines)("the profile of the agent for users on %s", (engine) => {
  it("is neither listed nor changed, and its secret is for no other profile", async () => {
    const t = await startApp({ engine, settings, agentProfile: true });
    await turnOnAppleMdm(t);
    await setSecrets(t, ["secret-one"]);
    await kept(t);
    const [profile] = await t.store.configurationProfiles.list();
    expect(profile).toMatchObject({ identifier: "svc.agent", is_own: true, host_platform: "darwin" });
    const { profiles } = (await (await t.get("/configuration_profiles")).json()) as { profiles: unknown[] };
    expect(profiles).toEqual([]);
    const file = await t.get(`/configuration_profiles/${profile!.uuid}?alt=media`);
    expect(await file.text()).not.toContain("secret-one");
    expect((await t.delete(`/configuration_profiles/${profile!.uuid}`)).status).toBe(400);
    for (const content of [
      mobileconfig(
        "com.example.secret",
        payload("com.example", "<key>a</key><string>$SVC_VAR_AGENT_ENROLL_SECRET</string>"),
      ),
      mobileconfig("svc.agent", payload("com.example")),
    ]) {
      const response = await t.post("/configuration_profiles", profileForm(content, {}, "a.mobileconfig"));
      expect(response.status).toBe(422);
    }
  });
});
