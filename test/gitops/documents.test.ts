// The older format of documents: their values replace the server's, and nothing else changes.
import { describe, expect, it } from "vitest";
import { refOf } from "../../src/gitops/files/secrets.ts";
import { diff } from "../../src/gitops/plan/changes.ts";
import { credentialsFrom, defaults, errorsOf, GLOBAL, readGiven, stateWith, thing } from "../support/gitops-files.ts";

const document = (kind: string, spec: string) => `apiVersion: v1\nkind: ${kind}\nspec:\n${spec.replace(/^/gm, "  ")}\n`;
const file = (...documents: string[]) => ({ "all.yml": documents.join("---\n") });
const errors = async (files: Record<string, string>) => errorsOf((await readGiven(files)).problems);

describe("documents", () => {
  const state = stateWith([
    thing("config", null, "org_info", { ...(defaults.config.org_info as object), org_name: "Kept" }),
    thing("config", null, "mdm", { ...(defaults.config.mdm as object), vendora_server_url: "https://mdm" }),
    thing("team", null, "Ops", { description: "about" }),
    thing("team_settings", "Ops", "team_settings", defaults.team_settings),
    thing("agent_options", "Ops", "agent_options", { config: {} }),
    thing("label", null, "L", {}),
    thing("policy", "Ops", "old", {}),
  ]);

  it("of each kind are read, with the kind in any letter case", async () => {
    const { find, things, isComplete, secrets } = await credentialsFrom(
      file(
        document(
          "Config",
          "org_info:\n  contact_url: https://c\nmdm:\n  windows_enabled_and_configured: true\nagent_options:\n  config: {options: {}}",
        ),
        document("label", "name: New\nquery: SELECT 1"),
        document("policy", "name: p\nquery: SELECT 1\nteam: Ops\nlabels_include_any: [L, New]"),
        document("policy", "name: n\nquery: SELECT 1\nteam: no team"),
        document("QUERY", "name: q\nquery: SELECT 1\nteam: ''\ninterval: 60"),
        document(
          "team",
          "team:\n  name: Ops\n  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 3}\n  mdm: {macos_updates: {minimum_version: '15.1', deadline: '2026-01-31'}}\n  secrets: [{secret: s}]",
        ),
        document("enroll_secret", "secrets:\n  - secret: global"),
      ),
      state,
    );
    expect(find("config", null, "org_info")).toMatchObject({ org_name: "Kept", contact_url: "https://c" });
    expect(find("config", null, "mdm")).toMatchObject({
      vendora_server_url: "https://mdm",
      windows_enabled_and_configured: true,
    });
    expect(find("agent_options", null)).toEqual({ config: { options: {} } });
    expect(find("label", null, "New")).toMatchObject({ query: "SELECT 1" });
    expect(find("policy", "Ops", "p")).toMatchObject({ labels_include_any: ["L", "New"] });
    expect(find("policy", "No team", "n")).toBeDefined();
    expect(find("query", null, "q")).toMatchObject({ interval: 60 });
    expect(find("team", null, "Ops")).toEqual({ description: "about" });
    expect(find("team_settings", "Ops")).toMatchObject({
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 3 },
      mdm: { macos_updates: { minimum_version: "15.1", deadline: "2026-01-31", update_new_hosts: true } },
    });
    expect(find("agent_options", "Ops")).toBeUndefined();
    expect(find("enroll_secrets", "Ops")).toEqual({ secrets: [{ $secret: refOf("s") }] });
    expect(find("enroll_secrets", null)).toEqual({ secrets: [{ $secret: refOf("global") }] });
    expect([...secrets.values()].sort()).toEqual(["global", "s"]);
    // Other sections are not checked, and nothing is deleted.
    expect(things.filter(({ kind }) => kind === "config").map(({ name }) => name)).toEqual(["org_info", "mdm"]);
    const changes = diff(state.things as never, things, isComplete);
    expect(changes.filter(({ action }) => action === "delete")).toEqual([]);
  });

  it("create a new team with its defaults, and remove options with null", async () => {
    const credentials = await credentialsFrom(
      file(document("team", "team:\n  name: New\n  agent_options: null")),
      state,
    );
    expect(credentials.find("team_settings", "New")).toEqual(defaults.team_settings);
    expect(credentials.find("agent_options", "New")).toBeNull();
  });

  it.each<[string, string, string[]]>([
    [
      "no kind",
      "apiVersion: v1\nspec: {}\n",
      [
        "all.yml:1:1: kind is missing: it is one of config, custom_host_vital, custom_variable, enroll_secret, label, options, pack, policy, query, team, user_roles",
      ],
    ],
    ["an unknown kind", document("polcy", "name: p"), ["all.yml:2:7: unknown kind polcy; did you mean policy?"]],
    ["no spec", "apiVersion: v1\nkind: query\n", ["all.yml:1:1: spec is missing: it must be an object"]],
    ["another key", `${document("query", "name: q\nquery: x")}extra: 1\n`, ["all.yml:6:1: unknown key extra"]],
    [
      "two configurations",
      `${document("config", "org_info: {}")}---\n${document("config", "org_info: {}")}`,
      ["all.yml:9:3: there is already a config in all.yml:4: only one is allowed"],
    ],
    [
      "packs with unknown keys",
      document("pack", "{name: p, queries: [{qury: q}]}"),
      ["all.yml:4:24: unknown key spec.queries.0.qury; did you mean query?"],
    ],
    ["roles", document("user_roles", "roles: {}"), ["all.yml:4:3: users cannot be managed with files"]],
    [
      "a team beside its key",
      document("team", "name: T"),
      ["all.yml:4:3: the spec of a team must have exactly one key, team"],
    ],
    [
      "an unknown field",
      document("query", "name: q\nquery: x\nintervall: 3"),
      ["all.yml:6:3: unknown key spec.intervall; did you mean interval?"],
    ],
    [
      "an unknown section",
      document("config", "org_inf: {}"),
      ["all.yml:4:3: unknown key spec.org_inf; did you mean org_info?"],
    ],
    [
      "the same query twice",
      `${document("query", "name: q\nquery: x")}---\n${document("query", "name: q\nquery: y")}`,
      ['all.yml:10:3: the query "q" is already defined in all.yml:4'],
    ],
    [
      "a mask",
      document("config", "smtp_settings: {password: '********'}"),
      ["all.yml:4:19: spec.smtp_settings.password: is the mask of a secret: give the secret itself, as a variable"],
    ],
    [
      "what is not built",
      document("team", "team: {name: T, mdm: {macos_settings: {custom_settings: [{path: a}]}}}"),
      [
        "all.yml:4:42: spec.team.mdm.macos_settings.custom_settings: documents cannot contain profiles: use the files of a team instead",
      ],
    ],
  ])("with %s are refused", async (_, text, told) => {
    expect(await errors({ "all.yml": text })).toEqual(told);
  });

  it("cannot be mixed with files of the current format", async () => {
    expect(await errors({ "default.yml": GLOBAL, ...file(document("query", "name: q\nquery: x")) })).toEqual([
      "default.yml:1:1: packs and documents with apiVersion and kind, as in all.yml, cannot be mixed with this file",
    ]);
  });

  it("of an unknown team are refused; on the free tier they are skipped", async () => {
    const files = file(document("query", "name: q\nquery: x\nteam: Gone"), document("label", "name: l\nquery: x"));
    await expect(credentialsFrom(files, state)).rejects.toThrow("all.yml:4:3: there is no team Gone");
    const { things, warnings } = await credentialsFrom(files, stateWith([], { tier: "free" }));
    expect(things.map(({ name }) => name)).toEqual(["l"]);
    expect(warnings).toEqual(["all.yml:4:3: this document is skipped: teams need the premium tier"]);
  });
});
