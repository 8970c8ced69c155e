// Files with real servers: the server stores their values, so that a second plan of them is empty.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { gitops, stateOf, writeAll } from "../support/gitops-cli.ts";
import { makeHost } from "../support/make.ts";

const DEFAULT = `org_settings:
  org_info: {org_name: Example, org_logo_url_dark_mode: https://example.com/logo.png, contact_url: https://example.com/help}
  server_settings: {server_url: https://svc.example.com, report_cap: 500, discard_reports_data: true}
  features: {enable_host_users: false, additional_queries: {time: SELECT * FROM time}}
  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 30}
  activity_expiry_settings: {activity_expiry_enabled: true, activity_expiry_window: 90}
  smtp_settings: {enable_smtp: true, sender_address: svc@example.com, server: mail.example.com, user_name: svc, password: $SMTP, authentication_type: authtype_username_password}
  sso_settings: {enable_sso: true, entity_id: ' svc.example.com ', issuer_uri: https://idp, idp_name: IdP, metadata_url: https://idp.example.com/metadata}
  conditional_access: {directory_tenant_id: ' tenant '}
  vulnerability_settings: {databases_path: /var/lib/svc}
  svc_desktop: {transparency_url: https://example.com/transparency}
  gitops: {gitops_mode_enabled: true, repository_url: https://git.example.com/svc}
  webhook_settings:
    interval: 12h
    failing_policies_webhook: {enable_failing_policies_webhook: true, destination_url: https://hooks.example.com/p, host_batch_size: 10}
    failing_policies_mail: {enable_failing_policies_mail: true, recipients: [ops@example.com, it@example.com], digest: hourly}
    activities_webhook: {enable_activities_webhook: true, destination_url: https://hooks.example.com/a}
  integrations:
    ticketing_a: [{url: https://jira.example.com, username: bot, api_token: $JIRA, project_key: OPS}]
    calendar: [{domain: example.com, api_key_json: {client_email: c@example.com, private_key: $CALENDAR}}]
  mdm:
    vendora_server_url: https://mdm.example.com
    end_user_authentication: {entity_id: ' mdm.example.com', idp_name: IdP, metadata_url: https://idp.example.com/mdm}
  secrets: [{secret: $GLOBAL}, {secret: $OTHER}]
  certificate_authorities:
    custom_scep_proxy: [{name: SCEP, url: https://scep.example.com, challenge: $SCEP}]
    hosted_ca_a: [{name: HOSTED, url: https://ca.example.com, api_token: $CA, profile_id: '1', certificate_common_name: $SVC_VAR_HOST_HARDWARE_SERIAL, certificate_seat_id: seat}]
    directory_scep_proxy: {url: https://ndes.example.com, admin_url: https://ndes.example.com/admin, username: u, password: $NDES}
agent_options:
  config: {options: {distributed_interval: 30}}
  overrides: {platforms: {darwin: {options: {distributed_interval: 60}}}}
custom_host_vitals: [{name: Site}, {name: ' Rack '}]
labels:
  - {name: Berlin, label_membership_type: host_vitals, criteria: {vital: custom_host_vital, custom_host_vital_id: 1, value: ' Berlin '}}
  - {name: ' Laptops ', query: SELECT 1 FROM battery, platform: darwin}
  - {name: Chosen, label_membership_type: manual, hosts: [c.example.com, SERIAL-A, c.example.com]}
  - {name: Linux, label_membership_type: host_vitals, criteria: {where: ' platform=linux '}}
policies:
  - {name: Encrypted, query: SELECT 1 FROM disk_encryption, platform: 'windows, darwin', critical: true, labels_include_any: [Laptops, Chosen], webhooks_and_tickets_enabled: true}
reports:
  - {name: Users, query: SELECT * FROM users, interval: 3600, platform: [windows, linux], min_qengine_version: ' 5.9.0 ', labels_include_any: [Linux]}
`;
const NO_TEAM = `name: No team
controls:
  windows_enabled_and_configured: true
  enable_disk_encryption: true
  windows_settings: {require_bitlocker_pin: true}
  macos_updates: {minimum_version: '15.1', deadline: '2026-01-31'}
  ios_updates: {minimum_version: latest, deadline_days: 14}
  setup_experience: {enable_end_user_authentication: true, vendora_enable_release_device_manually: true}
settings:
  webhook_settings: {failing_policies_webhook: {enable_failing_policies_webhook: true, destination_url: https://hooks.example.com/n}, failing_policies_mail: {enable_failing_policies_mail: true, recipients: [ops@example.com]}}
policies:
  - {name: Patched, query: SELECT 1, webhooks_and_tickets_enabled: true}
`;
const OPS = `name: ' Ope\u0301rations'
settings:
  description: Runs things
  secrets: [{secret: $OPS}]
  features: {enable_software_inventory: false}
  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 7}
  webhook_settings: {host_status_webhook: {enable_host_status_webhook: true, destination_url: https://hooks.example.com/s, host_percentage: 5, days_count: 2}}
  integrations:
    ticketing_a: [{url: https://jira.example.com, project_key: OPS}]
    calendar: {enable_calendar_events: true, webhook_url: https://hooks.example.com/c}
controls:
  enable_disk_encryption: true
  windows_updates: {deadline_days: 5, grace_period_days: 2}
agent_options: {config: {options: {logger_tls_period: 60}}}
policies:
  - {name: Encrypted, query: SELECT 2, calendar_events_enabled: true, conditional_access_enabled: true}
reports:
  - {name: Users, query: SELECT uid FROM users, observer_can_run: true, logging: differential, discard_data: true, automations_enabled: true}
`;
const env = Object.fromEntries(
  ["SMTP", "JIRA", "CALENDAR", "GLOBAL", "OTHER", "SCEP", "CA", "NDES", "OPS"].map((name) => [
    name,
    `secret-of-${name}-that-is-long`,
  ]),
);
const DOCUMENTS = `apiVersion: v1
kind: config
spec:
  org_info: {contact_url: https://example.com/other}
  integrations: {ticketing_a: []}
---
apiVersion: v1
kind: team
spec:
  team:
    name: Ops
    mdm: {macos_setup: {enable_end_user_authentication: false}}
    integrations: {conditional_access_enabled: false}
---
apiVersion: v1
kind: query
spec: {name: Old, query: SELECT 3, team: Ops, interval: 60}
---
apiVersion: v1
kind: policy
spec: {name: Old, query: SELECT 3, team: Ops}
`;

async function started(engine: "lowdb" | "postgres"): Promise<TestApp> {
  const app = await startApp({ engine });
  await makeHost(app, { hostname: "a.example.com", hardware_serial: "SERIAL-A" });
  await makeHost(app, { hostname: "c.example.com", hardware_serial: "SERIAL-C" });
  return app;
}

describe.each(bothEngines)("files on %s", (engine) => {
  const options = ["--yes", "--allow-delete", "--skip-checks"];

  it("with every possible field produce exactly that state on the server", async () => {
    const app = await started(engine);
    const dir = await writeAll(
      new Map([
        ["default.yml", DEFAULT],
        ["no-team.yml", NO_TEAM],
        ["ops.yml", OPS],
      ]),
    );
    const files = ["default.yml", "no-team.yml", "ops.yml"].flatMap((name) => ["-f", join(dir, name)]);
    const applied = await gitops(app, ["apply", ...files, ...options], { env });
    expect(applied, applied.stderr).toMatchObject({ exitCode: 0 });
    const plan = await gitops(app, ["plan", ...files, "-o", "json"], { env });
    expect(JSON.parse(plan.stdout)).toMatchObject({ changes: [] });

    const { things } = await stateOf(app);
    const value = (kind: string, owner: string | null, name = kind) =>
      things.find((one) => one.kind === kind && one.owner === owner && one.name === name)?.value;
    expect(value("config", null, "mdm")).toMatchObject({
      windows_enabled_and_configured: true,
      windows_require_bitlocker_pin: true,
      vendora_server_url: "https://mdm.example.com",
      macos_updates: { minimum_version: "15.1", update_new_hosts: true },
      end_user_authentication: { entity_id: "mdm.example.com" },
    });
    expect(value("label", null, "Chosen")).toMatchObject({ hosts: ["SERIAL-A", "SERIAL-C"] });
    expect(value("policy", null, "Encrypted")).toMatchObject({
      platform: "darwin,windows",
      webhooks_and_tickets_enabled: true,
    });
    expect(value("team", null, "Opérations")).toEqual({ description: "Runs things" });
    expect((value("enroll_secrets", null) as { secrets: unknown[] }).secrets).toHaveLength(2);
    // Secrets are not compared, because the server does not return them.
    expect(JSON.stringify(things)).not.toContain("secret-of-");

    const other = await gitops(app, ["plan", ...files, "-o", "json"], {
      env: { ...env, SMTP: "another", OPS: "another one that is long" },
    });
    expect(JSON.parse(other.stdout).changes).toMatchObject([
      { kind: "config", name: "smtp_settings", fields: [{ path: "password", secret: "changed" }] },
      { kind: "enroll_secrets", team: "Opérations", fields: [{ path: "secrets", secret: "changed" }] },
    ]);
  });

  it("without content reset everything except fields that are kept", async () => {
    const app = await started(engine);
    const before = await stateOf(app);
    const dir = await writeAll(
      new Map([
        ["full.yml", DEFAULT],
        ["no-team.yml", NO_TEAM],
        ["ops.yml", OPS],
        ["empty.yml", "org_settings: {org_info: {org_name: Example}}\ncontrols: {}\n"],
      ]),
    );
    const full = ["full.yml", "no-team.yml", "ops.yml"].flatMap((name) => ["-f", join(dir, name)]);
    expect(await gitops(app, ["apply", ...full, ...options], { env })).toMatchObject({ exitCode: 0 });
    const empty = ["-f", join(dir, "empty.yml"), "--delete-other-teams"];
    expect(await gitops(app, ["apply", ...empty, ...options], { env })).toMatchObject({ exitCode: 0 });
    const { things, defaults } = await stateOf(app);
    const kept = ["gitops", "host_expiry_settings", "smtp_settings"];
    for (const { kind, name, owner, value } of things)
      if (kind === "config" && !kept.includes(name) && name !== "org_info")
        expect([name, value]).toEqual([name, defaults.config[name]]);
      else if (kind === "config" && name !== "org_info")
        expect([name, value]).not.toEqual([name, before.things.find((one) => one.name === name)?.value]);
      else if (kind === "team_settings") expect([owner, value]).toEqual(["No team", defaults.no_team_settings]);
    expect(
      things.filter(({ kind }) => !["config", "agent_options", "team_settings", "enroll_secrets"].includes(kind)),
    ).toEqual([]);
    const again = await gitops(app, ["plan", ...empty, "-o", "json"], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: [] });
  });

  it("of the older format do not change what they omit", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(
      new Map([
        ["d.yml", DEFAULT.replace(/^ {2}- \{name: Chosen.*\n/m, "").replace(", Chosen]", "]")],
        ["no-team.yml", NO_TEAM],
        ["ops.yml", "name: Ops\npolicies: [{name: Kept, query: SELECT 1}]\n"],
        ["old.yml", DOCUMENTS],
      ]),
    );
    const files = ["d.yml", "no-team.yml", "ops.yml"].flatMap((name) => ["-f", join(dir, name)]);
    expect(await gitops(app, ["apply", ...files, ...options], { env })).toMatchObject({ exitCode: 0 });
    const before = await stateOf(app);
    const old = ["-f", join(dir, "old.yml")];
    const applied = await gitops(app, ["apply", ...old, ...options], { env });
    expect(applied.stderr).toContain("gitops succeeded");
    const after = await stateOf(app);
    const changed = after.things.filter(
      (one) =>
        before.things.find((was) => was.kind === one.kind && was.owner === one.owner && was.name === one.name)
          ?.revision !== one.revision,
    );
    expect(changed.map(({ kind, owner, name }) => [kind, owner, name])).toEqual(
      expect.arrayContaining([
        ["config", null, "org_info"],
        ["config", null, "integrations"],
        ["query", "Ops", "Old"],
        ["policy", "Ops", "Old"],
      ]),
    );
    expect(changed).toHaveLength(4);
    expect(after.things.find(({ name }) => name === "Kept")).toBeDefined();
    const again = await gitops(app, ["plan", ...old, "-o", "json"], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: [] });
  });
});
