// Saved scripts in controls: files whose text is not changed, and the policies that run them.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { errorsOf, readGiven, stateWith, thing } from "../support/gitops-files.ts";

const TEXT = "#!/bin/sh\necho $HOME \\$X $SVC_SECRET_TOKEN\r\n";
const listed = (list: string) => `org_settings: {}\ncontrols: {scripts: ${list}}\n`;
const errors = async (files: Record<string, string>, main = ["d.yml"]) =>
  errorsOf((await readGiven(files, { environment: { SVC_SECRET_TOKEN: "t" } }, main)).problems);
const team = (run: string) =>
  `name: T\ncontrols: {scripts: [{path: s/a.sh}]}\npolicies: [{name: P, query: SELECT 1, run_script: ${run}}]\n`;

describe("scripts in files", () => {
  it("are named like their files, keep their text, and send the custom variables that they name", async () => {
    const files = {
      "d.yml": listed("[{paths: 's/*.sh'}, {path: t.py, display_name: Tidy up.py}]"),
      "t.yml": team("{path: s/a.sh}"),
      "s/a.sh": TEXT,
      "s/b.sh": "echo",
      "t.py": "print($HOME)",
    };
    const given = { environment: { SVC_SECRET_TOKEN: "t" } };
    const read = await readGiven(files, given, ["d.yml", "t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([thing("team", null, "T", { description: "" })]));
    expect(errorsOf(problems)).toEqual([]);
    expect(things.filter(({ kind }) => kind === "script").map(({ owner, name }) => [owner, name])).toEqual([
      [null, "a.sh"],
      [null, "b.sh"],
      [null, "Tidy up.py"],
      ["T", "a.sh"],
    ]);
    expect([...read.contents.values()].map(String)).toContain(TEXT);
    expect([...read.variables]).toEqual([["TOKEN", "t"]]);
    expect(things.find(({ kind }) => kind === "policy")!.value).toMatchObject({ run_script: "a.sh" });
  });

  it.each<[string, string, string | null]>([
    ["by the path of a script with another name", "run_script: {path: s/a.sh}", "Nice name.sh"],
    ["by another spelling of the path", "run_script: {path: ./s/../s/a.sh}", "Nice name.sh"],
    ["by the name", "run_script: {name: Nice name.sh}", "Nice name.sh"],
    ["not by the name of the file", "run_script: {name: a.sh}", null],
    ["not by the path of another file with that name", "run_script: {path: other/a.sh}", null],
    ["not by a path to a file under two names", "run_script: {path: s/b.sh}", null],
  ])("are found by policies %s", async (_, run, name) => {
    const scripts = "[{path: s/a.sh, display_name: Nice name.sh}, {path: s/b.sh}, {path: s/b.sh, display_name: B.sh}]";
    const files = {
      "t.yml": `name: T\ncontrols: {scripts: ${scripts}}\npolicies: [{path: lib/p.yml}]\n`,
      "lib/p.yml": `[{name: P, query: SELECT 1, ${run.replace("path: ", "path: ../")}}]\n`,
      "s/a.sh": "a",
      "s/b.sh": "b",
      "other/a.sh": "other",
    };
    const read = await readGiven(files, {}, ["t.yml"]);
    const found = errorsOf(read.problems);
    if (name === null) expect(found).toEqual([expect.stringMatching(/run_script: the controls of the team have /)]);
    else {
      expect(found).toEqual([]);
      const { things } = desiredOf(read, stateWith([thing("team", null, "T", { description: "" })]));
      expect(things.find(({ kind }) => kind === "policy")!.value).toMatchObject({ run_script: name });
    }
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["another extension", { "d.yml": listed("[{path: a.bat}]"), "a.bat": "x" }, /must be \.sh or \.py or \.ps1/],
    [
      "the same name twice",
      { "d.yml": listed("[{path: a.sh}, {path: b/a.sh}]"), "a.sh": "x", "b/a.sh": "y" },
      /already/,
    ],
    ["no file", { "d.yml": listed("[{}]") }, /path: is required, or paths/],
    ["a name for several", { "d.yml": listed("[{paths: '*.sh', display_name: x}]"), "a.sh": "x" }, /display_name/],
    ["a missing variable", { "d.yml": listed("[{path: a.sh}]"), "a.sh": "$SVC_SECRET_NONE" }, /SVC_SECRET_NONE/],
  ])("are refused with %s", async (_, files, message) => {
    expect((await errors(files)).join("\n")).toMatch(message);
  });

  it("are refused for a global policy, and by a path beside a name", async () => {
    const global = "org_settings: {}\ncontrols: {}\npolicies: [{name: P, query: SELECT 1, run_script: {name: a.sh}}]\n";
    expect(await errors({ "d.yml": global })).toEqual([
      expect.stringContaining("only policies of a team can run a script"),
    ]);
    const files = { "t.yml": team("{path: s/a.sh, name: b.sh}"), "s/a.sh": "x" };
    expect(await errors(files, ["t.yml"])).toEqual([expect.stringContaining("give either path or name")]);
  });

  it("are exported without loss", async () => {
    const names = ["a.sh", "Tidy up/é.py", "plain"];
    const digests = names.map((_, i) => String(i).repeat(64));
    const texts = [TEXT, "print('\uFEFF$X')", "echo\n"];
    const things = names
      .slice(0, 2)
      .map((name, i) => thing("script", i === 1 ? "T" : null, name, { sha256: digests[i] }));
    const state = stateWith([
      thing("team", null, "T", { description: "" }),
      ...things,
      thing("policy", "T", "P", { query: "SELECT 1", run_script: "Tidy up/é.py" }),
    ]);
    const given = Object.fromEntries(digests.map((digest, i) => [digest, Buffer.from(texts[i]!).toString("base64")]));
    const { files, contents } = exportFiles({ ...state, files: given });
    const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const read = await readGiven(
      { ...Object.fromEntries(files), ...Object.fromEntries(contents) },
      { environment: { SVC_SECRET_TOKEN: "t" } },
      main,
    );
    const { things: wanted, problems } = desiredOf(read, state);
    expect(problems.all).toEqual([]);
    expect(wanted.filter(({ kind }) => kind === "script").map(({ owner, name }) => [owner, name])).toEqual([
      [null, "a.sh"],
      ["T", "Tidy up/é.py"],
    ]);
    expect([...read.contents.values()].map(String).sort()).toEqual(texts.slice(0, 2).sort());
    expect(wanted.find(({ kind }) => kind === "policy")!.value).toMatchObject({ run_script: "Tidy up/é.py" });
  });
});

it("list the custom variables that they name in an export, so that a plan of its files finds them", async () => {
  const digests = [1, 2, 3, 4].map((i) => String(i).repeat(64));
  const profile =
    "<plist><dict><key>PayloadDisplayName</key><string>P</string><key>K</key><string>$SVC_SECRET_KEY</string></dict></plist>";
  const texts = [TEXT, "echo $SVC_SECRET_TOKEN \\$SVC_SECRET_OTHER $HOME", profile, "SELECT '$SVC_SECRET_QUERY'"];
  const scripts = { install_script: digests[1], uninstall_script: "", post_install_script: "" };
  const offer = { slug: "", url: "https://x.example/a.deb", sha256: digests[3], categories: [] };
  const state = stateWith([
    thing("team", null, "T", { description: "" }),
    thing("script", null, "a.sh", { sha256: digests[0] }),
    thing("setup_script", "T", "b.sh", { sha256: digests[1] }),
    thing("configuration_profile", null, "P", { platform: "darwin", sha256: digests[2] }),
    thing("package", "T", offer.url, { ...offer, ...scripts, pre_install_query: digests[3] }),
  ]);
  const given = Object.fromEntries(digests.map((digest, i) => [digest, Buffer.from(texts[i]!).toString("base64")]));
  const { files, variables } = exportFiles({ ...state, files: given });
  expect(variables.map(({ name }) => name)).toEqual(["SVC_SECRET_KEY", "SVC_SECRET_OTHER", "SVC_SECRET_TOKEN"]);
  const listed = files.get(".env.example")!;
  expect(listed).toContain("# custom variable in lib/profiles/p.mobileconfig\nSVC_SECRET_KEY=\n");
  expect(listed).toMatch(/# custom variable in lib\/scripts\/a\.sh, lib\/t\.\S+, lib\/t\.\S+\nSVC_SECRET_TOKEN=\n/);
  const environment = Object.fromEntries([...listed.matchAll(/^(\w+)=$/gm)].map(([, name]) => [name!, "filled in"]));
  const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
  const read = await readGiven(Object.fromEntries(files), { environment }, main);
  expect(errorsOf(read.problems)).toEqual([]);
  expect([...read.variables.keys()].sort()).toEqual(["KEY", "OTHER", "TOKEN"]);
});
