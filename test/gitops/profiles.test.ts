// Configuration profiles in controls: which files, with which names, labels and variables; and their problems.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { planOf } from "../../src/gitops/plan/plan.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { signData } from "../../src/pki/signed-data.ts";
import { newKey } from "../../src/pki/x509.ts";
import { errorsOf, GLOBAL, readGiven, stateWith, thing, warningsOf } from "../support/gitops-files.ts";
import { declaration, mobileconfig } from "../support/profiles.ts";

const wifi = mobileconfig("com.example.wifi", "", "Wi-Fi");
const listed = (list: string, labels = "labels: [{name: A, query: SELECT 1}]\n") =>
  `org_settings: {}\ncontrols: {vendora_settings: {configuration_profiles: ${list}}}\n${labels}`;
const errors = async (files: Record<string, string>) => errorsOf((await readGiven(files, {}, ["d.yml"])).problems);

describe("profiles in files", () => {
  it("are named by their content, declarations by their file or in the list; labels hold for all files of a pattern", async () => {
    const files = {
      "d.yml": listed(
        "[{paths: 'p/*.mobileconfig', labels_include_any: [A]}, {path: p/x.json}, {path: p/y.json, display_name: Y y}]",
      ),
      "t.yml": "name: T\ncontrols: {macos_settings: {custom_settings: [{path: p/a.mobileconfig}]}}\n",
      "p/a.mobileconfig": wifi,
      "p/b.mobileconfig": mobileconfig("com.example.vpn", "", "VPN"),
      "p/x.json": declaration(),
      "p/y.json": declaration(),
    };
    const read = await readGiven(files, {}, ["d.yml", "t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([thing("team", null, "T", { description: "" })]));
    expect(errorsOf(problems)).toEqual([]);
    expect(warningsOf(problems)).toEqual([
      "t.yml:2:29: controls.macos_settings.custom_settings is an older name of controls.macos_settings.configuration_profiles",
      "t.yml:2:12: controls.macos_settings is an older name of controls.vendora_settings",
    ]);
    const found = things.filter(({ kind }) => kind === "configuration_profile");
    expect(
      found.map(({ owner, name, value }) => [owner, name, (value as Record<string, unknown>).labels_include_any]),
    ).toEqual([
      [null, "Wi-Fi", ["A"]],
      [null, "VPN", ["A"]],
      [null, "x", []],
      [null, "Y y", []],
      ["T", "Wi-Fi", []],
    ]);
    expect([...read.contents.values()].map(String)).toContain(wifi);
  });

  it("get the values of environment variables, but for those that the server replaces", async () => {
    const text = mobileconfig("com.example.p", "<string>$SSID \\$HOME $SVC_VAR_HOST_UUID $SVC_SECRET_X</string>", "P");
    const files = { "d.yml": listed("[{path: p.mobileconfig}]", ""), "p.mobileconfig": text };
    const read = await readGiven(files, { environment: { SSID: "Office", SVC_SECRET_X: "kept" } }, ["d.yml"]);
    const [content] = [...read.contents.values()].map(String);
    expect(content).toContain("<string>Office $HOME $SVC_VAR_HOST_UUID $SVC_SECRET_X</string>");
    expect([...read.variables]).toEqual([["X", "kept"]]);
    expect((await errors(files)).sort()).toEqual([
      "p.mobileconfig:9:41: the environment variable SSID is not set",
      "p.mobileconfig:9:73: the environment variable SVC_SECRET_X is not set",
    ]);
  });

  it("and templates of host names keep the names of custom variables, whose values are sent beside them", async () => {
    const files = (template: string) => ({ "d.yml": `name: T\ncontrols:\n  name_template: ${template}\n` });
    const template = "'$SVC_SECRET_X, $SVC_VAR_HOST_UUID'";
    const read = await readGiven(files(template), { environment: { SVC_SECRET_X: "kept" } }, ["d.yml"]);
    expect(errorsOf(read.problems)).toEqual([]);
    expect([...read.variables]).toEqual([["X", "kept"]]);
    expect(JSON.stringify(read.scopes)).toContain("$SVC_SECRET_X, $SVC_VAR_HOST_UUID");
    expect(await errors(files(template))).toEqual(["d.yml:3:19: the environment variable SVC_SECRET_X is not set"]);
    expect(await errors(files("a\n  enable_disk_encryption: $SVC_SECRET_X"))).toContainEqual(
      expect.stringContaining("can only be used in profiles, scripts and name_template"),
    );
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "no file",
      { "d.yml": listed("[{labels_include_any: [A]}]") },
      ["d.yml:2:56: controls.vendora_settings.configuration_profiles.0.path: is required, or paths"],
    ],
    ["a missing file", { "d.yml": listed("[{path: a.json}]") }, ["d.yml:2:63: a.json does not exist"]],
    [
      "another extension",
      { "d.yml": listed("[{path: a.txt}]") },
      ["d.yml:2:63: a.txt: unsupported extension, it must be .mobileconfig or .json"],
    ],
    [
      "an unknown key, once",
      { "d.yml": listed("[{path: a.json, label: A}]"), "a.json": declaration() },
      ["d.yml:2:71: unknown key controls.vendora_settings.configuration_profiles.0.label"],
    ],
    [
      "two lists of labels to include",
      {
        "d.yml": listed("[{path: a.json, labels_include_any: [A], labels_include_all: [A]}]"),
        "a.json": declaration(),
      },
      [
        "d.yml:2:71: controls.vendora_settings.configuration_profiles.0.labels_include_any: give either labels_include_all or labels_include_any, not both",
      ],
    ],
    [
      "a name beside a file that has one",
      { "d.yml": listed("[{path: a.mobileconfig, display_name: X}]"), "a.mobileconfig": wifi },
      [
        "d.yml:2:79: controls.vendora_settings.configuration_profiles.0.display_name: cannot be given: a .mobileconfig file contains its own name",
      ],
    ],
    [
      "what is no profile",
      {
        "d.yml": listed("[{path: a.mobileconfig}]"),
        "a.mobileconfig": mobileconfig().replace("PayloadDisplayName", "X"),
      },
      ["d.yml:2:63: a.mobileconfig: the profile has no PayloadDisplayName"],
    ],
    [
      "a name twice",
      {
        "d.yml": listed("[{path: a.mobileconfig}, {path: b.mobileconfig}]"),
        "a.mobileconfig": wifi,
        "b.mobileconfig": wifi,
      },
      ['d.yml:2:80: the configuration profile "Wi-Fi" is already defined in d.yml:2'],
    ],
  ])("with %s are refused", async (_, files, told) => {
    expect(await errors(files)).toEqual(told);
  });

  it("may only use labels that will exist", async () => {
    const files = { "d.yml": listed("[{path: a.json, labels_exclude_any: [B, macOS]}]"), "a.json": declaration() };
    const { problems } = desiredOf(await readGiven(files, {}, ["d.yml"]), stateWith());
    expect(errorsOf(problems)).toEqual([
      'd.yml:2:71: configuration profile "a" uses the label "B", which will not exist',
      'd.yml:2:71: configuration profile "a" cannot use the built-in label "macOS": use platform',
    ]);
  });

  it("that files do not list are deleted, unless the file with the controls is not read", async () => {
    const held = [thing("configuration_profile", null, "Old", {}), thing("configuration_profile", "T", "Old", {})];
    const state = stateWith([thing("team", null, "T", { description: "" }), ...held]);
    const gone = async (files: Record<string, string>, tier: "free" | "premium" = "premium") =>
      planOf(state, desiredOf(await readGiven(files), { ...state, tier }))
        .filter(({ kind }) => kind === "configuration_profile")
        .map(({ action, owner }) => [action, owner]);
    expect(await gone({ "d.yml": GLOBAL })).toEqual([["delete", null]]);
    expect(await gone({ "t.yml": "name: T\n" })).toEqual([["delete", "T"]]);
    const apart = { "d.yml": "org_settings: {}\n", "no-team.yml": "name: No team\ncontrols: {}\n" };
    expect(await gone(apart)).toEqual([["delete", null]]);
    expect(await gone(apart, "free")).toEqual([]);
  });

  it("are exported with their exact content: text with variables, signed data, declarations of any name", async () => {
    const key = await newKey();
    const certificate = selfSigned(
      parseName("/CN=signer"),
      key,
      Buffer.from([1]),
      Date.parse("2026-03-01T12:00:00.000Z"),
    );
    const contents = [
      mobileconfig("com.example.text", "<string>\\$HOME $SVC_VAR_HOST_UUID\r\n</string>", "Text/é"),
      signData(Buffer.from(mobileconfig("com.example.signed", "", "Signed")), { certificate, key, digest: "sha256" }),
      `\uFEFF${declaration()}`,
      declaration(),
    ].map((content) => Buffer.from(content as string));
    const names = ["Text/é", "Signed", "a/b", "plain"];
    const digests = contents.map((_, i) => String(i).repeat(64));
    const labels = { labels_include_all: ["A"], labels_include_any: [], labels_exclude_any: ["B"] };
    const things = names.map((name, i) =>
      thing("configuration_profile", i === 3 ? "T" : null, name, { platform: "darwin", sha256: digests[i], ...labels }),
    );
    const state = stateWith([
      thing("team", null, "T", { description: "" }),
      ...["A", "B"].map((name) => thing("label", null, name, { query: "x" })),
      ...things,
    ]);
    const given = Object.fromEntries(digests.map((digest, i) => [digest, contents[i]!.toString("base64")]));
    const { files, contents: binary } = exportFiles({ ...state, files: given });
    expect([...binary.keys()]).toEqual(["lib/profiles/signed.mobileconfig"]);

    const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const read = await readGiven({ ...Object.fromEntries(files), ...Object.fromEntries(binary) }, {}, main);
    const { things: wanted, problems } = desiredOf(read, state);
    expect(problems.all).toEqual([]);
    const found = wanted.filter(({ kind }) => kind === "configuration_profile");
    expect(found.map(({ owner, name }) => [owner, name]).sort()).toEqual(
      things.map(({ owner, name }) => [owner, name]).sort(),
    );
    expect(found.every(({ value }) => JSON.stringify(value).includes('"labels_include_all":["A"]'))).toBe(true);
    expect([...read.contents.values()].map((one) => one.toString("hex")).sort()).toEqual(
      contents.map((one) => one.toString("hex")).sort(),
    );
  });
});
