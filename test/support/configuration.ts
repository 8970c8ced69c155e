// Configuration as seen by a client of POST /spec/state and /spec/apply.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ConfigurationState, StateThing, ThingChange, ThingKey } from "../../src/api/edge/configuration.ts";
import { errorOf } from "./accounts.ts";
import type { Caller, TestApp } from "./app.ts";

export const refOf = (text: string): string =>
  createHash("sha256").update(`svc ref\0${text}`).digest("hex").slice(0, 32);
export const secret = (text: string) => ({ $secret: refOf(text) });
export const textsOf = (...texts: string[]): Record<string, string> =>
  Object.fromEntries(texts.map((text) => [refOf(text), text]));

export async function stateOf(t: Caller, body: object = {}): Promise<ConfigurationState> {
  const response = await t.post("/spec/state", body);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as ConfigurationState;
}

export const find = (state: Pick<ConfigurationState, "things">, key: ThingKey): StateThing | undefined =>
  state.things.find(({ kind, owner, name }) => kind === key.kind && owner === key.owner && name === key.name);

/** The value of a thing that must exist. */
export function thingValue<T = Record<string, unknown>>(
  state: Pick<ConfigurationState, "things">,
  kind: ThingKey["kind"],
  name: string = kind,
  owner: string | null = null,
): T {
  const thing = find(state, { kind, owner, name });
  if (!thing) throw new Error(`no ${kind} ${name} of ${owner}`);
  return thing.value as T;
}

export interface Applying {
  readonly changes: readonly ThingChange[];
  readonly secrets?: Record<string, string>;
  readonly files?: Record<string, string>;
  readonly pins?: readonly unknown[];
  readonly dry_run?: boolean;
  readonly skip_checks?: boolean;
}

export async function applied(t: Caller, body: Applying): Promise<{ create: number; update: number; delete: number }> {
  const response = await t.post("/spec/apply", { skip_checks: true, ...body });
  if (response.status !== 200) throw new Error(await response.text());
  return ((await response.json()) as { applied: { create: number; update: number; delete: number } }).applied;
}

/** The error of an apply that must be refused. */
export async function refused(t: Caller, status: number, body: Applying): Promise<{ name: string; reason: string }[]> {
  const response = await t.post("/spec/apply", { skip_checks: true, ...body });
  const text = await response.clone().text();
  expect(response.status, text).toBe(status);
  return (await errorOf(response)).errors ?? [];
}

export const policy = (more: object = {}) => ({
  type: "dynamic",
  svc_maintained_app_slug: "",
  patch_when_closed: false,
  notify_before_patching: false,
  continuous_automations_enabled: false,
  labels_include_all: [] as string[],
  resend_configuration_profile: null as string | null,
  query: "SELECT 1",
  description: "",
  resolution: "",
  platform: "",
  critical: false,
  labels_include_any: [] as string[],
  labels_exclude_any: [] as string[],
  calendar_events_enabled: false,
  conditional_access_enabled: false,
  webhooks_and_tickets_enabled: false,
  run_script: null as string | null,
  install_software: null as Record<string, string> | null,
  ...more,
});

export const query = (more: object = {}) => ({
  description: "",
  query: "SELECT 1",
  interval: 0,
  observer_can_run: false,
  platform: "",
  min_qengine_version: "",
  automations_enabled: false,
  logging: "snapshot",
  discard_data: false,
  labels_include_any: [] as string[],
  labels_include_all: [] as string[],
  ...more,
});

export const label = (more: object = {}) => ({
  description: "",
  platform: "",
  label_membership_type: "dynamic",
  query: "SELECT 1",
  criteria: null,
  hosts: null as (string | number)[] | null,
  ...more,
});

export const change = (
  action: ThingChange["action"],
  kind: ThingKey["kind"],
  name: string,
  value?: unknown,
  owner: string | null = null,
): ThingChange => ({ kind, owner, name, action, ...(value === undefined ? {} : { value: value as never }) });

/** One thing of every kind that needs no device management, as a first apply creates them. */
export function everything(hosts: readonly (string | number)[]): {
  changes: ThingChange[];
  secrets: Record<string, string>;
} {
  const settings = {
    host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 40 },
    features: {
      enable_host_users: false,
      enable_software_inventory: true,
      additional_queries: { up: "SELECT 1" },
      historical_data: { uptime: true, vulnerabilities: true },
    },
    webhook_settings: {
      host_status_webhook: {
        enable_host_status_webhook: true,
        destination_url: "https://hooks.example.com/status",
        host_percentage: 10,
        days_count: 3,
      },
      failing_policies_webhook: {
        enable_failing_policies_webhook: true,
        destination_url: "https://hooks.example.com/failing",
        host_batch_size: 50,
      },
    },
    integrations: {
      ticketing_a: [{ url: "https://jira.example.com", project_key: "OPS", enable_failing_policies: false }],
      ticketing_b: [],
      calendar: { enable_calendar_events: false, webhook_url: "https://hooks.example.com/calendar" },
      conditional_access_enabled: false,
    },
  };
  return {
    secrets: textsOf(
      "smtp-password-2f81",
      "jira-token-77aa",
      "global-enroll-91c0",
      "sales-enroll-5b1e",
      "scep-challenge-0d3c",
    ),
    changes: [
      change("update", "config", "org_info", {
        org_name: "Applied",
        org_logo_url: "https://example.com/logo.png",
        org_logo_url_light_background: "",
        contact_url: "https://example.com/help",
      }),
      change("update", "config", "smtp_settings", {
        enable_smtp: true,
        sender_address: "svc@example.com",
        server: "mail.example.com",
        port: 465,
        authentication_type: "authtype_username_and_password",
        user_name: "svc",
        password: secret("smtp-password-2f81"),
        enable_ssl_tls: true,
        authentication_method: "authmethod_login",
        domain: "",
        verify_ssl_certs: true,
        enable_start_tls: false,
      }),
      change("update", "config", "integrations", {
        ticketing_a: [
          {
            enable_software_vulnerabilities: false,
            enable_failing_policies: false,
            url: "https://jira.example.com",
            username: "bot",
            api_token: secret("jira-token-77aa"),
            project_key: "OPS",
          },
        ],
        ticketing_b: [],
        calendar: [],
        conditional_access_enabled: false,
        certificates_idp_introspection_urls: [],
        certificates_idp_client_ids: [],
        certificates_disable_host_end_user_binding: false,
      }),
      change("update", "agent_options", "agent_options", { config: { options: { logger_tls_period: 20 } } }),
      change("create", "certificate_authority", "custom_scep_proxy/WIFI", {
        name: "WIFI",
        url: "https://scep.example.com/scep",
        challenge: secret("scep-challenge-0d3c"),
      }),
      change("create", "label", "Laptops", label({ query: "SELECT 1 FROM battery", platform: "darwin" })),
      change("create", "label", "Picked", label({ label_membership_type: "manual", query: "", hosts })),
      change(
        "create",
        "label",
        "Recent",
        label({ label_membership_type: "host_vitals", query: "", criteria: { where: "platform = 'windows'" } }),
      ),
      change("create", "team", "Sales", { description: "Those who sell" }),
      change("update", "agent_options", "agent_options", { config: { options: { logger_tls_period: 30 } } }, "Sales"),
      change("update", "team_settings", "team_settings", settings, "Sales"),
      change(
        "update",
        "team_settings",
        "team_settings",
        {
          webhook_settings: {
            host_activities_webhook: null,
            failing_policies_webhook: {
              enable_failing_policies_webhook: true,
              destination_url: "https://hooks.example.com/none",
              host_batch_size: 0,
            },
            failing_policies_mail: { enable_failing_policies_mail: false, recipients: [], digest: "daily" },
          },
          integrations: { ticketing_a: [], ticketing_b: [] },
        },
        "No team",
      ),
      change("update", "enroll_secrets", "enroll_secrets", { secrets: [secret("global-enroll-91c0")] }),
      change("update", "enroll_secrets", "enroll_secrets", { secrets: [secret("sales-enroll-5b1e")] }, "Sales"),
      change(
        "create",
        "policy",
        "Encrypted",
        policy({ platform: "darwin,windows", webhooks_and_tickets_enabled: true }),
      ),
      change("create", "policy", "Encrypted", policy({ critical: true, labels_include_any: ["Laptops"] }), "Sales"),
      change("create", "policy", "Up", policy({ webhooks_and_tickets_enabled: true, resolution: "restart" }), "Sales"),
      change("create", "policy", "Loose", policy({ webhooks_and_tickets_enabled: true }), "No team"),
      change("create", "query", "Users", query({ interval: 3600, logging: "differential", platform: "darwin,linux" })),
      change(
        "create",
        "query",
        "Users",
        query({ labels_include_any: ["Laptops", "Picked"], discard_data: true }),
        "Sales",
      ),
    ],
  };
}

export const newestActivity = async ({ store }: Pick<TestApp, "store">) => (await store.activities.max("id")) ?? 0;

/** Pins of everything in its current state. */
export const pinsOf = ({ things }: Pick<ConfigurationState, "things">) =>
  things.map(({ kind, owner, name, revision }) => ({ kind, owner, name, revision }));
