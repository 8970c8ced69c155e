// The schema for editors accepts and refuses the same files as the reader.
import { readFile } from "node:fs/promises";
import { glob } from "tinyglobby";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { fileSchema } from "../../src/gitops/files/json-schema.ts";
import { topLevelKeys } from "../../src/gitops/files/scope.ts";
import { LabelFile } from "../../src/gitops/kinds/label.ts";
import { PolicyFile } from "../../src/gitops/kinds/policy.ts";
import { QueryFile } from "../../src/gitops/kinds/query.ts";
import { unwrapped } from "../../src/gitops/schema/loosen.ts";
import {
  AgentOptionsFile,
  GlobalControls,
  NoTeamSettings,
  OrgSettings,
  TeamControls,
  TeamSettings,
} from "../../src/gitops/schema/settings.ts";
import { asYaml, errorsOf, readGiven } from "../support/gitops-files.ts";
import { problemsBy } from "../support/json-schema.ts";

type Node = { readonly [key: string]: unknown };
const schema = fileSchema();
const definitions = schema.definitions as Record<string, Node>;

describe("the schema of main files", () => {
  const readers: Record<string, z.ZodType> = {
    org_settings: OrgSettings,
    team_settings: TeamSettings,
    no_team_settings: NoTeamSettings,
    global_controls: GlobalControls,
    team_controls: TeamControls,
    agent_options: AgentOptionsFile,
    label: LabelFile,
    policy: PolicyFile,
    query: QueryFile,
  };

  it.each(Object.keys(readers))("has the keys with which %s is read, and no others", (name) => {
    compare(readers[name]!, definitions[name]!, name);

    function compare(reader: z.ZodType, node: Node, at: string): void {
      const inner = unwrapped(reader);
      if (inner instanceof z.ZodPipe) compare(inner.in as z.ZodType, node, at);
      if (!(inner instanceof z.ZodObject)) return;
      const object = objectIn(node);
      expect(object, at).toBeDefined();
      expect(object!.additionalProperties, at).toBe(false);
      const properties = object!.properties as Record<string, Node>;
      expect(Object.keys(properties).sort(), at).toEqual(Object.keys(inner.shape).sort());
      for (const [key, field] of Object.entries(inner.shape))
        compare(field as z.ZodType, properties[key]!, `${at}.${key}`);
    }
    /** The object among the alternatives of a node. */
    function objectIn(node: Node): Node | undefined {
      if (node.properties) return node;
      const parts = [...((node.anyOf as Node[]) ?? []), ...((node.allOf as Node[]) ?? [])];
      return parts.map(objectIn).find((one) => one !== undefined);
    }
  });

  it("has the top-level keys of each kind of file", () => {
    const { then: global, else: teams } = schema as { then: Node; else: { then: Node; else: Node } };
    const keys = [global, teams.then, teams.else].flatMap((file) => Object.keys(file.properties as Node));
    expect([...new Set(keys)].sort()).toEqual([...topLevelKeys].sort());
  });

  it("keeps descriptions, and names unsupported features", () => {
    const { integrations, webhook_settings } = definitions.org_settings!.properties as Record<string, Node>;
    expect(JSON.stringify(webhook_settings)).toContain("period of the automation job");
    expect(JSON.stringify(integrations)).toContain("not supported yet: workspace directory; must be empty");
  });

  it.each<[string, unknown, boolean]>([
    ["a global file", { org_settings: {}, controls: null }, true],
    ["sections by path", { org_settings: { path: "a.yml" }, agent_options: { path: "b.yml" } }, true],
    ["a path and more", { org_settings: { path: "a.yml", org_info: {} } }, false],
    ["lists by path", { name: "T", policies: [{ path: "a.yml" }, { paths: "*.yml" }], labels: null }, true],
    ["a pattern that is none", { name: "T", policies: [{ paths: "a.yml" }] }, false],
    ["neither kind", { policies: [] }, false],
    ["both kinds", { org_settings: {}, name: "T" }, false],
    ["an unknown key", { name: "T", polices: [] }, false],
    ["an unknown nested key", { org_settings: { org_info: { org_nam: "x" } } }, false],
    ["a wrong type", { org_settings: { server_settings: { report_cap: "many" } } }, false],
    ["a variable for a number", { org_settings: { server_settings: { report_cap: "$CAP" } } }, true],
    ["a variable for a flag", { name: "T", reports: [{ name: "q", query: "x", observer_can_run: "$YES" }] }, true],
    ["a variable in a choice", { name: "T", queries: [{ name: "q", query: "x", logging: "$LOGGING" }] }, true],
    ["a wrong choice", { name: "T", queries: [{ name: "q", query: "x", logging: "none" }] }, false],
    ["what is not built, empty", { name: "T", software: { packages: [] }, controls: { scripts: [] } }, true],
    ["software", { name: "T", software: { packages: [{ url: "https://x" }, { path: "a.yml" }] } }, true],
    [
      "settings of an app that are no file",
      { name: "T", software: { packages: [{ url: "https://x", configuration: { a: "b" } }] } },
      false,
    ],
    ["icons", { name: "T", software: { packages: [{ url: "https://x", icon: { path: "a.png" } }] } }, true],
    ["custom host vitals", { org_settings: {}, custom_host_vitals: [{ name: "Site" }] }, true],
    ["controls of everybody in a team's file", { name: "T", controls: { windows_migration_enabled: true } }, false],
    ["the same in that of no team", { name: "no team", controls: { windows_migration_enabled: true } }, true],
    ["secrets of no team", { name: "No team", settings: { secrets: [{ secret: "s" }] } }, false],
    ["a team's secrets", { name: "T", settings: { secrets: [{ secret: "$S" }] } }, true],
    ["secrets that are texts", { name: "T", settings: { secrets: ["s"] } }, false],
    ["exceptions", { org_settings: { gitops: { exceptions: { labels: true } } } }, false],
    [
      "numbers of policies",
      { name: "T", settings: { webhook_settings: { failing_policies_webhook: { policy_ids: [1] } } } },
      false,
    ],
    ["a policy without a query", { name: "T", policies: [{ name: "p" }] }, false],
    [
      "a certificate authority",
      {
        org_settings: {
          certificate_authorities: { custom_scep_proxy: [{ name: "A", url: "https://x", challenge: "$C" }] },
        },
      },
      true,
    ],
    [
      "one without its secret",
      { org_settings: { certificate_authorities: { custom_scep_proxy: [{ name: "A", url: "https://x" }] } } },
      false,
    ],
  ])("%s", async (_, file, fits) => {
    expect(problemsBy(schema, file).length === 0, JSON.stringify(problemsBy(schema, file))).toBe(fits);
  });

  it("agrees with the reader about each field with a wrong type, and each unknown key beside it", async () => {
    const files: [unknown, string][] = [];
    const put = (name: string, path: readonly string[], value: unknown) => {
      const section = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      const whole: Record<string, unknown> =
        name === "org_settings" || name === "global_controls" ? { org_settings: {}, controls: {} } : { name: "T" };
      whole[name.endsWith("controls") ? "controls" : name] = section;
      files.push([whole, [name, ...path].join(".")]);
    };
    for (const name of ["org_settings", "team_settings", "global_controls", "team_controls", "agent_options"])
      walk(readers[name]!, [], name);
    function walk(reader: z.ZodType, path: readonly string[], name: string): void {
      const inner = unwrapped(reader);
      if (inner instanceof z.ZodObject) {
        put(name, [...path, "zzz_unknown"], 1);
        if (path.length > 0) put(name, path, "text");
        for (const [key, field] of Object.entries(inner.shape)) walk(field as z.ZodType, [...path, key], name);
      } else put(name, path, inner instanceof z.ZodString ? ["list"] : "text");
    }
    expect(files.length).toBeGreaterThan(200);
    const passed: string[] = [];
    for (const [file, at] of files) {
      const { problems } = await readGiven({ "f.yml": asYaml(file) });
      if (errorsOf(problems).length === 0) passed.push(`reader: ${at}`);
      if (problemsBy(schema, file).length === 0) passed.push(`schema: ${at}`);
    }
    expect(passed).toEqual([]);
  });

  it("accepts every main file of the examples", async () => {
    const files = await glob(["examples/gitops/default.yml", "examples/gitops/teams/*.yml"]);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files)
      expect([file, problemsBy(schema, parse(await readFile(file, "utf8")))]).toEqual([file, []]);
  });
});
