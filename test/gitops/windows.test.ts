// Windows in files: profiles in controls, beside the other settings of Windows hosts.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { planOf } from "../../src/gitops/plan/plan.ts";
import { errorsOf, readGiven, stateWith, thing, warningsOf } from "../support/gitops-files.ts";
import { windowsProfile } from "../support/profiles.ts";

const noLabels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };
const camera = windowsProfile();
const team = thing("team", null, "T", { description: "" });

describe("Windows in files", () => {
  it("has profiles, called by their file or in the list, beside the PIN of BitLocker", async () => {
    const files = {
      "d.yml":
        "org_settings: {}\ncontrols:\n  enable_disk_encryption: true\n  windows_settings:\n" +
        "    require_bitlocker_pin: true\n" +
        "    configuration_profiles: [{path: camera.xml, display_name: No camera, labels_exclude_any: [A]}, {paths: p/*.xml}]\n" +
        "labels: [{name: A, query: SELECT 1}]\n",
      "t.yml": "name: T\ncontrols: {windows_settings: {custom_settings: [{path: camera.xml}]}}\n",
      "camera.xml": camera,
      "p/Lock screen.xml": windowsProfile("./Device/Vendor/MSFT/Policy/Config/DeviceLock/$NODE"),
    };
    const read = await readGiven(files, { environment: { NODE: "MaxInactivityTimeDeviceLock" } }, ["d.yml", "t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([team]));
    expect(errorsOf(problems)).toEqual([]);
    expect(warningsOf(problems)).toEqual([
      "t.yml:2:31: controls.windows_settings.custom_settings is an older name of controls.windows_settings.configuration_profiles",
    ]);
    const found = things.filter(({ kind }) => kind === "configuration_profile");
    expect(found.map(({ owner, name, value }) => [owner, name, (value as Record<string, unknown>).platform])).toEqual([
      [null, "No camera", "windows"],
      [null, "Lock screen", "windows"],
      ["T", "camera", "windows"],
    ]);
    expect(found[0]!.value).toMatchObject({ labels_exclude_any: ["A"] });
    expect(things.find(({ name }) => name === "mdm")!.value).toMatchObject({ windows_require_bitlocker_pin: true });
    expect([...read.contents.values()].map(String)).toContainEqual(expect.stringContaining("/MaxInactivityTimeDevice"));
  });

  it.each([
    ["another extension", "configuration_profiles: [{path: a.json}]", "it must be .xml"],
    ["a missing file", "configuration_profiles: [{path: none.xml}]", "none.xml does not exist"],
    ["a name twice", "configuration_profiles: [{path: camera.xml}, {path: camera.xml}]", "is already defined"],
    ["an unknown key", "configuration_profiles: [{path: camera.xml, label: A}]", "unknown key"],
    ["both spellings", "{custom_settings: [{path: camera.xml}], configuration_profiles: []}", "are the same setting"],
  ])("is refused with %s", async (_, settings, reason) => {
    const files = { "t.yml": `name: T\ncontrols:\n  windows_settings:\n    ${settings}\n`, "camera.xml": camera };
    const errors = errorsOf((await readGiven(files, {}, ["t.yml"])).problems);
    expect(errors.join("\n")).toContain(reason);
    expect(errors.every((text) => text.startsWith("t.yml:"))).toBe(true);
  });

  it("loses what the files do not list, and is exported so that a plan is empty", async () => {
    const state = stateWith([
      team,
      thing("configuration_profile", "T", "Camera: off", { platform: "windows", sha256: "0a", ...noLabels }),
      thing("configuration_profile", null, "Old", { platform: "windows", sha256: "0b", ...noLabels }),
    ]);
    const gone = planOf(state, desiredOf(await readGiven({ "t.yml": "name: T\n" }), state));
    expect(
      gone.filter(({ kind }) => kind === "configuration_profile").map(({ action, owner }) => [action, owner]),
    ).toEqual([["delete", "T"]]);
    const given = { "0a": camera, "0b": `\uFEFF${windowsProfile("./Device/Vendor/$x")}\r\n` };
    const { files } = exportFiles({
      ...state,
      files: Object.fromEntries(
        Object.entries(given).map(([digest, text]) => [digest, Buffer.from(text).toString("base64")]),
      ),
    });
    expect(files.get("lib/t.profiles/camera-off.xml")).toBe(camera);
    expect(files.get("default.yml")).toContain("require_bitlocker_pin: false");
    const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const read = await readGiven(Object.fromEntries(files), {}, main);
    const { things: wanted, problems } = desiredOf(read, state);
    expect(problems.all).toEqual([]);
    const own = wanted.filter(({ kind }) => kind === "configuration_profile");
    expect(own.map(({ owner, name }) => [owner, name])).toEqual([
      [null, "Old"],
      ["T", "Camera: off"],
    ]);
    expect([...read.contents.values()].map(String).sort()).toEqual(Object.values(given).sort());
  });
});
