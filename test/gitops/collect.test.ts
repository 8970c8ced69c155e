// Labels, policies and queries of all files together: unique in their scope, with references to objects that will
// exist.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkLabelUse, type ExistingLabels } from "../../src/gitops/desired/labels.ts";
import { Environment } from "../../src/gitops/environment/variables.ts";
import { collect } from "../../src/gitops/files/collect.ts";
import { newSources } from "../../src/gitops/files/include.ts";
import { Problems, renderProblem } from "../../src/gitops/files/problems.ts";
import { readScopes } from "../../src/gitops/files/scope.ts";
import type { Change, Thing } from "../../src/gitops/plan/diff.ts";
import { guardRemovals } from "../../src/gitops/plan/guard.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "svc-gitops-"));
});
afterEach(() => rm(directory, { recursive: true }));

async function collected(files: Record<string, string>, known: Partial<ExistingLabels> = {}) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const problems = new Problems();
  const scopes = await readScopes(
    Object.keys(files),
    newSources({ environment: new Environment({}), directory, problems }),
  );
  const found = collect(scopes, { problems, allowUnknownKeys: false });
  const isComplete = scopes.some(({ kind }) => kind === "global");
  checkLabelUse(found, { builtin_labels: ["macOS"], labels: ["Kept"], things: [], ...known }, isComplete, problems);
  return { found, told: problems.all.map(renderProblem) };
}
const GLOBAL = "org_settings: {}\ncontrols: {}\n";

describe("the objects in the files", () => {
  it("are collected by owner", async () => {
    const { found, told } = await collected({
      "default.yml": `${GLOBAL}labels:\n  - name: Macs\n    query: SELECT 1\npolicies:\n  - {name: p, query: x, labels_include_any: [Macs]}\n`,
      "ops.yml": "name: Ops\npolicies:\n  - {name: p, query: y}\nreports:\n  - {name: q, query: z}\n",
    });
    expect(told).toEqual([]);
    const named = (kind: string) => found.get(kind)!.map(({ value, owner }) => [value.name, owner]);
    expect(named("label")).toEqual([["Macs", null]]);
    expect(named("policy")).toEqual([
      ["p", null],
      ["p", "Ops"],
    ]);
    expect(named("query")).toEqual([["q", "Ops"]]);
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "custom host vitals of a team",
      { "t.yml": "name: T\ncustom_host_vitals: [{name: Site}]\n" },
      ["t.yml:2:1: custom host vitals are for all hosts: define them in the global file"],
    ],
    [
      "twice",
      { "t.yml": "name: T\npolicies:\n  - {name: p, query: x}\n  - {name: ' p', query: y}\n" },
      ['t.yml:4:6: the policy "p" is already defined in t.yml:3'],
    ],
    [
      "an unknown label",
      { "t.yml": "name: T\nreports:\n  - {name: q, query: x, labels_include_any: [Kept, Gone]}\n" },
      ['t.yml:3:25: query "q" uses the label "Gone", which will not exist'],
    ],
    [
      "a label that goes with this run",
      { "default.yml": `${GLOBAL}policies:\n  - {name: p, query: x, labels_exclude_any: [Kept]}\n` },
      ['default.yml:4:25: policy "p" uses the label "Kept", which will not exist'],
    ],
    [
      "a built-in label",
      { "t.yml": "name: T\npolicies:\n  - {name: p, query: x, labels_include_any: [macOS]}\n" },
      ['t.yml:3:25: policy "p" cannot use the built-in label "macOS": use platform'],
    ],
    [
      "a built-in label of its own",
      { "default.yml": `${GLOBAL}labels:\n  - {name: macOS, query: x}\n` },
      ['default.yml:4:6: "macOS" is a built-in label: it cannot be changed'],
    ],
    [
      "labels of a team",
      { "t.yml": "name: T\nlabels:\n  - {name: L, query: x}\n" },
      ["t.yml:2:1: this server does not support labels of teams yet: define them in the global file"],
    ],
    [
      "queries of no team",
      {
        "default.yml": "org_settings: {}\n",
        "no-team.yml": "name: No team\ncontrols: {}\nreports:\n  - {name: q, query: x}\n",
      },
      ["no-team.yml:3:1: hosts without a team cannot have queries: define them globally or for a team"],
    ],
  ])("are refused with %s", async (_, files, told) => {
    expect((await collected(files)).told).toEqual(told);
  });
});

describe("the limit on deletions", () => {
  const thing = (name: number): Thing => ({ kind: "query", owner: null, name: String(name), value: {} });
  const things = (count: number) => Array.from({ length: count }, (_, i) => thing(i));
  const removing = (count: number): Change[] =>
    things(count).map((one) => ({ ...one, action: "delete", fields: [], value: null }));

  it.each([
    [100, 20, 20, null],
    [100, 21, 20, "the plan removes 21 objects, more than 20"],
    [19, 19, 20, null],
    [20, 5, 20, null],
    [20, 6, 20, "the plan removes 6 of 20 (query), more than a quarter"],
    [1000, 30, 50, null],
  ])("with %i objects, %i deletions and a limit of %i: %s", (there, gone, most, told) => {
    expect(guardRemovals(removing(gone), things(there), most)).toBe(told);
  });
});
