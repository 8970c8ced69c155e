// Fields that are absent from files follow the tables: default, cleared, or kept.
import { describe, expect, it } from "vitest";
import { refOf } from "../../src/gitops/files/secrets.ts";
import { diff } from "../../src/gitops/plan/changes.ts";
import { credentialsFrom, defaults, GLOBAL, stateWith, thing } from "../support/gitops-files.ts";

const changed = {
  org_info: { org_name: "Example", org_logo_url: "https://x/l", org_logo_url_light_background: "", contact_url: "" },
  server_settings: { ...(defaults.config.server_settings as object), query_report_cap: 5 },
  host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 30 },
  activity_expiry_settings: { activity_expiry_enabled: true, activity_expiry_window: 30 },
  features: { enable_host_users: false, enable_software_inventory: false, additional_queries: { a: "SELECT 1" } },
  smtp_settings: { ...(defaults.config.smtp_settings as object), server: "mail", password: { $secret: "" } },
  sso_settings: { ...(defaults.config.sso_settings as object), idp_name: "IdP" },
  conditional_access: { ...(defaults.config.conditional_access as object), directory_tenant_id: "t" },
  mdm: { ...(defaults.config.mdm as object), vendora_server_url: "https://mdm", windows_enabled_and_configured: true },
  vulnerability_settings: { databases_path: "/x" },
  svc_desktop: { transparency_url: "https://t" },
  gitops: { gitops_mode_enabled: true, repository_url: "https://git" },
  webhook_settings: { ...(defaults.config.webhook_settings as object), interval: "1h" },
  integrations: { ...(defaults.config.integrations as object), conditional_access_enabled: true },
  yara_rules: { "a.yar": "rule a { condition: false }" },
};
const state = stateWith(Object.entries(changed).map(([name, value]) => thing("config", null, name, value)));
const kept = ["gitops", "host_expiry_settings", "smtp_settings"];

describe("sections that the global file does not have", () => {
  it("are reset to their defaults, except those that are kept", async () => {
    const { find, things, isComplete } = await credentialsFrom({ "default.yml": GLOBAL }, state);
    const wanted = things.filter(({ kind }) => kind === "config").map(({ name }) => name);
    expect(wanted.sort()).toEqual(
      Object.keys(changed)
        .filter((name) => !kept.includes(name))
        .sort(),
    );
    for (const name of wanted) expect(find("config", null, name), name).toEqual(defaults.config[name]);
    for (const name of Object.keys(changed)) expect(isComplete({ kind: "config", owner: null, name })).toBe(false);
    expect(find("agent_options", null)).toEqual(defaults.agent_options);
  });

  it.each(kept)("%s: with some fields given, the others keep their values", async (name) => {
    const field = { gitops: "repository_url", host_expiry_settings: "host_expiry_window", smtp_settings: "domain" }[
      name
    ]!;
    const value = name === "host_expiry_settings" ? 7 : "https://other";
    const { find } = await credentialsFrom(
      { "default.yml": `org_settings: {${name}: {${field}: ${JSON.stringify(value)}}}\ncontrols: {}\n` },
      state,
    );
    expect(find("config", null, name)).toEqual({ ...changed[name as keyof typeof changed], [field]: value });
    const nothing = await credentialsFrom({ "default.yml": `org_settings: {${name}: null}\ncontrols: {}\n` }, state);
    expect(nothing.find("config", null, name)).toBeUndefined();
  });

  it("are not changed without the global file", async () => {
    const { things, isComplete } = await credentialsFrom({ "t.yml": "name: T\n" }, state);
    expect(things.filter(({ owner, kind }) => owner === null && kind !== "team")).toEqual([]);
    expect(isComplete({ kind: "label", owner: null, name: "L" })).toBe(false);
    expect(isComplete({ kind: "certificate_authority", owner: null, name: "custom_scep_proxy/X" })).toBe(false);
    expect(isComplete({ kind: "policy", owner: null, name: "p" })).toBe(false);
  });
});

describe("fields that a section does not have", () => {
  it("get their defaults", async () => {
    const { find } = await credentialsFrom(
      {
        "default.yml":
          "org_settings: {server_settings: {server_url: 'https://s'}, features:, org_info: {}}\ncontrols: {}\n",
      },
      state,
    );
    expect(find("config", null, "server_settings")).toEqual({
      ...(defaults.config.server_settings as object),
      server_url: "https://s",
    });
    expect(find("config", null, "features")).toEqual(defaults.config.features);
    expect(find("config", null, "org_info")).toEqual(defaults.config.org_info);
  });

  it("of macOS updates: new hosts are updated when both version and deadline are set", async () => {
    const updates = async (text: string) => {
      const { find } = await credentialsFrom({
        "default.yml": `org_settings: {}\ncontrols:\n  macos_updates: ${text}\n`,
      });
      return (find("config", null, "mdm") as { macos_updates: object }).macos_updates;
    };
    const both = "minimum_version: '15.1', deadline: '2026-01-31'";
    expect(await updates(`{${both}}`)).toEqual({
      minimum_version: "15.1",
      deadline: "2026-01-31",
      deadline_days: null,
      update_new_hosts: true,
    });
    expect(await updates("{minimum_version: latest, deadline_days: 3}")).toMatchObject({ update_new_hosts: true });
    expect(await updates(`{${both}, update_new_hosts: false}`)).toMatchObject({ update_new_hosts: false });
    expect(await updates("{update_new_hosts: true}")).toMatchObject({ update_new_hosts: true, deadline: "" });
    expect(await updates("{}")).toMatchObject({ update_new_hosts: false });
  });
});

describe("device management", () => {
  const profiles = { custom_settings: [{ path: "a.mobileconfig" }] };
  const mdm = { ...(changed.mdm as object), macos_settings: profiles, enable_disk_encryption: true };
  const stored = stateWith([thing("config", null, "mdm", mdm)]);

  it("is in org_settings and controls, and fields that files cannot express keep their values", async () => {
    const { find } = await credentialsFrom(
      {
        "default.yml":
          "org_settings: {mdm: {vendora_server_url: 'https://new', end_user_authentication: {idp_name: ' x '}}}\ncontrols: {windows_migration_enabled: false}\n",
      },
      stored,
    );
    expect(find("config", null, "mdm")).toMatchObject({
      vendora_server_url: "https://new",
      end_user_authentication: { idp_name: "x", entity_id: "" },
      windows_enabled_and_configured: false,
      enable_disk_encryption: false,
      macos_settings: profiles,
    });
  });

  it("uses the controls of the file for hosts without a team", async () => {
    const files = {
      "default.yml": "org_settings: {}\n",
      "no-team.yml": "name: No team\ncontrols: {windows_enabled_and_configured: true}\n",
    };
    expect((await credentialsFrom(files, stored)).find("config", null, "mdm")).toMatchObject({
      windows_enabled_and_configured: true,
      vendora_server_url: "",
    });
    // On the free tier that file is skipped, so nothing defines the controls.
    const free = await credentialsFrom(files, { ...stored, tier: "free" });
    expect(free.find("config", null, "mdm")).toEqual({ ...mdm, vendora_server_url: "" });
    expect(free.warnings).toEqual(["no-team.yml:1:7: this file is skipped: teams need the premium tier"]);
  });
});

describe("enroll secrets", () => {
  it("are kept without the key, and removed by an empty list", async () => {
    const of = async (text: string) =>
      (await credentialsFrom({ "default.yml": `org_settings: {${text}}\ncontrols: {}\n` })).find(
        "enroll_secrets",
        null,
      );
    expect(await of("")).toBeUndefined();
    expect(await of("secrets: null")).toBeUndefined();
    expect(await of("secrets: []")).toEqual({ secrets: [] });
    const refs = [refOf("one"), refOf("two")].sort();
    expect(await of("secrets: [{secret: two}, {secret: one}]")).toEqual({
      secrets: refs.map(($secret) => ({ $secret })),
    });
  });
});

describe("a team's file", () => {
  const settings = {
    host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
    features: { enable_host_users: false, enable_software_inventory: true, additional_queries: null },
    webhook_settings: {
      host_status_webhook: {
        enable_host_status_webhook: false,
        destination_url: "",
        host_percentage: 5,
        days_count: 1,
      },
      failing_policies_webhook: {
        enable_failing_policies_webhook: false,
        destination_url: "https://h",
        host_batch_size: 3,
      },
    },
    integrations: {
      ticketing_a: [],
      ticketing_b: [],
      calendar: { enable_calendar_events: false, webhook_url: "https://c" },
      conditional_access_enabled: true,
    },
    mdm: {
      ...((defaults.team_settings as { mdm: object }).mdm as object),
      enable_disk_encryption: true,
      android_settings: { custom_settings: [{ path: "x" }] },
    },
  };
  const there = stateWith([
    thing("team", null, "T", { description: "about" }),
    thing("team_settings", "T", "team_settings", settings),
    thing("agent_options", "T", "agent_options", { config: {} }),
    thing("enroll_secrets", "T", "enroll_secrets", { secrets: [{ $secret: "" }] }),
  ]);

  it("without content clears everything except secrets and description", async () => {
    const { find } = await credentialsFrom({ "t.yml": "name: T\n" }, there);
    expect(find("team", null, "T")).toEqual({ description: "about" });
    expect(find("enroll_secrets", "T")).toBeUndefined();
    expect(find("agent_options", "T")).toBeNull();
    expect(find("team_settings", "T")).toEqual({
      ...(defaults.team_settings as object),
      mdm: {
        ...((defaults.team_settings as { mdm: object }).mdm as object),
        android_settings: settings.mdm.android_settings,
      },
    });
  });

  it("with team settings that omit host expiry keeps it", async () => {
    const { find } = await credentialsFrom({ "t.yml": "name: T\nsettings: {description: new}\n" }, there);
    expect(find("team", null, "T")).toEqual({ description: "new" });
    expect(find("team_settings", "T")).toMatchObject({
      host_expiry_settings: settings.host_expiry_settings,
      features: (defaults.team_settings as { features: object }).features,
      webhook_settings: { host_status_webhook: null, host_activities_webhook: null },
      integrations: { calendar: { webhook_url: "" }, conditional_access_enabled: false },
    });
  });

  it("completes values that it gives in part", async () => {
    const { find } = await credentialsFrom(
      {
        "t.yml":
          "name: T\nsettings:\n  webhook_settings: {host_status_webhook: {days_count: 3}, host_activities_webhook: {destination_url: 'https://a'}, failing_policies_webhook: {host_batch_size: 2}}\n  integrations: {calendar: {webhook_url: 'https://n'}}\ncontrols: {windows_updates: {deadline_days: 3, grace_period_days: 1}}\nagent_options: {config: {options: {}}, overrides: null}\n",
      },
      there,
    );
    expect(find("team_settings", "T")).toMatchObject({
      webhook_settings: {
        host_status_webhook: {
          enable_host_status_webhook: false,
          destination_url: "",
          host_percentage: 0,
          days_count: 3,
        },
        host_activities_webhook: { enable_host_activities_webhook: false, destination_url: "https://a" },
        failing_policies_webhook: { enable_failing_policies_webhook: false, destination_url: "", host_batch_size: 2 },
      },
      integrations: { calendar: { enable_calendar_events: false, webhook_url: "https://n" } },
      mdm: { enable_disk_encryption: false, windows_updates: { deadline_days: 3, grace_period_days: 1 } },
    });
    expect(find("agent_options", "T")).toEqual({ config: { options: {} } });
  });

  it("of a new team starts from the defaults", async () => {
    const { find } = await credentialsFrom({ "t.yml": "name: New\nsettings: {}\n" }, there);
    expect(find("team", null, "New")).toEqual({ description: "" });
    expect(find("team_settings", "New")).toEqual(defaults.team_settings);
  });
});

describe("hosts without a team", () => {
  const automations = {
    webhook_settings: {
      failing_policies_webhook: {
        enable_failing_policies_webhook: true,
        destination_url: "https://h",
        host_batch_size: 0,
      },
    },
    integrations: { ticketing_a: [], ticketing_b: [] },
  };
  const things = [thing("team_settings", "No team", "team_settings", automations), thing("policy", "No team", "p", {})];

  it("have no settings if only the global file is given", async () => {
    const { find, isComplete } = await credentialsFrom({ "default.yml": GLOBAL }, stateWith(things));
    expect(find("team_settings", "No team")).toEqual(defaults.no_team_settings);
    expect(isComplete({ kind: "policy", owner: "No team", name: "p" })).toBe(true);
  });

  it("have the settings of their file", async () => {
    const files = (text: string) => ({
      "default.yml": "org_settings: {}\n",
      "no-team.yml": `name: no team\ncontrols: {}\n${text}`,
    });
    const { find } = await credentialsFrom(
      files(
        "settings: {webhook_settings: {failing_policies_webhook: {host_batch_size: 4, policy_ids: []}}}\npolicies: [{name: q, query: x}]\n",
      ),
      stateWith(things),
    );
    expect(find("team_settings", "No team")).toMatchObject({
      webhook_settings: { failing_policies_webhook: { host_batch_size: 4, destination_url: "" } },
    });
    expect(find("policy", "No team", "q")).toMatchObject({ query: "x" });
    const cleared = await credentialsFrom(files("settings: {webhook_settings: null}\n"), stateWith(things));
    expect(cleared.find("team_settings", "No team")).toEqual(defaults.no_team_settings);
  });

  it("are not changed on the free tier, nor without the global file", async () => {
    const free = await credentialsFrom({ "default.yml": GLOBAL }, stateWith(things, { tier: "free" }));
    expect(free.find("team_settings", "No team")).toBeUndefined();
    expect(free.isComplete({ kind: "policy", owner: "No team", name: "p" })).toBe(false);
    const team = await credentialsFrom({ "t.yml": "name: T\n" }, stateWith(things));
    expect(team.find("team_settings", "No team")).toBeUndefined();
  });
});

describe("objects of kinds that files list completely", () => {
  const owned = ["T", "Other"].flatMap((team) => [
    thing("team", null, team, { description: "" }),
    thing("policy", team, "p", {}),
    thing("query", team, "q", {}),
    thing("agent_options", team, "agent_options", null),
  ]);
  const state = stateWith([
    ...owned,
    thing("label", null, "L", {}),
    thing("policy", null, "g", {}),
    thing("certificate_authority", null, "custom_scep_proxy/X", {}),
  ]);
  const gone = async (files: Record<string, string>, deleteOtherTeams = false) => {
    const { things, isComplete } = await credentialsFrom(files, state, { deleteOtherTeams });
    const asThings = state.things.map((one) => thing(one.kind, one.owner, one.name, one.value));
    return diff(asThings, things, isComplete)
      .filter(({ action }) => action === "delete")
      .map(({ kind, owner, name }) => [kind, owner, name].join(" "));
  };

  it("are deleted if the files do not contain them", async () => {
    expect(await gone({ "default.yml": GLOBAL })).toEqual([
      "certificate_authority  custom_scep_proxy/X",
      "label  L",
      "policy  g",
    ]);
    expect(await gone({ "t.yml": "name: T\n" })).toEqual(["policy T p", "query T q"]);
  });

  it("are deleted with their team, without a change of their own", async () => {
    expect(await gone({ "t.yml": "name: T\n" }, true)).toEqual(["team  Other", "policy T p", "query T q"]);
  });
});
