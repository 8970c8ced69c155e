// Files of the setup of Apple devices, and teams of the tokens of the business portal and the license program.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { filesOf, planOf } from "../../src/gitops/plan/plan.ts";
import { credentialsFrom, errorsOf, GLOBAL, readGiven, stateWith, thing, warningsOf } from "../support/gitops-files.ts";
import { activation, asset, declaration } from "../support/profiles.ts";

const team = thing("team", null, "T", { description: "" });
const none = { macos_team: "", ios_team: "", ipados_team: "", byod_team: "" };

async function desired(files: Record<string, string>, state = stateWith([team]), environment = {}) {
  const read = await readGiven(
    files,
    { environment },
    Object.keys(files).filter((name) => name.endsWith(".yml")),
  );
  const wanted = desiredOf(read, state);
  return { ...wanted, errors: errorsOf(wanted.problems), warnings: warningsOf(wanted.problems) };
}

/** What a plan of the files that an export of this state writes changes. */
async function afterExport(state: ReturnType<typeof stateWith>) {
  const { files } = exportFiles(state);
  const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
  const wanted = desiredOf(await readGiven(Object.fromEntries(files), {}, main), state);
  expect(wanted.problems.all).toEqual([]);
  return planOf(state, wanted).filter(
    ({ kind }) => !["team_settings", "agent_options", "enroll_secrets"].includes(kind),
  );
}

describe("a setup assistant profile in files", () => {
  const files = (text: string, key = "vendora_setup_assistant") => ({
    "t.yml": `name: T\ncontrols: {setup_experience: {${key}: lib/main.json}}\n`,
    "lib/main.json": text,
  });

  it("is named by its path, with environment variables in its text", async () => {
    const { things, errors } = await desired(files('{"profile_name": "$NAME", "is_supervised": true}'), undefined, {
      NAME: "Example",
    });
    expect(errors).toEqual([]);
    expect(things.filter(({ kind }) => kind === "setup_assistant")).toEqual(
      [
        thing("setup_assistant", "T", "main.json", {
          enrollment_profile: { profile_name: "Example", is_supervised: true },
        }),
      ].map(({ revision: _revision, ...one }) => one),
    );
    const older = await desired({
      ...files("{}"),
      "t.yml": "name: T\ncontrols: {macos_setup: {macos_setup_assistant: lib/main.json}}\n",
    });
    expect(older.errors).toEqual([]);
    expect(older.warnings.join()).toContain("macos_setup_assistant is an older name");
    expect(older.things.some(({ kind }) => kind === "setup_assistant")).toBe(true);
  });

  it.each([
    ["no JSON", "{", "lib/main.json: is not JSON"],
    ["no object", "[]", "lib/main.json: must be a JSON object"],
    ["an unset variable", '{"a": "$NOPE"}', "the environment variable NOPE is not set"],
  ])("is refused with %s", async (_, text, reason) => {
    expect((await desired(files(text))).errors.join("\n")).toContain(reason);
  });

  it("is refused with another extension, if the file is missing, and if the key is no text", async () => {
    const told = async (value: string) =>
      (await desired({ "t.yml": `name: T\ncontrols: {setup_experience: {vendora_setup_assistant: ${value}}}\n` }))
        .errors;
    expect(await told("a.mobileconfig")).toEqual([
      expect.stringContaining("a.mobileconfig: unsupported extension, it must be .json"),
    ]);
    expect(await told("a.json")).toEqual([expect.stringContaining("a.json does not exist")]);
    expect(await told("{path: a.json}")).toEqual([expect.stringContaining("expected string, got object")]);
  });

  it("is deleted if no file names it, and exported so that a plan is empty", async () => {
    const value = { enrollment_profile: { profile_name: "a $b", skip_setup_items: ["Siri"] } };
    const state = stateWith([
      team,
      thing("setup_assistant", null, "main.json", value),
      thing("setup_assistant", "T", "../odd: name", value),
    ]);
    const gone = planOf(state, await credentialsFrom({ "d.yml": GLOBAL, "t.yml": "name: T\n" }, state));
    expect(gone.filter(({ kind }) => kind === "setup_assistant").map(({ action, owner }) => [action, owner])).toEqual([
      ["delete", null],
      ["delete", "T"],
    ]);
    const kept = planOf(state, await credentialsFrom({ "d.yml": GLOBAL }, state));
    expect(kept.filter(({ kind }) => kind === "setup_assistant").map(({ owner }) => owner)).toEqual([null]);
    // A name that no file can have is written as one that is alike.
    expect((await afterExport(state)).map(({ action, owner, name }) => [action, owner, name])).toEqual([
      ["delete", "T", "../odd: name"],
      ["create", "T", "odd-name.json"],
    ]);
  });
});

describe("teams of tokens in files", () => {
  const tokens = [
    thing("portal_token", null, "Example Ltd", none),
    thing("license_token", null, "Berlin", { teams: [] }),
    thing("license_token", null, "Paris", { teams: ["T"] }),
  ];
  const state = stateWith([team, ...tokens]);
  const org = (mdm: string) => ({ "d.yml": `org_settings: {mdm: {${mdm}}}\ncontrols: {}\n`, "u.yml": "name: U\n" });

  it("are those that the files name; all other tokens lose theirs", async () => {
    const { things, errors } = await desired(
      org(
        "vendora_business: [{organization_name: Example Ltd, macos_team: U, byod_team: T}], volume_purchasing_program: [{location: Berlin, teams: [U, T, No team]}]",
      ),
      state,
    );
    expect(errors).toEqual([]);
    const found = things.filter(({ kind }) => kind.endsWith("_token")).map(({ name, value }) => [name, value]);
    expect(found).toEqual([
      ["Example Ltd", { ...none, macos_team: "U", byod_team: "T" }],
      ["Berlin", { teams: ["No team", "T", "U"] }],
      ["Paris", { teams: [] }],
    ]);
    const reset = await credentialsFrom({ "d.yml": GLOBAL }, state);
    expect(reset.find("license_token", null, "Paris")).toEqual({ teams: [] });
    expect(planOf(state, reset).filter(({ kind }) => kind.endsWith("_token"))).toMatchObject([
      { action: "update", name: "Paris" },
    ]);
    // Without the global file, nothing is asked of them.
    expect(
      (await credentialsFrom({ "u.yml": "name: U\n" }, state)).find("license_token", null, "Paris"),
    ).toBeUndefined();
  });

  it("may be given in an older form, if there is one token", async () => {
    const { things, errors, warnings } = await desired(org("vendora_bm_default_team: U"), state);
    expect([errors, warnings.length]).toEqual([[], 1]);
    expect(things.find(({ kind }) => kind === "portal_token")!.value).toEqual({
      macos_team: "U",
      ios_team: "U",
      ipados_team: "U",
      byod_team: "",
    });
    const two = stateWith([...tokens, thing("portal_token", null, "Other", none)]);
    expect((await desired(org("vendora_bm_default_team: U"), two)).errors.join()).toContain("exactly one token");
    const both = org("vendora_bm_default_team: U, vendora_business: [{organization_name: Example Ltd}]");
    expect((await desired(both, state)).errors.join()).toContain("cannot be given together with vendora_business");
  });

  it.each([
    [
      "an unknown token",
      "vendora_business: [{organization_name: Nope}]",
      "the server has no token of the business portal",
    ],
    ["an unknown location", "volume_purchasing_program: [{location: Rome}]", "the server has no token of the license"],
    ["a token twice", "volume_purchasing_program: [{location: Paris}, {location: Paris}]", "is given twice"],
    [
      "a team that will not exist",
      "vendora_business: [{organization_name: Example Ltd, ios_team: Nope}]",
      'the team "Nope" will not exist',
    ],
    [
      "all teams beside one",
      "volume_purchasing_program: [{location: Paris, teams: [All teams, U]}]",
      "cannot be used with",
    ],
    [
      "a team of two tokens",
      "volume_purchasing_program: [{location: Paris, teams: [U]}, {location: Berlin, teams: [U]}]",
      "U cannot have two tokens",
    ],
    [
      "all teams of one token, and a team of another",
      "volume_purchasing_program: [{location: Paris, teams: [U]}, {location: Berlin, teams: [All teams]}]",
      "cannot have two tokens",
    ],
  ])("are refused with %s, where it stands", async (_, mdm, reason) => {
    const { errors } = await desired(org(mdm), state);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^d\.yml:1:(?!1:)\d+: /);
    expect(errors[0]).toContain(reason);
  });

  it("are refused for a team that this run deletes", async () => {
    const files = org("volume_purchasing_program: [{location: Paris, teams: [T]}]");
    await expect(credentialsFrom(files, state, { deleteOtherTeams: true })).rejects.toThrow(
      'the team "T" will not exist',
    );
  });

  it("are exported so that a plan is empty", async () => {
    const given = stateWith([
      team,
      thing("portal_token", null, "Example $Ltd", { ...none, macos_team: "T" }),
      thing("license_token", null, "Berlin", { teams: ["All teams"] }),
      thing("license_token", null, "Paris", { teams: [] }),
    ]);
    expect(await afterExport(given)).toEqual([]);
    expect(exportFiles(given).files.get("default.yml")).toContain("vendora_business:");
  });
});

describe("assets and activations of declarations in files", () => {
  const files = {
    "t.yml":
      "name: T\ncontrols:\n  vendora_settings:\n    assets: [{path: a/one.json}, {paths: a/t*.json}]\n" +
      "    configuration_profiles: [{path: rules.json, activation: when.json}]\n",
    "a/one.json": asset("com.example.one"),
    "a/two.json": asset("com.example.two", { url: "$URL" }),
    "rules.json": declaration("com.example.rules"),
    "when.json": activation("com.example.rules"),
  };

  it("are called by their identifier, and belong to their declaration", async () => {
    const read = await readGiven(files, { environment: { URL: "https://x" } }, ["t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([team]));
    expect(problems.all).toEqual([]);
    const found = things.filter(({ kind }) => kind === "declaration_asset");
    expect(found.map(({ owner, name, value }) => [owner, name, (value as { file_name: string }).file_name])).toEqual([
      ["T", "com.example.one", "one.json"],
      ["T", "com.example.two", "two.json"],
    ]);
    const profile = things.find(({ kind }) => kind === "configuration_profile")!.value as Record<string, string>;
    expect(read.contents.get(profile.activation_sha256!)?.toString()).toBe(files["when.json"]);
    expect([...read.contents.values()].map(String)).toContainEqual(expect.stringContaining("https://x"));
    const changes = planOf(stateWith([team]), { things, isComplete: () => false });
    expect(Object.keys(filesOf(changes, read.contents))).toHaveLength(4);
  });

  it("are exported so that a plan is empty", async () => {
    const read = await readGiven(files, { environment: { URL: "a $b" } }, ["t.yml"]);
    const { things } = desiredOf(read, stateWith([team]));
    const state = stateWith(
      things.map((one) => thing(one.kind, one.owner, one.name, one.value)),
      {
        files: Object.fromEntries([...read.contents].map(([digest, content]) => [digest, content.toString("base64")])),
      },
    );
    expect((await afterExport(state)).filter(({ owner }) => owner === "T")).toEqual([]);
  });

  it.each([
    ["assets: [{path: none.json}]", "none.json does not exist"],
    ["assets: [{path: a/one.json}, {path: a/one.json}]", "is already defined"],
    ["assets: [{path: when.xml}]", "unsupported extension"],
    ["assets: [{}]", "is required, or paths"],
    ["assets: [{path: list.json}]", "the declaration has no Identifier"],
    ["configuration_profiles: [{paths: '*.json', activation: when.json}]", "can only be used with the path"],
    ["configuration_profiles: [{path: rules.json, activation: none.json}]", "none.json does not exist"],
    ["configuration_profiles: [{path: rules.json, activation: when.xml}]", "unsupported extension"],
  ])("are refused: %s", async (given, reason) => {
    const wrong = { ...files, "t.yml": `name: T\ncontrols: {vendora_settings: {${given}}}\n`, "list.json": "[]" };
    const { errors } = await desired(wrong, undefined, { URL: "x" });
    expect(errors.join("\n")).toContain(reason);
  });
});
