// Configuration profiles from files: applied with everything else, exported, and their drift.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { newHome } from "../support/cli.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, exportTo, gitops, mainFiles, planIn, writeAll } from "../support/gitops-cli.ts";
import { declaration, makeManagedMac, mobileconfig, openCommands, windowsProfile } from "../support/profiles.ts";

const wifi = (ssid: string, name = "Wi-Fi") =>
  mobileconfig(
    "com.example.wifi",
    `<dict><key>PayloadType</key><string>com.apple.wifi.managed</string><key>SSID_STR</key><string>${ssid}</string></dict>`,
    name,
  );
const FILES = new Map([
  [
    "default.yml",
    `org_settings: {}
controls:
  vendora_settings:
    configuration_profiles:
      - path: lib/wifi.mobileconfig
        labels_include_any: [Office]
labels:
  - {name: Office, query: SELECT 1}
`,
  ],
  ["teams/ops.yml", "name: Ops\ncontrols: {vendora_settings: {configuration_profiles: [{paths: ../lib/*.json}]}}\n"],
  ["lib/wifi.mobileconfig", wifi("$SSID")],
  ["lib/rules.json", declaration("com.example.rules")],
]);
const env = { SSID: "Example 5" };

describe.each(rulesEngines)("profiles of svc apply on %s", (engine) => {
  it("are created, changed, renamed and deleted in the transaction of the apply", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(FILES);
    // Nothing at all is applied while device management is off.
    await expect(applyIn(app, dir, env)).rejects.toThrow("device management is not turned on");
    expect(await app.store.teams.count()).toBe(0);
    await turnOnAppleMdm(app);
    const mac = await makeManagedMac(app);
    await applyIn(app, dir, env);
    expect(await planIn(app, dir, env)).toEqual([]);
    const rows = () => app.store.configurationProfiles.list({ order: [{ column: "id", direction: "asc" }] });
    const before = await rows();
    expect(before.map(({ name, kind, team_id }) => [name, kind, team_id === null])).toEqual([
      ["Wi-Fi", "profile", true],
      ["rules", "declaration", false],
    ]);

    // Another name for the same identifier is a change of the same profile, which devices then replace.
    await writeFile(join(dir, "lib/wifi.mobileconfig"), wifi("$SSID", "Wireless"));
    await writeFile(
      join(dir, "default.yml"),
      FILES.get("default.yml")!.replace("        labels_include_any: [Office]\n", ""),
    );
    const changes = await planIn(app, dir, env);
    expect(changes.map(({ action, kind, name }) => [action, kind, name])).toEqual([
      ["delete", "configuration_profile", "Wi-Fi"],
      ["create", "configuration_profile", "Wireless"],
    ]);
    await applyIn(app, dir, env);
    const [renamed] = await rows();
    expect(renamed).toMatchObject({ uuid: before[0]!.uuid, name: "Wireless" });
    await expect.poll(() => openCommands(app)).toEqual([{ host_id: mac.id, request_type: "InstallProfile" }]);

    await rm(join(dir, "lib/rules.json"));
    await applyIn(app, dir, env);
    expect((await rows()).map(({ name }) => name)).toEqual(["Wireless"]);
  });

  it("name custom variables, whose values are sent from the environment in the same transaction", async () => {
    const app = await startApp({ engine });
    await turnOnAppleMdm(app);
    const dir = await writeAll(new Map([...FILES, ["lib/wifi.mobileconfig", wifi("$SVC_SECRET_SSID of $SSID")]]));
    const values = async () => (await app.store.customVariables.list()).map(({ name, value }) => [name, value]);
    await expect(planIn(app, dir, env)).rejects.toThrow("SVC_SECRET_SSID is not set");
    const secret = { ...env, SVC_SECRET_SSID: "kept-secret-1" };
    const plan = join(dir, "plan.json");
    const planned = await gitops(app, ["plan", ...(await mainFiles(dir)), "--out", plan], { env: secret });
    expect(planned.exitCode, planned.stderr).toBe(0);
    expect(planned.stdout).toContain('+ custom variable "SSID"');
    expect(planned.stdout + planned.stderr).not.toContain("kept-secret-1");
    const tried = await gitops(app, ["apply", plan, "--yes", "--dry-run"]);
    expect(tried.exitCode, tried.stderr).toBe(0);
    expect(await values()).toEqual([]);
    const applied = await gitops(app, ["apply", plan, "--yes"]);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(await values()).toEqual([["SSID", "kept-secret-1"]]);
    const [file] = await app.store.profileContents.list();
    expect(Buffer.from(file!.content, "base64").toString()).toContain("$SVC_SECRET_SSID of Example 5");

    // Nothing but the value has changed.
    await applyIn(app, dir, { ...secret, SVC_SECRET_SSID: "newer" });
    expect(await values()).toEqual([["SSID", "newer"]]);
  });

  it("are kept in saved plans, tried out without a trace, and exported so that a plan is empty", async () => {
    const app = await startApp({ engine });
    await turnOnAppleMdm(app);
    const dir = await writeAll(FILES);
    const plan = join(dir, "plan.json");
    const planned = await gitops(app, ["plan", ...(await mainFiles(dir)), "--out", plan], { env });
    expect(planned.exitCode).toBe(0);
    expect(planned.stdout).not.toContain("Example");
    await rm(join(dir, "lib"), { recursive: true });
    const tried = await gitops(app, ["apply", plan, "--yes", "--dry-run"]);
    expect(tried.exitCode).toBe(0);
    expect(await app.store.configurationProfiles.count()).toBe(0);
    expect((await gitops(app, ["apply", plan, "--yes"])).exitCode).toBe(0);
    expect(await app.store.configurationProfiles.count()).toBe(2);

    const exported = await newHome();
    await exportTo(app, exported);
    expect(await planIn(app, exported)).toEqual([]);
  });

  it("that others change are drift, with who did it", async () => {
    const app = await startApp({ engine });
    await turnOnAppleMdm(app);
    const dir = await writeAll(FILES);
    await applyIn(app, dir, env);
    const [wireless] = await app.store.configurationProfiles.list({ order: [{ column: "id", direction: "asc" }] });
    app.clock.advance(60_000);
    expect((await app.delete(`/configuration_profiles/${wireless!.uuid}`)).status).toBe(200);
    const drift = await gitops(app, ["drift", ...(await mainFiles(dir)), "-o", "json"], { env });
    const { things } = JSON.parse(drift.stdout) as { things: Record<string, unknown>[] };
    expect(things).toMatchObject([
      { drift: "missing", kind: "configuration_profile", name: "Wi-Fi", changed_by: "Ada Admin" },
    ]);
  });

  it("of Windows may come with its device management; they are exported, and their drift is found", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(
      new Map([
        [
          "default.yml",
          `org_settings: {server_settings: {server_url: "https://svc.example.com"}}
controls:
  windows_enabled_and_configured: true
  windows_settings: {configuration_profiles: [{path: lib/camera.xml, display_name: No camera}]}
`,
        ],
        ["lib/camera.xml", windowsProfile()],
      ]),
    );
    await applyIn(app, dir);
    expect(await planIn(app, dir)).toEqual([]);
    const [row] = await app.store.configurationProfiles.list();
    expect(row).toMatchObject({ name: "No camera", platform: "windows", team_id: null });
    const exported = await newHome();
    await exportTo(app, exported);
    expect(await planIn(app, exported)).toEqual([]);

    await writeFile(join(dir, "lib/camera.xml"), windowsProfile(undefined, "1"));
    expect((await planIn(app, dir)).map(({ action, name }) => [action, name])).toEqual([["update", "No camera"]]);
    await applyIn(app, dir);
    expect(await app.store.configurationProfiles.list()).toMatchObject([{ name: "No camera" }]);
    app.clock.advance(60_000);
    const [changed] = await app.store.configurationProfiles.list();
    expect((await app.delete(`/configuration_profiles/${changed!.uuid}`)).status).toBe(200);
    const drift = await gitops(app, ["drift", ...(await mainFiles(dir)), "-o", "json"]);
    expect(JSON.parse(drift.stdout)).toMatchObject({
      things: [{ drift: "missing", kind: "configuration_profile", name: "No camera", changed_by: "Ada Admin" }],
    });
  });

  it("of Windows are refused with their device management off, and nothing is applied", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(
      new Map([
        [
          "default.yml",
          "org_settings: {}\ncontrols: {windows_settings: {configuration_profiles: [{path: a.xml}]}}\nlabels: [{name: A, query: SELECT 1}]\n",
        ],
        ["a.xml", windowsProfile()],
      ]),
    );
    await expect(applyIn(app, dir)).rejects.toThrow("device management is not turned on");
    expect(await app.store.configurationProfiles.count()).toBe(0);
    expect(await app.store.labels.list({ where: eq("name", "A") })).toEqual([]);
  });
});
