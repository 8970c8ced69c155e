// Secrets on their way to Windows devices: passwords in commands, and certificates of profiles.
import { describe, expect, it } from "vitest";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { startApp } from "../../support/app.ts";
import { allowLocal, startFake } from "../../support/ca-fakes.ts";
import { bothEngines } from "../../support/engines.ts";
import { headerStatus, managedWindows, statusFor } from "../../support/windows-device.ts";

const item = (node: string, data: string) =>
  `<Item><Target><LocURI>${node}</LocURI></Target><Meta><Format xmlns="syncml:metinf">chr</Format></Meta><Data>${data}</Data></Item>`;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const ACCOUNT = "./Device/Vendor/MSFT/Accounts/Users/admin";
const SCEP = "./Device/Vendor/MSFT/ClientCertificateInstall/SCEP/wifi/Install";

type Windows = Awaited<ReturnType<typeof managedWindows>>;
const nextCommand = async ({ device }: Windows) => {
  const found: SyncCommand[] = [];
  const ask = async () => found.push(...(await device.start()).commands);
  await expect.poll(ask, { timeout: 10_000 }).toBeGreaterThan(0);
  return found[0]!;
};

describe.each(bothEngines)("secrets of Windows devices on %s", (engine) => {
  it("are masked where commands are shown, and sealed until the device has answered", async () => {
    const t = await startApp({ engine });
    const windows = await managedWindows(t);
    const wifi = "&lt;WLANProfile&gt;&lt;keyMaterial&gt;h1dden-three&lt;/keyMaterial&gt;&lt;/WLANProfile&gt;";
    const { host } = (await (await t.get(`/hosts/${windows.hostId}`)).json()) as { host: { uuid: string } };
    for (const [node, data, isSecret] of [
      [`${ACCOUNT}/Password`, "h1dden-one", true],
      ["./Device/Vendor/MSFT/X/Pass%77ord", "h1dden-two", true],
      ["./Device/Vendor/MSFT/WiFi/Profile/Office/WlanXml", wifi, true],
      ["./Device/Vendor/MSFT/Policy/Config/DeviceLock/DevicePasswordEnabled", "plain-one", false],
      ["./Device/Vendor/MSFT/Policy/Config/DeviceLock/AllowSimpleDevicePassword", "plain-two", false],
    ] as const) {
      const command = base64(`<Exec>${item(node, data)}</Exec>`);
      const sent = await t.post("/mdm/commands/run", { command, host_uuids: [host.uuid] });
      expect(sent.status).toBe(200);
      const { command_uuid } = (await sent.json()) as { command_uuid: string };
      const text = data.replace(/^.*(h1dden-\w+).*$/, "$1");
      const row = async () => (await t.store.mdmCommands.first({ where: eq("command_uuid", command_uuid) }))!;
      const stored = async () => JSON.stringify(await t.store.operationContents.list());
      const shown = async () => {
        const { results } = (await (await t.get(`/mdm/commandresults?command_uuid=${command_uuid}`)).json()) as {
          results: { payload: string; result: string | null }[];
        };
        return Buffer.from(results[0]!.payload, "base64").toString();
      };
      expect((await stored()).includes(text), node).toBe(!isSecret);
      const exec = await nextCommand(windows);
      expect(exec.items[0]!.data, "the device gets it").toContain(text);
      expect((await row()).sealed_content?.includes(text) ?? false).toBe(isSecret);
      await windows.device.send([headerStatus, statusFor(exec.cmdId, "Exec", "200")]);
      expect((await row()).sealed_content).toBeNull();
      expect((await shown()).includes(text), node).toBe(!isSecret);
    }
  });

  it("let a device get one certificate, within a day after it has the profile", async () => {
    const { url } = await startFake(async () => ({ status: 200, headers: {}, body: Buffer.from("Renewal") }));
    const t = await startApp({ engine, settings: allowLocal });
    const windows = await managedWindows(t);
    const made = await t.post("/certificate_authorities?skip_check=true", {
      custom_scep_proxy: { name: "WIFI", url, challenge: "static-challenge" },
    });
    expect(made.status).toBe(200);
    const profile = [
      `<Add>${item(`${SCEP}/ServerURL`, "$SVC_VAR_CUSTOM_SCEP_PROXY_URL_WIFI")}</Add>`,
      `<Add>${item(`${SCEP}/Challenge`, "$SVC_VAR_CUSTOM_SCEP_CHALLENGE_WIFI")}</Add>`,
      `<Exec>${item(`${SCEP}/Enroll`, "")}</Exec>`,
    ].join("");
    const receive = async () => {
      const atomic = await nextCommand(windows);
      const [server, challenge] = atomic.commands.map(({ items }) => items[0]!.data!);
      expect(challenge).toBe("static-challenge");
      await windows.device.send([headerStatus, statusFor(atomic.cmdId, "Atomic", "200")]);
      expect((await t.store.hostProfiles.list())[0]!.status, "nothing of it can be read").toBe("verified");
      return new URL(server!).pathname;
    };
    const call = async (path: string, operation = "PKIOperation") =>
      (await t.raw(`${path}?operation=${operation}&message=AAAA`)).status;
    const batch = [{ profile: base64(profile), display_name: "Certificate" }];
    expect((await t.post("/mdm/profiles/batch", { configuration_profiles: batch })).status).toBe(204);
    expect(JSON.stringify(await t.store.operationContents.list())).not.toContain("static-challenge");
    const path = await receive();
    expect(await call(path, "GetCACaps")).toBe(200);
    expect(await call(path)).toBe(200);
    expect(await call(path), "once").toBe(400);
    expect((await windows.device.start()).commands, "it has its certificate").toEqual([]);
    const { profile_uuid } = (await t.store.hostProfiles.list())[0]!;
    const again = await t.post(`/hosts/${windows.hostId}/configuration_profiles/${profile_uuid}/resend`);
    expect(again.status, await again.text()).toBeLessThan(300);
    const second = await receive();
    t.clock.advance(hours(25));
    expect(await call(second), "late").toBe(400);
  });
});
