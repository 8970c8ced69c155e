// The feed records each change of the configuration once, with its own type, otherwise as `edited_config`.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { PROVIDER_CERTIFICATE } from "../support/provider-certificate.ts";

const hook = "https://hooks.example.com/x";
const none = { team_id: null, team_name: null };
const provider = {
  provider_idp_id: "id-1",
  provider_assertion_consumer_service_url: "https://idp.example.com/acs",
  provider_audience_uri: "https://idp.example.com/audience",
  provider_certificate: PROVIDER_CERTIFICATE,
};

/** The activities that the change adds to the feed. */
async function told(t: TestApp, body: object, path = "/config") {
  const before = await t.store.activities.count();
  const response = await t.patch(path, body);
  expect(response.status, await response.clone().text()).toBe(200);
  const rows = await t.store.activities.list({ offset: before, order: [{ column: "id", direction: "asc" }] });
  return rows.map(({ type, details }) => ({ type, ...details }));
}
const edited = (...changes: [path: string, old: unknown, now: unknown][]) => ({
  type: "edited_config",
  sections: [...new Set(changes.map(([path]) => path.split(".")[0]))],
  changes: changes.map(([path, old, now]) => ({ path, old, new: now })),
});

const steps: [what: string, body: object, entries: object[]][] = [
  ["nothing", {}, []],
  ["the same again", { org_info: { org_name: "Test" } }, []],
  [
    "two sections",
    { org_info: { org_name: "New" }, features: { enable_host_users: false } },
    [edited(["org_info.org_name", "Test", "New"], ["features.enable_host_users", true, false])],
  ],
  [
    "agent options",
    { agent_options: { config: { options: { distributed_interval: 60 } } } },
    [{ type: "edited_agent_options", global: true, ...none }],
  ],
  [
    "the activities webhook on",
    { webhook_settings: { activities_webhook: { enable_activities_webhook: true, destination_url: hook } } },
    [{ type: "enabled_activity_automations", webhook_url: hook }],
  ],
  [
    "the activities webhook elsewhere",
    { webhook_settings: { activities_webhook: { destination_url: `${hook}2` } } },
    [{ type: "edited_activity_automations", webhook_url: `${hook}2` }],
  ],
  [
    "the activities webhook off",
    { webhook_settings: { activities_webhook: { enable_activities_webhook: false } } },
    [{ type: "disabled_activity_automations" }],
  ],
  [
    "the address of a webhook that is off",
    { webhook_settings: { activities_webhook: { destination_url: hook }, interval: "1h" } },
    [
      edited(
        ["webhook_settings.interval", "24h", "1h"],
        ["webhook_settings.activities_webhook.destination_url", `${hook}2`, hook],
      ),
    ],
  ],
  [
    "macOS updates",
    { mdm: { macos_updates: { minimum_version: "14.1", deadline: "2026-05-01" } } },
    [
      { type: "edited_macos_min_version", ...none, minimum_version: "14.1", deadline: "2026-05-01" },
      { type: "enabled_macos_update_new_hosts", ...none },
    ],
  ],
  [
    "only for hosts that are there",
    { mdm: { macos_updates: { update_new_hosts: false } } },
    [{ type: "disabled_macos_update_new_hosts", ...none }],
  ],
  [
    "macOS updates removed",
    { mdm: { macos_updates: { minimum_version: "", deadline: "" } } },
    [{ type: "edited_macos_min_version", ...none, minimum_version: "", deadline: "" }],
  ],
  [
    "updates of the others",
    {
      mdm: {
        ios_updates: { minimum_version: "17", deadline: "2026-05-01" },
        ipados_updates: { minimum_version: "17.1", deadline: "2026-05-01" },
        windows_updates: { deadline_days: 5, grace_period_days: 2 },
      },
    },
    [
      { type: "edited_ios_min_version", ...none, minimum_version: "17", deadline: "2026-05-01" },
      { type: "edited_ipados_min_version", ...none, minimum_version: "17.1", deadline: "2026-05-01" },
      { type: "edited_windows_updates", ...none, deadline_days: 5, grace_period_days: 2 },
    ],
  ],
  [
    "Windows updates removed",
    { mdm: { windows_updates: { deadline_days: null, grace_period_days: null } } },
    [{ type: "edited_windows_updates", ...none, deadline_days: null, grace_period_days: null }],
  ],
  [
    "disk encryption, and a PIN",
    { mdm: { enable_disk_encryption: true, windows_require_bitlocker_pin: true } },
    [{ type: "enabled_macos_disk_encryption", ...none }, edited(["mdm.windows_require_bitlocker_pin", false, true])],
  ],
  [
    "both off",
    { mdm: { enable_disk_encryption: false, windows_require_bitlocker_pin: false } },
    [{ type: "disabled_macos_disk_encryption", ...none }, edited(["mdm.windows_require_bitlocker_pin", true, false])],
  ],
  [
    "end users' sign-in",
    { mdm: { macos_setup: { enable_end_user_authentication: true } } },
    [{ type: "enabled_macos_setup_end_user_auth", ...none }],
  ],
  [
    "end users' sign-in off",
    { mdm: { macos_setup: { enable_end_user_authentication: false } } },
    [{ type: "disabled_macos_setup_end_user_auth", ...none }],
  ],
  [
    "Windows MDM with its migration",
    { mdm: { windows_enabled_and_configured: true, windows_migration_enabled: true } },
    [{ type: "enabled_windows_mdm" }, { type: "enabled_windows_mdm_migration" }],
  ],
  [
    "both off again",
    { mdm: { windows_enabled_and_configured: false, windows_migration_enabled: false } },
    [{ type: "disabled_windows_mdm" }, { type: "disabled_windows_mdm_migration" }],
  ],
  [
    "GitOps mode",
    { gitops: { gitops_mode_enabled: true, repository_url: hook } },
    [{ type: "enabled_gitops_mode" }, edited(["gitops.repository_url", "", hook])],
  ],
  ["GitOps mode off", { gitops: { gitops_mode_enabled: false } }, [{ type: "disabled_gitops_mode" }]],
  [
    "a directory tenant",
    { conditional_access: { directory_tenant_id: "t" } },
    [{ type: "added_conditional_access_integration_directory" }],
  ],
  [
    "no directory tenant",
    { conditional_access: { directory_tenant_id: "" } },
    [{ type: "deleted_conditional_access_integration_directory" }],
  ],
  ["a provider", { conditional_access: provider }, [{ type: "added_conditional_access_provider" }]],
  [
    "its automations",
    { integrations: { conditional_access_enabled: true } },
    [{ type: "enabled_conditional_access_automations", team_id: null, team_name: "" }],
  ],
  [
    "neither",
    {
      conditional_access: Object.fromEntries(Object.keys(provider).map((name) => [name, ""])),
      integrations: { conditional_access_enabled: false },
    },
    [
      { type: "deleted_conditional_access_provider" },
      { type: "disabled_conditional_access_automations", team_id: null, team_name: "" },
    ],
  ],
  [
    "a secret set, of which nothing is told but that",
    {
      smtp_settings: {
        enable_smtp: true,
        server: "mx",
        sender_address: "a@example.com",
        user_name: "u",
        password: "canary-1",
      },
    },
    [
      edited(
        ["smtp_settings.enable_smtp", false, true],
        ["smtp_settings.sender_address", "", "a@example.com"],
        ["smtp_settings.server", "", "mx"],
        ["smtp_settings.user_name", "", "u"],
        ["smtp_settings.password", "", "********"],
      ),
    ],
  ],
  [
    "a secret changed",
    { smtp_settings: { password: "canary-2" } },
    [edited(["smtp_settings.password", "********", "********"])],
  ],
  ["a mask sent back", { smtp_settings: { password: "********" } }, []],
  [
    "an entry of a list",
    {
      integrations: {
        ticketing_a: [{ url: hook, username: "u", project_key: "P", api_token: "canary-3" }],
      },
    },
    [
      edited([
        "integrations.ticketing_a",
        [],
        [
          {
            enable_software_vulnerabilities: false,
            enable_failing_policies: false,
            url: hook,
            username: "u",
            api_token: "********",
            project_key: "P",
          },
        ],
      ]),
    ],
  ],
  [
    "a field of an entry",
    {
      integrations: {
        ticketing_a: [{ url: hook, username: "u2", project_key: "P", api_token: "canary-4" }],
      },
    },
    [
      edited(
        ["integrations.ticketing_a.0.username", "u", "u2"],
        ["integrations.ticketing_a.0.api_token", "********", "********"],
      ),
    ],
  ],
];

describe.each(rulesEngines)("changes of the configuration on %s", (engine) => {
  it("are recorded once each", async () => {
    const t = await startApp({ engine });
    for (const [what, body, entries] of steps) expect(await told(t, body), what).toEqual(entries);
    expect(JSON.stringify(await t.store.activities.list())).not.toContain("canary");
  });

  it("are recorded with truncated values", async () => {
    const t = await startApp({ engine });
    const metadata = `<a>${"\u{1F600}".repeat(50_000)}</a>`;
    const queries = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`q${i}`, "SELECT 1"]));
    const [entry, ...more] = await told(t, { sso_settings: { metadata }, features: { additional_queries: queries } });
    expect(more).toEqual([]);
    expect(JSON.stringify(entry).length).toBeLessThan(3000);
    const changed = Object.fromEntries(Object.keys(queries).map((name) => [name, "SELECT 2"]));
    const tenants = (first: string) =>
      Array.from({ length: 100 }, (_, i) => `${first}0000000-0000-4000-8000-${String(i).padStart(12, "0")}`);
    await told(t, { mdm: { windows_directory_tenant_ids: tenants("1") } });
    const again = await told(t, {
      features: { additional_queries: changed },
      mdm: { windows_directory_tenant_ids: tenants("2") },
    });
    expect(JSON.stringify(again).length).toBeLessThan(5000);
    const { activities } = (await (await t.get("/activities?activity_type=edited_config")).json()) as {
      activities: { actor_email: string }[];
    };
    expect(activities).toHaveLength(3);
    expect(activities[0]).toMatchObject({ actor_email: "ada@example.com" });
  });

  it("that are dry runs, or refused, are not recorded", async () => {
    const t = await startApp({ engine });
    expect(await told(t, { org_info: { org_name: "X" }, gitops: {} }, "/config?dry_run=true")).toEqual([]);
    const before = await t.store.activities.count();
    expect(
      (await t.patch("/config", { org_info: { org_name: "X" }, gitops: { gitops_mode_enabled: true } })).status,
    ).toBe(422);
    expect(await t.store.activities.count()).toBe(before);
  });
});
