// Keys of sections: unknown ones, wrong types, two spellings, secrets, unsupported features, and keys in the wrong
// file.
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { refOf } from "../../src/gitops/files/secrets.ts";
import {
  credentialsFrom,
  errorsOf,
  GLOBAL,
  type ReadOptions,
  readGiven,
  stateWith,
  thing,
  warningsOf,
} from "../support/gitops-files.ts";

const told = async (files: Record<string, string>, given?: ReadOptions, main?: string[]) => {
  const { problems } = await readGiven(files, given, main);
  return { errors: errorsOf(problems), warnings: warningsOf(problems) };
};
const org = (text: string) => ({ "d.yml": `org_settings:\n  ${text}\ncontrols: {}\n` });

describe("problems", () => {
  it.each<[string, Record<string, string>, string[]]>([
    ["an unknown section", org("org_inf: {}"), ["d.yml:2:3: unknown key org_settings.org_inf; did you mean org_info?"]],
    [
      "an unknown field",
      org("server_settings: {server_urll: x}"),
      ["d.yml:2:21: unknown key org_settings.server_settings.server_urll; did you mean server_url?"],
    ],
    [
      "one that is like no other",
      org("org_info: {colour: red}"),
      ["d.yml:2:14: unknown key org_settings.org_info.colour"],
    ],
    [
      "an unknown field of an entry",
      org("integrations: {calendar: [{domain: a, api_key_json: {}, key: 1}]}"),
      ["d.yml:2:59: unknown key org_settings.integrations.calendar.0.key"],
    ],
    [
      "a wrong type",
      org("server_settings: {query_report_cap: lots, live_reporting_disabled: 1}"),
      [
        "d.yml:2:45: org_settings.server_settings.live_reporting_disabled: expected boolean, got number",
        "d.yml:2:21: org_settings.server_settings.query_report_cap: expected number, got string",
      ],
    ],
    ["a section that is none", org("features: [a]"), ["d.yml:2:3: org_settings.features: expected object, got array"]],
    [
      "a number out of bounds",
      org("smtp_settings: {port: 70000}"),
      ["d.yml:2:19: org_settings.smtp_settings.port: must be at most 65535"],
    ],
    [
      "secrets that are no list",
      org("secrets: {secret: x}"),
      ["d.yml:2:3: org_settings.secrets: expected array, got object"],
    ],
    [
      "secrets that are texts",
      org("secrets: [abc]"),
      ["d.yml:2:13: org_settings.secrets.0: expected object, got string"],
    ],
    [
      "an empty secret",
      org("secrets: [{secret: ''}]"),
      ["d.yml:2:14: org_settings.secrets.0.secret: must not be empty"],
    ],
    [
      "too many secrets",
      org(`secrets: [${Array.from({ length: 51 }, (_, i) => `{secret: s${i}}`).join(", ")}]`),
      ["d.yml:2:3: org_settings.secrets: must not be more than 50"],
    ],
    [
      "the same secret twice",
      { ...org("secrets: [{secret: s}]"), "t.yml": "name: T\nsettings: {secrets: [{secret: s}]}\n" },
      ["t.yml:2:23: the same enroll secret is already in d.yml:2"],
    ],
    [
      "exceptions",
      org("gitops: {exceptions: {labels: true}}"),
      ["d.yml:2:12: org_settings.gitops.exceptions: exceptions cannot be set in files"],
    ],
    [
      "ids of policies",
      org("webhook_settings: {failing_policies_webhook: {policy_ids: [3]}}"),
      [
        "d.yml:2:49: org_settings.webhook_settings.failing_policies_webhook.policy_ids: must be empty: use webhooks_and_tickets_enabled of the policy instead",
      ],
    ],
    [
      "ids of policies that are no list",
      org("webhook_settings: {failing_policies_webhook: {policy_ids: 3}}"),
      ["d.yml:2:49: org_settings.webhook_settings.failing_policies_webhook.policy_ids: expected array, got number"],
    ],
    [
      "single sign-on without its provider",
      org("sso_settings: {enable_sso: true, idp_name: x}"),
      [
        "d.yml:2:3: org_settings.sso_settings.entity_id: is required when enable_sso is true",
        "d.yml:2:3: org_settings.sso_settings.metadata: either metadata or metadata_url is required when enable_sso is true",
      ],
    ],
    [
      "an expiry of no days",
      org("host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 0}"),
      [
        "d.yml:2:53: org_settings.host_expiry_settings.host_expiry_window: must be greater than 0 when expiry is enabled",
      ],
    ],
    [
      "GitOps mode without a repository",
      org("gitops: {gitops_mode_enabled: true, repository_url: ''}"),
      ["d.yml:2:39: org_settings.gitops.repository_url: is required when gitops_mode_enabled is true"],
    ],
    [
      "the same authority twice",
      org(
        "certificate_authorities: {custom_scep_proxy: [{name: A, url: 'https://a', challenge: c}, {name: A, url: 'https://b', challenge: c}]}",
      ),
      ["d.yml:2:93: the certificate authority A is given twice"],
    ],
  ])("%s", async (_, files, errors) => {
    expect((await told(files)).errors.sort()).toEqual([...errors].sort());
  });

  it.each<[string, string[]]>([
    [
      "windows_require_bitlocker_pin: true",
      ["controls.windows_require_bitlocker_pin: needs enable_disk_encryption to be true"],
    ],
    [
      "macos_updates: {deadline: '2026-01-01'}",
      ["controls.macos_updates: minimum_version and deadline must be given together"],
    ],
    [
      "ios_updates: {minimum_version: '17', deadline: tomorrow}",
      ["controls.ios_updates.deadline: must be a date, YYYY-MM-DD"],
    ],
    [
      "ipados_updates: {minimum_version: latest, deadline: '2026-01-01'}",
      ["controls.ipados_updates: with minimum_version: latest, deadline_days must be given in place of deadline"],
    ],
    [
      "ipados_updates: {minimum_version: '17.4', deadline: '2026-01-01', deadline_days: 3}",
      ["controls.ipados_updates.deadline_days: needs minimum_version: latest"],
    ],
    [
      "windows_updates: {deadline_days: 2}",
      ["controls.windows_updates: deadline_days and grace_period_days must be given together"],
    ],
    [
      "windows_migration_enabled: true",
      ["controls.windows_migration_enabled: needs windows_enabled_and_configured to be true"],
    ],
    ["macos_migration: {mode: soft}", ["controls.macos_migration.mode: must be voluntary or forced"]],
    [
      "macos_migration: {enable: true, mode: forced}",
      ["controls.macos_migration.webhook_url: is required to enable the migration"],
    ],
  ])("of controls: %s", async (text, errors) => {
    const { errors: found } = await told({ "d.yml": `org_settings: {}\ncontrols:\n  ${text}\n` });
    expect(found.map((line) => line.replace(/^d\.yml:3:\d+: /, ""))).toEqual(errors);
  });

  it("of all files are told together, each where it stands", async () => {
    const { errors } = await told(
      {
        "d.yml": "org_settings:\n  path: lib/org.yml\ncontrols: {}\npolicies:\n  - path: lib/p.yml\n",
        "lib/org.yml": "org_info:\n  org_name: [7]\n",
        "lib/p.yml": "- name: p\n  query: x\n  critcal: true\n",
        "t.yml": "name: T\nsettings:\n  features:\n    enable_host_users: maybe\nagent_options:\n  konfig: {}\n",
      },
      {},
      ["d.yml", "t.yml"],
    );
    expect(errors).toEqual([
      "lib/org.yml:2:3: org_settings.org_info.org_name: expected string, got array",
      "t.yml:4:5: settings.features.enable_host_users: expected boolean, got string",
      "t.yml:6:3: unknown key agent_options.konfig; did you mean config?",
      "lib/p.yml:3:3: unknown key policies.0.critcal; did you mean critical?",
    ]);
  });

  it("of unknown nested keys are warnings on request, and the keys are dropped", async () => {
    const files = { "d.yml": "org_settings: {org_info: {org_name: x, colour: red}, extra: 1}\ncontrols: {what: 1}\n" };
    const { errors, warnings } = await told(files, { allowUnknownKeys: true });
    expect(errors).toEqual([]);
    expect(warnings).toHaveLength(3);
    expect((await told({ "t.yml": "name: T\nextra: 1\n" }, { allowUnknownKeys: true })).errors).toHaveLength(1);
  });
});

describe("features that this server does not support", () => {
  it.each<[string, string]>([
    ["org_settings: {integrations: {workspace_directory: [{domain: x}]}}", "workspace directory"],
    [
      "name: T\ncontrols: {windows_settings: {enable_managed_local_account: true}}",
      "managed local accounts of Windows",
    ],
  ])("%s", async (text, area) => {
    const controls = text.startsWith("org_settings") ? "\ncontrols: {}" : "";
    const { errors } = await told({ "f.yml": `${text}${controls}\n` });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`this server does not support ${area} yet`);
  });

  it("may be present with an empty value", async () => {
    const { errors } = await told({
      "d.yml":
        "org_settings: {yara_rules: [], mdm: {volume_purchasing_program:, vendora_business_manager: []}}\ncontrols: {scripts: [], macos_settings: {custom_settings: []}, android_enabled_and_configured: false}\nsoftware:\ncustom_host_vitals: []\n",
      "t.yml":
        "name: T\nsoftware: {packages: [], app_store_apps:}\ncontrols: {setup_experience: {script: '', lock_end_user_info: true}}\n",
    });
    expect(errors).toEqual([]);
  });
});

describe("the wrong file", () => {
  it.each<[string, Record<string, string>, string]>([
    ["software of everybody", { "d.yml": `${GLOBAL}software: {packages: []}\n` }, ""],
    [
      "software of everybody that is some",
      { "d.yml": `${GLOBAL}software: {packages: [{url: x}]}\n` },
      "d.yml:3:1: software is not allowed in the global file",
    ],
    [
      "controls of everybody",
      { "t.yml": "name: T\ncontrols: {windows_enabled_and_configured: true}\n" },
      "t.yml:2:12: controls.windows_enabled_and_configured: applies to all hosts: allowed only in the global file, or in the one for hosts without a team",
    ],
    [
      "a team's settings for no team",
      {
        "d.yml": "org_settings: {}\n",
        "no-team.yml": "name: No team\ncontrols: {}\nsettings: {features: {enable_host_users: true}}\n",
      },
      "no-team.yml:3:12: settings.features: hosts without a team only have webhook_settings and integrations",
    ],
    [
      "calendar events for no team",
      {
        "d.yml": "org_settings: {}\n",
        "no-team.yml": "name: No team\ncontrols: {}\npolicies: [{name: p, query: x, calendar_events_enabled: true}]\n",
      },
      "no-team.yml:3:32: calendar_events_enabled cannot be true for hosts without a team",
    ],
    ["all teams", { "t.yml": "name: All teams\n" }, "t.yml:1:7: All teams is not the name of a team"],
  ])("%s", async (_, files, error) => {
    expect((await told(files)).errors).toEqual(error === "" ? [] : [error]);
  });

  it("agent options of hosts without a team are ignored, with a warning", async () => {
    const files = {
      "d.yml": "org_settings: {}\n",
      "no-team.yml": "name: No team\ncontrols: {}\nagent_options: {config: {}}\n",
    };
    expect(await told(files)).toEqual({
      errors: [],
      warnings: ["no-team.yml:3:1: agent_options are ignored in the file of hosts without a team"],
    });
  });
});

describe("two spellings", () => {
  it.each<[string, string, string, string]>([
    [
      "org_settings: {org_info: {",
      "org_logo_url: 'https://x'",
      "org_logo_url_dark_mode: 'https://x'",
      "}}\ncontrols: {}",
    ],
    [
      "org_settings: {org_info: {",
      "org_logo_url_light_background: 'https://x'",
      "org_logo_url_light_mode: 'https://x'",
      "}}\ncontrols: {}",
    ],
    [
      "org_settings: {server_settings: {",
      "live_query_disabled: true",
      "live_reporting_disabled: true",
      "}}\ncontrols: {}",
    ],
    [
      "org_settings: {server_settings: {",
      "query_reports_disabled: true",
      "discard_reports_data: true",
      "}}\ncontrols: {}",
    ],
    ["org_settings: {server_settings: {", "query_report_cap: 5", "report_cap: 5", "}}\ncontrols: {}"],
    [
      "org_settings: {}\ncontrols: {",
      "macos_setup: {enable_end_user_authentication: true}",
      "setup_experience: {enable_end_user_authentication: true}",
      "}",
    ],
    [
      "org_settings: {}\ncontrols: {setup_experience: {",
      "enable_release_device_manually: true",
      "vendora_enable_release_device_manually: true",
      "}}",
    ],
    [
      "org_settings: {}\ncontrols: {enable_disk_encryption: true, ",
      "windows_require_bitlocker_pin: true",
      "windows_settings: {require_bitlocker_pin: true}",
      "}",
    ],
    ["name: T\ncontrols: {setup_experience: {", "manual_agent_install: true", "macos_manual_agent_install: true", "}}"],
    ["name: T\ncontrols: {setup_experience: {", "require_all_software: true", "require_all_software_macos: true", "}}"],
    [
      "name: T\n",
      "team_settings: {features: {enable_host_users: false}}",
      "settings: {features: {enable_host_users: false}}",
      "",
    ],
    ["name: T\n", "queries: [{name: q, query: x}]", "reports: [{name: q, query: x}]", ""],
  ])("are equivalent: %s%s", async (before, older, newer, after) => {
    const [old, now] = [
      await credentialsFrom({ "f.yml": `${before}${older}${after}\n` }),
      await credentialsFrom({ "f.yml": `${before}${newer}${after}\n` }),
    ];
    expect(old.things).toEqual(now.things);
    expect(old.things).not.toEqual((await credentialsFrom({ "f.yml": `${before}${after}\n` })).things);
    expect(now.warnings).toEqual([]);
    expect(old.warnings).toEqual([expect.stringMatching(/^f\.yml:\d+:\d+: \S+ is an older name of \S+$/)]);
    const separator = before.endsWith("\n") ? "\n" : ", ";
    const { errors } = await told({ "f.yml": `${before}${newer}${separator}${older}${after}\n` });
    expect(errors).toEqual([
      expect.stringMatching(/^f\.yml:\d+:\d+: \S+ and \S+ are the same setting: give only one of them$/),
    ]);
  });
});

describe("secrets of sections", () => {
  const smtp = "smtp_settings: {server: mail, password: $PASSWORD}";
  it("are only references in values", async () => {
    const files = {
      "d.yml": `org_settings:\n  ${smtp}\n  integrations: {ticketing_a: [{url: 'https://j', username: u, api_token: tok, project_key: P}], calendar: [{domain: d, api_key_json: {client_email: e, private_key: key}}]}\n  certificate_authorities: {directory_scep_proxy: {url: 'https://s', admin_url: 'https://a', username: u, password: pw}, hosted_ca_a: [{name: H, url: 'https://h', api_token: tok, profile_id: '1', certificate_common_name: c, certificate_seat_id: s}]}\ncontrols: {}\n`,
    };
    const read = await readGiven(files, { environment: { PASSWORD: "open sesame" } });
    expect(errorsOf(read.problems)).toEqual([]);
    expect([...read.secrets.values()].sort()).toEqual(["key", "open sesame", "pw", "tok"]);
    expect(read.secrets.get(refOf("tok"))).toBe("tok");
    const text = JSON.stringify(read.scopes.map(({ values }) => values));
    for (const secret of ["open sesame", '"key"', '"pw"', '"tok"']) expect(text).not.toContain(secret);
    const [proxy, hosted] = desiredOf(read, stateWith())
      .things.filter(({ kind }) => kind === "certificate_authority")
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(proxy).toMatchObject({
      name: "directory_scep_proxy/directory_scep_proxy",
      value: { url: "https://s", admin_url: "https://a", username: "u", password: { $secret: refOf("pw") } },
    });
    expect(hosted).toMatchObject({
      name: "hosted_ca_a/H",
      value: { name: "H", api_token: { $secret: refOf("tok") }, certificate_user_principal_names: [] },
    });
  });

  it("of the directory may be left out, to keep the one that the server has", async () => {
    const entry = "tenant_id: 11111111-2222-3333-4444-55555555AAAA, client_id: 66666666-7777-8888-9999-aaaaaaaaaaaa";
    const ask = async (settings: string) => {
      const files = { "d.yml": `org_settings:\n  directory_graph_credentials: ${settings}\ncontrols: {}\n` };
      const read = await readGiven(files, { environment: { APP: "app secret" } });
      expect(errorsOf(read.problems)).toEqual([]);
      const desired = desiredOf(read, stateWith());
      const found = desired.things.filter(({ kind }) => kind === "directory_credentials");
      return { values: found.map(({ name, value }) => [name, value]), secrets: [...read.secrets.values()] };
    };
    const ids = {
      tenant_id: "11111111-2222-3333-4444-55555555aaaa",
      client_id: "66666666-7777-8888-9999-aaaaaaaaaaaa",
    };
    expect(await ask(`[{${entry}, client_secret: $APP}]`)).toEqual({
      values: [["directory", { ...ids, client_secret: { $secret: refOf("app secret") } }]],
      secrets: ["app secret"],
    });
    expect(await ask(`[{${entry}}]`)).toEqual({
      values: [["directory", { ...ids, client_secret: { $secret: "" } }]],
      secrets: [],
    });
    expect((await ask("[]")).values).toEqual([]);
  });

  it.each([
    ["secrets: [{secret: $S}]", "hunter2, correct: horse"],
    ["secrets: [{secret: $S}]", "hunter2}, hunter3: [battery"],
    ["smtp_settings: {password: $S}", "*hunter2"],
    ["smtp_settings: {password: $S}", "!hunter2 x"],
    ["smtp_settings: {password: $S}", "&hunter2 [horse, *staple]"],
    ["smtp_settings: {password: $S}", "{hunter2: horse}"],
    ["smtp_settings: {password: $S}", "@hunter2"],
    ["smtp_settings:\n    password: $S", "hunter2: horse: battery"],
    ["smtp_settings:\n    password: $S", "hunter2\n    horse: battery"],
    ["smtp_settings:\n    password: $S", "hunter2\nhorse: battery"],
    ["smtp_settings:\n    password: $S", "hunter2\n---\nhorse: battery"],
    ["smtp_settings:\n    password: $S", "'hunter2"],
    ["smtp_settings:\n    password: $S", "%hunter2\t`horse"],
    ["smtp_settings:\n    password: $S", "hunter2 #horse"],
    ["smtp_settings:\n    password: x$S", "hunter2 # horse"],
  ])("are in no message, however YAML parses %s with %j", async (text, value) => {
    for (const allowUnknownKeys of [true, false]) {
      const { errors, warnings } = await told(org(text), { environment: { S: value }, allowUnknownKeys });
      expect([...errors, ...warnings].join("\n")).not.toMatch(/hunter|horse|battery|staple|correct/);
      expect([...errors, ...warnings].join("\n")).not.toBe("");
    }
  });

  it("can be anything in a block, and most texts in quotes and without", async () => {
    for (const [text, value] of [
      ["smtp_settings:\n    password: |-\n      $S", "*a: b #c, 'd' \"e\" {f} !g"],
      ["smtp_settings: {password: '$S'}", "*a: b #c {f} !g"],
      ["smtp_settings: {password: $S}", "a#b:c!d*e"],
      ["smtp_settings: {password: $S} # and so on", "a"],
    ] as const) {
      const { secrets, problems } = await readGiven(org(text), { environment: { S: value } });
      expect(problems.all).toEqual([]);
      expect([...secrets.values()]).toEqual([value]);
    }
    const json = JSON.stringify({ client_email: "e", private_key: "k", expires: 7, "x#": null });
    const given = org("integrations: {calendar: [{domain: d, api_key_json: $S}]}");
    const { problems } = await readGiven(given, { environment: { S: json } });
    expect(errorsOf(problems)).toEqual([expect.stringContaining("expires: a secret must be a string")]);
  });

  it("that are masks are refused, and omitted ones are kept or do not exist", async () => {
    for (const [text, at] of [
      ["smtp_settings: {password: '********'}", "org_settings.smtp_settings.password"],
      ["secrets: [{secret: '********'}]", "org_settings.secrets.0.secret"],
      [
        "certificate_authorities: {custom_scep_proxy: [{name: A, url: 'https://a', challenge: '********'}]}",
        "org_settings.certificate_authorities.custom_scep_proxy.0.challenge",
      ],
    ])
      expect((await told(org(text!))).errors).toEqual([expect.stringContaining(`${at}: is the mask of a secret`)]);
    const stored = { server: "mail", port: 25, password: { $secret: "" } };
    const { find } = await credentialsFrom(
      { "d.yml": "org_settings: {smtp_settings: {port: 26}}\ncontrols: {}\n" },
      stateWith([thing("config", null, "smtp_settings", stored)]),
    );
    expect(find("config", null, "smtp_settings")).toMatchObject({ port: 26, password: { $secret: "" } });
    const cleared = await credentialsFrom({ "d.yml": "org_settings: {smtp_settings: {password: ''}}\ncontrols: {}\n" });
    expect(cleared.find("config", null, "smtp_settings")).toMatchObject({ password: "" });
    expect(cleared.secrets.size).toBe(0);
  });
});

describe("labels of the server", () => {
  const state = stateWith(
    [
      thing("label", null, "Kept", { hosts: ["b", 7] }),
      thing("policy", "Other", "p", { labels_include_any: ["Kept"], labels_exclude_any: [] }),
    ],
    {
      hosts: [
        { given: "serial", host: "a" },
        { given: 7, host: 7 },
        { given: "other", host: "c" },
        { given: "none", host: null },
      ],
    },
  );

  it("have the hosts in the files, by their own names; unknown hosts are reported", async () => {
    const { find, warnings } = await credentialsFrom(
      {
        "d.yml": `${GLOBAL}labels:\n  - {name: New, label_membership_type: manual, hosts: [serial, 7, other, none]}\n  - {name: Kept, label_membership_type: manual}\n  - {name: Fresh, label_membership_type: manual}\n  - {name: Dynamic, query: x, hosts: []}\n`,
      },
      state,
      { allowUnknownHosts: true },
    );
    const hosts = (name: string) => (find("label", null, name) as { hosts: unknown }).hosts;
    expect([hosts("New"), hosts("Kept"), hosts("Fresh"), hosts("Dynamic")]).toEqual([
      [7, "a", "c"],
      ["b", 7],
      [],
      null,
    ]);
    expect(warnings).toEqual(['d.yml:4:74: label "New": there is no host none']);
  });

  it("are cleared by an empty value", async () => {
    const { find } = await credentialsFrom(
      { "d.yml": `${GLOBAL}labels:\n  - {name: Kept, label_membership_type: manual, hosts:}\n` },
      state,
    );
    expect(find("label", null, "Kept")).toMatchObject({ hosts: [] });
  });

  it("cannot be deleted while a remaining object uses them", async () => {
    const gone = credentialsFrom({ "d.yml": GLOBAL }, state);
    await expect(gone).rejects.toThrow(
      'd.yml:1:1: the label "Kept" is not in the files, but the policy "p" of Other uses it',
    );
    // If its team or its policies are deleted, the objects that use the label are deleted too.
    await credentialsFrom({ "d.yml": GLOBAL }, state, { deleteOtherTeams: true });
    await credentialsFrom({ "d.yml": GLOBAL, "t.yml": "name: Other\n" }, state);
  });

  it("are known to files without the global one", async () => {
    const files = (label: string) => ({
      "t.yml": `name: T\npolicies:\n  - {name: p, query: x, labels_include_any: [${label}]}\n`,
    });
    expect((await credentialsFrom(files("Kept"), state)).find("policy", "T", "p")).toMatchObject({
      labels_include_any: ["Kept"],
    });
    await expect(credentialsFrom(files("Gone"), state)).rejects.toThrow("which will not exist");
    await expect(credentialsFrom(files("macOS"), state)).rejects.toThrow("use platform");
  });
});

describe("teams of the server", () => {
  it("have names that differ in more than letter case", async () => {
    const state = stateWith([thing("team", null, "Ops", { description: "" })]);
    await expect(credentialsFrom({ "t.yml": "name: OPS\n" }, state)).rejects.toThrow(
      "t.yml:1:7: the team is called Ops on the server: names of teams must differ in more than letter case",
    );
  });

  it("need the premium tier, like critical policies", async () => {
    const state = stateWith([], { tier: "free" });
    const { things, warnings } = await credentialsFrom(
      {
        "d.yml": `${GLOBAL}policies: [{name: p, query: x, critical: true}]\n`,
        "t.yml": "name: T\npolicies: [{name: q, query: x}]\n",
      },
      state,
    );
    expect(things.filter(({ owner }) => owner !== null)).toEqual([]);
    expect(things.find(({ kind }) => kind === "policy")!.value).toMatchObject({ critical: false });
    expect(warnings).toEqual([
      "t.yml:1:7: this file is skipped: teams need the premium tier",
      "d.yml:3:32: critical is ignored: it needs the premium tier",
    ]);
  });
});

describe("settings that files have in another place than the server", () => {
  const everywhere = `  vendora_settings:
    enable_disk_encryption: true
    enable_escrow_disk_encryption_key: true
    managed_local_account_settings: {enabled: true}
    end_user_local_account_type: standard
  windows_settings: {enable_disk_encryption: false}
  linux_settings: {enable_escrow_disk_encryption_key: true}
`;
  const wanted = {
    enable_disk_encryption: false,
    disk_encryption: { macos: true, windows: false, linux: true },
    macos_setup: { enable_managed_local_account: true, end_user_local_account_type: "standard" },
  };

  it("are set for the organization and for teams, and reset when they are left out", async () => {
    const { find } = await credentialsFrom({
      "d.yml": `org_settings: {}\ncontrols:\n${everywhere}`,
      "t.yml": `name: T\ncontrols:\n${everywhere}`,
      "u.yml": "name: U\ncontrols: {enable_disk_encryption: true}\n",
    });
    expect(find("config", null, "mdm")).toMatchObject(wanted);
    expect(find("team_settings", "T")).toMatchObject({ mdm: wanted });
    expect(find("team_settings", "U")).toMatchObject({
      mdm: {
        enable_disk_encryption: true,
        disk_encryption: { macos: null, windows: null, linux: null },
        macos_setup: { enable_managed_local_account: false, end_user_local_account_type: "admin" },
      },
    });
  });

  it("are exported there", async () => {
    const { find } = await credentialsFrom({ "t.yml": `name: T\ncontrols:\n${everywhere}` });
    const team = [
      thing("team", null, "T", {}),
      thing("team_settings", "T", "team_settings", find("team_settings", "T")),
    ];
    const text = exportFiles(stateWith(team)).files.get("teams/t.yml")!;
    expect(text).toContain("    enable_disk_encryption: true\n");
    expect(text).toContain("      enabled: true\n    end_user_local_account_type: standard\n");
    expect(text).toContain("  linux_settings:\n    enable_escrow_disk_encryption_key: true\n");
    expect(text).not.toContain("enable_managed_local_account");
    const again = await credentialsFrom({ "t.yml": text });
    expect(again.find("team_settings", "T")).toEqual(find("team_settings", "T"));
  });

  it.each([
    [
      "vendora_settings: {managed_local_account_settings: {enabled: true}}, setup_experience: {enable_managed_local_account: true}",
      "are the same setting",
    ],
    ["vendora_settings: {enable_escrow_disk_encryption_key: true}", "must have the value of enable_disk_encryption"],
    [
      "enable_disk_encryption: true, vendora_settings: {enable_escrow_disk_encryption_key: false}",
      "must have the value of enable_disk_encryption",
    ],
    [
      "enable_disk_encryption: true, windows_settings: {enable_disk_encryption: false, require_bitlocker_pin: true}",
      "windows_require_bitlocker_pin: needs enable_disk_encryption to be true",
    ],
    ["vendora_settings: {end_user_local_account_type: guest}", "end_user_local_account_type"],
    ["linux_settings: {enable_disk_encryption: true}", "unknown key controls.linux_settings.enable_disk_encryption"],
  ])("are refused as %s", async (given, reason) => {
    const { errors } = await told({ "t.yml": `name: T\ncontrols: {${given}}\n` });
    expect(errors.join("\n")).toContain(reason);
  });

  it("may be in their older place, with a warning", async () => {
    const { find, warnings } = await credentialsFrom({
      "t.yml": "name: T\ncontrols: {setup_experience: {enable_managed_local_account: true}}\n",
    });
    expect(find("team_settings", "T")).toMatchObject({ mdm: { macos_setup: { enable_managed_local_account: true } } });
    expect(warnings).toEqual([
      "t.yml:2:31: controls.setup_experience.enable_managed_local_account is an older name of controls.vendora_settings.managed_local_account_settings.enabled",
    ]);
  });
});
