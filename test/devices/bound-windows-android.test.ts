// Windows and Android devices: whoever claims the ids of another host is refused, and nothing of that host changes.
import { describe, expect, it } from "vitest";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { signData } from "../../src/pki/signed-data.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import type { SecurityToken } from "../../src/soap/envelope.ts";
import { requestTypes, valueTypes } from "../../src/soap/names.ts";
import { makeSecret } from "../edge/agent/agents.ts";
import { ENTERPRISE, enrollAndroid, startAndroid, turnAndroidOn } from "../support/android.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { type Directory, startDirectory, TENANT } from "../support/directory-tokens.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeTeam } from "../support/make.ts";
import {
  deviceKey,
  enrollWindows,
  factsOf,
  type ManagedWindows,
  managedWindows,
  requestToken,
  turnOnWindowsMdm,
  userToken,
} from "../support/windows-device.ts";

/** Everything that an enrollment consists of, for all hosts. */
async function everything({ store }: TestApp) {
  const { hosts, windowsEnrollments, androidDevices, deviceIdentities, hostMdm, mdmCommands, hostEmails } = store;
  const tables = [hosts, windowsEnrollments, androidDevices, deviceIdentities, hostMdm, mdmCommands, hostEmails];
  const rows = await Promise.all(tables.map((table) => table.list({})));
  return rows.map((list) => list.map((one) => ({ ...one })));
}

interface World {
  readonly t: TestApp;
  readonly directory: Directory;
  /** A device of an agent's host. */
  readonly ana: ManagedWindows;
  /** A device of a user who has signed in. */
  readonly ada: Awaited<ReturnType<typeof enrollWindows>>;
  readonly ben: ManagedWindows;
}

const tokenOf = ({ t, directory }: Pick<World, "t" | "directory">, upn: string, jti: string) =>
  directory.sign(t, { claims: { upn, jti } });

async function start(engine: "lowdb" | "postgres"): Promise<World> {
  const directory = await startDirectory();
  const t = await startApp({ engine, settings: directory.settings });
  await turnOnWindowsMdm(t);
  const mdm = { windows_enabled_and_configured: true, windows_directory_tenant_ids: [TENANT] };
  expect((await t.patch("/config", { mdm })).status).toBe(200);
  const [ana, ben] = [await managedWindows(t), await managedWindows(t)];
  const ada = await enrollWindows(t, await tokenOf({ t, directory }, "ada@example.com", "1"));
  return { t, directory, ana, ada, ben };
}

describe.each(bothEngines)("the identity of a Windows device on %s", (engine) => {
  it("gets no other host, whatever ids it claims, and nothing changes", async () => {
    const world = await start(engine);
    const { t, ana, ada, ben } = world;
    const renewal: SecurityToken = {
      valueType: valueTypes.pkcs7,
      text: signData(makeRequest(parseName("/CN=x"), await deviceKey()), {
        certificate: ben.device.certificate,
        key: await deviceKey(),
        digest: "sha256",
      }).toString("base64"),
    };
    const before = await everything(t);
    let tokens = 0;
    const mallory = () => tokenOf(world, "mallory@example.com", `m${++tokens}`);
    const own = ben.device.facts;
    for (const [whose, victim] of [
      ["an agent's host", ana.device.facts],
      ["a user's host", ada.facts],
    ] as const) {
      const { DeviceID, HWDevID } = victim;
      const fresh = factsOf();
      const attempts: Readonly<Record<string, () => ReturnType<typeof requestToken>>> = {
        "a user with its DeviceID": async () => requestToken(t, await mallory(), { ...fresh, DeviceID }),
        "a user with its HWDevID": async () => requestToken(t, await mallory(), { ...fresh, HWDevID }),
        "a user with both": async () => requestToken(t, await mallory(), victim),
        "an agent with its DeviceID": () => requestToken(t, userToken(ben.agent.key), { ...own, DeviceID }),
        "an agent with both": () => requestToken(t, userToken(ben.agent.key), victim),
        "a certificate with its DeviceID": () =>
          requestToken(t, undefined, { ...own, DeviceID }, renewal, requestTypes.renew),
      };
      for (const [name, attempt] of Object.entries(attempts)) {
        const { document, fault } = await attempt();
        expect([document, fault?.code], `${name} of ${whose}`).toEqual([null, "Authorization"]);
      }
      const { status, commands } = await ben.device.start([], { source: DeviceID });
      expect([["401", "407"].includes(status), commands]).toEqual([true, []]);
    }
    expect(await everything(t)).toEqual(before);
    expect((await ana.device.start()).status).toBe("212");
    // Ben's device has used its nonce for another device's name.
    await ben.device.start();
    expect((await ben.device.start()).status).toBe("212");
    expect((await ada.start()).status).toBe("212");
  });

  it("enrolls its own computer again; another user does after it was unenrolled, wiped, or given to them", async () => {
    const world = await start(engine);
    const { t, ada } = world;
    const { hostId, facts } = ada;
    let tokens = 0;
    const enrolls = async (user: string) =>
      (await requestToken(t, await tokenOf(world, user, `e${++tokens}`), { ...facts, DeviceID: `NEW-${tokens}` })).fault
        ?.code ?? "enrolled";
    expect(await enrolls("Ada@example.com")).toBe("enrolled");
    expect(await enrolls("ben@example.com")).toBe("Authorization");
    expect(
      (await t.request("PUT", `/hosts/${hostId}/device_mapping`, { email: "ben@example.com", source: "idp" })).status,
    ).toBe(200);
    expect(await enrolls("ben@example.com"), "given to them").toBe("enrolled");
    await t.store.windowsEnrollments.update({ where: eq("host_id", hostId), set: { state: "removed" } });
    expect(await enrolls("eve@example.com"), "unenrolled").toBe("enrolled");
    await t.store.hostActions.upsert([{ id: hostId, wiped: true }], { on: ["id"] });
    expect(await enrolls("ida@example.com"), "wiped").toBe("enrolled");
    expect(await t.store.windowsEnrollments.list({ where: eq("hardware_id", facts.HWDevID!) })).toMatchObject([
      { host_id: hostId, device_id: `NEW-${tokens}` },
    ]);
  });
});

describe.each(bothEngines)("an Android device on %s", (engine) => {
  it("gets no other host by the id that it reports, and nothing changes", async () => {
    const service = await startAndroid();
    const t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    await turnAndroidOn(t, service);
    const [victims, attackers] = [await makeTeam(t), await makeTeam(t)];
    await makeSecret(t, "secret-of-victims", victims.id);
    await makeSecret(t, "secret-of-attackers", attackers.id);
    await enrollAndroid(t, service, { id: "d1", secret: "secret-of-victims" });
    await makeHost(t, { identifier: "uuid-of-a-mac", uuid: "UUID-OF-A-MAC", platform: "darwin", team_id: victims.id });
    const before = await everything(t);
    const claims = (serialNumber: string, enterpriseSpecificId: string) => ({
      hardwareInfo: { model: "Pixel 8", serialNumber, enterpriseSpecificId },
    });
    const personal = { ownership: "PERSONALLY_OWNED", managementMode: "PROFILE_OWNER" };
    for (const [secret, more] of [
      ["secret-of-attackers", claims("SER-d1", "ESID-d1")],
      ["secret-of-attackers", { ...claims("SER-d1", "ESID-d1"), ...personal }],
      ["secret-of-victims", claims("SER-other", "ESID-d1")],
      ["secret-of-victims", claims("SER-other", "UUID-OF-A-MAC")],
      ["secret-of-victims", { ...claims("SER-other", "UUID-OF-A-MAC"), ...personal }],
    ] as const) {
      await enrollAndroid(t, service, { id: "thief", secret, more });
      expect(await everything(t), `${secret} ${JSON.stringify(more)}`).toEqual(before);
    }
    const again = await enrollAndroid(t, service, {
      id: "d2",
      secret: "secret-of-victims",
      more: claims("SER-d1", "ESID-d1"),
    });
    expect(again.name).toBe(`${ENTERPRISE}/devices/d2`);
    expect(await t.store.hosts.count()).toBe(2);
    expect(await t.store.androidDevices.list()).toMatchObject([{ name: again.name }]);
  });
});
