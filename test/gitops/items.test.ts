// Labels, policies and queries in files compared with their schemas: defaults, every problem with its position,
// suggestions.
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { Environment } from "../../src/gitops/environment/variables.ts";
import { check } from "../../src/gitops/files/check.ts";
import { Problems, renderProblem } from "../../src/gitops/files/problems.ts";
import { parseTree } from "../../src/gitops/files/tree.ts";
import { LabelFile } from "../../src/gitops/kinds/label.ts";
import { PolicyFile } from "../../src/gitops/kinds/policy.ts";
import { QueryFile } from "../../src/gitops/kinds/query.ts";
import { credentialsFrom, stateWith } from "../support/gitops-files.ts";

function checked(schema: z.ZodType, text: string, name: string, allowUnknownKeys = false) {
  const problems = new Problems();
  const tree = parseTree(text, "f.yml", { environment: new Environment({}), problems, variables: new Map() })!;
  const value = check(schema, tree, name, { problems, allowUnknownKeys });
  return {
    value,
    told: problems.all.map((one) => `${one.severity === "warning" ? "warning " : ""}${renderProblem(one)}`),
  };
}

describe("what is left out", () => {
  it("get their defaults", () => {
    expect(checked(LabelFile, "name: ' Cafe\u0301 '\nquery: SELECT 1", "label").value).toEqual({
      name: "Café",
      description: "",
      platform: "",
      label_membership_type: "dynamic",
      query: "SELECT 1",
      criteria: null,
    });
    expect(
      checked(PolicyFile, "name: p\nquery: SELECT 1\nplatform: linux, darwin\nrun_script:\n", "policy").value,
    ).toMatchObject({
      platform: "darwin,linux",
      critical: false,
      labels_include_any: [],
      webhooks_and_tickets_enabled: false,
      run_script: null,
      install_software: null,
    });
    expect(checked(QueryFile, "name: q\nquery: SELECT 1\nplatform: [windows]\ninterval:\n", "query").value).toEqual({
      name: "q",
      query: "SELECT 1",
      description: "",
      interval: 0,
      platform: "windows",
      min_qengine_version: "",
      observer_can_run: false,
      automations_enabled: false,
      logging: "snapshot",
      discard_data: false,
      labels_include_any: [],
      labels_include_all: [],
    });
  });

  it("distinguishes a manual label without a list of members from one with an empty list", () => {
    const hosts = (more: string) =>
      (checked(LabelFile, `name: m\nlabel_membership_type: manual\n${more}`, "label").value as LabelFile).hosts;
    expect(hosts("")).toBeUndefined();
    expect(hosts("hosts:\n")).toBeNull();
    expect(hosts("hosts: [a, 7]\n")).toEqual(["a", 7]);
  });
});

describe("problems", () => {
  it.each<[z.ZodType, string, string[]]>([
    [LabelFile, "name: l\nqurey: SELECT 1", ["f.yml:2:1: unknown key labels.0.qurey; did you mean query?"]],
    [LabelFile, "name: l\nzzzzzzzz: 1\nquery: x", ["f.yml:2:1: unknown key labels.0.zzzzzzzz"]],
    [LabelFile, "query: x", ["f.yml:1:1: labels.0.name: is required"]],
    [LabelFile, "name: ''\nquery: x", ["f.yml:1:1: labels.0.name: must not be empty"]],
    [LabelFile, "name: [l]\nquery: x", ["f.yml:1:1: labels.0.name: expected string, got array"]],
    [LabelFile, "- a", ["f.yml:1:1: labels.0: expected object, got array"]],
    [
      LabelFile,
      "name: l\nlabel_membership_type: manual\nquery: x",
      ["f.yml:3:1: labels.0.query: only a dynamic label has a query"],
    ],
    [
      LabelFile,
      "name: l\nlabel_membership_type: host_vitals",
      ["f.yml:1:1: labels.0.criteria: a host_vitals label needs criteria"],
    ],
    [PolicyFile, "name: p\nquery: ' '", ["f.yml:2:1: labels.0.query: must not be empty"]],
    [
      PolicyFile,
      "name: p\nquery: x\nplatform: macos",
      ["f.yml:3:1: labels.0.platform: macos is not one of darwin, windows, linux, chrome"],
    ],
    [
      PolicyFile,
      "name: p\nquery: x\ninstall_software:\n  hash_sha256: a\n  app_store_id: b",
      [
        "f.yml:3:1: labels.0.install_software: give exactly one of package_path, hash_sha256, app_store_id, svc_maintained_app_slug and package",
      ],
    ],
    [
      PolicyFile,
      "name: p\nquery: x\nlabels_include_any: [a]\nlabels_exclude_any: [b]",
      ["f.yml:4:1: labels.0.labels_exclude_any: give either labels_include_any or labels_exclude_any, not both"],
    ],
    [PolicyFile, "name: p\nquery: x\ncritical: yes", ["f.yml:3:1: labels.0.critical: expected boolean, got string"]],
    [
      QueryFile,
      "name: q\nquery: x\ninterval: 1.5\nlogging: none",
      ["f.yml:3:1: labels.0.interval: expected integer, got number", "f.yml:4:1: labels.0.logging: must be one of"],
    ],
    [QueryFile, "name: q\nquery: x\ninterval: -1", ["f.yml:3:1: labels.0.interval: "]],
  ])("%#", (schema, text, told) => {
    const { value, told: real } = checked(schema, text, "labels.0");
    expect(value).toBeNull();
    expect(real.map((line, i) => line.slice(0, told[i]?.length))).toEqual(told);
  });

  it("of unknown keys are warnings on request", () => {
    const { value, told } = checked(QueryFile, "name: q\nquery: x\nintervall: 60", "query", true);
    expect(told).toEqual(["warning f.yml:3:1: unknown key query.intervall; did you mean interval?"]);
    expect(value).toMatchObject({ name: "q", interval: 0 });
    const both = checked(QueryFile, "name: q\nquery: ''\nx: 1", "query", true);
    expect(both.value).toBeNull();
    expect(both.told.sort()).toEqual([
      "f.yml:2:1: query.query: must not be empty",
      "warning f.yml:3:1: unknown key query.x",
    ]);
  });
});

it("a label with a custom host vital that the server does not have is a warning in its place, because the same apply may add it", async () => {
  const of = (id: number) =>
    `org_settings: {}\ncontrols: {}\nlabels:\n  - {name: L, label_membership_type: host_vitals, criteria: {vital: custom_host_vital, custom_host_vital_id: ${id}, value: x}}\n`;
  const state = stateWith([], { custom_host_vitals: [3] });
  expect((await credentialsFrom({ "d.yml": of(99) }, state)).warnings).toEqual([
    expect.stringMatching(/d\.yml:4:\d+: .*label "L": there is no custom host vital with the id 99/),
  ]);
  expect((await credentialsFrom({ "d.yml": of(3) }, state)).warnings).toEqual([]);
});
