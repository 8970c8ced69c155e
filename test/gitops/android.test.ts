// Android in files: profiles and certificate templates in controls, their problems, plans and exports.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { planOf } from "../../src/gitops/plan/plan.ts";
import { errorsOf, readGiven, stateWith, thing, warningsOf } from "../support/gitops-files.ts";
import { mobileconfig } from "../support/profiles.ts";

const noLabels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };
const camera = '{"cameraDisabled": true}';
const vpn = "{name: VPN, certificate_authority_name: WIFI, subject_name: /CN=$SVC_VAR_HOST_UUID}";
const team = thing("team", null, "T", { description: "" });

describe("Android in files", () => {
  it("has profiles beside those of Apple devices, and certificate templates", async () => {
    const files = {
      "d.yml":
        "org_settings: {}\ncontrols:\n" +
        "  vendora_settings: {configuration_profiles: [{path: a.mobileconfig}]}\n" +
        "  android_settings:\n" +
        "    configuration_profiles: [{path: camera.json, labels_include_any: [A]}, {paths: p/*.json}]\n" +
        `    certificates: [${vpn}]\n` +
        "labels: [{name: A, query: SELECT 1}]\n",
      "t.yml": `name: T\ncontrols: {android_settings: {custom_settings: [{path: camera.json}], certificates: [${vpn}]}}\n`,
      "a.mobileconfig": mobileconfig("com.example.a", "", "Wi-Fi"),
      "camera.json": camera,
      "p/lock.json": '{"maximumTimeToLock": "60000"}',
    };
    const read = await readGiven(files, {}, ["d.yml", "t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([team]));
    expect(errorsOf(problems)).toEqual([]);
    expect(warningsOf(problems)).toEqual([
      "t.yml:2:31: controls.android_settings.custom_settings is an older name of controls.android_settings.configuration_profiles",
    ]);
    const found = things.flatMap(({ kind, owner, name, value }) => {
      const { platform, certificate_authority_name } = (value ?? {}) as Record<string, unknown>;
      return kind === "configuration_profile" || kind === "certificate_template"
        ? [[kind, owner, name, platform ?? certificate_authority_name]]
        : [];
    });
    expect(found).toEqual([
      ["configuration_profile", null, "Wi-Fi", "darwin"],
      ["configuration_profile", null, "camera", "android"],
      ["configuration_profile", null, "lock", "android"],
      ["configuration_profile", "T", "camera", "android"],
      ["certificate_template", null, "VPN", "WIFI"],
      ["certificate_template", "T", "VPN", "WIFI"],
    ]);
    expect(things.find(({ kind }) => kind === "certificate_template")!.value).toEqual({
      certificate_authority_name: "WIFI",
      subject_name: "/CN=$SVC_VAR_HOST_UUID",
    });
    expect([...read.contents.values()].map(String)).toContain(camera);
  });

  it.each([
    ["another extension", "configuration_profiles: [{path: a.mobileconfig}]", "it must be .json"],
    ["a missing file", "configuration_profiles: [{path: none.json}]", "none.json does not exist"],
    ["a name twice", "configuration_profiles: [{path: camera.json}, {path: camera.json}]", "is already defined"],
    ["a template without a subject", "certificates: [{name: A, certificate_authority_name: C}]", "subject_name"],
    [
      "a template without a name",
      "certificates: [{certificate_authority_name: C, subject_name: x}]",
      "certificates.0.name",
    ],
    ["a template twice", `certificates: [${vpn}, ${vpn}]`, "the certificate template VPN is given twice"],
    ["an unknown key", "certificates: [{name: A, certificate_authority: C, subject_name: x}]", "certificate_authority"],
  ])("is refused with %s", async (_, settings, reason) => {
    const files = {
      "t.yml": `name: T\ncontrols:\n  android_settings:\n    ${settings}\n`,
      "camera.json": camera,
      "a.mobileconfig": mobileconfig(),
    };
    const errors = errorsOf((await readGiven(files, {}, ["t.yml"])).problems);
    expect(errors.join("\n")).toContain(reason);
    expect(errors.every((text) => text.startsWith("t.yml:"))).toBe(true);
  });

  it("has alternative names of certificates, in the spelling in which the server keeps them", async () => {
    const given = vpn.replace("}", ', subject_alternative_name: "dns=a.example.com,UPN=$SVC_VAR_HOST_UUID"}');
    const read = await readGiven({ "t.yml": `name: T\ncontrols: {android_settings: {certificates: [${given}]}}\n` });
    expect(errorsOf(read.problems)).toEqual([]);
    const { things } = desiredOf(read, stateWith([team]));
    const [template] = things.filter(({ kind }) => kind === "certificate_template");
    expect(template!.value).toMatchObject({
      subject_alternative_name: "DNS=a.example.com, UPN=$SVC_VAR_HOST_UUID",
    });
  });

  it("keeps the subject's variables, which the server replaces", async () => {
    const read = await readGiven({ "t.yml": `name: T\ncontrols: {android_settings: {certificates: [${vpn}]}}\n` });
    expect(errorsOf(read.problems)).toEqual([]);
  });

  it("loses what the files do not list, and is exported so that a plan is empty", async () => {
    const things = [
      team,
      thing("configuration_profile", "T", "Camera", { platform: "android", sha256: "0a", ...noLabels }),
      thing("certificate_template", "T", "VPN", { certificate_authority_name: "WIFI", subject_name: "/CN=x" }),
      thing("certificate_template", null, "Old", { certificate_authority_name: "WIFI", subject_name: "/CN=x" }),
    ];
    const state = stateWith(things);
    const gone = planOf(state, desiredOf(await readGiven({ "t.yml": "name: T\n" }), state));
    expect(
      gone.filter(({ kind }) => kind !== "team_settings").map(({ action, kind, owner }) => [action, kind, owner]),
    ).toEqual(
      expect.arrayContaining([
        ["delete", "certificate_template", "T"],
        ["delete", "configuration_profile", "T"],
      ]),
    );
    const { files } = exportFiles({ ...state, files: { "0a": Buffer.from(camera).toString("base64") } });
    expect(files.get("lib/t.profiles/camera.json")).toBe(camera);
    expect(files.get("teams/t.yml")).toContain("certificate_authority_name: WIFI");
    const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const { things: wanted, problems } = desiredOf(await readGiven(Object.fromEntries(files), {}, main), state);
    expect(problems.all).toEqual([]);
    const own = wanted.filter(({ kind }) => kind === "certificate_template" || kind === "configuration_profile");
    expect(own.map(({ owner, name }) => [owner, name])).toEqual(
      expect.arrayContaining([
        ["T", "Camera"],
        ["T", "VPN"],
        [null, "Old"],
      ]),
    );
    expect(own).toHaveLength(3);
  });
});
