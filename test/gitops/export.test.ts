// An export is equivalent to the state that was read: every field of every object, with any values.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StateThing } from "../../src/api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../src/api/settings/no-team.ts";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import type { Change, Thing } from "../../src/gitops/plan/diff.ts";
import { planOf } from "../../src/gitops/plan/plan.ts";
import { isSecretRef, type Json } from "../../src/text/differences.ts";
import { isRecord } from "../../src/text/record.ts";
import { changeOne, configurations, environmentOf } from "../support/configurations.ts";
import { amount } from "../support/engines.ts";
import { defaults, errorsOf, readGiven, stateWith, thing, warningsOf } from "../support/gitops-files.ts";

const HOSTS = ["a.example.com", "b $x.example.com", "é.example.com"];
const generated = configurations({ defaults, hosts: HOSTS, authorities: true });

/** Replaces the references of all secrets by one, because only a server can distinguish them. */
function blind(value: Json): Json {
  if (isSecretRef(value)) return { $secret: "" };
  if (Array.isArray(value)) return value.map(blind);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, blind(one)]));
}

const mainFiles = (files: ReadonlyMap<string, string>) =>
  [...files.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));

/** The plan of files that were exported from `exported`, on a server with the state `held`. */
async function planFrom(exported: StateThing[], held: readonly StateThing[] = exported): Promise<Change[]> {
  const { files, variables } = exportFiles({ things: exported, defaults });
  const read = await readGiven(Object.fromEntries(files), { environment: environmentOf(variables) }, mainFiles(files));
  expect([...errorsOf(read.problems), ...warningsOf(read.problems)]).toEqual([]);
  const state = stateWith(held, { hosts: HOSTS.map((host) => ({ given: host, host })) });
  const wanted = desiredOf(read, state, { deleteOtherTeams: true });
  expect(errorsOf(wanted.problems)).toEqual([]);
  const things = wanted.things.map((one): Thing => ({ ...one, value: blind(one.value) }));
  return planOf(state, { things, isComplete: (one) => wanted.isComplete(one) });
}

describe("an export", () => {
  it("has an empty plan, whatever was configured", async () => {
    await fc.assert(
      fc.asyncProperty(generated, async (things) => {
        expect(await planFrom(things)).toEqual([]);
      }),
      { numRuns: amount(15, 30), seed: 5, endOnFailure: true },
    );
  });

  it("of an unconfigured server has an empty plan", async () => {
    expect(await planFrom(stateWith().things)).toEqual([]);
  });

  it("differs in exactly the field that was changed", async () => {
    await fc.assert(
      fc.asyncProperty(generated, fc.nat(), async (things, pick) => {
        const changed = changeOne(things, pick);
        fc.pre(changed !== null);
        const { kind, owner, name, path } = changed!;
        const plan = await planFrom(changed!.things, things);
        expect(
          plan.map(({ value: _, fields, ...change }) => ({ ...change, fields: fields.map((one) => one.path) })),
        ).toEqual([{ action: "update", kind, owner, name, fields: [path] }]);
      }),
      { numRuns: amount(30, 60), seed: 5, endOnFailure: true },
    );
  });
});

describe("the files of an export", () => {
  const team = (name: string): StateThing[] => [
    thing("team", null, name, { description: "" }),
    thing("agent_options", name, "agent_options", null),
    thing("team_settings", name, "team_settings", defaults.team_settings),
    thing("enroll_secrets", name, "enroll_secrets", { secrets: [{ $secret: "" }] }),
  ];

  it("have safe and unique names, whatever teams are called", () => {
    const names = [
      "Ops",
      "OPS!",
      "../../etc/passwd",
      "部署",
      "総務",
      "no-team",
      "Unassigned",
      "con",
      ".",
      "a".repeat(255),
      "a/b\\c",
      "é",
      "e",
    ];
    const { files } = exportFiles(stateWith(names.flatMap(team)));
    const teams = [...files.keys()].filter((path) => path.startsWith("teams/"));
    expect(teams).toHaveLength(names.length + 1);
    expect(new Set(teams.map((path) => path.toLowerCase())).size).toBe(teams.length);
    for (const path of teams) expect(path).toMatch(/^teams\/[a-z0-9][a-z0-9-]{0,100}\.yml$/);
    expect(files.get("teams/no-team.yml")).toContain(`name: ${NO_TEAM_NAME}`);
  });

  it("give their secrets readable names, and list them", () => {
    const smtp = { ...(defaults.config.smtp_settings as object), password: { $secret: "" } };
    const { files, variables } = exportFiles(
      stateWith([
        ...team("Ops & Co"),
        thing("enroll_secrets", null, "enroll_secrets", { secrets: [{ $secret: "" }, { $secret: "" }] }),
        thing("config", null, "smtp_settings", smtp),
        thing("certificate_authority", null, "custom_scep_proxy/WIFI", {
          name: "WIFI",
          url: "https://ca.example.com",
          challenge: { $secret: "" },
        }),
      ]),
    );
    expect(variables.map(({ name }) => name).sort()).toEqual([
      "CUSTOM_SCEP_PROXY_WIFI_CHALLENGE",
      "ENROLL_SECRET_1",
      "ENROLL_SECRET_2",
      "ENROLL_SECRET_OPS_CO",
      "SMTP_SETTINGS_PASSWORD",
    ]);
    for (const { name } of variables) expect(files.get(".env.example")).toContain(`\n${name}=\n`);
    expect(files.get(".gitignore")).toContain(".env\n");
  });

  it("are split if a list is long", async () => {
    const many = Array.from({ length: 60 }, (_, i) =>
      thing("policy", null, `Policy ${i}`, {
        query: `SELECT ${"x".repeat(40_000)}`,
        description: "",
        resolution: "",
        platform: "",
        critical: false,
        labels_include_any: [],
        labels_exclude_any: [],
        calendar_events_enabled: false,
        conditional_access_enabled: false,
        webhooks_and_tickets_enabled: false,
        run_script: null,
        type: "dynamic",
        svc_maintained_app_slug: "",
        patch_when_closed: false,
        notify_before_patching: false,
        continuous_automations_enabled: false,
        labels_include_all: [],
        resend_configuration_profile: null,
        install_software: null,
      }),
    );
    const { files } = exportFiles(stateWith(many));
    expect([...files.keys()].filter((path) => path.startsWith("lib/"))).toEqual([
      "lib/policies-1.yml",
      "lib/policies-2.yml",
      "lib/policies-3.yml",
    ]);
    expect(await planFrom(many)).toEqual([]);
  });
});
