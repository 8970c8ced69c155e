// Numbers of YAML where texts are meant, hosts that labels name, and merge keys.
import { describe, expect, it } from "vitest";
import { credentialsFrom, errorsOf, GLOBAL, readGiven, stateWith } from "../support/gitops-files.ts";

const manual = (hosts: string) => `${GLOBAL}labels: [{name: L, label_membership_type: manual, hosts: ${hosts}}]\n`;
const stateOf = (...given: readonly (readonly [string | number, string | number])[]) =>
  stateWith([], { hosts: given.map(([name, host]) => ({ given: name, host })) });

describe("hosts of labels", () => {
  it("keep the text of their serial numbers, and may be ids", async () => {
    const files = { "default.yml": manual("[646025869596, 0012345, 5E10, 7, 8]") };
    expect((await readGiven(files)).hosts).toEqual(["646025869596", 646025869596, "0012345", "5E10", "7", 7, "8", 8]);
    const state = stateOf(
      ["646025869596", "646025869596"],
      ["0012345", "0012345"],
      ["5E10", "5E10"],
      ["7", "A"],
      [8, 8],
    );
    const { find, warnings } = await credentialsFrom(files, state);
    expect(find("label", null, "L")).toMatchObject({ hosts: ["0012345", "5E10", "646025869596", 8, "A"] });
    expect(warnings).toEqual([]);
  });

  it.each<[string, string, ...(readonly [string | number, string | number])[]]>([
    ["a name of several hosts", "X-1", ["X-1", "A"], ["X-1", "B"]],
    ["a number that is the serial number of a host and the id of another one", "7", ["7", "A"], [7, "B"]],
  ])("refuse %s", async (_what, name, ...hosts) => {
    const files = { "default.yml": manual(`[${name}]`) };
    await expect(credentialsFrom(files, stateOf(...hosts), { allowUnknownHosts: true })).rejects.toThrow(
      new RegExp(`default\\.yml:3:\\d+: label "L": 2 hosts are called ${name}\\. .*: A, B`),
    );
  });

  it("that the server does not have are errors, unless they are allowed", async () => {
    const files = { "default.yml": manual("[X-1]") };
    const state = stateWith([], { hosts: [{ given: "X-1", host: null }] });
    await expect(credentialsFrom(files, state)).rejects.toThrow(/default\.yml:3:\d+: label "L": there is no host X-1/);
    const { find, warnings } = await credentialsFrom(files, state, { allowUnknownHosts: true });
    expect(find("label", null, "L")).toMatchObject({ hosts: [] });
    expect(warnings).toHaveLength(1);
  });
});

it("names, versions and secrets keep their text", async () => {
  const read = await readGiven({
    "default.yml":
      "org_settings:\n  org_info: {org_name: 0123}\n  secrets: [{secret: 1e3}]\ncontrols: {macos_updates: {minimum_version: 15.10, deadline: '2027-01-01'}}\nqueries: [{name: 2024, query: SELECT 1, min_qengine_version: 5.10}]\n",
    "t.yml": "name: 007\nsettings: {}\n",
  });
  expect(errorsOf(read.problems)).toEqual([]);
  const [global, team] = read.scopes;
  expect(global?.values.settings).toMatchObject({ org_info: { org_name: "0123" } });
  expect([...read.secrets.values()]).toEqual(["1e3"]);
  expect(global?.values.controls).toMatchObject({ macos_updates: { minimum_version: "15.10" } });
  expect(read.items.get("query")?.[0]?.value).toMatchObject({ name: "2024", min_qengine_version: "5.10" });
  expect(team?.name).toBe("007");
});

it("numbers that could mean another one are errors where numbers are meant", async () => {
  const { problems } = await readGiven({
    "default.yml": `${GLOBAL}queries: [{name: q, query: SELECT 1, interval: 010}]\nagent_options: {config: {options: {x: 0x10, y: 12, z: 1.5}}}\n`,
  });
  expect(errorsOf(problems).sort()).toEqual([
    "default.yml:3:48: 010 is read as the number 10: write 10, or put it into quotes if it is a text",
    "default.yml:4:39: 0x10 is read as the number 16: write 16, or put it into quotes if it is a text",
  ]);
});

it("merge keys add the keys of other objects", async () => {
  const { problems, items } = await readGiven({
    "default.yml": `${GLOBAL}queries:\n  - &q {name: a, query: SELECT 1, interval: 60}\n  - {<<: *q, name: b}\n  - {<<: [{interval: 5}, *q], name: c}\n  - {"<<": 1, name: d, query: SELECT 1}\n  - {<<: 3, name: e, query: SELECT 1}\n`,
  });
  expect(items.get("query")?.map(({ value }) => value)).toMatchObject([
    { name: "a", interval: 60 },
    { name: "b", query: "SELECT 1", interval: 60 },
    { name: "c", query: "SELECT 1", interval: 5 },
    { name: "e" },
  ]);
  expect(errorsOf(problems)).toEqual([
    expect.stringContaining("default.yml:8:6: << must name an object"),
    expect.stringContaining("unknown key queries.3.<<"),
  ]);
});
