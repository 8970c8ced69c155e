import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import { loadTls } from "../../src/server/platform/core/security/tls.ts";
import { changed } from "../../src/server/settings/app-config/change.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { masked } from "../../src/server/settings/app-config/secrets.ts";
import { section } from "../../src/server/settings/app-config/section.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { createConfigReader } from "../../src/server/settings/app-config/service.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";

const configIn = async (response: Response): Promise<AppConfig> => {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as AppConfig;
};
const expectError = async (response: Response, status: number, name: string, reason?: RegExp, what = "") => {
  const body = await errorOf(response);
  expect([response.status, body.errors?.[0]?.name], `${what} ${JSON.stringify(body)}`).toEqual([status, name]);
  if (reason) expect(body.errors![0]!.reason).toMatch(reason);
};
const optionEdits = async (t: TestApp) =>
  (await t.store.activities.list()).filter(({ type }) => type === "edited_agent_options").map(({ details }) => details);

/** The paths of a section's fields of which null is no value. */
function settable(schema: z.ZodType, path: readonly string[] = []): string[][] {
  if (!(schema instanceof z.ZodObject)) return schema.safeParse(null).success ? [] : [[...path]];
  const inner = Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, field]) =>
    settable(field, [...path, key]),
  );
  return path.length === 0 ? inner : [[...path], ...inner];
}

describe.each(rulesEngines)("the configuration on %s", (engine) => {
  it("starts with its defaults", async () => {
    const t = await startApp({ engine });
    expect(await configIn(await t.get("/config"))).toEqual({
      org_info: { org_name: "Test", org_logo_url: "", org_logo_url_light_background: "", contact_url: "" },
      server_settings: {
        server_url: "https://svc.example.com",
        enable_analytics: true,
        live_query_disabled: false,
        scripts_disabled: false,
        query_reports_disabled: false,
        ai_features_disabled: false,
        query_report_cap: 1000,
      },
      host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 0 },
      activity_expiry_settings: { activity_expiry_enabled: false, activity_expiry_window: 0 },
      features: {
        enable_host_users: true,
        enable_software_inventory: true,
        additional_queries: null,
        historical_data: { uptime: true, vulnerabilities: true },
        vulnerability_exposure_historical_reporting: {
          software_filters: null,
          cvss_min: null,
          cvss_max: null,
          epss_min: null,
          epss_max: null,
          has_known_exploit: false,
          exclude_vulnerabilities: [],
        },
      },
      smtp_settings: {
        enable_smtp: false,
        configured: false,
        sender_address: "",
        server: "",
        port: 587,
        authentication_type: "authtype_username_and_password",
        user_name: "",
        password: "",
        enable_ssl_tls: true,
        authentication_method: "authmethod_plain",
        domain: "",
        verify_ssl_certs: true,
        enable_start_tls: true,
      },
      sso_settings: {
        enable_sso: false,
        entity_id: "",
        issuer_uri: "",
        idp_name: "",
        idp_image_url: "",
        metadata: "",
        metadata_url: "",
        enable_sso_idp_login: false,
        enable_jit_provisioning: false,
        sso_server_url: "",
      },
      conditional_access: {
        directory_tenant_id: "",
        directory_connection_configured: false,
        provider_idp_id: "",
        provider_assertion_consumer_service_url: "",
        provider_audience_uri: "",
        provider_certificate: "",
        bypass_disabled: false,
      },
      mdm: {
        enabled_and_configured: false,
        android_enabled_and_configured: false,
        windows_enabled_and_configured: false,
        enable_turn_on_windows_mdm_manually: false,
        enable_disk_encryption: false,
        disk_encryption: { macos: null, windows: null, linux: null },
        windows_require_bitlocker_pin: false,
        enable_recovery_lock_password: false,
        name_template: "",
        windows_migration_enabled: false,
        windows_automatic_enrollment: { default_team: "" },
        windows_directory_tenant_ids: [],
        windows_directory_client_ids: [],
        macos_updates: { minimum_version: "", deadline: "", deadline_days: null, update_new_hosts: false },
        ios_updates: { minimum_version: "", deadline: "", deadline_days: null },
        ipados_updates: { minimum_version: "", deadline: "", deadline_days: null },
        windows_updates: { deadline_days: null, grace_period_days: null },
        macos_migration: { enable: false, mode: "", webhook_url: "" },
        macos_setup: {
          bootstrap_package: "",
          enable_end_user_authentication: false,
          macos_setup_assistant: "",
          enable_release_device_manually: false,
          manual_agent_install: false,
          lock_end_user_info: true,
          require_all_software_macos: false,
          require_all_software_windows: false,
          enable_managed_local_account: false,
          end_user_local_account_type: "admin",
        },
        macos_settings: { custom_settings: [] },
        windows_settings: { custom_settings: [] },
        end_user_authentication: { entity_id: "", issuer_uri: "", idp_name: "", metadata: "", metadata_url: "" },
        vendora_server_url: "",
      },
      vulnerability_settings: { databases_path: "" },
      svc_desktop: { transparency_url: "", alternative_browser_host: "", sso_enabled: false },
      gitops: {
        gitops_mode_enabled: false,
        repository_url: "",
        exceptions: { labels: false, software: false, secrets: false },
      },
      integrations: {
        ticketing_a: [],
        ticketing_b: [],
        calendar: [],
        conditional_access_enabled: false,
        certificates_idp_introspection_urls: [],
        certificates_idp_client_ids: [],
        certificates_disable_host_end_user_binding: false,
      },
      webhook_settings: {
        interval: "24h",
        host_status_webhook: {
          enable_host_status_webhook: false,
          destination_url: "",
          host_percentage: 0,
          days_count: 0,
        },
        failing_policies_webhook: {
          enable_failing_policies_webhook: false,
          destination_url: "",
          policy_ids: [],
          host_batch_size: 0,
        },
        failing_policies_mail: { enable_failing_policies_mail: false, recipients: [], digest: "daily" },
        vulnerabilities_webhook: { enable_vulnerabilities_webhook: false, destination_url: "", host_batch_size: 0 },
        activities_webhook: { enable_activities_webhook: false, destination_url: "" },
        host_activities_webhook: { enable_host_activities_webhook: false, destination_url: "" },
      },
      yara_rules: [],
      agent_options: {
        config: {
          options: expect.objectContaining({
            distributed_interval: 10,
            logger_tls_period: 10,
            pack_delimiter: "/",
            disable_distributed: false,
            logger_tls_endpoint: "/api/v1/qengine/log",
          }),
          decorators: { load: [expect.stringContaining("uuid"), expect.stringContaining("hostname")] },
        },
        overrides: {},
      },
      license: t.services.license,
      logging: {
        debug: false,
        json: false,
        result: { plugin: "none", config: {} },
        status: { plugin: "none", config: {} },
      },
      update_interval: { qengine_detail: 3_600_000_000_000, qengine_policy: 3_600_000_000_000 },
      vulnerabilities: {
        databases_path: "",
        periodicity: 3_600_000_000_000,
        cpe_database_url: "",
        cve_feed_prefix_url: "",
        disable_schedule: false,
        disable_data_sync: false,
        recent_vulnerability_max_age: 2_592_000_000_000_000,
      },
      scripts: [],
    });
  });

  it("changes the given values and keeps the rest, in sections and in fields", async () => {
    const t = await startApp({ engine });
    const before = await configIn(await t.get("/config"));
    const after = await configIn(
      await t.patch("/config", {
        org_info: { contact_url: "https://example.com/help" },
        features: { additional_queries: { time: "SELECT * FROM time" } },
        host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 30 },
      }),
    );
    expect(after).toEqual({
      ...before,
      org_info: { ...before.org_info, contact_url: "https://example.com/help" },
      features: { ...before.features, additional_queries: { time: "SELECT * FROM time" } },
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 30 },
    });
    expect(await configIn(await t.get("/config"))).toEqual(after);
    // A map is one value: it is replaced.
    const again = await configIn(await t.patch("/config", { features: { additional_queries: { users: "SELECT 1" } } }));
    expect(again.features.additional_queries).toEqual({ users: "SELECT 1" });
    expect(
      (await configIn(await t.patch("/config", { features: { additional_queries: null } }))).features
        .additional_queries,
    ).toBeNull();
    expect(await configIn(await t.patch("/config", {}))).toMatchObject({ org_info: after.org_info });
  });

  it("keeps values for which null is sent, unless null is one of their values", async () => {
    const t = await startApp({ engine });
    const tracker = { url: "https://desk.example.com", email: "a@example.com", api_token: "tok", group_id: 1 };
    await configIn(
      await t.patch("/config", {
        org_info: { org_name: "Kept", contact_url: "https://example.com/help" },
        features: { enable_host_users: false, additional_queries: { time: "SELECT * FROM time" } },
        mdm: { windows_updates: { deadline_days: 5, grace_period_days: 2 } },
        smtp_settings: { server: "mail.example.com", sender_address: "a@example.com", user_name: "u", password: "pw" },
        integrations: { ticketing_b: [tracker] },
        agent_options: { config: { options: { pack_delimiter: "/" } } },
      }),
    );
    const before = await configIn(await t.get("/config"));
    for (const [section, { schema }] of Object.entries(sections)) {
      expect(await configIn(await t.patch("/config", { [section]: null })), section).toEqual(before);
      if (section === "agent_options") continue;
      for (const path of settable(schema)) {
        const change = path.reduceRight<unknown>((value, key) => ({ [key]: value }), null) as object;
        const after = await configIn(await t.patch("/config", { [section]: change }));
        expect(after, `${section}.${path.join(".")}`).toEqual(before);
      }
    }
    // In an entry of a list, null is not given either: a field without a default is missing.
    const entry = { ...tracker, enable_failing_policies: null };
    expect(await configIn(await t.patch("/config", { integrations: { ticketing_b: [entry] } }))).toEqual(before);
    const { api_token: _, ...incomplete } = { ...tracker, email: null };
    expect((await t.patch("/config", { integrations: { ticketing_b: [incomplete] } })).status).toBe(400);
    // Where the mail goes has changed: null in place of the password does not stand for the old one.
    const moved = await t.patch("/config", { smtp_settings: { server: "other.example.com", password: null } });
    expect(moved.status).toBe(422);
    // Null is a value of these.
    const cleared = {
      features: { additional_queries: null },
      mdm: { windows_updates: { deadline_days: null, grace_period_days: null } },
    };
    expect(await configIn(await t.patch("/config", cleared))).toMatchObject({
      ...cleared,
      features: { enable_host_users: false, additional_queries: null },
    });
  });

  it("accepts its own reply, and refuses changes of read-only values", async () => {
    const t = await startApp({ engine });
    const config = await configIn(await t.get("/config"));
    expect(await configIn(await t.patch("/config", config))).toEqual(config);
    const changed = await t.patch("/config", { license: { tier: "free" }, logging: 7, update_interval: {} });
    const { errors } = await errorOf(changed);
    expect([changed.status, errors!.map(({ name }) => name)]).toEqual([422, ["license", "logging"]]);
    expect(await configIn(await t.get("/config"))).toEqual(config);
    expect(await optionEdits(t)).toEqual([]);
  });

  it("refuses a request completely if one change breaks a rule", async () => {
    const t = await startApp({ engine });
    const before = await configIn(await t.get("/config"));
    const cases: [string, object, number, string, RegExp?][] = [
      [
        "an unknown section",
        { org_infos: {} },
        400,
        "org_infos",
        /^unsupported key provided: "org_infos"\. Did you mean "org_info"\?$/,
      ],
      [
        "an unknown field",
        { org_info: { org_nam: "x" } },
        400,
        "org_info.org_nam",
        /^unsupported key provided: "org_nam"\. Did you mean "org_name"\?$/,
      ],
      ["an inherited name", { constructor: {} }, 400, "constructor", /unsupported key/],
      ["an inherited field", { org_info: { toString: "x" } }, 400, "org_info.toString", /unsupported key/],
      [
        "a wrong type",
        { org_info: { org_name: 7 } },
        400,
        "org_info.org_name",
        /^invalid value type at 'org_info.org_name': expected string but got number$/,
      ],
      [
        "a section of another type",
        { org_info: [] },
        400,
        "org_info",
        /^invalid value type at 'org_info': expected object but got array$/,
      ],
      [
        "null for an entry of a list",
        { integrations: { ticketing_b: [null] } },
        400,
        "integrations.ticketing_b.0",
        /expected object but got null/,
      ],
      ["null for an unknown field", { features: { toString: null } }, 400, "features.toString", /unsupported key/],
      [
        "a broken number",
        { server_settings: { query_report_cap: 1.5 } },
        400,
        "server_settings.query_report_cap",
        /expected integer but got number/,
      ],
      [
        "a type inside a map",
        { features: { additional_queries: { a: 1 } } },
        400,
        "features.additional_queries.a",
        /expected string but got number/,
      ],
      [
        "a list for a map",
        { features: { additional_queries: [] } },
        400,
        "features.additional_queries",
        /expected object but got array/,
      ],
      [
        "an entry without its secret",
        { integrations: { ticketing_b: [{ url: "https://desk.example.com", email: "a@example.com", group_id: 1 }] } },
        400,
        "integrations.ticketing_b.0.api_token",
        /^is required$/,
      ],
      ["agent options of another type", { agent_options: 7 }, 400, "agent_options", /expected object but got number/],
      [
        "an agent option of another type",
        { agent_options: { config: { options: { distributed_interval: "x" } } } },
        400,
        "agent_options.config.options.distributed_interval",
      ],
      [
        "a number out of bounds",
        { server_settings: { query_report_cap: -1 } },
        422,
        "server_settings.query_report_cap",
      ],
      ["a text too long", { org_info: { org_name: "x".repeat(256) } }, 422, "org_info.org_name"],
      [
        "a server URL of another kind",
        { server_settings: { server_url: "svc.example.com" } },
        422,
        "server_settings.server_url",
      ],
      ["a link that runs as script", { org_info: { contact_url: "javascript:alert(1)" } }, 422, "org_info.contact_url"],
      [
        "host expiry without days",
        { host_expiry_settings: { host_expiry_enabled: true } },
        422,
        "host_expiry_settings.host_expiry_window",
      ],
      [
        "activity expiry without days",
        { activity_expiry_settings: { activity_expiry_enabled: true, activity_expiry_window: -5 } },
        422,
        "activity_expiry_settings.activity_expiry_window",
      ],
      [
        "expiry after millions of years",
        { host_expiry_settings: { host_expiry_window: 1e12 } },
        422,
        "host_expiry_settings.host_expiry_window",
      ],
      ["a query without text", { features: { additional_queries: { a: " " } } }, 422, "features.additional_queries.a"],
    ];
    for (const [what, bad, status, name, reason] of cases) {
      const body = { host_expiry_settings: { host_expiry_window: 3 }, ...bad };
      await expectError(await t.patch("/config", body), status, name, reason, what);
      expect(await configIn(await t.get("/config")), what).toEqual(before);
    }
  });

  it("names every unknown key, with what may have been meant", async () => {
    const t = await startApp({ engine });
    const response = await t.patch("/config", {
      org_inf: {},
      org_info: { org_nam: "x" },
      mdm: { macos_settings: { custom_setting: [], enable_disk_encryption: true }, macos_updates: { version: "1" } },
      webhook_settings: { activities_webhook: { enabled: true } },
    });
    const { message, errors } = await errorOf(response);
    expect([response.status, message]).toEqual([400, "Bad request"]);
    expect(errors!.map(({ name }) => name)).toEqual([
      "org_inf",
      "org_info.org_nam",
      "mdm.macos_settings.custom_setting",
      "mdm.macos_updates.version",
      "webhook_settings.activities_webhook.enabled",
    ]);
    expect(errors![0]!.reason).toBe('unsupported key provided: "org_inf". Did you mean "org_info"?');
    expect(errors![4]!.reason).toMatch(/Supported: enable_activities_webhook, destination_url/);
    await expectError(
      await t.patch("/config", { agent_options: { config: { options: { distributed_intervall: 5 } } } }),
      400,
      "agent_options.config.options.distributed_intervall",
      /Did you mean "distributed_interval"\?/,
    );
  });

  it("refuses other values of what is read-only, and says what determines it; what is shown may be sent back", async () => {
    const t = await startApp({ engine });
    const shown = await configIn(await t.get("/config"));
    expect(await configIn(await t.patch("/config", shown))).toEqual(shown);
    for (const [body, name, reason] of [
      [{ license: { tier: "free" } }, "license", /license key/],
      [{ logging: { debug: true } }, "logging", /SVC_LOG_LEVEL/],
      [{ update_interval: { qengine_detail: 1 } }, "update_interval", /SVC_DETAIL_INTERVAL/],
      [{ vulnerabilities: { disable_schedule: true } }, "vulnerabilities", /vulnerability_settings/],
      [{ scripts: ["a.sh"] }, "scripts", /scripts\/batch/],
      [{ mdm: { enabled_and_configured: true } }, "mdm.enabled_and_configured", /apns_certificate/],
      [{ mdm: { android_enabled_and_configured: true } }, "mdm.android_enabled_and_configured", /signup_url/],
      [{ smtp_settings: { configured: "yes" } }, "smtp_settings.configured", /read-only/],
      [
        { conditional_access: { directory_connection_configured: true } },
        "conditional_access.directory_connection_configured",
        /read-only/,
      ],
    ] as const)
      await expectError(await t.patch("/config", body), 422, name, reason, name);
    expect((await t.patch("/config", { license: null, logging: { json: shown.logging.json } })).status).toBe(200);
  });

  it("refuses what other endpoints store, and says which; nothing may be sent", async () => {
    const t = await startApp({ engine });
    const before = await configIn(await t.get("/config"));
    for (const [body, name, reason] of [
      [
        { macos_settings: { custom_settings: [{ path: "a.mobileconfig" }] } },
        "macos_settings.custom_settings",
        /profiles/,
      ],
      [{ windows_settings: { custom_settings: [{ path: "a.xml" }] } }, "windows_settings.custom_settings", /profiles/],
      [
        { macos_setup: { bootstrap_package: "https://x.example.com/a.pkg" } },
        "macos_setup.bootstrap_package",
        /\/bootstrap/,
      ],
      [
        { macos_setup: { macos_setup_assistant: "a.json" } },
        "macos_setup.macos_setup_assistant",
        /enrollment_profiles/,
      ],
    ] as const)
      await expectError(await t.patch("/config", { mdm: body }), 422, `mdm.${name}`, reason, name);
    const nothing = { macos_settings: { custom_settings: [] }, macos_setup: { bootstrap_package: "" } };
    expect(await configIn(await t.patch("/config", { mdm: nothing }))).toEqual(before);
  });

  it("names every broken rule", async () => {
    const t = await startApp({ engine });
    const response = await t.patch("/config", {
      host_expiry_settings: { host_expiry_enabled: true },
      activity_expiry_settings: { activity_expiry_enabled: true },
    });
    expect((await errorOf(response)).errors?.map(({ name }) => name)).toEqual([
      "host_expiry_settings.host_expiry_window",
      "activity_expiry_settings.activity_expiry_window",
    ]);
  });

  it("refuses a body that would change prototypes, and one that is not an object", async () => {
    const t = await startApp({ engine });
    await expectError(
      await t.request("PATCH", "/config", '{"__proto__":{"x":1}}'),
      400,
      "base",
      /unsupported key provided: "__proto__"/,
    );
    for (const body of ["[]", "7", '"x"', "null"]) expect((await t.request("PATCH", "/config", body)).status).toBe(400);
    expect((await t.patch("/config")).status).toBe(400);
    expect((await t.patch("/config?dry_run=maybe", {})).status).toBe(400);
  });

  it("returns the result of a dry run, and changes nothing", async () => {
    const t = await startApp({ engine });
    const before = await configIn(await t.get("/config"));
    const shown = await configIn(
      await t.patch("/config?dry_run=true", { org_info: { org_name: "New" }, agent_options: {} }),
    );
    expect(shown).toMatchObject({ org_info: { org_name: "New" }, agent_options: {} });
    expect(shown.agent_options).toEqual(before.agent_options);
    expect(await configIn(await t.get("/config"))).toEqual(before);
    expect(await optionEdits(t)).toEqual([]);
    await expectError(await t.patch("/config?dry_run=1", { nope: 1 }), 400, "nope");
  });

  it("resets omitted fields to their defaults if overwriting", async () => {
    const t = await startApp({ engine });
    await t.patch("/config", {
      features: { enable_host_users: false },
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
      agent_options: { config: {} },
    });
    const after = await configIn(
      await t.patch("/config?overwrite=true", {
        org_info: { contact_url: "https://example.com" },
        host_expiry_settings: { host_expiry_window: 5 },
      }),
    );
    expect(after).toMatchObject({
      org_info: { org_name: "", contact_url: "https://example.com" },
      features: { enable_host_users: true },
      host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 5 },
      agent_options: { config: { options: { distributed_interval: 10 } } },
    });
  });

  it("replaces the agent options that are sent, records it once, and checks them unless forced", async () => {
    const t = await startApp({ engine });
    const options = { config: { options: { distributed_interval: 60 } } };
    const all = { ...options, overrides: {} };
    expect((await configIn(await t.patch("/config", { agent_options: options }))).agent_options).toEqual(all);
    expect((await configIn(await t.patch("/config", { agent_options: options }))).agent_options).toEqual(all);
    expect(await optionEdits(t)).toEqual([{ global: true, team_id: null, team_name: null }]);
    const unknown = { agent_options: { config: { options: { brand_new: 1 } } } };
    await expectError(
      await t.patch("/config", unknown),
      400,
      "agent_options.config.options.brand_new",
      /unsupported key/,
    );
    expect((await configIn(await t.patch("/config?force=true", unknown))).agent_options).toEqual({
      ...unknown.agent_options,
      overrides: {},
    });
    await expectError(await t.patch("/config?force=true", { ...unknown, nope: 1 }), 400, "nope");
  });

  it("changes only the agent options that are sent, and replaces them as a whole with overwrite", async () => {
    const t = await startApp({ engine });
    const options = {
      config: { options: { distributed_interval: 60 }, decorators: { load: ["SELECT 1"] } },
      overrides: { platforms: { darwin: { options: { distributed_interval: 30 } } } },
      command_line_flags: { verbose: true },
      script_execution_timeout: 100,
    };
    const set = async (agent_options: object | null, query = "") =>
      (await configIn(await t.patch(`/config${query}`, { agent_options }))).agent_options;
    expect(await set(options)).toEqual(options);
    expect(await set({ overrides: {} })).toEqual({ ...options, overrides: {} });
    expect(await set({ spec: { overrides: options.overrides } })).toEqual(options);
    expect(await set({})).toEqual(options);
    expect(await set({ config: null, command_line_flags: null, overrides: {} })).toEqual({ ...options, overrides: {} });
    // Options of agents are a map: one that is not sent is removed.
    const config = { options: { pack_delimiter: "/" } };
    expect(await set({ config })).toEqual({ ...options, config, overrides: {} });
    const flags = { command_line_flags: { verbose: false } };
    expect(await set(flags, "?overwrite=true")).toEqual(flags);
    const half = {
      config: { decorators: { load: Array(60_000).fill("SELECT 1 AS a_long_name_of_a_column_of_a_row;") } },
    };
    expect((await t.patch("/config", { agent_options: half })).status).toBe(200);
    const other = { overrides: { platforms: { darwin: half.config } } };
    await expectError(await t.patch("/config", { agent_options: other }), 400, "agent_options", /over 4 MiB/);
  });

  it("updates readers that have cached it", async () => {
    const t = await startApp({ engine });
    const other = await createConfigReader(t.store);
    for (const reader of [t.services.config, other]) expect((await reader.current()).org_info.org_name).toBe("Test");
    await t.patch("/config", { org_info: { org_name: "New" } });
    for (const reader of [t.services.config, other])
      await expect.poll(async () => (await reader.current()).org_info.org_name).toBe("New");
    await other.stop();
  });

  it("requires the roles of the table; agent options require global admins and gitops", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    for (const role of ["admin", "maintainer", "observer", "observer_plus", "gitops", "technician"] as const) {
      const full = role === "admin" || role === "gitops";
      const everywhere = await makeUser(t, role);
      expect([role, "agent_options" in (await configIn(await everywhere.get("/config")))]).toEqual([role, full]);
      const status = (await everywhere.patch("/config", { org_info: { org_name: role } })).status;
      expect([role, status]).toEqual([role, full ? 200 : 403]);
      const member = await makeUser(t, { [alpha]: role });
      const seen = await configIn(await member.get("/config"));
      expect(seen).not.toHaveProperty("agent_options");
      expect(seen.org_info).toBeDefined();
      expect((await member.patch("/config", { org_info: { org_name: "x" } })).status).toBe(403);
    }
  });
});

describe.each(bothEngines)("concurrent changes of the configuration on %s", (engine) => {
  it("keeps both of two concurrent changes", async () => {
    const t = await startApp({ engine });
    const changes = [
      { org_info: { org_name: "New" } },
      { org_info: { contact_url: "https://example.com" } },
      { server_settings: { live_query_disabled: true } },
      { server_settings: { query_report_cap: 7 } },
    ];
    const replies = await Promise.all(changes.map((change) => t.patch("/config", change)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await configIn(await t.get("/config"))).toMatchObject({
      org_info: { org_name: "New", contact_url: "https://example.com" },
      server_settings: { live_query_disabled: true, query_report_cap: 7 },
    });
  });
});

describe("secrets in a section", () => {
  const mail = section({
    name: "mail",
    schema: z.object({
      server: z.string(),
      password: z.string(),
      auth: z.object({ token: z.string(), kind: z.string() }),
    }),
    defaults: { server: "", password: "", auth: { token: "", kind: "none" } },
    secrets: ["password", "auth.token"],
    premium: ["auth.kind"],
  });
  const options = { force: false, overwrite: false, premium: true };
  const secret = { server: "mx", password: "canary-password-1", auth: { token: "canary-token-2", kind: "basic" } };
  const change = (before: typeof secret, given: unknown, more = {}) =>
    changed([mail], new Map([["mail", before]]), { mail: given }, { ...options, ...more }).get("mail");

  it.each(rulesEngines)("are stored separately and encrypted on %s, and can be read", async (engine) => {
    const t = await startApp({ engine });
    expect(await readSection(t.store, mail)).toEqual(mail.defaults);
    await writeSection(t.store, mail, secret, t.clock.iso());
    expect(await readSection(t.store, mail)).toEqual(secret);
    const row = await t.store.configSections.first({ where: { op: "eq", column: "section", value: "mail" } });
    expect(JSON.stringify(row!.value)).not.toContain("canary");
    await writeSection(t.store, mail, { ...secret, password: "" }, t.clock.iso());
    expect(await readSection(t.store, mail)).toEqual({ ...secret, password: "" });
  });

  it("are masked if they exist, and kept if the mask is sent", () => {
    const shown = masked(mail, secret);
    expect(shown).toEqual({ server: "mx", password: "********", auth: { token: "********", kind: "basic" } });
    expect(masked(mail, mail.defaults)).toEqual(mail.defaults);
    expect(change(secret, shown)).toEqual(secret);
    expect(change(secret, { ...shown, server: "mx2" }, { overwrite: true })).toEqual({ ...secret, server: "mx2" });
    expect(change(secret, { password: "new" })).toEqual({ ...secret, password: "new" });
    expect(change(secret, { password: "" })).toEqual({ ...secret, password: "" });
    expect(change(mail.defaults, { password: "********" })).toEqual(mail.defaults);
  });

  it("leave premium fields to the premium tier", () => {
    expect(() => change(secret, { auth: { kind: "plain" } }, { premium: false })).toThrow(
      expect.objectContaining({
        status: 422,
        errors: [{ name: "mail.auth.kind", reason: "missing or invalid license" }],
      }),
    );
    expect(change(secret, { server: "mx2" }, { premium: false })).toEqual({ ...secret, server: "mx2" });
  });

  it("support lists and maps of any size", async () => {
    const t = await startApp();
    const many = (count: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
    const tried = async (body: object) => (await t.patch("/config?dry_run=true", body)).status;
    // More than the maximum number of arguments of a call.
    expect(await tried({ agent_options: { config: { decorators: { load: Array(150_000).fill("SELECT 1;") } } } })).toBe(
      200,
    );
    expect(await tried({ features: { additional_queries: many(150_000, " ") } })).toBe(422);
    const calendar = (key: object) => ({ integrations: { calendar: [{ domain: "example.com", api_key_json: key }] } });
    expect(await tried(calendar({ client_email: "c", private_key: "p", ...many(200, "v") }))).toBe(422);
    // Each of which would copy all the others.
    expect(await tried(calendar(many(100_000, "********")))).toBe(400);
  });

  it("use defaults for fields that are newer than the row", async () => {
    const t = await startApp();
    const older = section({ name: "mail", schema: z.object({ server: z.string() }), defaults: { server: "" } });
    await writeSection(t.store, older, { server: "mx" }, t.clock.iso());
    expect(await readSection(t.store, mail)).toEqual({ ...mail.defaults, server: "mx" });
  });
});

describe("the certificate chain", () => {
  it("is missing without TLS", async () => {
    const t = await startApp();
    const response = await t.get("/config/certificate");
    expect(response.status).toBe(404);
    expect((await errorOf(response)).message).toBe("Resource Not Found");
    expect((await t.as(null).get("/config/certificate")).status).toBe(401);
  });

  it("is that of the self-signed certificate", async () => {
    const t = await startApp({ settings: { tls_self_signed: true } });
    expect((await t.get("/config/certificate")).status).toBe(404);
    const tls = await loadTls({ ...t.services.settings });
    const { certificate_chain } = (await (await t.get("/config/certificate")).json()) as { certificate_chain: string };
    expect(certificate_chain.trim()).toBe(tls!.cert.trim());
  });

  it("is that of the given file, without a key in this file", async () => {
    const t = await startApp({ settings: { tls_self_signed: true } });
    const tls = await loadTls(t.services.settings);
    await mkdir(join(t.services.settings.data_dir, "tls"), { recursive: true });
    const file = join(t.services.settings.data_dir, "tls", "cert.pem");
    await writeFile(file, `${tls!.key}\n${tls!.cert}\n${tls!.cert}`);
    const { certificate_chain } = (await (await t.get("/config/certificate")).json()) as { certificate_chain: string };
    expect(certificate_chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(certificate_chain).not.toContain("PRIVATE");
  });
});
