// Store apps: which of them teams offer, and how devices get them with a license.

import { beforeEach, describe, expect, it } from "vitest";
import type { LicensedApp, StoreApp } from "../../src/api/software/store-app.ts";
import type { PlistDict } from "../../src/plist/value.ts";
import { requestStoreApp } from "../../src/server/delivery/store-apps/installs.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { operationLock } from "../../src/server/hosts/operations/queue.ts";
import { seconds } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { bothEngines } from "../support/engines.ts";
import { addVppToken, type LicenseService, licenseError, startLicenseService } from "../support/license-service.ts";
import { makeLabel, makeTeam } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";
import { withSecondServer } from "../support/second-server.ts";

const PAGES = "361309726";
const XCODE = "497799835";
const MESSENGER = "310633997";

describe.each(bothEngines)("store apps on %s", (engine) => {
  let service: LicenseService;
  let t: TestApp;
  let team: number;
  beforeEach(async () => {
    service = await startLicenseService();
    t = await startApp({ engine, settings: service.settings });
    await turnOnAppleMdm(t);
    team = (await makeTeam(t, "Macs")).id;
    await addVppToken(t, service);
  });

  const listed = async () =>
    ((await (await t.get(`/software/app_store_apps?team_id=${team}`)).json()) as { app_store_apps: LicensedApp[] })
      .app_store_apps;
  const add = (body: object) => t.post("/software/app_store_apps", { team_id: team, ...body });
  const added = async (body: object): Promise<number> => {
    const reply = await add(body);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { software_title_id: number }).software_title_id;
  };
  const edit = (title: number, body: object) =>
    t.patch(`/software/titles/${title}/app_store_app`, { team_id: team, ...body });
  const edited = async (title: number, body: object): Promise<StoreApp> =>
    ((await (await edit(title, body)).json()) as { app_store_app: StoreApp }).app_store_app;
  const recorded = async (type: string) =>
    (await t.store.activities.list({ where: eq("type", type) })).map(({ details }) => details);

  describe("that a team offers", () => {
    it("are those that it has licenses for", async () => {
      expect((await listed()).map(({ name, platform }) => `${name} ${platform}`)).toEqual([
        "Messenger ios",
        "Pages darwin",
        "Pages ios",
        "Pages ipados",
        "Xcode darwin",
      ]);
      const title = await added({ app_store_id: PAGES });
      expect(await t.store.softwareTitles.get(title)).toMatchObject({
        name: "Pages",
        source: "apps",
        bundle_identifier: "com.apple.iWork.Pages",
      });
      expect((await listed()).map(({ name, platform }) => `${name} ${platform}`)).not.toContain("Pages darwin");
      expect(await recorded("added_app_store_app")).toEqual([
        {
          software_title: "Pages",
          software_title_id: title,
          app_store_id: PAGES,
          platform: "darwin",
          self_service: false,
          team_id: team,
          team_name: "Macs",
        },
      ]);
    });

    it("are refused without a license, twice, and without a token", async () => {
      await added({ app_store_id: PAGES });
      const twice = await add({ app_store_id: PAGES });
      expect([twice.status, await reasonOf(twice)]).toEqual([409, "Macs offers Pages already"]);
      expect((await add({ app_store_id: PAGES, platform: "ios" })).status).toBe(200);
      for (const body of [{ app_store_id: "1" }, { app_store_id: XCODE, platform: "ios" }, { app_store_id: "../x" }])
        expect((await add(body)).status).toBe(422);
      await t.patch("/vpp_tokens/1/teams", { team_ids: [0] });
      expect((await add({ app_store_id: XCODE })).status).toBe(422);
      // The team has lost its token, and offers nothing any more.
      expect(await t.store.storeApps.count()).toBe(0);
    });

    it("show how they are offered, and change", async () => {
      const label = await makeLabel(t, "Writers");
      const title = await added({
        app_store_id: PAGES,
        platform: "ios",
        self_service: true,
        labels_include_any: [label.name],
      });
      const change = {
        display_name: "Text",
        categories: ["Office"],
        labels_include_any: [],
        labels_exclude_any: [label.name],
        configuration: '<plist version="1.0"><dict><key>server</key><string>example.com</string></dict></plist>',
        auto_update_enabled: true,
        auto_update_window_start: "22:00",
        auto_update_window_end: "04:30",
      };
      expect(await edited(title, change)).toEqual({
        app_store_id: PAGES,
        platform: "ios",
        name: "Pages",
        icon_url: null,
        latest_version: "14.4",
        self_service: true,
        created_at: t.clock.iso(),
        status: { installed: 0, pending: 0, failed: 0 },
        install_during_setup: false,
        automatic_install_policies: null,
        ...change,
        labels_include_any: undefined,
        labels_exclude_any: [{ id: label.id, name: "Writers" }],
      });
      await edited(title, { display_name: "Text" });
      expect(await recorded("edited_app_store_app")).toMatchObject([
        { software_display_name: "Text", software_icon_url: null },
      ]);
      // The label is in use.
      expect((await t.delete(`/labels/id/${label.id}`)).status).toBe(422);
    });

    it.each([
      ["two lists of labels", { labels_include_any: ["A"], labels_exclude_any: ["B"] }, 422],
      ["an unknown label", { labels_include_any: ["Nobody"] }, 400],
      ["a configuration that is no property list", { configuration: "{}" }, 422],
      ["a window without its end", { auto_update_enabled: true, auto_update_window_start: "22:00" }, 422],
      ["a time that does not exist", { auto_update_window_start: "25:00" }, 422],
    ])("refuse %s", async (_, body, status) => {
      const title = await added({ app_store_id: MESSENGER, platform: "ios" });
      expect((await edit(title, body)).status).toBe(status);
      expect((await edit(title + 1000, {})).status).toBe(404);
    });

    it("show in titles, share them with packages, and are withdrawn unless a policy installs them", async () => {
      const title = await added({ app_store_id: PAGES, self_service: true });
      const shown = await (await t.get(`/software/titles/${title}?team_id=${team}`)).json();
      expect(shown).toMatchObject({ software_title: { app_store_app: { app_store_id: PAGES, self_service: true } } });
      const listed = await (await t.get(`/software/titles?team_id=${team}&available_for_install=true`)).json();
      expect(listed).toMatchObject({
        software_titles: [{ id: title, software_package: null, app_store_app: { name: "Pages" } }],
      });
      expect(await (await t.get(`/software/titles?team_id=${team}&packages_only=true`)).json()).toMatchObject({
        count: 0,
      });
      const policy = await t.post(`/teams/${team}/policies`, {
        name: "Pages",
        query: "SELECT 1",
        software_title_id: title,
      });
      expect(policy.status, await policy.clone().text()).toBe(200);
      const withdraw = () => t.delete(`/software/titles/${title}/available_for_install?team_id=${team}`);
      expect((await withdraw()).status).toBe(409);
      await t.store.policies.update({ where: eq("team_id", team), set: { software_title_id: null } });
      expect((await withdraw()).status).toBe(204);
      expect(await recorded("deleted_app_store_app")).toMatchObject([{ software_title: "Pages" }]);
      expect((await withdraw()).status).toBe(404);
    });

    it("can be installed by a policy, on Macs", async () => {
      expect((await add({ app_store_id: PAGES, platform: "ios", ensure: "present" })).status).toBe(422);
      const title = await added({ app_store_id: PAGES, ensure: "present" });
      expect((await edited(title, {})).automatic_install_policies).toMatchObject([
        { name: "[Install software] Pages (App Store)" },
      ]);
      expect(await t.store.policies.list({ where: eq("team_id", team) })).toMatchObject([
        { query: "SELECT 1 FROM apps WHERE bundle_identifier = 'com.apple.iWork.Pages';", platform: "darwin" },
      ]);
    });

    it("are replaced as a list", async () => {
      const title = await added({ app_store_id: XCODE, self_service: true });
      await added({ app_store_id: MESSENGER, platform: "ios" });
      const list = { app_store_apps: [{ app_store_id: XCODE }, { app_store_id: PAGES, self_service: true }] };
      const tried = await t.post("/software/app_store_apps/batch?team_name=Macs&dry_run=true", list);
      expect(tried.status, await tried.clone().text()).toBe(200);
      expect(await t.store.storeApps.count()).toBe(2);
      const reply = await t.post("/software/app_store_apps/batch?team_name=Macs", list);
      const { app_store_apps: rows } = (await reply.json()) as { app_store_apps: Record<string, unknown>[] };
      expect(rows.map((row) => `${row.app_store_id} ${row.platform}`).sort()).toEqual([
        `${PAGES} darwin`,
        `${PAGES} ios`,
        `${PAGES} ipados`,
        `${XCODE} darwin`,
      ]);
      expect((await edited(title, {})).self_service).toBe(false);
      expect(await recorded("deleted_app_store_app")).toMatchObject([
        { software_title: "Messenger", team_name: "Macs" },
      ]);
      const twice = { app_store_apps: [{ app_store_id: XCODE }, { app_store_id: XCODE, platform: "darwin" }] };
      expect((await t.post("/software/app_store_apps/batch?team_name=Macs", twice)).status).toBe(422);
      const typo = { app_store_apps: [{ app_store_id: "1", selfservice: true }] };
      const refused = await t.post("/software/app_store_apps/batch?team_name=Macs", typo);
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('"app_store_apps.0.selfservice"'),
      ]);
    });

    it("keep their titles although no host has them", async () => {
      const title = await added({ app_store_id: XCODE });
      for (let run = 0; run < 3; run++) {
        await runJob(t.services, "counts");
        t.clock.advance(seconds(3600));
      }
      expect(await t.store.softwareTitles.get(title)).not.toBeNull();
    });
  });

  describe("on a Mac", () => {
    let device: Awaited<ReturnType<typeof enrolledDevice>>["device"];
    let id: number;
    let title: number;
    beforeEach(async () => {
      ({ device, id } = await enrolledDevice(t, { SerialNumber: "C02MAC1" }, { teamId: team }));
      title = await added({ app_store_id: PAGES });
    });

    const request = (more: Parameters<typeof requestStoreApp>[3] = {}) =>
      t.store.tx(async (store) => {
        const host = (await store.hosts.get(id))!;
        const app = (await store.storeApps.first({ where: eq("title_id", title) }))!;
        return requestStoreApp({ ...serviceContext(t.services), store }, host, app, more);
      }, operationLock(id));
    const install = async (uuid: string) =>
      (await t.store.storeAppInstalls.first({ where: eq("command_uuid", uuid) }))!;
    const stepOf = async (uuid: string) => (await install(uuid)).step;
    const serials = () => service.assigned.map(({ adamId, serialNumber }) => `${adamId} ${serialNumber}`);
    /** The device gets its command once it has a license. */
    const getsCommand = async (uuid: string) => {
      await expect.poll(() => stepOf(uuid)).toBe("command");
      const command = (await device.idle())!;
      expect([command.type, command.uuid]).toEqual(["InstallApplication", uuid]);
      return command;
    };
    const apps = (more: PlistDict = {}) => ({
      InstalledApplicationList: [{ Identifier: "com.apple.iWork.Pages", Name: "Pages", ...more }],
    });
    const results = async (uuid: string) => {
      const { results } = (await (await t.get(`/commands/results?command_uuid=${uuid}`)).json()) as {
        results: { results_metadata: object }[];
      };
      return results[0]!.results_metadata;
    };

    it("are installed with a license, and verified", async () => {
      const uuid = await request();
      const command = await getsCommand(uuid);
      expect(serials()).toEqual([`${PAGES} C02MAC1`]);
      expect(command.command).toEqual({
        RequestType: "InstallApplication",
        iTunesStoreID: Number(PAGES),
        InstallAsManaged: true,
        ChangeManagementState: "Managed",
        ManagementFlags: 1,
        Options: { PurchaseMethod: 1 },
      });
      const verification = (await device.answer(uuid, "Acknowledged"))!;
      expect(verification.command).toEqual({
        RequestType: "InstalledApplicationList",
        Identifiers: ["com.apple.iWork.Pages"],
      });
      expect(await results(uuid)).toEqual({ software_installed: false, vpp_verify_timeout_seconds: 600 });
      // Still installing: the device is asked again.
      await device.answer(verification.uuid, "Acknowledged", apps({ Installing: true }));
      expect((await edited(title, {})).status).toEqual({ installed: 0, pending: 1, failed: 0 });
      t.clock.advance(seconds(31));
      await runJob(t.services, "store_apps");
      const again = (await device.idle())!;
      expect(await device.answer(again.uuid, "Acknowledged", apps({ Installing: false }))).toBeNull();
      expect(await install(uuid)).toMatchObject({ status: "installed", detail: "" });
      expect(await results(uuid)).toEqual({ software_installed: true, vpp_verify_timeout_seconds: 600 });
      expect((await edited(title, {})).status).toEqual({ installed: 1, pending: 0, failed: 0 });
      expect(await recorded("installed_app_store_app")).toEqual([
        {
          host_id: id,
          host_display_name: expect.any(String),
          software_title: "Pages",
          app_store_id: PAGES,
          command_uuid: uuid,
          status: "installed",
          self_service: false,
          policy_id: null,
          policy_name: null,
        },
      ]);
      expect(serials()).toEqual([`${PAGES} C02MAC1`]);
    });

    it("fail if the device does not list them in time, and give the license back", async () => {
      const uuid = await request({ selfService: true });
      await getsCommand(uuid);
      const verification = (await device.answer(uuid, "Acknowledged"))!;
      t.clock.advance(seconds(601));
      await device.answer(verification.uuid, "Acknowledged", { InstalledApplicationList: [] });
      expect(await install(uuid)).toMatchObject({
        status: "failed",
        detail: "the device did not install the app in time",
      });
      await expect.poll(serials).toEqual([]);
      expect(await recorded("installed_app_store_app")).toMatchObject([
        { status: "failed_install", self_service: true },
      ]);
      // After the vendor has taken it back.
      await expect.poll(() => t.store.storeAppLicenses.count()).toBe(0);
    });

    it("fail if the device refuses", async () => {
      const uuid = await request();
      await getsCommand(uuid);
      await device.answer(uuid, "Error", { ErrorChain: [{ USEnglishDescription: "License not found" }] });
      expect(await install(uuid)).toMatchObject({ status: "failed", detail: "License not found" });
      await expect.poll(serials).toEqual([]);
    });

    it("use a license that the device has already", async () => {
      service.assigned.push({ adamId: PAGES, pricingParam: "STDQ", serialNumber: "C02MAC1" });
      await getsCommand(await request());
      expect(serials()).toEqual([`${PAGES} C02MAC1`]);
      expect(service.requests.map(({ url }) => url.pathname)).not.toContain("/mdm/v2/assets/associate");
    });

    it("wait until the service has assigned the license", async () => {
      service.pending = 7;
      const uuid = await request();
      await expect.poll(() => stepOf(uuid)).toBe("event");
      await expect.poll(() => service.requests.filter(({ url }) => url.pathname.endsWith("/status")).length).toBe(5);
      expect(await device.idle()).toBeNull();
      await expect
        .poll(async () => {
          t.clock.advance(seconds(6));
          await runJob(t.services, "store_apps").catch(() => {});
          return stepOf(uuid);
        })
        .toBe("command");
      expect(serials()).toEqual([`${PAGES} C02MAC1`]);
    });

    it.each([
      ["no license is free", 9610, "the license service has no license for the device (error 9610)"],
      ["the app is not for devices", 9628, "the license service has no license for the device (error 9628)"],
      ["the token has expired", 9621, "the license service refuses the token: it has expired or was revoked"],
    ])("fail if %s", async (_, number, detail) => {
      service.fault = (path) => (path.endsWith("/associate") ? licenseError(number) : null);
      const uuid = await request();
      await expect.poll(async () => (await install(uuid)).status).toBe("failed");
      expect((await install(uuid)).detail).toBe(detail);
      expect(await device.idle()).toBeNull();
    });

    it("are tried again when the service accepts requests again", async () => {
      service.fault = (path) => (path.endsWith("/associate") ? licenseError(9646, 503, { "retry-after": "90" }) : null);
      const uuid = await request();
      const dueIn = async () => (Date.parse((await install(uuid)).due_at ?? "") - t.clock.now()) / 1000;
      await expect.poll(dueIn).toBe(90);
      service.fault = () => null;
      t.clock.advance(seconds(91));
      await runJob(t.services, "store_apps");
      await getsCommand(uuid);
    });

    it("are upcoming until then, and can be cancelled before the device gets them", async () => {
      const uuid = await request();
      await expect.poll(() => stepOf(uuid)).toBe("command");
      const upcoming = `/hosts/${id}/activities/upcoming`;
      const { activities } = (await (await t.get(upcoming)).json()) as { activities: object[] };
      expect(activities).toMatchObject([
        {
          uuid,
          type: "installed_app_store_app",
          details: { software_title: "Pages", command_uuid: uuid, status: "pending" },
        },
      ]);
      await expect(request()).rejects.toThrow("Bad request");
      expect((await t.delete(`${upcoming}/${uuid}`)).status).toBe(204);
      expect(await device.idle()).toBeNull();
      await expect.poll(serials).toEqual([]);
      expect(await recorded("canceled_install_app_store_app")).toMatchObject([
        { software_title: "Pages", software_title_id: title },
      ]);
      expect(await t.store.storeAppInstalls.count()).toBe(0);
      const second = await request();
      await getsCommand(second);
      expect((await t.delete(`${upcoming}/${second}`)).status).toBe(400);
    });

    it("are not for hosts without the label, of another team, or without management", async () => {
      const label = await makeLabel(t, "Writers");
      await edit(title, { labels_include_any: [label.name] });
      await expect(request()).rejects.toMatchObject({ status: 400 });
      await edit(title, { labels_include_any: [] });
      await t.store.hosts.update({ where: eq("id", id), set: { team_id: null } });
      await expect(request()).rejects.toMatchObject({ status: 400 });
      await t.store.hosts.update({ where: eq("id", id), set: { team_id: team } });
      await device.checkIn("CheckOut");
      await expect(request()).rejects.toMatchObject({ status: 400 });
    });

    it("give their licenses back when the host leaves or is deleted", async () => {
      const uuid = await request();
      await getsCommand(uuid);
      const verification = (await device.answer(uuid, "Acknowledged"))!;
      await device.answer(verification.uuid, "Acknowledged", apps());
      expect(serials()).toEqual([`${PAGES} C02MAC1`]);
      await device.checkIn("CheckOut");
      await expect.poll(serials).toEqual([]);
      const other = await enrolledDevice(t, { SerialNumber: "C02MAC2" }, { teamId: team, key: 1 });
      ({ device, id } = other);
      await getsCommand(await request());
      expect(serials()).toEqual([`${PAGES} C02MAC2`]);
      await t.delete(`/hosts/${id}`);
      await runJob(t.services, "store_apps");
      await expect.poll(serials).toEqual([]);
    });

    it("end if the team no longer offers the app before the device has a license", async () => {
      service.fault = (path) => (path.endsWith("/associate") ? licenseError(9646, 503) : null);
      const uuid = await request();
      await expect.poll(async () => service.requests.some(({ url }) => url.pathname.endsWith("/associate"))).toBe(true);
      await t.post("/software/app_store_apps/batch?team_name=Macs", { app_store_apps: [] });
      await expect
        .poll(async () => {
          t.clock.advance(seconds(121));
          await runJob(t.services, "store_apps").catch(() => {});
          return (await install(uuid)).detail;
        })
        .toBe("the team no longer offers the app");
    });
  });
});

it("gives one license to a device although two servers work at the same time", async () => {
  const service = await startLicenseService();
  const t = await startApp({ engine: "postgres", settings: service.settings });
  await turnOnAppleMdm(t);
  await addVppToken(t, service);
  await t.post("/software/app_store_apps", { app_store_id: PAGES, team_id: 0 });
  const devices: Awaited<ReturnType<typeof enrolledDevice>>[] = [];
  for (let key = 0; key < 4; key++) devices.push(await enrolledDevice(t, { SerialNumber: `C02TWO${key}` }, { key }));
  await withSecondServer(t, async (there) => {
    for (const { id } of devices)
      await t.store.tx(async (store) => {
        const app = (await store.storeApps.first({}))!;
        await requestStoreApp({ ...serviceContext(t.services), store }, (await store.hosts.get(id))!, app);
      }, operationLock(id));
    await Promise.all([t, there, t, there].map(({ services }) => runJob(services, "store_apps").catch(() => {})));
    const isSent = () => t.store.mdmCommands.count(eq("request_type", "InstallApplication"));
    await expect.poll(isSent).toBe(4);
  });
  const associated = service.requests.filter(({ url }) => url.pathname.endsWith("/associate"));
  expect(
    associated.map(({ body }) => (JSON.parse(body.toString()) as { serialNumbers: string[] }).serialNumbers[0]).sort(),
  ).toEqual(["C02TWO0", "C02TWO1", "C02TWO2", "C02TWO3"]);
  for (const { device } of devices) {
    const command = (await device.idle())!;
    expect(command.type).toBe("InstallApplication");
    const verification = await device.answer(command.uuid, "Acknowledged");
    expect(verification!.type).toBe("InstalledApplicationList");
  }
});
