// One mistake in files is one error: what only seems to be wrong because of it is not reported.
import { describe, expect, it } from "vitest";
import { errorsOf, readGiven, warningsOf } from "../support/gitops-files.ts";

const ORG = "org_settings: {}\n";
const policyWith = (more: string) => `policies:\n  - name: P\n    query: SELECT 1\n    ${more}\n`;

const mistakes: [string, Record<string, string>, string][] = [
  [
    "a misspelled key that is required",
    { "default.yml": `${ORG}labels: [{name: L, qury: SELECT 1}]\n` },
    "default.yml:2:20: unknown key labels.0.qury; did you mean query?",
  ],
  [
    "a misspelled key of a package that a policy installs",
    {
      "a.yml": `name: A\nsoftware:\n  packages: [{path: lib/p.yml}]\n${policyWith("install_software: {package_path: lib/p.yml}")}`,
      "lib/p.yml": "ur: https://x.example.com/a.pkg\n",
    },
    "lib/p.yml:1:1: unknown key software.packages.0.ur; did you mean url?",
  ],
  [
    "a missing file of a package",
    {
      "a.yml": `name: A\nsoftware:\n  packages: [{path: lib/p.yml}]\n${policyWith("install_software: {package_path: lib/p.yml}")}`,
    },
    "a.yml:3:21: lib/p.yml does not exist",
  ],
  [
    "an app with an unknown key",
    {
      "a.yml": `name: A\nsoftware:\n  app_store_apps: [{app_store_id: '1', colour: red}]\n${policyWith("install_software: {app_store_id: '1'}")}`,
    },
    "a.yml:3:40: unknown key software.app_store_apps.0.colour",
  ],
  [
    "a maintained app with an unknown key",
    {
      "a.yml": `name: A\nsoftware:\n  svc_maintained_apps: [{slug: firefox/darwin, colour: red}]\n${policyWith("type: patch\n    svc_maintained_app_slug: firefox/darwin").replace("    query: SELECT 1\n", "")}`,
    },
    "a.yml:3:48: unknown key software.svc_maintained_apps.0.colour",
  ],
  [
    "a missing script",
    {
      "a.yml": `name: A\ncontrols:\n  scripts: [{path: lib/a.sh}]\n${policyWith("run_script: {path: lib/a.sh}")}`,
    },
    "a.yml:3:20: lib/a.sh does not exist",
  ],
  [
    "a missing script of hosts without a team, in the global file",
    {
      "default.yml": `${ORG}controls:\n  scripts: [{path: lib/a.sh}]\n`,
      "no-team.yml": `name: No team\n${policyWith("run_script: {path: lib/a.sh}")}`,
    },
    "default.yml:3:20: lib/a.sh does not exist",
  ],
  [
    "a missing profile",
    {
      "a.yml": `name: A\ncontrols:\n  vendora_settings:\n    configuration_profiles: [{path: lib/w.mobileconfig}]\n${policyWith("resend_configuration_profile: Wifi")}`,
    },
    "a.yml:4:37: lib/w.mobileconfig does not exist",
  ],
  [
    "a team in two files",
    { "a.yml": `name: A\n${policyWith("")}`, "b.yml": `name: A\n${policyWith("")}` },
    "b.yml:1:7: team A is also in a.yml (names of teams must differ in more than letter case)",
  ],
  [
    "a second global file",
    { "default.yml": `${ORG}${policyWith("")}`, "other.yml": `${ORG}${policyWith("")}` },
    "other.yml:1:1: there is another global file: default.yml",
  ],
  [
    "a key that is given twice",
    { "default.yml": `${ORG}policies:\n  - name: P\n    query: SELECT 1\n    query: SELECT 2\n` },
    "default.yml:5:5: the key query is given twice: it is also in line 4. Keep one of them",
  ],
  [
    "a top key that is given twice",
    { "default.yml": `${ORG}policies: []\nlabels: []\npolicies: [{}]\n` },
    "default.yml:4:1: the key policies is given twice: it is also in line 2. Keep one of them",
  ],
];

const mainOf = (files: object) => Object.keys(files).filter((name) => !name.includes("/"));

describe("one mistake is one error", () => {
  it.each(mistakes)("%s", async (_, files, error) => {
    expect(errorsOf((await readGiven(files, {}, mainOf(files))).problems)).toEqual([error]);
  });

  it("but several mistakes are reported together", async () => {
    const files = {
      "default.yml": `${ORG}labels: [{name: L, qury: SELECT 1}, {name: M}, {nam: N, qury: SELECT 1}]\n`,
      "a.yml": `name: A\n${policyWith("run_script: {path: lib/a.sh}")}`,
    };
    expect(errorsOf((await readGiven(files, {}, mainOf(files))).problems)).toEqual([
      "default.yml:2:20: unknown key labels.0.qury; did you mean query?",
      "default.yml:2:37: labels.1.query: a dynamic label needs a query",
      "default.yml:2:49: unknown key labels.2.nam; did you mean name?",
      "default.yml:2:57: unknown key labels.2.qury; did you mean query?",
      'a.yml:5:5: run_script: the controls of the team have no script "lib/a.sh"',
    ]);
  });

  it("and keys that are dropped with a warning are missing", async () => {
    const files = { "default.yml": `${ORG}labels: [{name: L, qury: SELECT 1}]\n` };
    const { problems } = await readGiven(files, { allowUnknownKeys: true });
    expect(errorsOf(problems)).toEqual(["default.yml:2:10: labels.0.query: a dynamic label needs a query"]);
  });

  it("and keys without a value are noted", async () => {
    const files = {
      "default.yml": "org_settings:\nlabels:\nreports: # none\ncustom_variables:\nagent_options:\n",
      "a.yml": "name: A\nsettings:\ncontrols:\nsoftware:\npolicies: []\n",
    };
    const { problems } = await readGiven(files, {}, mainOf(files));
    expect(errorsOf(problems)).toEqual([]);
    const deleted = "is empty: it counts as present without values, and what the server has of it is deleted";
    const defaults = "is empty: it counts as present without values, and the defaults apply";
    expect(warningsOf(problems).sort()).toEqual([
      `a.yml:2:1: settings ${defaults}`,
      `a.yml:3:1: controls ${defaults}`,
      `a.yml:4:1: software ${deleted}`,
      `default.yml:1:1: org_settings ${defaults}`,
      `default.yml:2:1: labels ${deleted}`,
      `default.yml:3:1: reports ${deleted}`,
      "default.yml:4:1: custom_variables is empty: it counts as present without values, and changes nothing",
      `default.yml:5:1: agent_options ${defaults}`,
    ]);
  });

  it("controls may be left out of the global file, with and without a file for hosts without a team", async () => {
    for (const files of [
      { "default.yml": ORG } as Record<string, string>,
      { "default.yml": ORG, "no-team.yml": "name: No team\n" },
      { "default.yml": ORG, "no-team.yml": "name: No team\ncontrols: {scripts: []}\n" },
    ])
      expect(errorsOf((await readGiven(files)).problems)).toEqual([]);
  });
});
