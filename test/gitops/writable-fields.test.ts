// Every field that can be written through the API can be in files, or is on a list with the reason.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CaSpecs, caTypes } from "../../src/api/certificates/ca.ts";
import { PolicySpec } from "../../src/api/checks/policies.ts";
import { QuerySpec } from "../../src/api/checks/queries.ts";
import { LabelSpec } from "../../src/api/hosts/labels.ts";
import { AgentOptions, ConfigSections } from "../../src/api/settings/app-config.ts";
import { TeamSettingsChange } from "../../src/api/settings/teams.ts";
import { refOf } from "../../src/gitops/files/secrets.ts";
import { movedSettings } from "../../src/gitops/schema/moved.ts";
import { isEmpty } from "../../src/gitops/schema/not-built.ts";
import { GlobalControls, orgMdmKeys, TeamControls } from "../../src/gitops/schema/settings.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import type { Json } from "../../src/text/differences.ts";
import { asYaml, credentialsFrom, defaults, stateWith } from "../support/gitops-files.ts";

/** Why a field is not in files. */
const explained: Readonly<Record<string, string>> = {
  "config.webhook_settings.failing_policies_webhook.policy_ids": "policies say webhooks_and_tickets_enabled",
  "config.gitops.exceptions.labels": "says what people change by hand",
  "config.gitops.exceptions.software": "the same",
  "config.gitops.exceptions.secrets": "the same",
  "config.mdm.macos_setup.bootstrap_package": "files of the setup experience are not built",
  "config.mdm.macos_setup.macos_setup_assistant": "files of the setup experience are not built",
  "config.mdm.macos_settings.custom_settings": "profiles are objects of their own",
  "config.mdm.windows_settings.custom_settings": "profiles are objects of their own",
  "team.webhook_settings.failing_policies_webhook.policy_ids": "policies say webhooks_and_tickets_enabled",
  "team.mdm.macos_setup.bootstrap_package": "files of the setup experience are not built",
  "team.mdm.macos_setup.macos_setup_assistant": "files of the setup experience are not built",
  "team.mdm.macos_setup.script": "setup scripts are objects of their own",
  "team.mdm.macos_setup.software": "packages and apps say setup_experience",
  "team.mdm.macos_settings.custom_settings": "profiles are objects of their own",
  "team.mdm.macos_settings.enable_disk_encryption": "an older place of enable_disk_encryption",
  "team.mdm.windows_settings.custom_settings": "profiles are objects of their own",
  "team.mdm.android_settings.custom_settings": "profiles are objects of their own",
  "label.id": "names are what labels go by",
  "label.label_type": "built-in labels are the server's",
  "policy.team": "the file's own",
  "policy.software_title_id": "policies name their software",
  "policy.script_id": "policies name their scripts",
  "policy.resend_profile_uuid": "policies name their profiles",
  "policy.install_software": "true only for patch policies, which need an app: test/gitops/policy-automations.test.ts",
  "policy.svc_maintained_app_slug": "the same",
  "policy.patch_when_closed": "the same",
  "policy.notify_before_patching": "the same",
  "policy.type": "the same",
  "query.team": "the file's own",
};

type Path = readonly string[];
interface Leaf {
  readonly path: Path;
  readonly schema: z.ZodType;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}
function leaves(schema: z.ZodType, path: Path = []): Leaf[] {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) return [{ path, schema: inner }];
  return Object.entries(inner.shape).flatMap(([key, field]) => leaves(field as z.ZodType, [...path, key]));
}

/** A value other than the default that the schema accepts. */
function another(schema: z.ZodType, than: unknown): unknown {
  const candidates = [
    true,
    false,
    7,
    "2026-02-03",
    "standard",
    { key: "value" },
    ["https://idp.example.com/introspect"],
    ["browsers"],
    [
      {
        url: "https://x",
        username: "u",
        email: "e",
        api_token: "t",
        project_key: "P",
        group_id: 3,
        domain: "d",
        api_key_json: {},
      },
    ],
  ];
  for (const value of candidates) {
    const result = schema.safeParse(value);
    if (result.success && JSON.stringify(result.data) !== JSON.stringify(than) && !isEmpty(result.data))
      return result.data;
    if (result.success && value === false && than === true) return false;
  }
  throw new Error("no value fits");
}

const put = (path: Path, value: unknown): Record<string, unknown> =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);

/** Other fields that this field requires. */
const beside: Readonly<Record<string, Path>> = {
  "macos_updates.minimum_version": ["macos_updates", "deadline"],
  "macos_updates.deadline": ["macos_updates", "minimum_version"],
  "ios_updates.minimum_version": ["ios_updates", "deadline"],
  "ios_updates.deadline": ["ios_updates", "minimum_version"],
  "ipados_updates.minimum_version": ["ipados_updates", "deadline"],
  "ipados_updates.deadline": ["ipados_updates", "minimum_version"],
  "windows_updates.deadline_days": ["windows_updates", "grace_period_days"],
  "windows_updates.grace_period_days": ["windows_updates", "deadline_days"],
  windows_migration_enabled: ["windows_enabled_and_configured"],
  windows_require_bitlocker_pin: ["enable_disk_encryption"],
};
const values: Readonly<Record<string, unknown>> = {
  "failing_policies_mail.digest": "hourly",
  "webhook_settings.failing_policies_mail.digest": "hourly",
  "macos_migration.mode": "forced",
  "gitops.repository_url": "https://git",
  "gitops.gitops_mode_enabled": true,
  windows_directory_tenant_ids: ["0a1b2c3d-0000-4000-8000-000000000001"],
  windows_directory_client_ids: ["0a1b2c3d-0000-4000-8000-000000000002"],
};
const together: Readonly<Record<string, Record<string, unknown>>> = {
  "macos_updates.deadline_days": { minimum_version: "latest" },
  "ios_updates.deadline_days": { minimum_version: "latest" },
  "ipados_updates.deadline_days": { minimum_version: "latest" },
  "macos_migration.enable": { mode: "forced", webhook_url: "https://x" },
  "sso_settings.enable_sso": { entity_id: "entity", idp_name: "x", metadata_url: "https://x" },
};

function merged(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const result = { ...a };
  for (const [key, value] of Object.entries(b))
    result[key] =
      typeof result[key] === "object" && result[key] !== null && !Array.isArray(value)
        ? merged(result[key] as typeof a, value as typeof b)
        : value;
  return result;
}

/** A section of a file with the field and the fields that it requires. */
function said(name: string, path: Path, value: unknown): Record<string, unknown> {
  const moved = movedSettings.find(({ setting, isOlder }) => !isOlder && setting.join() === path.join());
  if (moved) return put(moved.key, value);
  const key = path.join(".");
  const other = beside[key];
  const more = together[[name, key].filter(Boolean).join(".")] ?? together[key];
  let result = put(path, value);
  if (other) result = merged(put(other, typeof value), result);
  if (other) result = merged(result, put(other, value));
  if (more) result = merged(put(path.slice(0, -1), more), result);
  return result;
}

describe("settings of the organization", () => {
  // Rules stand in files otherwise than on the server: test/edge/agent/yara-rules.test.ts.
  const { agent_options: _options, yara_rules: _rules, ...all } = ConfigSections.shape;
  const returned = Object.values(sections).flatMap(({ name, returned: paths }) =>
    Object.keys(paths).map((path) => `${name}.${path}`),
  );
  const fields = Object.entries(all).flatMap(([name, schema]) => leaves(schema).map((leaf) => ({ name, ...leaf })));
  const writable = fields.filter(({ name, path }) => !returned.includes([name, ...path].join(".")));
  const inFiles = writable.filter(({ name, path }) => !Object.hasOwn(explained, ["config", name, ...path].join(".")));

  it.each(inFiles.map(({ name, path, schema }) => [[name, ...path].join("."), name, path, schema] as const))(
    "%s can be set, and has the given value",
    async (key, name, path, schema) => {
      const value = values[key] ?? values[path.join(".")] ?? another(schema, at(defaults.config[name], path));
      const section = said(name, path, value);
      const isControl = name === "mdm" && !(orgMdmKeys as readonly string[]).includes(path[0]!);
      const file = isControl
        ? { org_settings: {}, controls: section }
        : { org_settings: { [name]: section }, controls: {} };
      const { find } = await credentialsFrom({ "d.yml": asYaml(file) });
      const wanted = key === "smtp_settings.password" ? { $secret: refOf(String(value)) } : asWanted(value);
      expect(at(find("config", null, name), path)).toEqual(wanted);
    },
  );

  it("has no outdated list of reasons", () => {
    const known = writable.map(({ name, path }) => ["config", name, ...path].join("."));
    const listed = Object.keys(explained).filter((key) => key.startsWith("config."));
    expect(listed.filter((key) => !known.includes(key))).toEqual([]);
    expect(inFiles.length).toBeGreaterThan(70);
  });
});

/** In the desired state, secrets are references. */
const asWanted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((entry) =>
        typeof entry === "object" && "api_token" in entry
          ? { ...entry, api_token: { $secret: refOf(entry.api_token) } }
          : entry,
      )
    : value;

describe("settings of teams", () => {
  const fields = leaves(TeamSettingsChange);
  const inFiles = fields.filter(({ path }) => !Object.hasOwn(explained, ["team", ...path].join(".")));
  const before = defaults.team_settings;

  it.each(inFiles.map(({ path, schema }) => [path.join("."), path, schema] as const))(
    "%s can be set, and has the given value",
    async (_, path, schema) => {
      const inner = path[0] === "mdm" ? path.slice(1) : path;
      const value = values[path.join(".")] ?? another(schema, at(before, path));
      const section = said("", inner, value);
      const file = { name: "T", [path[0] === "mdm" ? "controls" : "settings"]: section };
      const { find } = await credentialsFrom({ "t.yml": asYaml(file) });
      expect(at(find("team_settings", "T"), path)).toEqual(value);
    },
  );

  it("has no outdated list of reasons", () => {
    const known = fields.map(({ path }) => ["team", ...path].join("."));
    const listed = Object.keys(explained).filter((key) => key.startsWith("team."));
    expect(listed.filter((key) => !known.includes(key))).toEqual([]);
  });

  it.each(["ticketing_a", "ticketing_b"])("%s also applies to hosts without a team", async (list) => {
    const entry = {
      url: "https://x",
      enable_failing_policies: true,
      ...(list === "ticketing_a" ? { project_key: "P" } : { group_id: 2 }),
    };
    const { find } = await credentialsFrom({
      "d.yml": "org_settings: {}\n",
      "no-team.yml": asYaml({ name: "No team", controls: {}, settings: { integrations: { [list]: [entry] } } }),
    });
    expect(at(find("team_settings", "No team"), ["integrations", list])).toEqual([entry]);
  });
});

describe("agent options", () => {
  it.each(leaves(AgentOptions).map(({ path, schema }) => [path.join("."), path, schema] as const))(
    "%s can be set, globally and for a team",
    async (_, path, schema) => {
      const value =
        path.at(-1) === "platforms" ? { darwin: { options: {} }, windows: null } : another(schema, undefined);
      const options = put(path, value);
      const { find } = await credentialsFrom({
        "d.yml": asYaml({ org_settings: {}, controls: {}, agent_options: options }),
        "t.yml": asYaml({ name: "T", agent_options: options }),
      });
      for (const owner of [null, "T"]) expect(find("agent_options", owner)).toEqual(options as Json);
    },
  );
});

describe("labels, policies and queries", () => {
  const items: Record<string, [z.ZodObject, string, Record<string, unknown>]> = {
    label: [LabelSpec, "labels", { name: "x", query: "SELECT 1" }],
    policy: [PolicySpec, "policies", { name: "x", query: "SELECT 1" }],
    query: [QuerySpec, "reports", { name: "x", query: "SELECT 1" }],
  };
  const given: Readonly<Record<string, [Record<string, unknown>, unknown]>> = {
    "label.label_membership_type": [{ query: undefined, label_membership_type: "manual" }, "manual"],
    "label.hosts": [{ query: undefined, label_membership_type: "manual", hosts: ["h"] }, ["h"]],
    "label.criteria": [
      { query: undefined, label_membership_type: "host_vitals", criteria: { where: "platform=darwin" } },
      { where: "platform=darwin" },
    ],
    "label.platform": [{ platform: "darwin" }, "darwin"],
    "policy.platform": [{ platform: "windows,darwin" }, "darwin,windows"],
    "query.platform": [{ platform: "linux" }, "linux"],
    "query.logging": [{ logging: "differential" }, "differential"],
    "policy.labels_include_any": [{ labels_include_any: ["x"] }, ["x"]],
    "policy.labels_exclude_any": [{ labels_exclude_any: ["x"] }, ["x"]],
    "policy.labels_include_all": [{ labels_include_all: ["x"] }, ["x"]],
    "query.labels_include_any": [{ labels_include_any: ["x"] }, ["x"]],
    "query.labels_include_all": [{ labels_include_all: ["x"] }, ["x"]],
  };
  const cases = Object.entries(items).flatMap(([kind, [schema]]) =>
    Object.entries(schema.shape).map(
      ([key, field]) => [`${kind}.${key}`, kind, key, unwrapped(field as z.ZodType)] as const,
    ),
  );

  it.each(cases.filter(([key]) => !Object.hasOwn(explained, key) && !key.endsWith(".name")))(
    "%s can be set, and has the given value",
    async (key, kind, field, schema) => {
      const [, list, least] = items[kind]!;
      const [more, value] = given[key] ?? [{ [field]: another(schema, false) }, another(schema, false)];
      const file: Record<string, unknown> = {
        org_settings: {},
        controls: {},
        labels: [{ name: "x", query: "SELECT 1" }],
      };
      file[list] = [{ ...least, ...more }];
      const state = stateWith([], { hosts: [{ given: "h", host: "h" }] });
      const { find } = await credentialsFrom({ "d.yml": asYaml(file) }, state);
      expect(at(find(kind as "label", null, "x"), [field])).toEqual(value);
    },
  );
});

describe("certificate authorities", () => {
  it.each(caTypes)("of type %s can be defined completely", async (type) => {
    const field = unwrapped(CaSpecs.shape[type]);
    const inner = field instanceof z.ZodArray ? (field.element as z.ZodObject) : (field as z.ZodObject);
    const isSingle = inner.shape.name instanceof z.ZodOptional;
    const one = Object.fromEntries(
      Object.keys(inner.shape).map((key) => [
        key,
        key === "name" && isSingle
          ? type
          : key === "certificate_user_principal_names"
            ? ["n"]
            : key === "name"
              ? "Name"
              : key === "allow_hostname"
                ? true
                : `https://${key}`,
      ]),
    );
    const group = field instanceof z.ZodArray ? [one] : one;
    const file = { org_settings: { certificate_authorities: { [type]: group } }, controls: {} };
    const { find } = await credentialsFrom({ "d.yml": asYaml(file) });
    const value = find("certificate_authority", null, `${type}/${isSingle ? type : "Name"}`) as Record<string, unknown>;
    const keys = Object.keys(inner.shape).filter((key) => key !== "name" || !isSingle);
    expect(Object.keys(value).sort()).toEqual(keys.sort());
    for (const key of keys)
      if (typeof value[key] === "object" && !Array.isArray(value[key]))
        expect(value[key]).toEqual({ $secret: expect.any(String) });
      else expect(value[key]).toEqual(one[key]);
  });
});

describe("controls", () => {
  it("have no key that is not accounted for", () => {
    // Each control is a setting, another name of one, objects of their own, or an unsupported feature.
    const others = ["setup_experience", "vendora_settings", "linux_settings", "android_settings", "scripts"];
    for (const [controls, names] of [
      [GlobalControls, Object.keys(ConfigSections.shape.mdm.shape)],
      [
        TeamControls,
        Object.keys(
          unwrapped(TeamSettingsChange.shape.mdm) instanceof z.ZodObject
            ? (unwrapped(TeamSettingsChange.shape.mdm) as z.ZodObject).shape
            : {},
        ),
      ],
    ] as const)
      for (const [key, schema] of Object.entries(controls.shape))
        expect(names.includes(key) || others.includes(key) || schema.meta()?.emptyOnly, key).toBeTruthy();
  });
});
