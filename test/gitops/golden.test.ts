// Exports, plans, problems and the schema for editors keep every character: digests of what generated configurations
// give. A wanted change of a format is a new snapshot (`npx vitest run test/gitops/golden.test.ts -u`).

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StateThing } from "../../src/api/edge/configuration.ts";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { fileSchema } from "../../src/gitops/files/json-schema.ts";
import { renderProblem } from "../../src/gitops/files/problems.ts";
import type { Thing } from "../../src/gitops/plan/diff.ts";
import { planOf } from "../../src/gitops/plan/plan.ts";
import { renderPlan } from "../../src/gitops/plan/render.ts";
import { isSecretRef, type Json } from "../../src/text/differences.ts";
import { isRecord } from "../../src/text/record.ts";
import { configurations, environmentOf } from "../support/configurations.ts";
import { defaults, readGiven, stateWith, thing } from "../support/gitops-files.ts";

const HOSTS = ["a.example.com", "b $x.example.com", "é.example.com"];
const generated = fc.sample(configurations({ defaults, hosts: HOSTS, authorities: true }), { numRuns: 12, seed: 12 });

const digest = (value: unknown): string =>
  createHash("sha256")
    .update(typeof value === "string" ? value : JSON.stringify(value))
    .digest("hex")
    .slice(0, 16);

/** Only a server can distinguish secrets: one reference stands for all. */
function blind(value: Json): Json {
  if (isSecretRef(value)) return { $secret: "" };
  if (Array.isArray(value)) return value.map(blind);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, blind(one)]));
}

async function planned(files: Record<string, string>, main: string[], held: readonly StateThing[], environment = {}) {
  const read = await readGiven(files, { environment }, main);
  const state = stateWith(held, { hosts: HOSTS.slice(1).map((host) => ({ given: host, host })) });
  const wanted = desiredOf(read, state, { deleteOtherTeams: true });
  const things = wanted.things.map((one): Thing => ({ ...one, value: blind(one.value) }));
  const changes = planOf(state, { things, isComplete: (one) => wanted.isComplete(one) });
  return { changes, problems: wanted.problems.all.map(renderProblem) };
}

describe("configurations as files", () => {
  it.each(generated.map((things, at) => ({ things, before: generated[at - 1] ?? [], at })))(
    "are written and planned as before: $at",
    async ({ things, before }) => {
      const { files, variables } = exportFiles({ things, defaults });
      const main = [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
      const { changes, problems } = await planned(Object.fromEntries(files), main, before, environmentOf(variables));
      expect({
        files: digest([...files]),
        variables: digest(variables),
        changes: digest(changes),
        plan: digest(renderPlan(changes)),
        problems: digest(problems),
      }).toMatchSnapshot();
    },
  );

  it("have the same schema for editors", () => {
    expect(digest(fileSchema())).toMatchSnapshot();
  });
});

describe("problems", () => {
  const held = [
    thing("label", null, "Old", { hosts: null }),
    thing("team", null, "Ops", { description: "kept" }),
    thing("team", null, "Gone", { description: "" }),
    thing("policy", "Elsewhere", "P", { labels_include_any: ["Old"], labels_exclude_any: [] }),
    thing("query", "Elsewhere", "Q", { labels_include_any: ["Old"] }),
  ];

  it("of main files have the same words and order", async () => {
    const files = {
      "default.yml": `org_settings:
  secrets: [{secret: a}, {secret: a}]
  certificate_authorities:
    custom_scep_proxy: [{name: X, url: "https://x", challenge: c}, {name: X, url: "https://x", challenge: c}]
  yara_rules: [{path: none.yar}]
  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 0}
controls: {windows_require_bitlocker_pin: true}
agent_options: {nonsense: 1}
software: {packages: [{path: x}]}
custom_host_vitals: [1]
labels:
  - {name: A, query: SELECT 1}
  - {name: A, query: SELECT 1}
  - {name: All Hosts, query: SELECT 1}
  - {name: M, label_membership_type: manual, hosts: [nobody]}
  - {path: lib/labels.yml}
policies:
  - {name: P, query: SELECT 1, labels_include_any: [macOS, Nope], install_software: {package_path: x}}
  - {name: P, query: SELECT 1, critical: true}
queries: [{name: Q, query: SELECT 1, labels_include_any: [macOS, Nope]}, {name: Q, query: ""}]
`,
      "lib/labels.yml": "- {name: B, label_membership_type: host_vitals}\n- {nam: C}\n",
      "no-team.yml": `name: No team
settings: {description: x, webhook_settings: {}}
agent_options: {}
labels: [{name: Z, query: SELECT 1}]
policies: [{name: P, query: SELECT 1, calendar_events_enabled: true, critical: true}]
reports: [{name: Q, query: SELECT 1}]
`,
      "ops.yml": `name: ops
team_settings: {secrets: [{secret: a}], nonsense: 1}
controls: {windows_enabled_and_configured: true}
lables: []
labels: [{name: Z, query: SELECT 1}]
policies: {}
queries: [{paths: "none/*.yml"}, {name: R, query: SELECT 1}, {name: R, query: SELECT 1}]
`,
    };
    expect((await planned(files, ["default.yml", "no-team.yml", "ops.yml"], held)).problems).toMatchSnapshot();
  });

  it("of documents have the same words and order, and documents the same plan", async () => {
    const document = (kind: string, spec: unknown) => `apiVersion: v1\nkind: ${kind}\nspec: ${JSON.stringify(spec)}`;
    const bad = ["pack", "user_roles", "team", "policy", "query", "label", "config", "config", "enroll_secret", "x"];
    const wrong = bad.map((kind) => document(kind, { nonsense: 1 }));
    const good = [
      document("label", { id: 1, name: "A", query: "SELECT 1" }),
      document("label", { name: "All Hosts", query: "SELECT 1" }),
      document("label", { name: "A", query: "SELECT 1" }),
      document("policy", { name: "P", query: "SELECT 1", team: "ops", labels_include_any: ["A", "Nope"] }),
      document("policy", { name: "P", query: "SELECT 1", team: "Ops", critical: true }),
      document("policy", { name: "P", query: "SELECT 2", team: "no team" }),
      document("query", { name: "Q", query: "SELECT 1", team: ["x"] }),
      document("query", { name: "Q", query: "SELECT 1", labels_include_any: ["macOS", "Old"] }),
      document("team", { team: { name: "Ops", secrets: [{ secret: "b" }], mdm: { enable_disk_encryption: true } } }),
      document("team", { team: { name: "ops", agent_options: { config: {} } } }),
      document("config", {
        org_info: { org_name: "N" },
        agent_options: { config: { a: 1 } },
        mdm: { windows_require_bitlocker_pin: true, macos_updates: { minimum_version: "1", deadline: "2026-01-01" } },
        yara_rules: [{ name: "a.yar", contents: "rule" }],
      }),
      document("enroll_secret", { secrets: [{ secret: "b" }] }),
    ];
    const result = async (documents: string[]) => {
      const { changes, problems } = await planned({ "a.yml": documents.join("\n---\n") }, ["a.yml"], held);
      return { problems, plan: renderPlan(changes) };
    };
    expect(await result(wrong)).toMatchSnapshot();
    expect(await result(good)).toMatchSnapshot();
  });
});
