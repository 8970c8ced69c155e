// A change of one nested key leaves every other key as it is, in the configuration and in the settings of teams.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { isMask } from "../../src/api/fields.ts";
import { ConfigSections } from "../../src/api/settings/app-config.ts";
import { NoTeam, Team } from "../../src/api/settings/teams.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { makeTeam } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { PROVIDER_CERTIFICATE } from "../support/provider-certificate.ts";

type Json = Record<string, unknown>;

const hook = "https://hooks.example.com/x";
const ticketingA = {
  url: "https://tracker.example.com",
  username: "u",
  api_token: "t-1",
  project_key: "OPS",
  enable_software_vulnerabilities: false,
  enable_failing_policies: false,
};
const ticketingB = { ...ticketingA, username: undefined, project_key: undefined, email: "a@example.com", group_id: 7 };
const updates = { minimum_version: "18.1", deadline: "2027-01-01" };
const setup = { enable_release_device_manually: true, lock_end_user_info: false, enable_managed_local_account: true };

/** Something other than the default wherever there can be. */
const config: Json = {
  org_info: { org_name: "Example", org_logo_url: "https://example.com/a.png", contact_url: "https://example.com/help" },
  server_settings: { server_url: "https://svc.example.com", query_report_cap: 7, live_query_disabled: true },
  host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
  activity_expiry_settings: { activity_expiry_enabled: true, activity_expiry_window: 8 },
  features: { enable_host_users: false, additional_queries: { a: "SELECT 1", b: "SELECT 2" } },
  smtp_settings: {
    server: "mail.example.com",
    port: 2525,
    sender_address: "a@example.com",
    user_name: "u",
    password: "p",
    domain: "example.com",
  },
  sso_settings: {
    entity_id: "svc.example.com",
    idp_name: "IdP",
    issuer_uri: "https://idp.example.com",
    metadata_url: "https://idp.example.com/metadata",
    idp_image_url: "https://idp.example.com/logo.png",
  },
  conditional_access: {
    provider_idp_id: "id-1",
    provider_assertion_consumer_service_url: "https://idp.example.com/acs",
    provider_audience_uri: "https://idp.example.com/audience",
    provider_certificate: PROVIDER_CERTIFICATE,
    bypass_disabled: true,
  },
  mdm: {
    windows_enabled_and_configured: true,
    enable_disk_encryption: true,
    disk_encryption: { linux: false, macos: true },
    windows_require_bitlocker_pin: true,
    name_template: "Mac-$SVC_VAR_HOST_HARDWARE_SERIAL",
    windows_directory_tenant_ids: ["0b1e7e3c-6f0e-4b0f-9f0a-0a1b2c3d4e5f"],
    macos_updates: { ...updates, update_new_hosts: false },
    ios_updates: updates,
    ipados_updates: { minimum_version: "latest", deadline_days: 5 },
    windows_updates: { deadline_days: 5, grace_period_days: 2 },
    macos_migration: { enable: true, mode: "forced", webhook_url: hook },
    macos_setup: setup,
    end_user_authentication: {
      entity_id: "svc.example.com",
      idp_name: "IdP",
      metadata_url: "https://idp.example.com/metadata",
    },
    vendora_server_url: "https://mdm.example.com",
  },
  svc_desktop: { transparency_url: "https://example.com/t", alternative_browser_host: "desk.example.com" },
  gitops: { repository_url: "https://git.example.com/repo" },
  integrations: {
    ticketing_a: [ticketingA],
    ticketing_b: [ticketingB],
    calendar: [],
    conditional_access_enabled: true,
  },
  webhook_settings: {
    interval: "5h",
    host_status_webhook: { destination_url: hook, host_percentage: 5, days_count: 3 },
    failing_policies_webhook: { destination_url: hook, host_batch_size: 4 },
    vulnerabilities_webhook: { destination_url: hook, host_batch_size: 4 },
    activities_webhook: { enable_activities_webhook: true, destination_url: hook },
  },
  agent_options: {
    config: { options: { distributed_interval: 60 }, decorators: { load: ["SELECT 1"] } },
    overrides: { platforms: { darwin: { options: { distributed_interval: 30 } } } },
    command_line_flags: { verbose: true },
    extensions: { x: { platform: "linux", channel: "stable" } },
    script_execution_timeout: 100,
    update_channels: { orbit: "edge" },
  },
};

const { mdm, integrations: _, webhook_settings: hooks } = config as Record<string, Json>;
const team: Json = {
  description: "A team",
  host_expiry_settings: config.host_expiry_settings,
  webhook_settings: {
    host_status_webhook: hooks!.host_status_webhook,
    failing_policies_webhook: hooks!.failing_policies_webhook,
  },
  integrations: {
    ticketing_a: [{ url: ticketingA.url, project_key: "OPS", enable_failing_policies: true }],
    ticketing_b: [{ url: ticketingA.url, group_id: 7 }],
    conditional_access_enabled: true,
  },
  mdm: Object.fromEntries(
    [
      "enable_disk_encryption",
      "disk_encryption",
      "windows_require_bitlocker_pin",
      "name_template",
      "macos_updates",
      "ios_updates",
      "ipados_updates",
      "windows_updates",
      "macos_setup",
    ].map((key) => [key, mdm![key]]),
  ),
};
const noTeam: Json = {
  webhook_settings: { failing_policies_webhook: hooks!.failing_policies_webhook },
  integrations: { ticketing_a: (team.integrations as Json).ticketing_a },
};

/** What follows from another key, as documented: the change of the first may change the others. */
const dependents: Record<string, readonly string[]> = {
  "mdm.enable_disk_encryption": ["mdm.windows_require_bitlocker_pin"],
  "mdm.macos_setup.enable_managed_local_account": ["mdm.macos_setup.end_user_local_account_type"],
  "mdm.windows_enabled_and_configured": ["mdm.windows_migration_enabled"],
  // One setting under two names, the second of which is returned.
  "vulnerability_settings.databases_path": ["vulnerabilities.databases_path"],
  "smtp_settings.enable_smtp": ["smtp_settings.configured"],
};

const unwrapped = (schema: unknown): unknown => {
  const { def } = schema as z.ZodType;
  return "innerType" in def ? unwrapped(def.innerType) : schema;
};

/** Every key with a value, at every depth; keys of maps are values. */
function pathsOf(schema: unknown, value: unknown, path: readonly string[] = []): string[][] {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) =>
    Object.hasOwn(inner.shape, key) ? [[...path, key], ...pathsOf(inner.shape[key], field, [...path, key])] : [],
  );
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Json | undefined)?.[key], value);
const nested = (path: readonly string[], value: unknown): Json =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Json;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A copy without the values at the paths, to compare the rest. */
function withoutPaths(value: Json, paths: readonly (readonly string[])[]): Json {
  const copy = structuredClone(value);
  for (const path of paths) {
    const holder = valueAt(copy, path.slice(0, -1));
    if (isObject(holder)) delete holder[path.at(-1)!];
  }
  return copy;
}

const other = (value: unknown): unknown => {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  return typeof value === "string" ? `${value}1` : undefined;
};

interface Case {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly settings: Json;
  readonly url: (t: TestApp) => Promise<string>;
  readonly key: string | null;
}

const cases: readonly Case[] = [
  { name: "the configuration", schema: ConfigSections, settings: config, url: async () => "/config", key: null },
  {
    name: "a team",
    schema: Team.pick({ host_expiry_settings: true, webhook_settings: true, integrations: true, mdm: true }),
    settings: team,
    url: async (t) => `/teams/${await makeTeam(t, "Nested")}`,
    key: "team",
  },
  {
    name: "hosts without a team",
    schema: NoTeam.pick({ webhook_settings: true, integrations: true }),
    settings: noTeam,
    url: async () => "/teams/0",
    key: "team",
  },
];

describe.each(rulesEngines)("nested keys on %s", (engine) => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    const stored = await readSection(t.store, sections.mdm);
    const on = { enabled_and_configured: true, android_enabled_and_configured: true };
    await writeSection(t.store, sections.mdm, { ...stored, ...on }, t.clock.iso());
    await t.store.notify(channels.config, "mdm");
    const response = await t.patch("/config?force=true", config);
    expect(response.status, (await response.text()).slice(0, 2000)).toBe(200);
  });
  afterAll(() => t.close());

  it.each(cases)("change alone: $name", async ({ schema, settings, url, key }) => {
    const address = await url(t);
    const inside = async (response: Response): Promise<Json> => {
      const body = (await response.json()) as Json;
      return key === null ? body : (body[key] as Json);
    };
    const first = await t.patch(address, settings);
    expect(first.status, (await first.clone().text()).slice(0, 2000)).toBe(200);
    const paths = pathsOf(schema, await inside(await t.get(address)));
    expect(paths.length).toBeGreaterThan(5);
    let changed = 0;
    for (const path of paths) {
      const name = path.join(".");
      const before = await inside(await t.get(address));
      const value = valueAt(before, path);
      const same = await t.patch(address, nested(path, value));
      expect(same.status, `${name}: ${(await same.clone().text()).slice(0, 1000)}`).toBe(200);
      expect(await inside(same), name).toEqual(before);
      // Objects with named fields are merged; maps are values.
      if (
        isObject(value) &&
        pathsOf(schema, before).some((one) => one.length > path.length && path.every((k, i) => one[i] === k))
      )
        if (!name.startsWith("agent_options.")) {
          const none = await t.patch(address, nested(path, {}));
          expect(none.status, name).toBe(200);
          expect(await inside(none), name).toEqual(before);
        }
      const next = isMask(value) ? undefined : other(value);
      if (next === undefined) continue;
      const response = await t.patch(`${address}`, nested(path, next));
      const after = await inside(await t.get(address));
      if (response.status !== 200) {
        expect([400, 422], name).toContain(response.status);
        expect(after, name).toEqual(before);
        continue;
      }
      changed += 1;
      const allowed = [path, ...(dependents[name] ?? []).map((one) => one.split("."))];
      expect(withoutPaths(after, allowed), name).toEqual(withoutPaths(before, allowed));
      // Back to what it was, with what depends on it.
      for (const one of allowed) await t.patch(address, nested(one, valueAt(before, one)));
    }
    expect(changed).toBeGreaterThan(0);
  });
});
