// An export contains every field: if any of them changes, the files change.

import { describe, expect, it } from "vitest";
import { caFields, caTypes } from "../../src/api/certificates/ca.ts";
import type { StateThing } from "../../src/api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../src/api/settings/no-team.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { kindNames } from "../../src/gitops/kinds.ts";
import { mdmLeft } from "../../src/gitops/schema/settings.ts";
import type { Json } from "../../src/text/differences.ts";
import { isRecord } from "../../src/text/record.ts";
import { defaults, stateWith, thing } from "../support/gitops-files.ts";

const policy = {
  type: "dynamic",
  svc_maintained_app_slug: "",
  patch_when_closed: false,
  notify_before_patching: false,
  continuous_automations_enabled: false,
  labels_include_all: [],
  resend_configuration_profile: null,
  query: "SELECT 1",
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
  install_software: null,
};
const query = {
  labels_include_all: [],
  query: "SELECT 1",
  description: "",
  interval: 0,
  platform: "",
  min_qengine_version: "",
  observer_can_run: false,
  automations_enabled: false,
  logging: "snapshot",
  discard_data: false,
  labels_include_any: [],
};
const label = {
  description: "",
  platform: "",
  label_membership_type: "dynamic",
  query: "SELECT 1",
  criteria: null,
  hosts: null,
};
const profile = {
  platform: "darwin",
  sha256: "0a",
  activation_sha256: null,
  labels_include_all: [],
  labels_include_any: [],
  labels_exclude_any: [],
};
const labels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };
const ofPackage = {
  configuration: "0a",
  slug: "",
  version: "",
  url: "https://x.example/a.pkg",
  sha256: "0a",
  pre_install_query: "0a",
  install_script: "0a",
  uninstall_script: "0a",
  post_install_script: "0a",
  self_service: false,
  categories: [],
  default_categories: false,
  display_name: "",
  icon: "0a",
  setup_experience: false,
  setup_experience_platform: "",
  ...labels,
};
const storeApp = {
  self_service: false,
  categories: [],
  display_name: "",
  icon: "0a",
  configuration: "0a",
  setup_experience: false,
  auto_update_enabled: false,
  auto_update_window_start: null,
  auto_update_window_end: null,
  ...labels,
};
/** By their digests; changed values refer to the second. */
const files = { "0a": "YQ==", "0ax": "Yg==", x: "Yw==" };
const things: StateThing[] = [
  ...stateWith().things,
  thing("enroll_secrets", null, "enroll_secrets", { secrets: [] }),
  thing("custom_host_vital", null, "Site", {}),
  thing("custom_variable", null, "KEY", { teams: ["Ops"], uses: ["scripts"], value: { $secret: "" } }),
  thing("pack", null, "Old", { description: "", platform: "", disabled: false, targets: {}, queries: [] }),
  thing("label", null, "L", label),
  thing("policy", null, "P", policy),
  thing("query", null, "Q", query),
  thing("team", null, "Ops", { description: "" }),
  thing("team_settings", "Ops", "team_settings", defaults.team_settings),
  thing("agent_options", "Ops", "agent_options", null),
  thing("enroll_secrets", "Ops", "enroll_secrets", { secrets: [] }),
  thing("policy", "Ops", "P", policy),
  thing("query", "Ops", "Q", query),
  thing("policy", NO_TEAM_NAME, "P", policy),
  thing("configuration_profile", null, "Wi-Fi", profile),
  thing("configuration_profile", "Ops", "Wi-Fi", profile),
  thing("configuration_profile", "Ops", "Camera", { ...profile, platform: "android" }),
  thing("configuration_profile", "Ops", "Kiosk", { ...profile, platform: "windows" }),
  thing("setup_assistant", null, "main.json", { enrollment_profile: { is_supervised: true } }),
  thing("setup_assistant", "Ops", "ops.json", { enrollment_profile: { is_supervised: true } }),
  thing("declaration_asset", null, "com.example.a", { file_name: "a.json", sha256: "0a" }),
  thing("declaration_asset", "Ops", "com.example.a", { file_name: "a.json", sha256: "0a" }),
  thing("bootstrap_package", null, "a.pkg", { sha256: "0a" }),
  thing("bootstrap_package", "Ops", "b.pkg", { sha256: "0a" }),
  thing("license_agreement", null, "a.pdf", { sha256: "0a" }),
  thing("logo_dark", null, "logo_dark", { sha256: "0a" }),
  thing("logo_light", null, "logo_light", { sha256: "0a" }),
  thing("portal_token", null, "Example Ltd", { macos_team: "", ios_team: "", ipados_team: "", byod_team: "Ops" }),
  thing("license_token", null, "Berlin", { teams: ["Ops"] }),
  thing("script", null, "tidy.sh", { sha256: "0a" }),
  thing("script", "Ops", "tidy.sh", { sha256: "0a" }),
  thing("setup_script", null, "done.sh", { sha256: "0a" }),
  thing("setup_script", "Ops", "done.sh", { sha256: "0a" }),
  thing("package", "Ops", "https://x.example/a.pkg", ofPackage),
  thing("package", "Ops", "firefox/darwin", { ...ofPackage, slug: "firefox/darwin", url: "", sha256: "" }),
  thing("package", NO_TEAM_NAME, "own.sh", { ...ofPackage, url: "" }),
  thing("store_app", "Ops", "42/ios", storeApp),
  thing("package", "Ops", "x", { ...ofPackage, url: "" }),
  thing("setup_order", "Ops", "software", { software: [] }),
  thing("certificate_template", null, "VPN", {
    certificate_authority_name: "WIFI",
    subject_name: "/CN=x",
    subject_alternative_name: "DNS=x",
  }),
  thing("certificate_template", "Ops", "VPN", { certificate_authority_name: "WIFI", subject_name: "/CN=x" }),
  thing("directory_credentials", null, "directory", { tenant_id: "text", client_id: "text", client_secret: "text" }),
  ...caTypes.map((type) =>
    thing(
      "certificate_authority",
      null,
      `${type}/${type}`,
      Object.fromEntries(Object.keys(caFields[type]).map((field) => [field, field === "name" ? type : "text"])),
    ),
  ),
];

interface Leaf {
  readonly at: number;
  readonly path: readonly string[];
}
const leaves = (value: Json, path: string[] = []): string[][] =>
  isRecord(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]))
    : [path];

const all: Leaf[] = things.flatMap(({ value }, at) => leaves(value as Json).map((path) => ({ at, path })));
const told = ({ at, path }: Leaf) =>
  `${things[at]!.owner ?? ""} ${things[at]!.kind} ${things[at]!.name} ${path.join(".")}`;

function other(value: Json): Json {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return `${value}x`;
  if (Array.isArray(value)) return [...value, "x"];
  return value === null ? "x" : { x: "x" };
}
function changed(value: Json, [key, ...rest]: readonly string[]): Json {
  if (key === undefined) return other(value);
  const fields = value as { readonly [name: string]: Json };
  return { ...fields, [key]: changed(fields[key]!, rest) };
}

const written = (of: StateThing[]) => {
  const exported = exportFiles({ things: of, defaults, files });
  return JSON.stringify([[...exported.files], [...exported.contents], [...exported.downloads]]);
};

const leftOf = ({ slug }: typeof ofPackage): string[] =>
  slug === "" ? ["version", "default_categories"] : ["url", "sha256"];

/** Fields that files cannot express are not exported either. */
const isLeft = ({ at, path }: Leaf): boolean => {
  const { kind, name, value } = things[at]!;
  // Only older documents have packs, and values are secrets.
  if (kind === "pack") return true;
  if (kind === "custom_variable") return path[0] === "value";
  // Some fields are those of maintained apps, the others those of other packages.
  if (kind === "package") return leftOf(value as typeof ofPackage).includes(path.join("."));
  // The server determines the addresses of logos that are files.
  if (kind === "config" && name === "org_info") return path.join(".").startsWith("org_logo_url");
  const inMdm =
    kind === "config" && name === "mdm" ? path : kind === "team_settings" && path[0] === "mdm" ? path.slice(1) : [];
  return inMdm.length > 0 && mdmLeft.some((left) => inMdm.join(".") === left || inMdm.join(".").startsWith(`${left}.`));
};

describe("an export", () => {
  it("is tested with objects of every kind", () => {
    expect([...new Set(things.map(({ kind }) => kind))].sort()).toEqual([...kindNames].sort());
    expect(all.length).toBeGreaterThan(150);
  });

  it("contains every field that can be written", () => {
    const before = written(things);
    const missing = all.filter((leaf) => {
      const { value } = things[leaf.at]!;
      const now = things.map((one, i) =>
        i === leaf.at ? { ...one, value: changed(value as Json, leaf.path) as StateThing["value"] } : one,
      );
      return (written(now) === before) !== isLeft(leaf);
    });
    expect(missing.map(told)).toEqual([]);
  });
});
