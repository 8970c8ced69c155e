// The rules of the configuration's sections, one row each: refused values with the field in the error, and accepted
// values.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { PROVIDER_CERTIFICATE } from "../support/provider-certificate.ts";

const smtp = {
  enable_smtp: true,
  server: "mx.example.com",
  port: 25,
  sender_address: "svc@example.com",
  user_name: "svc",
  password: "pw-1",
};
const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.com"/>`;
const sso = {
  enable_sso: true,
  entity_id: "https://svc.example.com",
  issuer_uri: "https://idp.example.com",
  idp_name: "IdP",
  metadata_url: "https://idp.example.com/metadata",
};
const provider = {
  provider_idp_id: "id-1",
  provider_assertion_consumer_service_url: "https://idp.example.com/acs",
  provider_audience_uri: "https://idp.example.com/audience",
  provider_certificate: PROVIDER_CERTIFICATE,
};
const a = { url: "https://tracker.example.com", username: "u", api_token: "t-1", project_key: "OPS" };
const b = { url: "https://desk.example.com", email: "u@example.com", api_token: "t-2", group_id: 7 };
const calendar = { domain: "example.com", api_key_json: { client_email: "x@example.com", private_key: "pk-1" } };
const hook = "https://hooks.example.com/x";
const deep = `${"<a>".repeat(101)}${"</a>".repeat(101)}`;

/** The request, and the field in the error. */
const refused: [what: string, body: object, field: string][] = [
  ["SMTP without a server", { smtp_settings: { ...smtp, server: "" } }, "smtp_settings.server"],
  ["SMTP without a sender", { smtp_settings: { ...smtp, sender_address: "" } }, "smtp_settings.sender_address"],
  ["SMTP with port 0", { smtp_settings: { ...smtp, port: 0 } }, "smtp_settings.port"],
  ["SMTP with a port too high", { smtp_settings: { ...smtp, port: 65_536 } }, "smtp_settings.port"],
  ["SMTP with a user and no password", { smtp_settings: { ...smtp, password: "" } }, "smtp_settings.password"],
  [
    "an unknown authentication type",
    { smtp_settings: { authentication_type: "authtype_magic" } },
    "smtp_settings.authentication_type",
  ],
  [
    "an inherited name for one",
    { smtp_settings: { authentication_type: "constructor" } },
    "smtp_settings.authentication_type",
  ],
  [
    "an unknown authentication method",
    { smtp_settings: { authentication_method: "authmethod_md4" } },
    "smtp_settings.authentication_method",
  ],
  [
    "a sender with a line break",
    { smtp_settings: { sender_address: "a@example.com\r\nBcc: b@example.com" } },
    "smtp_settings.sender_address",
  ],
  ["a sender that is no address", { smtp_settings: { sender_address: "svc" } }, "smtp_settings.sender_address"],
  ["a server that is a URL", { smtp_settings: { server: "smtp://mx.example.com" } }, "smtp_settings.server"],
  ["a short entity id", { sso_settings: { entity_id: "four" } }, "sso_settings.entity_id"],
  ["SSO without an entity id", { sso_settings: { ...sso, entity_id: "" } }, "sso_settings.entity_id"],
  ["SSO without a name", { sso_settings: { ...sso, idp_name: "" } }, "sso_settings.idp_name"],
  ["SSO without metadata", { sso_settings: { ...sso, metadata_url: "" } }, "sso_settings.metadata"],
  [
    "metadata by ftp",
    { sso_settings: { ...sso, metadata_url: "ftp://idp.example.com/m" } },
    "sso_settings.metadata_url",
  ],
  ["metadata that is no XML", { sso_settings: { metadata: "{}" } }, "sso_settings.metadata"],
  ["metadata cut short", { sso_settings: { metadata: metadata.slice(0, -2) } }, "sso_settings.metadata"],
  [
    "metadata with a DOCTYPE",
    { sso_settings: { metadata: `<!DOCTYPE x [<!ENTITY a "b">]>${metadata}` } },
    "sso_settings.metadata",
  ],
  [
    "metadata of countless parts",
    { sso_settings: { metadata: `<a>${"<b/>".repeat(60_000)}</a>` } },
    "sso_settings.metadata",
  ],
  [
    "metadata of countless attributes",
    { sso_settings: { metadata: `<a${Array.from({ length: 60_000 }, (_, i) => ` a${i}="x"`).join("")}/>` } },
    "sso_settings.metadata",
  ],
  ["metadata nested without end", { sso_settings: { metadata: deep } }, "sso_settings.metadata"],
  [
    "metadata over a mebibyte",
    { sso_settings: { metadata: `<a>${"x".repeat(1 << 20)}</a>` } },
    "sso_settings.metadata",
  ],
  ["a logo that runs as script", { sso_settings: { idp_image_url: "javascript:x" } }, "sso_settings.idp_image_url"],
  ...[
    "http://x$(id)/",
    "https://a&calc&b",
    "https://`id`.example.com",
    'https://a"b.example.com/',
    "https://(a)/",
    "https://a%24b/",
    "https://svc.example.com/$(id)",
    "https://svc.example.com/'a'",
  ].flatMap((url): [string, object, string][] => [
    [`the server at ${url}`, { server_settings: { server_url: url } }, "server_settings.server_url"],
    [`MDM at ${url}`, { mdm: { vendora_server_url: url } }, "mdm.vendora_server_url"],
    [`SSO at ${url}`, { sso_settings: { sso_server_url: url } }, "sso_settings.sso_server_url"],
  ]),
  [
    "device pages at no host",
    { svc_desktop: { alternative_browser_host: "x$(id)" } },
    "svc_desktop.alternative_browser_host",
  ],
  ["a repository at no host", { gitops: { repository_url: "https://a&b/x" } }, "gitops.repository_url"],
  [
    "a webhook at no host",
    {
      webhook_settings: { activities_webhook: { enable_activities_webhook: true, destination_url: "https://$(id)/" } },
    },
    "webhook_settings.activities_webhook.destination_url",
  ],
  ["an SSO address that is none", { sso_settings: { sso_server_url: "svc" } }, "sso_settings.sso_server_url"],
  ...["no certificate", PROVIDER_CERTIFICATE.slice(0, -40), PROVIDER_CERTIFICATE.replace("MII", "MIX")].map(
    (provider_certificate, i): [string, object, string] => [
      `a provider certificate that is none (${i})`,
      { conditional_access: { ...provider, provider_certificate } },
      "conditional_access.provider_certificate",
    ],
  ),
  [
    "several provider certificates",
    { conditional_access: { ...provider, provider_certificate: `${PROVIDER_CERTIFICATE}\n${PROVIDER_CERTIFICATE}` } },
    "conditional_access.provider_certificate",
  ],
  [
    "a part of the provider's fields",
    { conditional_access: { ...provider, provider_certificate: "" } },
    "conditional_access.provider_certificate",
  ],
  [
    "a provider address that is none",
    { conditional_access: { ...provider, provider_assertion_consumer_service_url: "acs" } },
    "conditional_access.provider_assertion_consumer_service_url",
  ],
  ["a PIN without encryption", { mdm: { windows_require_bitlocker_pin: true } }, "mdm.windows_require_bitlocker_pin"],
  [
    "a version that is none",
    { mdm: { macos_updates: { minimum_version: "latest-1", deadline: "2026-05-01" } } },
    "mdm.macos_updates.minimum_version",
  ],
  ["a version without a deadline", { mdm: { ios_updates: { minimum_version: "17.1" } } }, "mdm.ios_updates.deadline"],
  [
    "a deadline without a version",
    { mdm: { ipados_updates: { deadline: "2026-05-01" } } },
    "mdm.ipados_updates.minimum_version",
  ],
  [
    "a day that does not exist",
    { mdm: { macos_updates: { minimum_version: "14.1", deadline: "2026-02-30" } } },
    "mdm.macos_updates.deadline",
  ],
  [
    "a deadline with a time",
    { mdm: { macos_updates: { minimum_version: "14.1", deadline: "2026-02-20T10:00:00Z" } } },
    "mdm.macos_updates.deadline",
  ],
  [
    "Windows deadlines without grace",
    { mdm: { windows_updates: { deadline_days: 5 } } },
    "mdm.windows_updates.grace_period_days",
  ],
  [
    "Windows grace without a deadline",
    { mdm: { windows_updates: { grace_period_days: 5 } } },
    "mdm.windows_updates.deadline_days",
  ],
  [
    "31 days",
    { mdm: { windows_updates: { deadline_days: 31, grace_period_days: 1 } } },
    "mdm.windows_updates.deadline_days",
  ],
  [
    "a negative grace",
    { mdm: { windows_updates: { deadline_days: 3, grace_period_days: -1 } } },
    "mdm.windows_updates.grace_period_days",
  ],
  [
    "8 days of grace",
    { mdm: { windows_updates: { deadline_days: 3, grace_period_days: 8 } } },
    "mdm.windows_updates.grace_period_days",
  ],
  [
    "a migration without an address",
    { mdm: { macos_migration: { enable: true, mode: "forced" } } },
    "mdm.macos_migration.webhook_url",
  ],
  [
    "a migration without a mode",
    { mdm: { macos_migration: { enable: true, webhook_url: hook } } },
    "mdm.macos_migration.mode",
  ],
  ["a migration of another mode", { mdm: { macos_migration: { mode: "gentle" } } }, "mdm.macos_migration.mode"],
  [
    "a Windows migration without Windows MDM",
    { mdm: { windows_migration_enabled: true } },
    "mdm.windows_migration_enabled",
  ],
  [
    "a Windows migration by hand",
    {
      mdm: {
        windows_enabled_and_configured: true,
        windows_migration_enabled: true,
        enable_turn_on_windows_mdm_manually: true,
      },
    },
    "mdm.windows_migration_enabled",
  ],
  [
    "end users' sign-in in part",
    { mdm: { end_user_authentication: { entity_id: "https://svc.example.com", metadata_url: hook } } },
    "mdm.end_user_authentication.idp_name",
  ],
  [
    "end users' sign-in without metadata",
    { mdm: { end_user_authentication: { entity_id: "https://svc.example.com", idp_name: "x" } } },
    "mdm.end_user_authentication.metadata",
  ],
  [
    "end users' sign-in with a short entity id",
    { mdm: { end_user_authentication: { entity_id: "abcd", idp_name: "x", metadata_url: hook } } },
    "mdm.end_user_authentication.entity_id",
  ],
  ["an MDM address that is none", { mdm: { vendora_server_url: "mdm" } }, "mdm.vendora_server_url"],
  ["GitOps mode without a repository", { gitops: { gitops_mode_enabled: true } }, "gitops.repository_url"],
  ["a repository by ssh", { gitops: { repository_url: "git@example.com:x" } }, "gitops.repository_url"],
  ["a transparency page that is none", { svc_desktop: { transparency_url: "x" } }, "svc_desktop.transparency_url"],
  ["an interval that is none", { webhook_settings: { interval: "daily" } }, "webhook_settings.interval"],
  ["an interval of nothing", { webhook_settings: { interval: "0s" } }, "webhook_settings.interval"],
  ["an interval of years", { webhook_settings: { interval: "9999d" } }, "webhook_settings.interval"],
  ...(
    [
      ["host_status_webhook", "enable_host_status_webhook"],
      ["failing_policies_webhook", "enable_failing_policies_webhook"],
      ["vulnerabilities_webhook", "enable_vulnerabilities_webhook"],
      ["activities_webhook", "enable_activities_webhook"],
    ] as const
  ).flatMap(([name, flag]): [string, object, string][] => [
    [
      `${name} without a destination`,
      { webhook_settings: { [name]: { [flag]: true } } },
      `webhook_settings.${name}.destination_url`,
    ],
    [
      `${name} to a file`,
      { webhook_settings: { [name]: { destination_url: "file:///etc/passwd" } } },
      `webhook_settings.${name}.destination_url`,
    ],
  ]),
  [
    "host status of no percent",
    {
      webhook_settings: {
        host_status_webhook: { enable_host_status_webhook: true, destination_url: hook, days_count: 1 },
      },
    },
    "webhook_settings.host_status_webhook.host_percentage",
  ],
  [
    "101 percent",
    { webhook_settings: { host_status_webhook: { host_percentage: 101 } } },
    "webhook_settings.host_status_webhook.host_percentage",
  ],
  [
    "a negative batch",
    { webhook_settings: { failing_policies_webhook: { host_batch_size: -1 } } },
    "webhook_settings.failing_policies_webhook.host_batch_size",
  ],
  ["a tracker without a URL", { integrations: { ticketing_a: [{ ...a, url: "" }] } }, "integrations.ticketing_a.0.url"],
  [
    "a tracker by another scheme",
    { integrations: { ticketing_a: [{ ...a, url: "ldap://x" }] } },
    "integrations.ticketing_a.0.url",
  ],
  [
    "a tracker with a password in its URL",
    { integrations: { ticketing_a: [{ ...a, url: "https://u:p@jira.example.com" }] } },
    "integrations.ticketing_a.0.url",
  ],
  [
    "a webhook with a password in its URL",
    { webhook_settings: { activities_webhook: { destination_url: "https://u:p@hooks.example.com" } } },
    "webhook_settings.activities_webhook.destination_url",
  ],
  [
    "a tracker without a token",
    { integrations: { ticketing_a: [{ ...a, api_token: "" }] } },
    "integrations.ticketing_a.0.api_token",
  ],
  ["the same project twice", { integrations: { ticketing_a: [a, a] } }, "integrations.ticketing_a.1.url"],
  [
    "a help desk without an email",
    { integrations: { ticketing_b: [{ ...b, email: "" }] } },
    "integrations.ticketing_b.0.email",
  ],
  [
    "a help desk without a group",
    { integrations: { ticketing_b: [{ ...b, group_id: 0 }] } },
    "integrations.ticketing_b.0.group_id",
  ],
  ["the same group twice", { integrations: { ticketing_b: [b, b] } }, "integrations.ticketing_b.1.url"],
  [
    "a calendar without a domain",
    { integrations: { calendar: [{ ...calendar, domain: "" }] } },
    "integrations.calendar.0.domain",
  ],
  [
    "a calendar of what is no domain",
    { integrations: { calendar: [{ ...calendar, domain: "https://example.com" }] } },
    "integrations.calendar.0.domain",
  ],
  [
    "a calendar key without its mail",
    { integrations: { calendar: [{ domain: "x", api_key_json: { private_key: "p" } }] } },
    "integrations.calendar.0.api_key_json.client_email",
  ],
  [
    "a calendar key that is a number",
    { integrations: { calendar: [{ domain: "x", api_key_json: { client_email: "c", private_key: 7 } }] } },
    "integrations.calendar.0.api_key_json.private_key",
  ],
  [
    "conditional access automations without a provider",
    { integrations: { conditional_access_enabled: true } },
    "integrations.conditional_access_enabled",
  ],
  [
    "two vulnerability automations, a webhook and a tracker",
    {
      webhook_settings: {
        vulnerabilities_webhook: { enable_vulnerabilities_webhook: true, destination_url: hook },
      },
      integrations: { ticketing_a: [{ ...a, enable_software_vulnerabilities: true }] },
    },
    "integrations.ticketing_a.0.enable_software_vulnerabilities",
  ],
  [
    "two vulnerability automations, both trackers",
    {
      integrations: {
        ticketing_a: [{ ...a, enable_software_vulnerabilities: true }],
        ticketing_b: [{ ...b, enable_software_vulnerabilities: true }],
      },
    },
    "integrations.ticketing_b.0.enable_software_vulnerabilities",
  ],
  [
    "two failing-policy automations",
    {
      webhook_settings: {
        failing_policies_webhook: { enable_failing_policies_webhook: true, destination_url: hook },
      },
      integrations: { ticketing_b: [{ ...b, enable_failing_policies: true }] },
    },
    "integrations.ticketing_b.0.enable_failing_policies",
  ],
];

/** Unknown keys and wrong types: 400. */
const malformed: [what: string, body: object, field: string][] = [
  [
    "an unknown key of a tracker",
    { integrations: { ticketing_a: [{ ...a, token: "x" }] } },
    "integrations.ticketing_a.0.token",
  ],
  [
    "a tracker without a project",
    { integrations: { ticketing_a: [{ url: a.url, username: "u", api_token: "t" }] } },
    "integrations.ticketing_a.0.project_key",
  ],
  ["a list that is none", { integrations: { ticketing_a: {} } }, "integrations.ticketing_a"],
  [
    "a group that is text",
    { integrations: { ticketing_b: [{ ...b, group_id: "7" }] } },
    "integrations.ticketing_b.0.group_id",
  ],
  [
    "a calendar key as text",
    { integrations: { calendar: [{ domain: "x", api_key_json: "{}" }] } },
    "integrations.calendar.0.api_key_json",
  ],
  ["an unknown key below", { mdm: { macos_updates: { version: "14" } } }, "mdm.macos_updates.version"],
  ["an unknown section of rules", { sigma_rules: [] }, "sigma_rules"],
  ["half a day", { mdm: { windows_updates: { deadline_days: 1.5 } } }, "mdm.windows_updates.deadline_days"],
  [
    "new hosts updated perhaps",
    { mdm: { macos_updates: { update_new_hosts: "maybe" } } },
    "mdm.macos_updates.update_new_hosts",
  ],
  ["a port as text", { smtp_settings: { port: "25" } }, "smtp_settings.port"],
];

/** The request, and the resulting value. */
const taken: [what: string, body: object, after: object][] = [
  ["SMTP whole", { smtp_settings: smtp }, { smtp_settings: { ...smtp, password: "********", configured: true } }],
  [
    "the older name of an authentication type",
    { smtp_settings: { authentication_type: "authtype_username_password" } },
    { smtp_settings: { authentication_type: "authtype_username_and_password" } },
  ],
  [
    "no authentication",
    { smtp_settings: { ...smtp, authentication_type: "authtype_none", user_name: "", password: "" } },
    { smtp_settings: { authentication_type: "none", configured: true } },
  ],
  ["SMTP off", { smtp_settings: { enable_smtp: false } }, { smtp_settings: { configured: false } }],
  ["SSO with an address that nobody answers at", { sso_settings: sso }, { sso_settings: sso }],
  [
    "SSO with metadata, blanks around it",
    { sso_settings: { ...sso, metadata_url: "", metadata: `\n${metadata}\n` } },
    { sso_settings: { metadata } },
  ],
  ["a provider", { conditional_access: provider }, { conditional_access: provider }],
  [
    "automations with a provider",
    { conditional_access: provider, integrations: { conditional_access_enabled: true } },
    { integrations: { conditional_access_enabled: true } },
  ],
  [
    "encryption with a PIN",
    { mdm: { enable_disk_encryption: true, windows_require_bitlocker_pin: true } },
    { mdm: { enable_disk_encryption: true, windows_require_bitlocker_pin: true } },
  ],
  [
    "encryption in its older place",
    { mdm: { macos_settings: { enable_disk_encryption: true } } },
    { mdm: { enable_disk_encryption: true, macos_settings: { custom_settings: [] } } },
  ],
  [
    "updates, which new hosts get",
    { mdm: { macos_updates: { minimum_version: "14.6.1", deadline: "2026-05-01" } } },
    { mdm: { macos_updates: { minimum_version: "14.6.1", deadline: "2026-05-01", update_new_hosts: true } } },
  ],
  [
    "updates, which new hosts do not get",
    { mdm: { macos_updates: { minimum_version: "14.6.1", deadline: "2026-05-01", update_new_hosts: "false" } } },
    { mdm: { macos_updates: { update_new_hosts: false } } },
  ],
  [
    "updates of the others",
    {
      mdm: {
        ios_updates: { minimum_version: "17", deadline: "2026-05-01" },
        ipados_updates: { minimum_version: "17.1", deadline: "2028-02-29" },
        windows_updates: { deadline_days: 30, grace_period_days: 7 },
      },
    },
    { mdm: { windows_updates: { deadline_days: 30, grace_period_days: 7 } } },
  ],
  [
    "no wait for Windows updates",
    { mdm: { windows_updates: { deadline_days: 0, grace_period_days: 0 } } },
    { mdm: { windows_updates: { deadline_days: 0, grace_period_days: 0 } } },
  ],
  [
    "a migration",
    { mdm: { macos_migration: { enable: true, mode: "forced", webhook_url: hook } } },
    { mdm: { macos_migration: { enable: true, mode: "forced", webhook_url: hook } } },
  ],
  ["Windows MDM", { mdm: { windows_enabled_and_configured: true } }, { mdm: { windows_enabled_and_configured: true } }],
  [
    "end users' sign-in, blanks around it",
    { mdm: { end_user_authentication: { entity_id: " https://svc ", idp_name: "x", metadata_url: hook } } },
    { mdm: { end_user_authentication: { entity_id: "https://svc", idp_name: "x", metadata_url: hook } } },
  ],
  [
    "GitOps mode",
    { gitops: { gitops_mode_enabled: true, repository_url: "https://example.com/r" } },
    { gitops: { gitops_mode_enabled: true } },
  ],
  [
    "four webhooks",
    {
      webhook_settings: {
        interval: "8h",
        host_status_webhook: {
          enable_host_status_webhook: true,
          destination_url: hook,
          host_percentage: 5,
          days_count: 7,
        },
        failing_policies_webhook: {
          enable_failing_policies_webhook: true,
          destination_url: hook,
          policy_ids: [1, 2],
          host_batch_size: 10,
        },
        vulnerabilities_webhook: { enable_vulnerabilities_webhook: true, destination_url: hook },
        activities_webhook: { enable_activities_webhook: true, destination_url: hook },
      },
    },
    { webhook_settings: { interval: "8h", failing_policies_webhook: { policy_ids: [1, 2] } } },
  ],
  [
    "a vulnerability automation and one for policies",
    {
      integrations: {
        ticketing_a: [{ ...a, enable_software_vulnerabilities: true }],
        ticketing_b: [{ ...b, enable_failing_policies: true }],
      },
    },
    {
      integrations: {
        ticketing_a: [
          { ...a, api_token: "********", enable_software_vulnerabilities: true, enable_failing_policies: false },
        ],
      },
    },
  ],
  [
    "two projects of one tracker",
    { integrations: { ticketing_a: [a, { ...a, project_key: "SEC" }] } },
    { integrations: { ticketing_a: [{ project_key: "OPS" }, { project_key: "SEC" }] } },
  ],
  [
    "agent options as documents hold them",
    { agent_options: { spec: { config: { options: { distributed_interval: 60 } } } } },
    { agent_options: { config: { options: { distributed_interval: 60 } } } },
  ],
  [
    "a path of feeds",
    { vulnerability_settings: { databases_path: "/v" } },
    { vulnerabilities: { databases_path: "/v" } },
  ],
];

const reset = { org_info: { org_name: "Test" }, server_settings: { server_url: "https://svc.example.com" } };

describe.each(rulesEngines)("sections on %s", (engine) => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
  });
  afterAll(() => t.close());
  const config = async () => (await (await t.get("/config")).json()) as AppConfig;

  it("refuse values that break a rule, with the field, and change nothing", async () => {
    const before = await config();
    for (const [what, body, field] of refused) {
      const good = { org_info: { org_name: "Changed" }, features: { enable_host_users: false } };
      const response = await t.patch("/config", { ...good, ...body });
      const { errors } = await errorOf(response);
      expect(
        [response.status, errors?.map(({ name }) => name).includes(field)],
        `${what}: ${JSON.stringify(errors)}`,
      ).toEqual([422, true]);
      expect(await config(), what).toEqual(before);
    }
    expect((await t.store.activities.list()).filter(({ type }) => type === "edited_config")).toEqual([]);
  });

  it("refuse unknown keys and wrong types", async () => {
    const before = await config();
    for (const [what, body, field] of malformed) {
      const response = await t.patch("/config", body);
      const { errors } = await errorOf(response);
      expect([response.status, errors?.[0]?.name], `${what}: ${JSON.stringify(errors)}`).toEqual([400, field]);
    }
    expect(await config()).toEqual(before);
  });

  it("accept valid values, and accept them again as they return them", async () => {
    for (const [what, body, after] of taken) {
      // While it is on, nothing else can be changed.
      await t.patch("/config", { gitops: { gitops_mode_enabled: false } });
      expect((await t.patch("/config?overwrite=true", reset)).status).toBe(200);
      const response = await t.patch("/config", body);
      expect(response.status, `${what}: ${await response.clone().text()}`).toBe(200);
      const shown = await config();
      expect(shown, what).toMatchObject(after);
      expect(await response.json(), what).toEqual(shown);
      const again = await t.patch("/config", shown);
      expect(again.status, `${what}: ${await again.clone().text()}`).toBe(200);
      expect(await again.json(), what).toEqual(shown);
    }
  });
});

describe.each(rulesEngines)("odd texts on %s", (engine) => {
  it("are stored or refused, and never cause an internal error", async () => {
    const t = await startApp({ engine });
    for (const text of ["a\u0000b", "\ud800", "\u202e", "<script>", "'; DROP TABLE hosts; --", "\u{1F600}".repeat(100)])
      for (const body of [
        { org_info: { org_name: text } },
        { features: { additional_queries: { [text]: text } } },
        { sso_settings: { idp_name: text, metadata: text } },
        { integrations: { ticketing_a: [{ ...a, username: text, api_token: text, project_key: text }] } },
        { integrations: { calendar: [{ domain: text, api_key_json: { ...calendar.api_key_json, [text]: text } }] } },
        { webhook_settings: { interval: text } },
        { smtp_settings: { user_name: text, password: text } },
        { mdm: { windows_settings: { custom_settings: [{ path: text, labels: [text] }] } } },
        { [text]: 1, mdm: { [text]: text } },
      ]) {
        const response = await t.patch("/config", body);
        expect([200, 400, 422], `${JSON.stringify(body)} ${await response.clone().text()}`).toContain(response.status);
        const shown = await t.get("/config");
        expect(shown.status).toBe(200);
        expect((await t.patch("/config", await shown.json())).status, JSON.stringify(body)).toBe(200);
      }
  });
});

describe.each(rulesEngines)("halves of characters on %s", (engine) => {
  it("are refused wherever a user sends them, because parsers of hosts may refuse what has them", async () => {
    const t = await startApp({ engine });
    const config = async () => (await (await t.get("/config")).json()) as AppConfig;
    const before = await config();
    const options = (value: string) => ({ agent_options: { config: { decorators: { load: ["SELECT 1", value] } } } });
    for (const [body, field] of [
      [{ features: { additional_queries: { a: "SELECT '\ud800'" } } }, "features.additional_queries.a"],
      [{ features: { additional_queries: { "\udc00": "SELECT 1" } } }, "features.additional_queries"],
      [options("SELECT '\ud83d'"), "agent_options.config.decorators.load.1"],
      [{ integrations: { ticketing_a: [{ ...a, project_key: "\ud800" }] } }, "integrations.ticketing_a.0.project_key"],
      [["\ud800"], "0"],
    ] as const)
      for (const query of ["", "?dry_run=true"]) {
        const response = await t.patch(`/config${query}`, body);
        expect([response.status, (await errorOf(response)).errors?.[0]?.name], `${field}${query}`).toEqual([
          422,
          field,
        ]);
      }
    expect(await config()).toEqual(before);
    // A character whose halves are two escapes, as many programs write it.
    const whole = String.raw`{"org_info": {"org_name": "Example \ud83d\ude00 \\ud800"}}`;
    const response = await t.raw("/api/v1/svc/config", {
      method: "PATCH",
      headers: { authorization: `Bearer ${t.token}`, "content-type": "application/json" },
      body: whole,
    });
    expect(response.status).toBe(200);
    expect((await config()).org_info.org_name).toBe("Example 😀 \\ud800");
  });
});

describe("updates of new macOS hosts", () => {
  it("keep their value until there is no version to update to", async () => {
    const t = await startApp();
    const patch = async (macos_updates: object) => {
      const response = await t.patch("/config", { mdm: { macos_updates } });
      expect(response.status).toBe(200);
      return ((await response.json()) as AppConfig).mdm.macos_updates.update_new_hosts;
    };
    expect(await patch({ minimum_version: "14", deadline: "2026-05-01", update_new_hosts: false })).toBe(false);
    expect(await patch({ deadline: "2026-06-01" })).toBe(false);
    expect(await patch({ update_new_hosts: true })).toBe(true);
    expect(await patch({ deadline: "2026-07-01", update_new_hosts: null })).toBe(true);
    expect(await patch({ minimum_version: "", deadline: "" })).toBe(false);
    expect((await t.patch("/config", { org_info: { org_name: "x" } })).status).toBe(200);
    expect(await patch({ minimum_version: "15", deadline: "2026-08-01" })).toBe(true);
  });
});

describe("one automation of a kind", () => {
  it("is enforced for stored values too, and the error names the new one", async () => {
    const t = await startApp();
    const off = { integrations: { ticketing_a: [a] } };
    expect(
      (await t.patch("/config", { integrations: { ticketing_a: [{ ...a, enable_failing_policies: true }] } })).status,
    ).toBe(200);
    const webhook = { failing_policies_webhook: { enable_failing_policies_webhook: true, destination_url: hook } };
    const response = await t.patch("/config", { webhook_settings: webhook });
    expect(response.status).toBe(422);
    expect((await errorOf(response)).errors?.map(({ name }) => name)).toEqual([
      "webhook_settings.failing_policies_webhook.enable_failing_policies_webhook",
    ]);
    expect((await t.patch("/config", { ...off, webhook_settings: webhook })).status).toBe(200);
  });
});

describe("premium settings", () => {
  const premium: [string, object][] = [
    ["sso_settings.enable_jit_provisioning", { sso_settings: { ...sso, enable_jit_provisioning: true } }],
    ["conditional_access.provider_idp_id", { conditional_access: provider }],
    ["conditional_access.directory_tenant_id", { conditional_access: { directory_tenant_id: "x" } }],
    ["mdm.enable_turn_on_windows_mdm_manually", { mdm: { enable_turn_on_windows_mdm_manually: true } }],
    ["mdm.enable_disk_encryption", { mdm: { enable_disk_encryption: true } }],
    ["mdm.enable_disk_encryption", { mdm: { macos_settings: { enable_disk_encryption: true } } }],
    ["mdm.windows_require_bitlocker_pin", { mdm: { windows_require_bitlocker_pin: true } }],
    [
      "mdm.macos_updates.minimum_version",
      { mdm: { macos_updates: { minimum_version: "14", deadline: "2026-05-01" } } },
    ],
    ["mdm.macos_updates.update_new_hosts", { mdm: { macos_updates: { update_new_hosts: true } } }],
    ["mdm.ios_updates.deadline", { mdm: { ios_updates: { minimum_version: "14", deadline: "2026-05-01" } } }],
    ["mdm.ios_updates.deadline_days", { mdm: { ios_updates: { minimum_version: "latest", deadline_days: 7 } } }],
    ["mdm.ipados_updates.deadline", { mdm: { ipados_updates: { minimum_version: "14", deadline: "2026-05-01" } } }],
    ["mdm.windows_updates.deadline_days", { mdm: { windows_updates: { deadline_days: 1, grace_period_days: 0 } } }],
    ["mdm.windows_updates.deadline_days", { mdm: { windows_updates: { deadline_days: 0, grace_period_days: 0 } } }],
    ["mdm.macos_migration.enable", { mdm: { macos_migration: { enable: true, mode: "forced", webhook_url: hook } } }],
    [
      "mdm.macos_setup.enable_end_user_authentication",
      { mdm: { macos_setup: { enable_end_user_authentication: true } } },
    ],
    ["svc_desktop.transparency_url", { svc_desktop: { transparency_url: hook } }],
    ["gitops.gitops_mode_enabled", { gitops: { gitops_mode_enabled: true, repository_url: hook } }],
  ];

  it("are refused on the free tier, except if they are sent back unchanged", async () => {
    const t = await startApp({ tier: "free" });
    const shown = (await (await t.get("/config")).json()) as AppConfig;
    for (const [field, body] of premium) {
      const response = await t.patch("/config", body);
      const { errors } = await errorOf(response);
      expect(response.status, field).toBe(422);
      expect(errors, field).toContainEqual({ name: field, reason: "missing or invalid license" });
    }
    const back = await t.patch("/config", shown);
    expect(back.status, await back.clone().text()).toBe(200);
    expect(await back.json()).toEqual(shown);
    expect((await t.patch("/config", { mdm: { windows_enabled_and_configured: true } })).status).toBe(200);
  });
});

describe("what a change turns off takes with it what needs it", () => {
  const needs = [
    [{ enable_disk_encryption: true }, { windows_require_bitlocker_pin: true }, { enable_disk_encryption: false }],
    [
      { enable_disk_encryption: true },
      { windows_require_bitlocker_pin: true },
      { disk_encryption: { windows: false } },
    ],
    [
      { windows_enabled_and_configured: true },
      { windows_migration_enabled: true },
      { windows_enabled_and_configured: false },
    ],
  ] as const;

  it.each(needs)("%j, %j: %j", async (switched, dependent, off) => {
    const t = await startApp();
    const [name] = Object.keys(dependent);
    expect((await t.patch("/config", { mdm: { ...switched, ...dependent } })).status).toBe(200);
    const named = await t.patch("/config", { mdm: { ...off, ...dependent } });
    expect([named.status, (await errorOf(named)).errors?.[0]?.name]).toEqual([422, `mdm.${name}`]);
    const other = (await (await t.patch("/config", { mdm: { name_template: "" } })).json()) as AppConfig;
    expect(other.mdm, "other changes keep it").toMatchObject(dependent);
    const response = await t.patch("/config", { mdm: off });
    expect(response.status, await response.clone().text()).toBe(200);
    expect(((await response.json()) as AppConfig).mdm).toMatchObject({ ...off, [name!]: false });
  });
});
