// What policies of teams do with failing hosts, in files: patch policies, scripts, and profiles that are sent again.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { Manifest } from "../../src/server/software/catalogue/format.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { allowLocal, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, makeCatalogueApp } from "../support/catalogue.ts";
import { refused, stateOf } from "../support/configuration.ts";
import { bothEngines } from "../support/engines.ts";
import { gitops, writeAll } from "../support/gitops-cli.ts";
import { errorsOf, readGiven } from "../support/gitops-files.ts";
import { mobileconfig } from "../support/profiles.ts";

const SLUG = "firefox/darwin";
const GLOBAL = "org_settings: {}\ncontrols: {}\nlabels: [{name: A, query: SELECT 1}, {name: B, query: SELECT 2}]\n";

const team = (policies: string, software = `  svc_maintained_apps: [{slug: ${SLUG}}]`) =>
  `name: T
controls:
  scripts: [{path: lib/fix.sh}]
  macos_settings: {custom_settings: [{path: lib/wifi.mobileconfig}]}
software:
${software}
policies:
${policies}`;
const LIB = {
  "lib/fix.sh": "#!/bin/sh\nfix\n",
  "lib/wifi.mobileconfig": mobileconfig("com.example.wifi", "", "Wi-Fi"),
  "lib/q.sql": "SELECT 1",
};
const PATCH = `type: patch, svc_maintained_app_slug: ${SLUG}`;

describe("files with policies are refused", () => {
  const errors = async (files: Record<string, string>) =>
    errorsOf((await readGiven({ ...LIB, ...files }, {}, Object.keys(files))).problems).map((line) =>
      line.replace(/^\S+: (policies\.\d+\.)?/, ""),
    );
  const ofTeam = (policy: string, software?: string) =>
    errors({ "t.yml": team(`  - {name: P, ${policy}}\n`, software) });
  const ofGlobal = (policy: string) =>
    errors({ "d.yml": `org_settings: {}\ncontrols: {}\npolicies: [{name: P, ${policy}}]\n` });

  it.each<[string, string[]]>([
    [PATCH, []],
    [`${PATCH}, install_software: true, patch_when_closed: true, notify_before_patching: true`, []],
    [`${PATCH}, install_software: false, platform: darwin`, []],
    ["type: patch", ["svc_maintained_app_slug: is required for the type patch"]],
    [`${PATCH}, query: SELECT 1`, ["query: cannot be given for the type patch: it follows from the app"]],
    [`${PATCH}, platform: windows`, ["platform: cannot be given for the type patch: it follows from the app"]],
    [
      `${PATCH}, install_software: {svc_maintained_app_slug: ${SLUG}}`,
      ["install_software: must be true or false for the type patch, which installs its app"],
    ],
    [
      `${PATCH}, patch_when_closed: true, continuous_automations_enabled: false`,
      [
        "continuous_automations_enabled: cannot be false with patch_when_closed, which tries again until the app is closed",
      ],
    ],
    [
      "type: patch, svc_maintained_app_slug: other/darwin",
      ["svc_maintained_app_slug: the software of the team has no maintained app other/darwin"],
    ],
    ["description: d", ["query: is required"]],
    ["query: SELECT 1, svc_maintained_app_slug: x/darwin", ["svc_maintained_app_slug: is only for the type patch"]],
    ["query: SELECT 1, patch_when_closed: true", ["patch_when_closed: is only for the type patch"]],
    ["query: SELECT 1, notify_before_patching: true", ["notify_before_patching: is only for the type patch"]],
    [
      "query: SELECT 1, install_software: true",
      ["install_software: can be true only for the type patch: name the software instead"],
    ],
    ["query: SELECT 1, run_script: {path: lib/fix.sh}", []],
    [
      "query: SELECT 1, run_script: {name: other.sh}",
      ['run_script: the controls of the team have no script "other.sh"'],
    ],
    ["query: SELECT 1, resend_configuration_profile: Wi-Fi", []],
    [
      "query: SELECT 1, resend_configuration_profile: VPN",
      ['resend_configuration_profile: the controls of the team have no configuration profile "VPN"'],
    ],
    [
      "query: SELECT 1, labels_include_any: [A], labels_include_all: [B]",
      ["labels_include_all: give either labels_include_any or labels_include_all, not both"],
    ],
  ])("in a team's file: %s", async (policy, told) => {
    const found = await ofTeam(policy);
    expect(found).toEqual(told);
  });

  it("where two policies of a team patch one app, and where the app has a query of its own", async () => {
    const two = `  - {name: P, ${PATCH}}\n  - {name: Q, ${PATCH}}\n`;
    expect(await errors({ "t.yml": team(two) })).toEqual([
      `svc_maintained_app_slug: the policy "P" patches ${SLUG} already`,
    ]);
    const software = `  svc_maintained_apps: [{slug: ${SLUG}, pre_install_query: {path: lib/q.sql}}]`;
    expect(await ofTeam(PATCH, software)).toEqual([]);
    expect(await ofTeam(`${PATCH}, patch_when_closed: true`, software)).toEqual([
      `patch_when_closed cannot be used while the app ${SLUG} has a pre_install_query`,
    ]);
  });

  it("in the global file, where nothing is done with hosts", async () => {
    expect(await ofGlobal("query: SELECT 1, run_script: {name: fix.sh}")).toEqual([
      "run_script: only policies of a team can run a script",
    ]);
    expect(await ofGlobal("query: SELECT 1, install_software: {app_store_id: '1'}")).toEqual([
      "install_software: only policies of a team can install software",
    ]);
    expect(await ofGlobal("query: SELECT 1, resend_configuration_profile: Wi-Fi")).toEqual([
      "resend_configuration_profile: only policies of a team can send a profile again",
    ]);
    expect(await ofGlobal(PATCH)).toEqual(["type: only policies of a team can be of the type patch"]);
  });
});

/** An app of the catalogue whose installer can be downloaded. */
async function makeApp(t: TestApp) {
  const file = "the installer";
  const { url } = await startFake(() => ({ status: 200, body: file }));
  const app = await makeCatalogueApp(t);
  const sha256 = createHash("sha256").update(file).digest("hex");
  const versions = [catalogueVersion({ installer_url: `${url}/app.pkg`, sha256 })];
  const manifest = Manifest.parse({ versions, refs: { in: "#!/bin/sh", out: "#!/bin/sh" } });
  await t.store.catalogueApps.update({ where: eq("id", app.id), set: { manifest } });
  return app;
}

describe.each(bothEngines)("policies of files on %s", (engine) => {
  it("are applied, show no drift, are changed and exported without loss", async () => {
    const t = await startApp({ engine, settings: allowLocal });
    await turnOnAppleMdm(t);
    const app = await makeApp(t);
    const write = async (policies: string) => {
      const dir = await writeAll(new Map(Object.entries({ "default.yml": GLOBAL, "t.yml": team(policies), ...LIB })));
      const main = ["-f", join(dir, "default.yml"), "-f", join(dir, "t.yml")];
      const onWait = () =>
        expect.poll(() => t.store.packageBatches.count(eq("status", "processing")), { timeout: 120_000 }).toBe(0);
      return {
        dryRun: () => gitops(t, ["apply", ...main, "--yes", "--dry-run"], { onWait }),
        apply: () => gitops(t, ["apply", ...main, "--yes", "--allow-delete"], { onWait }),
        plan: () => gitops(t, ["plan", ...main, "--exit-code"]),
      };
    };
    const one = await write(
      `  - {name: Current, ${PATCH}, install_software: true, patch_when_closed: true, notify_before_patching: true}
  - {name: Wired, query: SELECT 1, resend_configuration_profile: Wi-Fi, continuous_automations_enabled: true}
  - {name: Labelled, query: SELECT 1, labels_include_all: [A, B]}
`,
    );
    const dry = await one.dryRun();
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(await t.store.policies.count()).toBe(0);
    const first = await one.apply();
    expect(first.exitCode, first.stderr).toBe(0);
    const installer = (await t.store.softwareInstallers.first({}))!;
    const profile = (await t.store.configurationProfiles.first({ where: eq("name", "Wi-Fi") }))!;
    const named = async (name: string) => (await t.store.policies.first({ where: eq("name", name) }))!;
    expect(await named("Current")).toMatchObject({
      type: "patch",
      catalogue_app_id: app.id,
      software_title_id: installer.title_id,
      platform: "darwin",
      query: expect.stringContaining("version_compare(bundle_short_version, '1.0') < 0"),
      patch_when_closed: true,
      notify_before_patching: true,
      continuous_automations_enabled: true,
    });
    expect(await named("Wired")).toMatchObject({
      resend_profile_uuid: profile.uuid,
      continuous_automations_enabled: true,
    });
    const labelled = await named("Labelled");
    expect(await t.store.policyLabels.list({ where: eq("policy_id", labelled.id) })).toMatchObject([
      { requires_all: true },
      { requires_all: true },
    ]);
    expect((await one.plan()).exitCode).toBe(0);

    const out = await writeAll(new Map());
    expect((await gitops(t, ["export", "--dir", out, "--force"])).exitCode).toBe(0);
    const text = await readFile(join(out, "teams", "t.yml"), "utf8");
    for (const line of [
      "type: patch",
      `svc_maintained_app_slug: ${SLUG}`,
      "install_software: true",
      "patch_when_closed: true",
      "notify_before_patching: true",
      "resend_configuration_profile: Wi-Fi",
      "labels_include_all:",
    ])
      expect(text).toContain(line);

    const current = await named("Current");
    const two = await write(
      `  - {name: Current, query: SELECT 5}
  - {name: Wired, query: SELECT 1}
  - {name: Labelled, query: SELECT 1, labels_include_any: [A, B]}
`,
    );
    const second = await two.apply();
    expect(second.exitCode, second.stderr).toBe(0);
    expect(await named("Current")).toMatchObject({
      id: current.id,
      type: "dynamic",
      query: "SELECT 5",
      catalogue_app_id: null,
      software_title_id: null,
      patch_when_closed: false,
      continuous_automations_enabled: false,
    });
    expect(await named("Wired")).toMatchObject({ resend_profile_uuid: null });
    expect((await two.plan()).exitCode).toBe(0);
  });

  it("are refused by the server, with the field", async () => {
    const t = await startApp({ engine });
    const policy = (value: object) => ({
      changes: [
        { action: "create" as const, kind: "team", owner: null, name: "T", value: { description: "" } },
        { action: "create" as const, kind: "policy", owner: "T", name: "P", value: { query: "SELECT 1", ...value } },
      ],
    });
    const told = async (value: object) =>
      (await refused(t, 422, policy(value) as never)).map(({ name, reason }) => [
        name,
        reason.replace('policy "P" of team "T": ', ""),
      ]);
    expect(await told({ resend_configuration_profile: "VPN" })).toEqual([
      ["changes.1.value.resend_configuration_profile", 'the team has no profile "VPN"'],
    ]);
    expect(await told({ install_software: true })).toEqual([
      ["changes.1.value.install_software", "is true only for policies of the type patch, which install their app"],
    ]);
    expect(await told({ patch_when_closed: true, continuous_automations_enabled: false })).toEqual([
      ["changes.1.value.continuous_automations_enabled", "cannot be false with patch_when_closed"],
    ]);
    expect((await stateOf(t)).things.filter(({ kind }) => kind === "policy")).toEqual([]);
  });
});
