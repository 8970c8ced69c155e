// In-house apps: packages that iPhones and iPads install themselves, with a manifest.
import { readFile } from "node:fs/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { InstallResult } from "../../src/api/delivery/software-installs.ts";
import type { Package } from "../../src/api/software/packages.ts";
import { readPlistDict } from "../../src/plist/read.ts";
import type { PlistDict } from "../../src/plist/value.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { hours, seconds } from "../../src/server/platform/core/clock.ts";
import { eq, everything } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";

const file = await readFile("test/fixtures/packages/hello.ipa");
const phone = { ProductName: "iPhone15,2", DeviceName: "Ana's iPhone", OSVersion: "18.1", SerialNumber: "F2LPHONE1" };

describe.each(bothEngines)("in-house apps on %s", (engine) => {
  let t: TestApp;
  let team: number;
  let app: Package;
  let device: Awaited<ReturnType<typeof enrolledDevice>>["device"];
  let id: number;
  beforeEach(async () => {
    t = await startApp({ engine });
    await turnOnAppleMdm(t);
    team = (await makeTeam(t, "Phones")).id;
    const form = new FormData();
    form.set("team_id", String(team));
    form.set("self_service", "true");
    form.set("software", new File([file], "hello.ipa"));
    const reply = await t.post("/software/package", form);
    expect(reply.status, await reply.clone().text()).toBe(200);
    app = ((await reply.json()) as { software_package: Package }).software_package;
    ({ device, id } = await enrolledDevice(t, phone, { teamId: team }));
    // What each new device is asked.
    for (let got = await device.idle(); got !== null; )
      got = await device.answer(got.uuid, "Acknowledged", { QueryResponses: phone });
  });

  const ask = () => t.post(`/hosts/${id}/software/${app.title_id}/install`);
  async function asked(): Promise<string> {
    const reply = await ask();
    expect(reply.status, await reply.clone().text()).toBe(202);
    return (await t.store.softwareInstallRuns.first({
      where: everything,
      order: [{ column: "id", direction: "desc" }],
    }))!.uuid;
  }
  async function command(uuid: string): Promise<PlistDict> {
    const row = async () => t.store.storeAppInstalls.first({ where: eq("command_uuid", uuid) });
    await expect.poll(async () => (await row())?.step).toBe("command");
    const got = (await device.idle())!;
    expect([got.type, got.uuid]).toEqual(["InstallApplication", uuid]);
    return got.command;
  }
  it("get the settings that the team has given them", async () => {
    const plist = (text: string) =>
      `<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>Server</key><string>${text}</string></dict></plist>`;
    const change = (configuration: string) =>
      t.patch(`/software/titles/${app.title_id}/package`, { team_id: team, configuration });
    const wrong = await change("no list");
    expect([wrong.status, ((await wrong.json()) as { errors: object[] }).errors[0]]).toEqual([
      422,
      { name: "configuration", reason: expect.stringContaining("not a property list") },
    ]);
    const reply = await change(plist("a.example.com"));
    expect(reply.status, await reply.clone().text()).toBe(200);
    const { software_installer } = (await reply.json()) as { software_installer: Package };
    expect(software_installer.configuration).toBe(plist("a.example.com"));
    expect((await command(await asked())).Configuration).toEqual({ Server: "a.example.com" });
    expect((await change("")).status).toBe(200);
    expect((await t.store.softwareInstallers.get(app.installer_id))!.configuration).toBe("");

    const form = new FormData();
    form.set("team_id", String(team));
    form.set("configuration", plist("x"));
    form.set("software", new File(["#!/bin/sh\n"], "tool.sh"));
    const script = await t.post("/software/package", form);
    expect([script.status, ((await script.json()) as { errors: object[] }).errors[0]]).toEqual([
      422,
      { name: "configuration", reason: "only apps for iPhones and iPads can be configured" },
    ]);
  });

  const result = async (uuid: string) =>
    (await (await t.get(`/software/install/${uuid}/results`)).json()) as InstallResult;
  const statusOf = async () => {
    const reply = await t.get(`/software/titles/${app.title_id}?team_id=${team}`);
    const { software_title } = (await reply.json()) as { software_title: { software_package: Package } };
    return software_title.software_package.status;
  };
  const recorded = async (type: string) =>
    (await t.store.activities.list({ where: eq("type", type) })).map(({ details }) => details);
  /** Requests of a device: without a token of the API. */
  const fetched = (url: unknown, headers: Record<string, string> = {}) => {
    const { pathname, search } = new URL(String(url));
    return t.raw(`${pathname}${search}`, { headers });
  };
  const apps = (more: PlistDict = {}) => ({
    InstalledApplicationList: [{ Identifier: "com.example.hello", Name: "Svc Hello", ...more }],
  });

  it("are installed from a manifest, and verified", async () => {
    const uuid = await asked();
    expect(await statusOf()).toMatchObject({ pending_install: 1, installed: 0 });
    const twice = await ask();
    expect(twice.status).toBe(400);
    const given = await command(uuid);
    expect(given).toEqual({
      RequestType: "InstallApplication",
      ManifestURL: expect.stringMatching(
        new RegExp(
          `^https://.*/api/(v1|latest)/svc/software/titles/${app.title_id}/in_house_app/manifest\\?token=.{40,}`,
        ),
      ),
      InstallAsManaged: true,
      ChangeManagementState: "Managed",
      ManagementFlags: 1,
    });
    const manifest = await fetched(given.ManifestURL);
    expect([manifest.status, manifest.headers.get("content-type")]).toEqual([200, expect.stringContaining("xml")]);
    const { items } = readPlistDict(Buffer.from(await manifest.arrayBuffer())) as unknown as {
      items: { assets: { kind: string; url: string }[]; metadata: object }[];
    };
    expect(items).toEqual([
      {
        assets: [{ kind: "software-package", url: expect.stringContaining("/in_house_app?token=") }],
        metadata: {
          kind: "software",
          "bundle-identifier": "com.example.hello",
          "bundle-version": "2.0.3",
          title: "Svc Hello",
        },
      },
    ]);
    const { url } = items[0]!.assets[0]!;
    const whole = await fetched(url);
    expect(Buffer.from(await whole.arrayBuffer()).equals(file)).toBe(true);
    const part = await fetched(url, { range: "bytes=0-3" });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, file.subarray(0, 4)]);

    const verification = (await device.answer(uuid, "Acknowledged"))!;
    expect(verification.command).toMatchObject({ Identifiers: ["com.example.hello"] });
    await device.answer(verification.uuid, "Acknowledged", apps({ Installing: true }));
    expect((await result(uuid)).status).toBe("pending_install");
    t.clock.advance(seconds(31));
    await runJob(t.services, "store_apps");
    const again = (await device.idle())!;
    await device.answer(again.uuid, "Acknowledged", apps());
    expect(await result(uuid)).toMatchObject({ status: "installed", message: "", software_package: "hello.ipa" });
    expect(await statusOf()).toMatchObject({ pending_install: 0, installed: 1 });
    expect(await recorded("installed_software")).toMatchObject([
      {
        host_id: id,
        software_title: "Svc Hello",
        software_package: "hello.ipa",
        install_uuid: uuid,
        status: "installed",
      },
    ]);
    // The token was for this installation.
    expect([(await fetched(given.ManifestURL)).status, (await fetched(url)).status]).toEqual([404, 404]);
  });

  it("are given only to whoever has the token of the installation, for an hour", async () => {
    const { ManifestURL } = await command(await asked());
    const address = String(ManifestURL);
    const other = address.replace(`/titles/${app.title_id}/`, `/titles/${app.title_id + 1}/`);
    for (const wrong of [address.slice(0, -1), address.replace(/token=.*/, ""), other, address.replace(/=\d+/, "=9")])
      expect([wrong, (await fetched(wrong)).status]).toEqual([wrong, 404]);
    expect((await t.get(`/software/titles/${app.title_id}/in_house_app?token=`)).status).toBe(404);
    expect((await fetched(address)).status).toBe(200);
    t.clock.advance(hours(1));
    expect((await fetched(address)).status).toBe(404);
    // Nothing of it is stored in a form that could be used.
    const [row] = await t.store.storeAppInstalls.list();
    expect(address).not.toContain(row!.token_hash);
  });

  it("fail if the device refuses, or does not install them in time", async () => {
    const first = await asked();
    await command(first);
    await device.answer(first, "Error", { ErrorChain: [{ USEnglishDescription: "The app is not for this device" }] });
    expect(await result(first)).toMatchObject({ status: "failed_install", message: "The app is not for this device" });
    const second = await asked();
    await command(second);
    const verification = (await device.answer(second, "Acknowledged"))!;
    t.clock.advance(seconds(601));
    await device.answer(verification.uuid, "Acknowledged", { InstalledApplicationList: [] });
    expect(await result(second)).toMatchObject({
      status: "failed_install",
      message: "the device did not install the app in time",
    });
    expect(await statusOf()).toMatchObject({ failed_install: 1, pending_install: 0 });
    expect((await recorded("installed_software")).length).toBe(2);
  });

  it("are upcoming until then, and can be cancelled before the device gets them", async () => {
    const uuid = await asked();
    await expect.poll(async () => (await t.store.storeAppInstalls.list())[0]?.step).toBe("command");
    const upcoming = `/hosts/${id}/activities/upcoming`;
    const { activities } = (await (await t.get(upcoming)).json()) as { activities: object[] };
    expect(activities).toMatchObject([{ uuid, type: "installed_software", details: { software_title: "Svc Hello" } }]);
    expect((await t.delete(`${upcoming}/${uuid}`)).status).toBe(204);
    expect(await device.idle()).toBeNull();
    expect(await recorded("canceled_install_software")).toMatchObject([{ software_title: "Svc Hello" }]);
    expect([await t.store.storeAppInstalls.count(), await statusOf()]).toMatchObject([0, { pending_install: 0 }]);
    const second = await asked();
    await command(second);
    expect((await t.delete(`${upcoming}/${second}`)).status).toBe(400);
  });

  it("end with the offer, and with the enrollment", async () => {
    const uuid = await asked();
    await expect.poll(async () => (await t.store.storeAppInstalls.list())[0]?.step).toBe("command");
    await t.delete(`/software/titles/${app.title_id}/available_for_install?team_id=${team}`);
    expect(await device.idle()).toBeNull();
    expect((await result(uuid)).status).toBe("canceled");
    const form = new FormData();
    form.set("team_id", String(team));
    form.set("software", new File([file], "hello.ipa"));
    await t.post("/software/package", form);
    const second = await asked();
    const { ManifestURL } = await command(second);
    await device.checkIn("CheckOut");
    expect((await result(second)).status).toBe("canceled");
    expect((await fetched(ManifestURL)).status).toBe(404);
    expect(await statusOf()).toMatchObject({ pending_install: 0, failed_install: 0 });
    const gone = await ask();
    expect([gone.status, await gone.text()]).toEqual([400, expect.stringContaining("is not managed by this server")]);
  });
});
