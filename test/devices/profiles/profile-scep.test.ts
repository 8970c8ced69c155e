// Profiles by which devices get certificates of an authority through the SCEP proxy.
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days, isoAt } from "../../../src/server/platform/core/clock.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { allowLocal, startFake } from "../../support/ca-fakes.ts";
import { bothEngines, type EngineName } from "../../support/engines.ts";
import { mobileconfig, profileForm } from "../../support/profiles.ts";

const CHALLENGE = "static-challenge";
const URL_OF = "SVC_VAR_CUSTOM_SCEP_PROXY_URL_WIFI";
const CHALLENGE_OF = "SVC_VAR_CUSTOM_SCEP_CHALLENGE_WIFI";
const profileWith = (url = `$${URL_OF}`, challenge = `$${CHALLENGE_OF}`) =>
  mobileconfig(
    "com.example.scep",
    `<dict><key>PayloadType</key><string>com.apple.security.scep</string><key>PayloadContent</key><dict><key>URL</key><string>${url}</string><key>Challenge</key><string>${challenge}</string></dict></dict>`,
    "Certificate",
  );
const RENEWED =
  "<key>Subject</key><array><array><array><string>OU</string><string>$SVC_VAR_SCEP_RENEWAL_ID</string></array></array></array>";
const upload = (t: TestApp, content: string) =>
  t.post("/configuration_profiles", profileForm(content, {}, "scep.mobileconfig"));

/** The app with the authority WIFI, which counts the messages that it gets. */
async function start(engine: EngineName) {
  const messages: string[] = [];
  const { url } = await startFake(async ({ url: { searchParams } }) => {
    messages.push(searchParams.get("operation") ?? "");
    return { status: 200, headers: { "content-type": "text/plain" }, body: Buffer.from("Renewal") };
  });
  const t = await startApp({ engine, settings: allowLocal });
  await turnOnAppleMdm(t);
  const made = await t.post("/certificate_authorities?skip_check=true", {
    custom_scep_proxy: { name: "WIFI", url, challenge: CHALLENGE },
  });
  expect(made.status).toBe(200);
  return { t, messages, ...(await enrolledDevice(t)) };
}
type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

interface SentProfile {
  readonly uuid: string;
  readonly path: string;
  readonly challenge: string;
}
/** The profile that the device gets next, which it does not acknowledge. */
async function nextProfile(device: Device): Promise<SentProfile> {
  let sent: SentProfile | null = null;
  const ask = async () => {
    let command = await device.idle();
    while (command !== null && command.type !== "InstallProfile")
      command = await device.answer(command.uuid, "Acknowledged");
    if (command === null) return false;
    const [payload] = readPlistDict(command.command.Payload as Buffer).PayloadContent as PlistDict[];
    const content = payload!.PayloadContent as PlistDict;
    const { pathname } = new URL(stringIn(content, "URL")!);
    sent = { uuid: command.uuid, path: pathname, challenge: stringIn(content, "Challenge")! };
    return true;
  };
  await expect.poll(ask).toBe(true);
  return sent!;
}
const call = async (t: TestApp, path: string, operation = "GetCACaps") =>
  (await t.raw(`${path}?operation=${operation}&message=AAAA`)).status;

describe.each(bothEngines)("profiles with the SCEP proxy on %s", (engine) => {
  it("give the device an address that is good for one certificate, until it has the profile", async () => {
    const { t, device, messages } = await start(engine);
    expect((await upload(t, profileWith())).status).toBe(200);
    const { uuid, path, challenge } = await nextProfile(device);
    expect(challenge).toBe(CHALLENGE);
    expect(await call(t, path)).toBe(200);
    expect(await call(t, path, "PKIOperation")).toBe(200);
    expect(messages).toEqual(["GetCACaps", "PKIOperation"]);
    const stored = [...(await t.store.operationContents.list()), ...(await t.store.profileContents.list())];
    expect(JSON.stringify(stored)).not.toContain(CHALLENGE);
    const row = (await t.store.profileChallenges.list())[0]!;
    expect(path).toContain(encodeURIComponent(",WIFI,"));
    expect(row.used).toBe(true);
    await device.answer(uuid, "Acknowledged");
    expect(await call(t, path)).toBe(400);
  });

  it("are sent again with another address if a device needs a second certificate", async () => {
    const { t, device } = await start(engine);
    await upload(t, profileWith());
    const first = await nextProfile(device);
    expect(await call(t, first.path, "PKIOperation")).toBe(200);
    expect(await call(t, first.path, "PKIOperation")).toBe(400);
    await device.answer(first.uuid, "Error");
    const second = await nextProfile(device);
    expect(second.path).not.toBe(first.path);
    expect(await call(t, first.path)).toBe(400);
    expect(await call(t, second.path, "PKIOperation")).toBe(200);
  });

  it("refuse what was given for another host, profile or authority", async () => {
    const { t, device } = await start(engine);
    await upload(t, profileWith());
    const { path } = await nextProfile(device);
    const parts = decodeURIComponent(path.split("/").at(-1)!).split(",");
    for (const at of parts.keys()) {
      const other = parts.map((part, i) => (i === at ? `${part}x` : part)).join(",");
      expect(await call(t, `/mdm/scep/proxy/${encodeURIComponent(other)}`)).toBe(400);
    }
    expect(await call(t, path)).toBe(200);
  });

  it("are sent again when the challenge of the authority changes", async () => {
    const { t, device } = await start(engine);
    await upload(t, profileWith());
    const { uuid } = await nextProfile(device);
    await device.answer(uuid, "Acknowledged");
    const changed = await t.patch("/certificate_authorities/1?skip_check=true", {
      custom_scep_proxy: { challenge: "newer-challenge" },
    });
    expect(changed.status, await changed.clone().text()).toBe(200);
    await runJob(t.services, "profiles");
    expect((await nextProfile(device)).challenge).toBe("newer-challenge");
  });

  it("are sent again before their newest certificate ends", async () => {
    const { t, device, id } = await start(engine);
    const { profile_uuid } = (await (
      await upload(
        t,
        profileWith(`$${URL_OF}`, `$${CHALLENGE_OF}`).replace("<key>URL</key>", `${RENEWED}<key>URL</key>`),
      )
    ).json()) as { profile_uuid: string };
    const { uuid } = await nextProfile(device);
    await device.answer(uuid, "Acknowledged");
    const certificate = (left: number, life = days(365), ou = `svc-${profile_uuid}`) => ({
      subject: { organizational_unit: ou },
      not_valid_before: isoAt(t.clock.now() + left - life),
      not_valid_after: isoAt(t.clock.now() + left),
    });
    const statusWith = async (...certificates: object[]) => {
      await t.store.hostDetails.upsert([{ id, certificates, users: [], batteries: [] }], { on: ["id"] });
      await runJob(t.services, "profile_certificates");
      return (await t.store.hostProfiles.list())[0]!.status;
    };
    expect(await statusWith(certificate(days(31)), certificate(days(20), days(365), "svc-other"))).toBe("verifying");
    expect(await statusWith(certificate(days(29)), certificate(days(364))), "the old one is still there").toBe(
      "verifying",
    );
    expect(await statusWith(certificate(days(4), days(7))), "a short life").toBe("verifying");
    await statusWith(certificate(days(29)));
    expect((await nextProfile(device)).uuid).not.toBe(uuid);
  });

  it("are refused without their other half, or without the authority", async () => {
    const { t } = await start(engine);
    const refused: [string, RegExp][] = [
      [profileWith(`$${URL_OF}`, "x"), /also needs \$SVC_VAR_CUSTOM_SCEP_CHALLENGE_WIFI/],
      [profileWith("x"), /also needs \$SVC_VAR_CUSTOM_SCEP_PROXY_URL_WIFI/],
      [profileWith(`$${URL_OF}_X`, `$${CHALLENGE_OF}_X`), /no certificate authority WIFI_X/],
    ];
    for (const [content, reason] of refused) {
      const response = await upload(t, content);
      expect([response.status, await response.text()]).toEqual([422, expect.stringMatching(reason)]);
    }
  });
});
