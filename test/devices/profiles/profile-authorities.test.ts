// Profiles for which authorities are asked when the device gets them: one-time challenges, and keys with certificates.
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { profileReconciler } from "../../../src/server/devices/profiles/part.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days, minutes } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { everyCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import {
  API_TOKEN,
  allowLocal,
  newDir,
  OpensslCa,
  openssl,
  startChallengeWebhook,
  startHostedCa,
} from "../../support/ca-fakes.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { NDES_CHALLENGE, NTLM_DOMAIN, NTLM_PASSWORD, NTLM_USER, startNdes } from "../../support/ndes.ts";
import { mobileconfig, payload, profileForm, windowsProfile } from "../../support/profiles.ts";
import { managedWindows } from "../../support/windows-device.ts";

const scepPayload = (url: string, challenge: string) =>
  payload(
    "com.apple.security.scep",
    `<key>PayloadContent</key><dict><key>URL</key><string>${url}</string><key>Challenge</key><string>${challenge}</string></dict>`,
  );
const DIRECTORY = scepPayload("$SVC_VAR_DIRECTORY_SCEP_PROXY_URL", "$SVC_VAR_DIRECTORY_SCEP_CHALLENGE");
const HOSTED = scepPayload(
  "$SVC_VAR_HOSTED_SCEP_PROXY_URL_hosted_scep_ca",
  `$\{SVC_VAR_HOSTED_SCEP_CHALLENGE_hosted_scep_ca}`,
);
const KEY = payload(
  "com.apple.security.pkcs12",
  "<key>PayloadContent</key><data>$SVC_VAR_HOSTED_CA_A_DATA_VPN</data><key>Password</key><string>$SVC_VAR_HOSTED_CA_A_PASSWORD_VPN</string>",
);

async function start(engine: EngineName, authority: object) {
  const t = await startApp({ engine, settings: allowLocal });
  await turnOnAppleMdm(t);
  const made = await t.post("/certificate_authorities?skip_check=true", authority);
  expect(made.status, await made.clone().text()).toBe(200);
  return { t, ...(await enrolledDevice(t)) };
}
type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

async function upload(t: TestApp, content: string, file = "a.mobileconfig"): Promise<Response> {
  return t.post("/configuration_profiles", profileForm(content, {}, file));
}
async function uploaded(t: TestApp, inner: string): Promise<string> {
  const response = await upload(t, mobileconfig("com.example.certificate", inner, "Certificate"));
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { profile_uuid: string }).profile_uuid;
}

interface SentProfile {
  readonly uuid: string;
  readonly payload: PlistDict;
}
/** The profile that the device gets, which it does not acknowledge; null: there is none now. */
async function profileNow(device: Device): Promise<SentProfile | null> {
  let command = await device.idle();
  while (command !== null && command.type !== "InstallProfile")
    command = await device.answer(command.uuid, "Acknowledged");
  if (command === null) return null;
  const [inner] = readPlistDict(command.command.Payload as Buffer).PayloadContent as PlistDict[];
  return { uuid: command.uuid, payload: inner! };
}
async function nextProfile(device: Device): Promise<SentProfile> {
  let sent: SentProfile | null = null;
  await expect
    .poll(async () => {
      sent = await profileNow(device);
      return sent !== null;
    })
    .toBe(true);
  return sent!;
}
const scepOf = ({ payload: { PayloadContent } }: SentProfile) => ({
  path: new URL(stringIn(PayloadContent as PlistDict, "URL")!).pathname,
  challenge: stringIn(PayloadContent as PlistDict, "Challenge"),
});
const onHost = async (t: TestApp) => (await t.store.hostProfiles.list())[0]!;
/** Everything about profiles and commands that is stored in clear. */
const stored = async ({ store }: TestApp) =>
  JSON.stringify([
    await store.operationContents.list(),
    await store.profileContents.list(),
    await store.mdmCommands.list(),
    await store.operations.list(),
  ]);

async function directory(engine: EngineName) {
  const ca = await OpensslCa.make();
  const server = await startNdes(new X509Certificate(await ca.certificate()).raw);
  const started = await start(engine, {
    directory_scep_proxy: {
      url: server.scepUrl,
      admin_url: server.adminUrl,
      username: `${NTLM_DOMAIN}\\${NTLM_USER}`,
      password: NTLM_PASSWORD,
    },
  });
  return { ...started, server };
}

describe.each(bothEngines)("a one-time challenge of the directory's service on %s", (engine) => {
  it("is requested when the device gets the profile, and used for it only", async () => {
    const { t, device, server } = await directory(engine);
    const uuid = await uploaded(t, DIRECTORY);
    await expect.poll(async () => (await onHost(t))?.status).toBe("pending");
    expect(server.requests, "not before the device asks").toHaveLength(0);
    const sent = await nextProfile(device);
    expect(scepOf(sent).challenge).toBe(NDES_CHALLENGE);
    expect(decodeURIComponent(scepOf(sent).path)).toContain(`${uuid},directory_scep_proxy,`);
    const { length } = server.requests;
    expect(await nextProfile(device), "the same again").toEqual(sent);
    expect(server.requests).toHaveLength(length);
    expect(await stored(t)).not.toContain(NDES_CHALLENGE);

    t.clock.advance(minutes(58));
    expect(scepOf(await nextProfile(device)).challenge).toBe(NDES_CHALLENGE);
    expect(server.requests.length, "the authority has forgotten it by now").toBeGreaterThan(length);
    const { path } = scepOf(sent);
    expect((await t.raw(`${path}?operation=GetCACert`)).status).toBe(200);
    await device.answer(sent.uuid, "Acknowledged");
    expect((await onHost(t)).status).toBe("verifying");
    expect((await t.raw(`${path}?operation=GetCACert`)).status).toBe(400);
  });
});

describe.each(rulesEngines)("without a challenge on %s", (engine) => {
  it("the profile fails with the reason, and other commands go on", async () => {
    const { t, device, server, id } = await directory(engine);
    server.page = "full";
    const uuid = await uploaded(t, DIRECTORY);
    await expect
      .poll(async () => {
        expect(await profileNow(device)).toBeNull();
        return (await onHost(t)).status;
      })
      .toBe("failed");
    expect((await onHost(t)).detail).toMatch(
      /directory_scep_proxy gives no challenge: its cache of challenges is full/,
    );
    await upload(t, mobileconfig("com.example.other", payload("com.example.other")));
    expect((await nextProfile(device)).payload.PayloadType).toBe("com.example.other");

    server.page = "challenge";
    expect((await t.post(`/hosts/${id}/configuration_profiles/${uuid}/resend`)).status).toBe(202);
    await expect
      .poll(async () => {
        const sent = await profileNow(device);
        if (sent?.payload.PayloadType === "com.example.other") await device.answer(sent.uuid, "Acknowledged");
        return sent?.payload.PayloadType;
      })
      .toBe("com.apple.security.scep");
  });
});

describe.each(rulesEngines)("a challenge of the hosted service on %s", (engine) => {
  it("is another one for each device, and each time", async () => {
    const service = await startChallengeWebhook("svc", "secret");
    const { t, device, id } = await start(engine, {
      hosted_scep_ca: { url: service.url, challenge_url: service.url, username: "svc", password: "secret" },
    });
    const other = await enrolledDevice(t, {}, { key: 1 });
    const uuid = await uploaded(t, HOSTED);
    const first = await nextProfile(device);
    const second = await nextProfile(other.device);
    expect([scepOf(first).challenge, scepOf(second).challenge]).toEqual(["challenge-1", "challenge-2"]);
    await device.answer(first.uuid, "Acknowledged");
    await t.store.hostProfiles.update({ where: eq("host_id", id), set: { status: "verified" } });
    expect((await t.post(`/hosts/${id}/configuration_profiles/${uuid}/resend`)).status).toBe(202);
    const again = await nextProfile(device);
    expect(scepOf(again).challenge).toBe("challenge-3");
    expect(scepOf(again).path).not.toBe(scepOf(first).path);
  });
});

describe.each(rulesEngines)("a key with its certificate on %s", (engine) => {
  const authority = (url: string) => ({
    hosted_ca_a: {
      name: "VPN",
      url,
      api_token: API_TOKEN,
      profile_id: "profile-1",
      certificate_common_name: "$SVC_VAR_HOST_HARDWARE_SERIAL",
      certificate_seat_id: "seat-$SVC_VAR_HOST_UUID",
    },
  });

  it("is ordered for the device, sealed with the password in its profile, and replaced before it ends", async () => {
    const ca = await OpensslCa.make();
    const service = await startHostedCa(ca);
    const { t, device, id } = await start(engine, authority(service.url));
    await uploaded(t, KEY);
    const sent = await nextProfile(device);
    const password = stringIn(sent.payload, "Password")!;
    const dir = newDir();
    writeFileSync(`${dir}/key.p12`, sent.payload.PayloadContent as Buffer);
    const shown = await openssl(
      dir,
      ...["pkcs12", "-in", "key.p12", "-legacy", "-nodes", "-passin", `pass:${password}`],
    );
    expect(shown).toContain("BEGIN PRIVATE KEY");
    const [host] = await t.store.hosts.getMany([id]);
    const [pem] = /-----BEGIN CERTIFICATE[\s\S]+END CERTIFICATE-----/.exec(shown)!;
    expect(new X509Certificate(pem).subject).toBe(`CN=${host!.hardware_serial}`);
    const orders = () => service.requests.filter(({ method }) => method === "POST");
    expect(JSON.parse(orders()[0]!.body.toString()).seat.seat_id).toBe(`seat-${host!.uuid}`);
    expect((await nextProfile(device)).payload, "the same again").toEqual(sent.payload);
    expect(orders()).toHaveLength(1);
    expect(await stored(t)).not.toContain(password);
    const [row] = await t.store.profileChallenges.list();
    const path = `/mdm/scep/proxy/${encodeURIComponent(row!.url.split("/").at(-1)!)}`;
    expect((await t.raw(`${path}?operation=GetCACert`)).status, "it is no SCEP authority").toBe(400);

    await device.answer(sent.uuid, "Acknowledged");
    await runJob(t.services, "profile_certificates");
    expect((await onHost(t)).status).toBe("verifying");
    // The certificate is made by the machine's clock, which the test's does not follow.
    await t.store.profileChallenges.update({ where: { op: "all" }, set: { renew_at: t.clock.iso() } });
    t.clock.advance(days(1));
    await runJob(t.services, "profile_certificates");
    expect((await nextProfile(device)).uuid).not.toBe(sent.uuid);
    expect(orders()).toHaveLength(2);
  });

  it("is not ordered for a host without a value for it", async () => {
    const ca = await OpensslCa.make();
    const service = await startHostedCa(ca);
    const { hosted_ca_a } = authority(service.url);
    const { t, device } = await start(engine, {
      hosted_ca_a: { ...hosted_ca_a, certificate_common_name: "$SVC_VAR_HOST_END_USER_EMAIL_IDP" },
    });
    await uploaded(t, KEY);
    await expect
      .poll(async () => {
        expect(await profileNow(device)).toBeNull();
        return (await onHost(t)).detail;
      })
      .toMatch(/no value for \$SVC_VAR_HOST_END_USER_EMAIL_IDP/);
    expect(service.requests).toHaveLength(0);
  });
});

const INSTALL = "./Device/Vendor/MSFT/ClientCertificateInstall/SCEP/x/Install";
/** What a Windows device is sent: texts of its nodes, and nothing if there is no profile. */
async function windowsNodes({ start }: Pick<Awaited<ReturnType<typeof managedWindows>>["device"], "start">) {
  const { commands } = (await start()).message;
  const items = [...everyCommand(commands)].flatMap(({ items }) => items);
  return Object.fromEntries(
    items.flatMap(({ target, data }) =>
      target?.startsWith(INSTALL) ? [[target.slice(INSTALL.length + 1), data]] : [],
    ),
  );
}

describe.each(rulesEngines)("a challenge in a profile of Windows devices on %s", (engine) => {
  const content =
    windowsProfile(`${INSTALL}/ServerURL`, "$SVC_VAR_HOSTED_SCEP_PROXY_URL_hosted_scep_ca") +
    windowsProfile(`${INSTALL}/Challenge`, "$SVC_VAR_HOSTED_SCEP_CHALLENGE_hosted_scep_ca");
  const started = async (password: string) => {
    const service = await startChallengeWebhook("svc", "secret");
    const hosted_scep_ca = { url: service.url, challenge_url: service.url, username: "svc", password };
    const { t } = await start(engine, { hosted_scep_ca });
    const devices = [await managedWindows(t), await managedWindows(t)];
    const reply = await upload(t, content, "a.xml");
    expect(reply.status, await reply.clone().text()).toBe(200);
    const { profile_uuid: uuid } = (await reply.json()) as { profile_uuid: string };
    await t.services.running.of(profileReconciler).run();
    return { t, uuid, devices: devices.map(({ device }) => device), hostIds: devices.map(({ hostId }) => hostId) };
  };

  it("is requested when a device gets the profile, for it only, and is stored nowhere in clear", async () => {
    const { t, devices } = await started("secret");
    const [first, second] = [await windowsNodes(devices[0]!), await windowsNodes(devices[1]!)];
    expect([first.Challenge, second.Challenge]).toEqual(["challenge-1", "challenge-2"]);
    expect(first.ServerURL).toContain("/mdm/scep/proxy/");
    expect(first.ServerURL).not.toBe(second.ServerURL);
    expect(await windowsNodes(devices[0]!), "not answered: the same again").toEqual(first);
    expect(await stored(t)).not.toContain("challenge-1");
  });

  it("fails the profile with the reason if the authority gives none, and other commands go on", async () => {
    const { t, uuid, devices, hostIds } = await started("wrong");
    const other = await upload(t, windowsProfile(), "other.xml");
    expect(other.status).toBe(200);
    await t.services.running.of(profileReconciler).run();
    const { commands } = (await devices[0]!.start()).message;
    const targets = [...everyCommand(commands)].flatMap(({ items }) => items.map(({ target }) => target));
    expect(targets.filter(Boolean)).toEqual(["./Device/Vendor/MSFT/Policy/Config/Camera/AllowCamera"]);
    const rows = await t.store.hostProfiles.list({ where: eq("profile_uuid", uuid) });
    const [own, others] = hostIds.map((id) => rows.find(({ host_id }) => host_id === id)!);
    expect(own!.status).toBe("failed");
    expect(own!.detail).toMatch(/hosted_scep_ca gives no challenge/);
    expect(others!.status).toBe("pending");
    const commandsOf = await t.store.mdmCommands.list({ where: eq("command_uuid", own!.command_uuid ?? "") });
    for (const one of commandsOf) expect([one.status, one.command_status]).toEqual(["500", "failed"]);
    const operations = await t.store.operations.list({ where: eq("host_id", hostIds[0]!) });
    expect(operations.filter(({ state }) => state === "failed")).toHaveLength(1);
  });
});

describe.each(rulesEngines)("variables of authorities on %s", (engine) => {
  it("are refused without their other half, without the authority, and where no device is asked", async () => {
    const service = await startChallengeWebhook("svc", "secret");
    const { t } = await start(engine, {
      hosted_scep_ca: { url: service.url, challenge_url: service.url, username: "svc", password: "secret" },
    });
    await t.patch("/config", { mdm: { windows_enabled_and_configured: true } });
    const [url, challenge] = [
      "$SVC_VAR_HOSTED_SCEP_PROXY_URL_hosted_scep_ca",
      "$SVC_VAR_HOSTED_SCEP_CHALLENGE_hosted_scep_ca",
    ];
    const refused: [string, string, RegExp][] = [
      ["a.mobileconfig", mobileconfig("a.b", scepPayload(url, "x")), /also needs \$SVC_VAR_HOSTED_SCEP_CHALLENGE_/],
      ["a.mobileconfig", mobileconfig("a.b", scepPayload("x", challenge)), /also needs \$SVC_VAR_HOSTED_SCEP_PROXY_/],
      ["a.mobileconfig", mobileconfig("a.b", DIRECTORY), /no certificate authority directory_scep_proxy/],
      ["a.mobileconfig", mobileconfig("a.b", KEY), /no certificate authority VPN of the type hosted_ca_a/],
      ["a.xml", windowsProfile(INSTALL, challenge), /also needs \$SVC_VAR_HOSTED_SCEP_PROXY_/],
    ];
    for (const [file, content, reason] of refused) {
      const response = await upload(t, content, file);
      expect([response.status, await response.text()]).toEqual([422, expect.stringMatching(reason)]);
    }
  });
});
