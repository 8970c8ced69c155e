// Software of teams in files: packages, maintained apps and store apps, and the policies that install them.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { errorsOf, readGiven, stateWith, thing } from "../support/gitops-files.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const HASH = "ab".repeat(32);
const ENV = { environment: { SVC_SECRET_TOKEN: "t", HOST: "files.example.com" } };
const T = thing("team", null, "T", { description: "" });

const team = (software: string, policies = "") => `name: T\nsoftware:\n${software}\n${policies}`;
const errors = async (files: Record<string, string>) => errorsOf((await readGiven(files, ENV, ["t.yml"])).problems);

async function wanted(files: Record<string, string>, main = ["t.yml"], state = stateWith([T])) {
  const read = await readGiven(files, ENV, main);
  const { things, problems } = desiredOf(read, state);
  expect(errorsOf(problems)).toEqual([]);
  const of = (kind: string) => things.filter((one) => one.kind === kind);
  return { read, of, value: (kind: string, name: string) => of(kind).find((one) => one.name === name)?.value };
}

const whole = {
  slug: "",
  version: "",
  url: "",
  sha256: "",
  pre_install_query: "",
  install_script: "",
  uninstall_script: "",
  post_install_script: "",
  configuration: "",
  self_service: false,
  categories: [],
  default_categories: false,
  display_name: "",
  icon: "",
  setup_experience: false,
  setup_experience_platform: "",
  labels_include_all: [],
  labels_include_any: [],
  labels_exclude_any: [],
};

describe("software in files", () => {
  it("is inline, in files with one or several packages, or a script, each with the files that it names", async () => {
    const files = {
      "t.yml": team(
        `  packages:
    - url: https://$HOST/a.pkg
      hash_sha256: ${HASH}
      self_service: true
      install_script: {path: lib/in.sh}
      pre_install_query: {path: lib/query.sql}
    - path: lib/one.yml
      setup_experience: true
      categories: [Browsers]
    - path: lib/two.yml
    - path: lib/tidy up.sh
      uninstall_script: {path: lib/in.sh}
      setup_experience: true
      setup_experience_platform: [macos, linux]`.replace("[macos, linux]", "[linux, darwin]"),
      ),
      "lib/in.sh": "echo $HOME $SVC_SECRET_TOKEN\r\n",
      "lib/query.sql": " SELECT 1; \n",
      "lib/one.yml": `url: https://$HOST/b.exe\ninstall_script: {path: sub/in.ps1}\nuninstall_script: {path: sub/in.ps1}\npre_install_query: {path: q.yml}`,
      "lib/sub/in.ps1": "exit 0",
      "lib/q.yml": "- name: x\n  query: SELECT 2",
      "lib/two.yml": `- hash_sha256: ${"cd".repeat(32)}\n- url: https://$HOST/c.deb\n  display_name: " C "`,
      "lib/tidy up.sh": "rm -rf /tmp/x\r\n",
    };
    const { read, of, value } = await wanted(files);
    expect(of("package").map(({ owner, name }) => [owner, name])).toEqual([
      ["T", "https://files.example.com/a.pkg"],
      ["T", "https://files.example.com/b.exe"],
      ["T", "cd".repeat(32)],
      ["T", "https://files.example.com/c.deb"],
      ["T", "tidy up.sh"],
    ]);
    const script = "echo $HOME $SVC_SECRET_TOKEN\n";
    expect(value("package", "https://files.example.com/a.pkg")).toEqual({
      ...whole,
      url: "https://files.example.com/a.pkg",
      sha256: HASH,
      self_service: true,
      install_script: sha256(script),
      pre_install_query: sha256("SELECT 1;"),
    });
    expect(value("package", "https://files.example.com/b.exe")).toMatchObject({
      sha256: "",
      setup_experience: true,
      categories: ["Browsers"],
      install_script: sha256("exit 0"),
      pre_install_query: sha256("SELECT 2"),
    });
    expect(value("package", "https://files.example.com/c.deb")).toMatchObject({ display_name: "C" });
    expect(value("package", "tidy up.sh")).toMatchObject({
      url: "",
      sha256: sha256("rm -rf /tmp/x\r\n"),
      uninstall_script: sha256(script),
      setup_experience_platform: "darwin,linux",
    });
    expect(read.contents.get(sha256(script))!.toString()).toBe(script);
    expect([...read.variables]).toEqual([["TOKEN", "t"]]);
  });

  it("may be maintained apps and store apps, for teams and for hosts without one", async () => {
    const files = {
      "d.yml": "org_settings: {}\ncontrols: {}\n",
      "no-team.yml": `name: No team
software:
  svc_maintained_apps:
    - slug: firefox/darwin
    - {slug: 7-zip/windows, version: ^24, categories: []}
  app_store_apps:
    - app_store_id: "361285480"
      configuration: {path: lib/app.plist}
    - {app_store_id: "42", platform: ios, auto_update_enabled: true, auto_update_window_start: "22:00", auto_update_window_end: "04:00"}
`,
      "lib/app.plist": "<plist/>",
    };
    const { of, value } = await wanted(files, ["d.yml", "no-team.yml"]);
    expect(of("package").map(({ owner, name }) => [owner, name])).toEqual([
      ["No team", "firefox/darwin"],
      ["No team", "7-zip/windows"],
    ]);
    expect(value("package", "firefox/darwin")).toEqual({ ...whole, slug: "firefox/darwin", default_categories: true });
    expect(value("package", "7-zip/windows")).toMatchObject({ version: "^24", default_categories: false });
    expect(of("store_app").map(({ name }) => name)).toEqual(["361285480", "42/ios"]);
    expect(value("store_app", "361285480")).toMatchObject({ configuration: sha256("<plist/>") });
    expect(value("store_app", "42/ios")).toMatchObject({ auto_update_window_start: "22:00" });
  });

  it.each<[string, string, Record<string, string>, RegExp]>([
    ["neither url nor digest", "  packages: [{self_service: true}]", {}, /url: is required, or hash_sha256 or path/],
    ["a digest in upper case", `  packages: [{hash_sha256: ${"AB".repeat(32)}}]`, {}, /lower case/],
    ["an .exe without scripts", "  packages: [{url: 'https://x.example/a.exe?b'}]", {}, /install_script: is required/],
    [
      "two lists of labels",
      `  packages: [{hash_sha256: ${HASH}, labels_include_any: [a], labels_exclude_any: [b]}]`,
      {},
      /only one list/,
    ],
    ["an unknown key", "  package: []", {}, /unknown key software\.package; did you mean packages/],
    [
      "an unknown key of an item",
      `  packages: [{hash_sha256: ${HASH}, selfservice: true}]`,
      {},
      /did you mean self_service/,
    ],
    ["something else than a list", "  packages: {}", {}, /must be a list/],
    ["the same package twice", `  packages: [{hash_sha256: ${HASH}}, {hash_sha256: ${HASH}}]`, {}, /already defined/],
    ["another extension", "  packages: [{path: a.bat}]", { "a.bat": "x" }, /unsupported extension/],
    ["a missing file", "  packages: [{path: a.yml}]", {}, /does not exist/],
    [
      "a missing script",
      `  packages: [{hash_sha256: ${HASH}, install_script: {path: no.sh}}]`,
      {},
      /no\.sh does not exist/,
    ],
    [
      "a value in both files",
      "  packages: [{path: a.yml, self_service: true}]",
      { "a.yml": `{hash_sha256: ${HASH}, self_service: false}` },
      /give it once/,
    ],
    [
      "a script beside a path",
      "  packages: [{path: a.yml, install_script: {path: b.sh}}]",
      { "a.yml": `{hash_sha256: ${HASH}}`, "b.sh": "x" },
      /cannot be used with path/,
    ],
    [
      "labels beside several packages",
      "  packages: [{path: a.yml, labels_include_any: [x]}]",
      { "a.yml": `[{hash_sha256: ${HASH}}, {url: 'https://x.example/a.deb'}]` },
      /several packages/,
    ],
    [
      "an install script of a script",
      "  packages: [{path: b.sh, install_script: {path: b.sh}}]",
      { "b.sh": "x" },
      /its own install script/,
    ],
    [
      "a query without the key",
      `  packages: [{hash_sha256: ${HASH}, pre_install_query: {path: q.yml}}]`,
      { "q.yml": "sql: x" },
      /under the key query/,
    ],
    [
      "updates without times",
      "  app_store_apps: [{app_store_id: '42', auto_update_enabled: true}]",
      {},
      /auto_update_window_start: is required/,
    ],
    ["a slug without platform", "  svc_maintained_apps: [{slug: firefox}]", {}, /firefox\/darwin/],
    ["an unknown label", `  packages: [{hash_sha256: ${HASH}, labels_include_any: [nobody]}]`, {}, /nobody/],
  ])("is refused with %s", async (_, software, files, message) => {
    const given = { "t.yml": team(software), ...files };
    const read = await readGiven(given, ENV, ["t.yml"]);
    const problems = read.problems.failed ? read.problems : desiredOf(read, stateWith([T])).problems;
    expect(errorsOf(problems).join("\n")).toMatch(message);
  });

  it("is refused in the global file", async () => {
    const files = { "t.yml": "org_settings: {}\ncontrols: {}\nsoftware: {packages: [{path: a.sh}]}\n" };
    expect(await errors(files)).toEqual([expect.stringContaining("software is not allowed in the global file")]);
  });

  it("is installed by policies, which name it in five ways", async () => {
    const software = `  packages:
    - path: lib/a.yml
    - path: lib/run.sh
    - {url: 'https://x.example/b.pkg', hash_sha256: ${HASH}}
  svc_maintained_apps: [{slug: firefox/darwin}]
  app_store_apps: [{app_store_id: "42"}]`;
    const lib = { "lib/a.yml": "url: https://x.example/a.pkg", "lib/run.sh": "x", "lib/many.yml": "[]" };
    const ways = [
      "{package_path: ../lib/a.yml}",
      "{package_path: ../lib/run.sh}",
      `{hash_sha256: ${HASH}}`,
      "{svc_maintained_app_slug: firefox/darwin}",
      '{app_store_id: "42"}',
      "{package: run.sh}",
    ];
    const list = ways.map((way, i) => `- {name: P${i}, query: SELECT 1, install_software: ${way}}`).join("\n");
    const { value } = await wanted({
      "t.yml": team(software, "policies: [{path: policies/p.yml}]"),
      "policies/p.yml": list,
      ...lib,
    });
    expect(ways.map((_, i) => (value("policy", `P${i}`) as { install_software: unknown }).install_software)).toEqual([
      { package: "https://x.example/a.pkg" },
      { package: "run.sh" },
      { package: "https://x.example/b.pkg" },
      { package: "firefox/darwin" },
      { app_store_id: "42" },
      { package: "run.sh" },
    ]);
    const refused = async (
      way: string,
      main = team(software, `policies: [{name: P, query: SELECT 1, install_software: ${way}}]`),
    ) => (await errors({ "t.yml": main, ...lib })).join("\n");
    expect(await refused("{package_path: lib/many.yml}")).toMatch(/no package lib\/many\.yml/);
    expect(await refused('{app_store_id: "43"}')).toMatch(/no app 43/);
    expect(await refused('{app_store_id: "42", package: run.sh}')).toMatch(/exactly one/);
    const several = { ...lib, "lib/many.yml": `[{hash_sha256: ${HASH}}, {url: 'https://x.example/a.deb'}]` };
    const many = team(
      "  packages: [{path: lib/many.yml}]",
      "policies: [{name: P, query: SELECT 1, install_software: {package_path: lib/many.yml}}]",
    );
    expect((await errors({ "t.yml": many, ...several })).join()).toMatch(/several packages/);
    const global =
      "org_settings: {}\ncontrols: {}\npolicies: [{name: P, query: SELECT 1, install_software: {package: a}}]\n";
    expect(await refused("", global)).toMatch(/only policies of a team can install software/);
  });

  it("is exported without loss", async () => {
    const texts = ["echo $HOME\n", "SELECT 'é'", "Write-Host $x", "<plist/>", "#!/bin/sh\r\necho \uFEFF"];
    const [shell, query, power, plist, file] = texts.map(sha256) as [string, string, string, string, string];
    const label = thing("label", null, "L", {
      query: "SELECT 1",
      description: "",
      platform: "",
      label_membership_type: "dynamic",
      criteria: null,
      hosts: null,
    });
    const packages: [string, object][] = [
      [
        "https://x.example/a.pkg",
        {
          url: "https://x.example/a.pkg",
          sha256: HASH,
          install_script: shell,
          pre_install_query: query,
          self_service: true,
          labels_exclude_any: ["L"],
        },
      ],
      ["https://x.example/v2/a.pkg", { url: "https://x.example/v2/a.pkg", sha256: HASH, install_script: shell }],
      [
        "https://x.example/b.exe",
        {
          url: "https://x.example/b.exe",
          sha256: HASH,
          install_script: power,
          uninstall_script: power,
          categories: ["B", "A"],
        },
      ],
      [
        "ef".repeat(32),
        { sha256: "ef".repeat(32), display_name: "N", setup_experience: true, setup_experience_platform: "linux" },
      ],
      ["tidy up.sh", { sha256: file, setup_experience: true, setup_experience_platform: "darwin,linux" }],
      ["firefox/darwin", { slug: "firefox/darwin", version: "^1", categories: ["Browsers"], default_categories: true }],
      ["zip/windows", { slug: "zip/windows", install_script: power }],
    ];
    const app = {
      ...Object.fromEntries(
        Object.entries(whole).filter(
          ([key]) => /self|labels|categories$|display|setup_experience$/.test(key) && key !== "default_categories",
        ),
      ),
      configuration: "",
      icon: "",
      auto_update_enabled: false,
      auto_update_window_start: null,
      auto_update_window_end: null,
    };
    const things = [
      ...packages.map(([name, value]) => thing("package", "T", name, { ...whole, ...value })),
      thing("store_app", "T", "42", { ...app, configuration: plist }),
      thing("store_app", "No team", "43/ios", {
        ...app,
        auto_update_enabled: true,
        auto_update_window_start: "01:00",
        auto_update_window_end: "02:00",
      }),
      thing("package", "No team", "ef".repeat(32), { ...whole, sha256: "ef".repeat(32) }),
      thing("policy", "T", "P", { query: "SELECT 1", install_software: { package: "https://x.example/a.pkg" } }),
      thing("policy", "T", "Q", { query: "SELECT 1", install_software: { app_store_id: "42" } }),
    ];
    const state = stateWith([T, label, ...things]);
    const files = Object.fromEntries(texts.map((text) => [sha256(text), Buffer.from(text).toString("base64")]));
    const exported = exportFiles({ ...state, files });
    const main = [...exported.files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const { of } = await wanted(
      { ...Object.fromEntries(exported.files), ...Object.fromEntries(exported.contents) } as Record<string, string>,
      main,
      state,
    );
    const shown = (kind: string) =>
      of(kind)
        .map(({ owner, name, value }) => [owner, name, value])
        .sort();
    const stored = (kind: string) =>
      things
        .filter((one) => one.kind === kind)
        .map(({ owner, name, value }) => [owner, name, value])
        .sort();
    expect(shown("package")).toEqual(stored("package"));
    expect(shown("store_app")).toEqual(stored("store_app"));
    expect(of("policy").map(({ value }) => (value as { install_software: unknown }).install_software)).toEqual([
      { package: "https://x.example/a.pkg" },
      { app_store_id: "42" },
    ]);
  });
});
