// Apps of the managed Play store that teams offer: they are entries of `applications` in the policies of devices.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { StoreApp } from "../../src/api/software/store-app.ts";
import { makeSecret } from "../edge/agent/agents.ts";
import {
  type AndroidDeviceData,
  type AndroidService,
  ENTERPRISE,
  enrollAndroid,
  sendAndroidPolicies,
  startAndroid,
  turnAndroidOn,
} from "../support/android.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { gitops, writeAll } from "../support/gitops-cli.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";

const SECRET = "secret-of-no-team";
const POLICY = `${ENTERPRISE}/policies/d1`;
const MAIL = "com.example.mail";

const reasonOf = async (reply: Response) => {
  const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
  return [reply.status, errors[0]!.name, errors[0]!.reason];
};

describe.each(bothEngines)("store apps of Android on %s", (engine) => {
  let service: AndroidService;
  let t: TestApp;
  let device: AndroidDeviceData;
  beforeEach(async () => {
    service = await startAndroid();
    t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
    service.apps.set(MAIL, {
      title: "Mail",
      iconUrl: "https://play.example.com/mail.png",
      appVersions: [
        { versionString: "2.0-beta", production: false },
        { versionString: "1.4", production: true },
      ],
    });
    service.apps.set("com.example.notes", { title: "Notes" });
    await makeSecret(t, SECRET);
  });

  async function on(): Promise<void> {
    await turnAndroidOn(t, service);
    device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
  }
  const add = (more: object = {}) =>
    t.post("/software/app_store_apps", {
      app_store_id: MAIL,
      team_id: 0,
      platform: "android",
      self_service: true,
      ...more,
    });
  const added = async (more: object = {}): Promise<number> => {
    const reply = await add(more);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { software_title_id: number }).software_title_id;
  };
  const appOf = async (title: number): Promise<StoreApp> => {
    const reply = await t.get(`/software/titles/${title}?team_id=0`);
    return ((await reply.json()) as { software_title: { app_store_app: StoreApp } }).software_title.app_store_app;
  };
  async function sent(): Promise<unknown> {
    await sendAndroidPolicies(t);
    return service.policies.get(POLICY)?.content.applications;
  }

  it("are in the policies of the team's devices, with their settings, until they are removed", async () => {
    await on();
    expect(await sent()).toBeUndefined();
    const title = await added();
    expect(await appOf(title)).toMatchObject({
      app_store_id: MAIL,
      platform: "android",
      name: "Mail",
      icon_url: "https://play.example.com/mail.png",
      latest_version: "1.4",
      self_service: true,
      status: { installed: 0, pending: 0, failed: 0 },
    });
    expect(await sent()).toEqual([{ packageName: MAIL, installType: "AVAILABLE" }]);
    const change = (more: object) => t.patch(`/software/titles/${title}/app_store_app`, { team_id: 0, ...more });
    expect((await change({ configuration: '{"server": "mail.example.com"}' })).status).toBe(200);
    expect(await sent()).toEqual([
      { packageName: MAIL, installType: "AVAILABLE", managedConfiguration: { server: "mail.example.com" } },
    ]);
    const whole = { managedConfiguration: { a: 1 }, workProfileWidgets: "WORK_PROFILE_WIDGETS_ALLOWED" };
    expect((await change({ configuration: JSON.stringify(whole) })).status).toBe(200);
    expect(await sent()).toEqual([{ packageName: MAIL, installType: "AVAILABLE", ...whole }]);

    // Another team's devices do not get it.
    const team = await makeTeam(t);
    await added({ app_store_id: "com.example.notes", team_id: team.id });
    expect(await sent()).toHaveLength(1);
    const [host] = await t.store.hosts.list();
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [host!.id] })).status).toBe(200);
    expect(await sent()).toEqual([{ packageName: "com.example.notes", installType: "AVAILABLE" }]);
    expect((await t.post("/hosts/transfer", { team_id: null, hosts: [host!.id] })).status).toBe(200);

    // What the device reports is the status.
    t.clock.advance(1000);
    const applicationReports = [{ packageName: MAIL, displayName: "Mail", versionName: "1.4", state: "INSTALLED" }];
    const report = { ...device, lastStatusReportTime: t.clock.iso(), applicationReports };
    expect((await service.send(t, "STATUS_REPORT", report)).status).toBe(200);
    expect((await appOf(title)).status).toEqual({ installed: 1, pending: 0, failed: 0 });
    const install = await t.post(`/hosts/${host!.id}/software/${title}/install`);
    expect([install.status, ((await install.json()) as { errors: { reason: string }[] }).errors[0]!.reason]).toEqual([
      400,
      expect.stringContaining("install the app from the managed Play store"),
    ]);

    expect((await t.delete(`/software/titles/${title}/available_for_install?team_id=0`)).status).toBe(204);
    expect(await sent()).toBeUndefined();
  });

  it("are limited by labels, and what a profile says of an app counts more", async () => {
    await on();
    const label = await makeLabel(t, "Mailers");
    await added({ labels_include_any: ["Mailers"] });
    expect(await sent()).toBeUndefined();
    const [host] = await t.store.hosts.list();
    await t.store.labelMembers.insert({ label_id: label.id, host_id: host!.id });
    const form = new FormData();
    form.set(
      "profile",
      new File([JSON.stringify({ applications: [{ packageName: MAIL, disabled: true }] })], "m.json"),
    );
    const reply = await t.post("/configuration_profiles", form);
    expect(reply.status, await reply.clone().text()).toBe(200);
    await expect
      .poll(sent, { timeout: 20_000 })
      .toEqual([{ packageName: MAIL, installType: "AVAILABLE", disabled: true }]);
  });

  it("are refused with wrong ids and settings, without a managed Play store, and to others", async () => {
    expect((await add()).status).toBe(404);
    await on();
    const refusals: [object, string, string][] = [
      [{ app_store_id: "42" }, "app_store_id", "must be the name of a package, such as com.example.app"],
      [{ app_store_id: "com.example.none" }, "app_store_id", "the managed Play store has no app com.example.none"],
      [{ self_service: undefined }, "self_service", "is required for Android"],
      [{ configuration: "<plist/>" }, "configuration", "is not valid JSON"],
      [{ configuration: "[1]" }, "configuration", "must be a JSON object"],
      [{ ensure: "present" }, "ensure", "policies install apps on Macs only"],
      [
        { platform: "ios" },
        "app_store_id",
        "must be the number of an app in the store; the names of packages need the platform android",
      ],
    ];
    for (const [more, field, reason] of refusals) expect(await reasonOf(await add(more))).toEqual([422, field, reason]);
    expect((await add({ app_store_id: "../x" })).status).toBe(422);
    service.fault = ({ url }) => (url.pathname.includes("/applications/") ? { status: 500, body: "" } : null);
    expect((await add()).status).toBe(502);
    service.fault = () => null;
    const title = await added();
    expect((await add()).status).toBe(409);
    expect(
      await reasonOf(
        await t.patch(`/software/titles/${title}/app_store_app`, {
          team_id: 0,
          auto_update_enabled: true,
          auto_update_window_start: "01:00",
          auto_update_window_end: "02:00",
        }),
      ),
    ).toMatchObject({ 0: 422, 1: "auto_update_enabled" });
    const { id } = await makeTeam(t);
    const observer = await makeUser(t, { teams: [{ id, role: "observer" }] });
    const body = { app_store_id: MAIL, team_id: id, platform: "android", self_service: true };
    expect((await observer.post("/software/app_store_apps", body)).status).toBe(403);
  });

  it("are applied from files, show no drift, and are exported", async () => {
    await on();
    const team = `name: T
software:
  app_store_apps:
    - app_store_id: ${MAIL}
      platform: android
      self_service: true
      setup_experience: true
      configuration: {path: lib/mail.json}
`;
    const global = "org_settings: {}\ncontrols: {}\n";
    const dir = await writeAll(
      new Map([
        ["default.yml", global],
        ["t.yml", team],
        ["lib/mail.json", '{"server": "x"}'],
      ]),
    );
    const main = ["-f", join(dir, "default.yml"), "-f", join(dir, "t.yml")];
    const first = await gitops(t, ["apply", ...main, "--yes", "--allow-delete"]);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(await t.store.storeApps.list({})).toMatchObject([
      {
        adam_id: MAIL,
        platform: "android",
        token_id: null,
        configuration: '{"server": "x"}',
        install_during_setup: true,
      },
    ]);
    const plan = await gitops(t, ["plan", ...main, "--exit-code"]);
    expect(plan.exitCode, plan.stdout).toBe(0);
    const out = await writeAll(new Map());
    expect((await gitops(t, ["export", "--dir", out, "--force"])).exitCode).toBe(0);
    const text = await readFile(join(out, "teams", "t.yml"), "utf8");
    expect(text).toContain(`app_store_id: ${MAIL}`);
    expect(text).toContain("platform: android");
    expect(text).toMatch(/configuration:\s+path: \.\.\/lib\/t\.software\/.*\.json/);
  });
});
