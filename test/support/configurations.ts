// Generated configurations, as things that this server accepts, for tests of configuration as code.

import fc from "fast-check";
import { caTypes, isSingle, secretFields } from "../../src/api/certificates/ca.ts";
import { policyPlatforms } from "../../src/api/checks/policies.ts";
import { queryLoggings, queryPlatforms } from "../../src/api/checks/queries.ts";
import type { ConfigurationState, StateThing } from "../../src/api/edge/configuration.ts";
import { mailDigests } from "../../src/api/settings/app-config.ts";
import { NO_TEAM_NAME } from "../../src/api/settings/no-team.ts";
import type { Json } from "../../src/text/differences.ts";
import { isRecord } from "../../src/text/record.ts";
import { PROVIDER_CERTIFICATE } from "./provider-certificate.ts";

type Defaults = ConfigurationState["defaults"];
type Fields = Record<string, Json>;

export interface GenerateOptions {
  readonly defaults: Defaults;
  /** Names of hosts that manual labels may contain. */
  readonly hosts: readonly string[];
  /** Authorities are contacted before they are saved, so without one none can exist. */
  readonly authorities: boolean;
}

const SECRET = { $secret: "" };

/** Texts with everything that files treat specially. */
const text = fc
  .array(
    fc.constantFrom(
      "SELECT 1",
      "\n",
      " ",
      "$HOME",
      "\\",
      "\\$x",
      "$SVC_VAR_HOST_UUID",
      '"',
      "'",
      ": ",
      "# ",
      "- ",
      "é",
      "部署",
      "😀",
      "{",
      "}",
      "null",
      "5",
      "\t",
      "%",
      "|",
      ">",
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));
const sql = text.map((tail) => `SELECT '${tail.replaceAll("'", "''")}'`);
const short = text.map((given) =>
  given
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 60),
);
const name = fc
  .tuple(
    fc.constantFrom(
      "Disk",
      "users",
      "Ops & Co",
      "a/b",
      "../up",
      "$x",
      "部署",
      "no-team",
      "x: y",
      "CON",
      "#1",
      "'q'",
      "Été",
    ),
    fc.nat(999),
  )
  .map(([word, n]) => `${word} ${n}`.normalize("NFC"));
const url = fc.nat(99).map((n) => `https://${n}.example.com/path?a=$b&c=%20#d`);
const optionalUrl = fc.oneof(fc.constant(""), url);
/** URL of the server itself: it is written into commands. */
const serverUrl = fc.oneof(
  fc.constant(""),
  fc.nat(99).map((n) => `https://${n}.example.com/path`),
);
const bool = fc.boolean();
const perhaps = fc.constantFrom(null, true, false);

/** Some of the names, each once, sorted as in values. */
const some = (names: readonly string[]) => fc.subarray([...names]).map((chosen) => [...new Set(chosen)].sort());
const platforms = (known: readonly string[]) => fc.subarray([...known]).map((chosen) => chosen.join(","));

const hook = <T extends string>(flag: T, more: Record<string, fc.Arbitrary<Json>> = {}) =>
  fc.record({ on: bool, destination_url: url, ...more }).map(({ on, ...rest }): Fields => ({ [flag]: on, ...rest }));
const batch = { host_batch_size: fc.nat(1000) };
const status = { host_percentage: fc.integer({ min: 1, max: 100 }), days_count: fc.integer({ min: 1, max: 30 }) };

/** Turned off, because the organization may have no outgoing mail. */
const failingPoliciesMail = fc.record({
  enable_failing_policies_mail: fc.constant(false),
  recipients: fc.uniqueArray(fc.constantFrom("it@example.com", "help@example.com"), { maxLength: 2 }),
  digest: fc.constantFrom(...mailDigests),
});

const expiry = (prefix: string) =>
  fc
    .tuple(bool, fc.integer({ min: 1, max: 400 }))
    .map(([on, days]): Fields => ({ [`${prefix}_enabled`]: on, [`${prefix}_window`]: days }));
const teamFeatures = {
  enable_host_users: bool,
  enable_software_inventory: bool,
  additional_queries: fc.oneof(
    fc.constant(null),
    fc.dictionary(fc.constantFrom("a.b", "$x", "users", "#"), sql, { minKeys: 1, noNullPrototype: true }),
  ),
  historical_data: fc.constant({ uptime: false, vulnerabilities: true }),
};
const chart = fc.constant({
  software_filters: ["os", "browsers"],
  cvss_min: 7.5,
  cvss_max: null,
  epss_min: null,
  epss_max: 50.5,
  has_known_exploit: true,
  exclude_vulnerabilities: ["CVE-2026-0001", "CVE-2025-12345"],
});
const features = fc.record({ ...teamFeatures, vulnerability_exposure_historical_reporting: chart });
const version = fc.constantFrom(
  { minimum_version: "", deadline: "", deadline_days: null },
  { minimum_version: "14.6.1", deadline: "2026-05-01", deadline_days: null },
  { minimum_version: "15.0", deadline: "2027-01-31", deadline_days: null },
  { minimum_version: "latest", deadline: "", deadline_days: 14 },
);
const days = fc.constantFrom(
  { deadline_days: null, grace_period_days: null },
  { deadline_days: 5, grace_period_days: 0 },
);

const agentOptions = fc.record(
  {
    config: fc
      .record({
        pack_delimiter: fc.constantFrom("/", "_"),
        logger_tls_period: fc.integer({ min: 1, max: 600 }),
        queries: fc.array(sql, { maxLength: 2 }),
      })
      .map(({ queries, ...options }): Json => ({ options, decorators: { load: queries } })),
    overrides: fc.constant<Json>({ platforms: { darwin: { options: { logger_tls_period: 7 } } } }),
    script_execution_timeout: fc.integer({ min: 1, max: 3600 }),
    update_channels: fc.constant<Json>({ orbit: "stable", desktop: "$edge" }),
  },
  { requiredKeys: ["config", "overrides"] },
) as fc.Arbitrary<Json>;

interface Tickets {
  readonly a: readonly Fields[];
  readonly b: readonly Fields[];
}
const tickets: fc.Arbitrary<Tickets> = fc.record({
  a: fc.uniqueArray(
    fc.record({
      enable_software_vulnerabilities: fc.constant(false),
      enable_failing_policies: fc.constant(false),
      url,
      username: fc.constantFrom("bot", "a $b"),
      api_token: fc.constant<Json>(SECRET),
      project_key: fc.constantFrom("OPS", "SEC"),
    }),
    { maxLength: 2, selector: ({ url: at, project_key }) => `${at} ${project_key}` },
  ),
  b: fc.uniqueArray(
    fc.record({
      enable_software_vulnerabilities: fc.constant(false),
      enable_failing_policies: fc.constant(false),
      url,
      email: fc.constant("bot@example.com"),
      api_token: fc.constant<Json>(SECRET),
      group_id: fc.integer({ min: 1, max: 99 }),
    }),
    { maxLength: 2, selector: ({ url: at, group_id }) => `${at} ${group_id}` },
  ),
});

const yaraRules = fc
  .uniqueArray(fc.constantFrom("a.yar", "_b (1).yara", "c d.yar", "no extension"))
  .chain((names) => fc.tuple(...names.map((own) => text.map((more): [string, Json] => [own, yaraRule(more)]))))
  .map((rules) => Object.fromEntries(rules));
const yaraRule = (more: string) => `rule generated {\r\n\tstrings: $a = ${JSON.stringify(more)}\n  condition: $a\n}`;

/** Sections without dependencies. */
function sections({ config }: Defaults, { a, b }: Tickets): fc.Arbitrary<Fields> {
  const base = (section: string) => config[section] as Fields;
  const over = (section: string, fields: Record<string, fc.Arbitrary<Json>>) =>
    fc.record(fields, { requiredKeys: [] }).map((given): Json => ({ ...base(section), ...(given as Fields) }));
  const provider = fc.constantFrom<Fields>(
    { entity_id: "", issuer_uri: "", idp_name: "", metadata: "", metadata_url: "" },
    {
      entity_id: "entity",
      issuer_uri: "https://idp.example.com",
      idp_name: "IdP $1",
      metadata: '<E a="$x">\n  <F/>\n</E>',
      metadata_url: "",
    },
    {
      entity_id: "svc:$e",
      issuer_uri: "urn:x",
      idp_name: "IdP",
      metadata: "",
      metadata_url: "https://idp.example.com/m",
    },
  );
  return fc.record({
    org_info: over("org_info", {
      org_name: short,
      org_logo_url: optionalUrl,
      org_logo_url_light_background: optionalUrl,
      contact_url: optionalUrl,
    }),
    server_settings: over("server_settings", {
      // Devices of Windows connect only to https.
      server_url: fc.constantFrom("https://svc.example.com", "https://devices.example.com"),
      enable_analytics: bool,
      live_query_disabled: bool,
      scripts_disabled: bool,
      query_reports_disabled: bool,
      ai_features_disabled: bool,
      query_report_cap: fc.nat(100_000),
    }),
    host_expiry_settings: expiry("host_expiry"),
    activity_expiry_settings: expiry("activity_expiry"),
    features,
    yara_rules: yaraRules,
    smtp_settings: over("smtp_settings", {
      sender_address: fc.constantFrom("", "svc@example.com"),
      server: fc.constantFrom("", "mail.example.com"),
      port: fc.integer({ min: 1, max: 65_535 }),
      authentication_type: fc.constantFrom("authtype_username_and_password", "none"),
      user_name: fc.constantFrom("", "u$er"),
      password: fc.constantFrom<Json>("", SECRET),
      enable_ssl_tls: bool,
      authentication_method: fc.constantFrom("authmethod_plain", "authmethod_cram_md5", "authmethod_login"),
      domain: fc.constantFrom("", "example.com"),
      verify_ssl_certs: bool,
      enable_start_tls: bool,
    }),
    sso_settings: fc
      .tuple(
        provider,
        over("sso_settings", {
          idp_image_url: optionalUrl,
          enable_sso_idp_login: bool,
          enable_jit_provisioning: bool,
          sso_server_url: serverUrl,
        }),
        bool,
      )
      .map(([idp, rest, on]): Json => ({ ...(rest as Fields), ...idp, enable_sso: on && idp.entity_id !== "" })),
    conditional_access: fc.constantFrom<Json>(
      base("conditional_access"),
      {
        ...base("conditional_access"),
        provider_idp_id: "idp",
        provider_assertion_consumer_service_url: "https://access.example.com/acs",
        provider_audience_uri: "urn:$audience",
        provider_certificate: PROVIDER_CERTIFICATE,
      },
      { ...base("conditional_access"), directory_tenant_id: "tenant" },
    ),
    mdm: fc
      .record({
        windows: bool,
        migrating: bool,
        disk: bool,
        pin: bool,
        platforms: fc.record({ macos: perhaps, windows: perhaps, linux: perhaps }),
        macos: version,
        newHosts: bool,
        ios: version,
        ipados: version,
        days,
        migration: fc.constantFrom<Json>(
          { enable: false, mode: "", webhook_url: "" },
          { enable: true, mode: "forced", webhook_url: "https://m.example.com" },
          { enable: false, mode: "voluntary", webhook_url: "" },
        ),
        setup: fc.record({ enable_end_user_authentication: bool, enable_release_device_manually: bool }),
        provider,
        vendora_server_url: serverUrl,
        tenants: fc.array(fc.uuid(), { maxLength: 2 }),
      })
      .map((given): Json => {
        const mdm = base("mdm");
        return {
          ...mdm,
          windows_enabled_and_configured: given.windows,
          enable_turn_on_windows_mdm_manually: given.windows && !given.migrating && given.pin,
          windows_migration_enabled: given.windows && given.migrating,
          windows_directory_tenant_ids: given.tenants,
          enable_disk_encryption: given.disk,
          disk_encryption: given.platforms,
          windows_require_bitlocker_pin: (given.platforms.windows ?? given.disk) && given.pin,
          macos_updates: { ...given.macos, update_new_hosts: given.newHosts },
          ios_updates: given.ios,
          ipados_updates: given.ipados,
          windows_updates: given.days,
          macos_migration: given.migration,
          macos_setup: { ...(mdm.macos_setup as Fields), ...given.setup },
          end_user_authentication: given.provider,
          vendora_server_url: given.vendora_server_url,
        };
      }),
    vulnerability_settings: fc.record({ databases_path: short }),
    svc_desktop: fc.record({ transparency_url: optionalUrl }).map(({ transparency_url }) => ({
      transparency_url,
      alternative_browser_host: transparency_url === "" ? "" : "pages.example.com:8443",
      sso_enabled: transparency_url !== "",
    })),
    gitops: fc
      .tuple(bool, optionalUrl)
      .map(([on, at]): Json => ({ gitops_mode_enabled: on && at !== "", repository_url: at })),
    webhook_settings: fc.record({
      interval: fc.constantFrom("24h", "30m", "90s"),
      host_status_webhook: hook("enable_host_status_webhook", status),
      failing_policies_webhook: hook("enable_failing_policies_webhook", batch),
      failing_policies_mail: failingPoliciesMail,
      vulnerabilities_webhook: hook("enable_vulnerabilities_webhook", batch),
      activities_webhook: hook("enable_activities_webhook"),
      host_activities_webhook: hook("enable_host_activities_webhook"),
    }),
    integrations: fc.uniqueArray(fc.constantFrom("example.com", "a.example"), { maxLength: 2 }).map(
      (domains): Json => ({
        ticketing_a: a,
        ticketing_b: b,
        calendar: domains.map((domain) => ({
          domain,
          api_key_json: {
            type: "service_account",
            client_email: `svc@${domain}`,
            private_key: SECRET,
            private_key_id: SECRET,
          },
        })),
        conditional_access_enabled: false,
        certificates_idp_introspection_urls: [],
        certificates_idp_client_ids: [],
        certificates_disable_host_end_user_binding: false,
      }),
    ),
  });
}

const teamSettings = (defaults: Defaults, { a, b }: Tickets): fc.Arbitrary<Json> => {
  const base = defaults.team_settings as Fields;
  return fc
    .record({
      host_expiry_settings: expiry("host_expiry"),
      features: fc.record(teamFeatures),
      status: fc.oneof(fc.constant(null), hook("enable_host_status_webhook", status)),
      activities: fc.oneof(fc.constant(null), hook("enable_host_activities_webhook")),
      failing: hook("enable_failing_policies_webhook", batch),
      mail: failingPoliciesMail,
      trackers: fc.subarray([...a]),
      desks: fc.subarray([...b]),
      calendar: fc.record({ enable_calendar_events: fc.constant(false), webhook_url: optionalUrl }),
      access: fc.constant(false),
    })
    .map(
      (given): Json => ({
        ...base,
        host_expiry_settings: given.host_expiry_settings,
        features: given.features,
        webhook_settings: {
          host_status_webhook: given.status,
          failing_policies_webhook: given.failing,
          failing_policies_mail: given.mail,
          host_activities_webhook: given.activities,
        },
        integrations: {
          ...used(given.trackers, given.desks),
          calendar:
            given.calendar.webhook_url === ""
              ? { ...given.calendar, webhook_url: "https://cal.example.com" }
              : given.calendar,
          conditional_access_enabled: given.access,
        },
      }),
    );
};

/** Entries of the organization as a team refers to them. */
const used = (trackers: readonly Fields[], desks: readonly Fields[]) => ({
  ticketing_a: trackers.map(({ url: at = "", project_key = "" }) => ({
    url: at,
    project_key,
    enable_failing_policies: false,
  })),
  ticketing_b: desks.map(({ url: at = "", group_id = 0 }) => ({ url: at, group_id, enable_failing_policies: false })),
});

const noTeamSettings = ({ a, b }: Tickets): fc.Arbitrary<Json> =>
  fc
    .record({
      failing: hook("enable_failing_policies_webhook", batch),
      mail: failingPoliciesMail,
      activities: fc.oneof(fc.constant(null), hook("enable_host_activities_webhook")),
      trackers: fc.subarray([...a]),
      desks: fc.subarray([...b]),
    })
    .map(({ failing, mail, activities, trackers, desks }) => ({
      webhook_settings: {
        failing_policies_webhook: failing,
        failing_policies_mail: mail,
        host_activities_webhook: activities,
      },
      integrations: used(trackers, desks),
    }));

const label = (hosts: readonly string[]): fc.Arbitrary<Json> =>
  fc
    .tuple(
      text,
      fc.oneof(
        sql.map((query) => ({ label_membership_type: "dynamic", query, platform: "darwin" })),
        sql.map((query) => ({ label_membership_type: "dynamic", query, platform: "" })),
        some(hosts).map((members) => ({ label_membership_type: "manual", hosts: members })),
        fc.constantFrom(
          { label_membership_type: "host_vitals", criteria: { vital: "end_user_idp_group", value: "Group $1" } },
          { label_membership_type: "host_vitals", criteria: { where: 'hostname = "a b"' } },
        ),
      ),
    )
    .map(
      ([description, given]): Json => ({
        description,
        platform: "",
        query: "",
        criteria: null,
        hosts: null,
        ...(given as Fields),
      }),
    );

const policy = (labels: readonly string[]): fc.Arbitrary<Json> =>
  fc
    .record({
      query: sql,
      description: text,
      resolution: text,
      platform: platforms(policyPlatforms),
      critical: bool,
      labels: some(labels),
      rule: fc.constantFrom("include_any", "include_all", "exclude_any"),
      type: fc.constant("dynamic"),
      continuous_automations_enabled: bool,
      // Patch policies need an app, and profiles have to exist: test/gitops/policy-automations.test.ts.
      svc_maintained_app_slug: fc.constant(""),
      patch_when_closed: fc.constant(false),
      notify_before_patching: fc.constant(false),
      resend_configuration_profile: fc.constant(null),
      calendar_events_enabled: bool,
      conditional_access_enabled: bool,
      webhooks_and_tickets_enabled: bool,
      // A script has to exist: test/gitops/scripts.test.ts.
      run_script: fc.constant(null),
      // Software has to exist: test/gitops/software-apply.test.ts.
      install_software: fc.constant(null),
    })
    .map(
      ({ labels: names, rule, ...rest }): Json => ({
        ...rest,
        labels_include_any: [],
        labels_include_all: [],
        labels_exclude_any: [],
        [`labels_${rule}`]: names,
      }),
    );

/** Only teams have calendar events. */
const withoutCalendar = (value: Json): Json => ({ ...(value as Fields), calendar_events_enabled: false });

const query = (labels: readonly string[]): fc.Arbitrary<Json> =>
  fc
    .record({
      all: bool,
      query: sql,
      description: text,
      interval: fc.nat(604_800),
      platform: platforms(queryPlatforms),
      min_qengine_version: fc.constantFrom("", "5.12.1"),
      observer_can_run: bool,
      automations_enabled: bool,
      logging: fc.constantFrom(...queryLoggings),
      discard_data: bool,
      labels: some(labels),
    })
    .map(
      ({ labels: names, all, ...rest }): Json => ({
        ...rest,
        labels_include_any: all ? [] : names,
        labels_include_all: all ? names : [],
      }),
    );

const authority = fc.constantFrom(...caTypes).map((type): StateThing => {
  const own = isSingle(type) ? type : `${type}_1`;
  const urls = { url: "https://ca.example.com/$scep" };
  const more: Record<typeof type, Fields> = {
    hosted_ca_a: {
      profile_id: "p",
      certificate_common_name: "$SVC_VAR_HOST_UUID",
      certificate_user_principal_names: ["a b"],
      certificate_seat_id: "$seat",
    },
    directory_scep_proxy: { admin_url: "https://ca.example.com/admin", username: "u" },
    custom_scep_proxy: {},
    custom_est_proxy: { username: "u$", allow_hostname: false },
    hosted_est_ca: { client_id: "id", allow_hostname: true },
    hosted_scep_ca: { challenge_url: "https://ca.example.com/c", username: "u" },
  };
  const value = { ...(isSingle(type) ? {} : { name: own }), ...urls, ...more[type], [secretFields[type]]: SECRET };
  return { kind: "certificate_authority", owner: null, name: `${type}/${own}`, value, revision: "1" };
});

const named = (kind: StateThing["kind"], owner: string | null, values: fc.Arbitrary<Json>, maxLength: number) =>
  fc
    .uniqueArray(fc.tuple(name, values), { maxLength, selector: ([one]) => one.toLowerCase() })
    .map((all): StateThing[] => all.map(([own, value]) => thing(kind, owner, own, value)));

const thing = (kind: StateThing["kind"], owner: string | null, own: string, value: Json): StateThing => ({
  kind,
  owner,
  name: own,
  value: value as StateThing["value"],
  revision: "1",
});

const secrets = (owner: string | null) =>
  fc.nat(3).map((count) => thing("enroll_secrets", owner, "enroll_secrets", { secrets: Array(count).fill(SECRET) }));

/** Complete configurations: the reply of `POST /spec/state` on a server that has them. */
export function configurations({ defaults, hosts, authorities }: GenerateOptions): fc.Arbitrary<StateThing[]> {
  return fc
    .tuple(
      tickets,
      named("label", null, label(hosts), 4),
      fc.uniqueArray(name, { maxLength: 3, selector: (one) => one.toLowerCase() }),
    )
    .chain(([trackers, labels, teams]) => {
      const names = labels.map(({ name: own }) => own);
      const ofTeam = (owner: string) =>
        fc
          .tuple(
            teamSettings(defaults, trackers).map((value) => thing("team_settings", owner, "team_settings", value)),
            fc
              .oneof(fc.constant<Json>(null), agentOptions)
              .map((value) => thing("agent_options", owner, "agent_options", value)),
            text.map((description) => thing("team", null, owner, { description })),
            secrets(owner),
            named("policy", owner, policy(names), 3),
            named("query", owner, query(names), 3),
          )
          .map((parts) => parts.flat());
      return fc
        .tuple(
          sections(defaults, trackers).map((all) =>
            Object.entries(all).map(([own, value]) => thing("config", null, own, value)),
          ),
          agentOptions.map((value) => [thing("agent_options", null, "agent_options", value)]),
          secrets(null).map((one) => [one]),
          named("policy", null, policy(names), 4),
          named("query", null, query(names), 4),
          noTeamSettings(trackers).map((value) => [thing("team_settings", NO_TEAM_NAME, "team_settings", value)]),
          named("policy", NO_TEAM_NAME, policy(names).map(withoutCalendar), 2),
          authorities
            ? fc.uniqueArray(authority, { maxLength: 3, selector: ({ name: own }) => own })
            : fc.constant<StateThing[]>([]),
          fc.tuple(...teams.map(ofTeam)).map((all) => all.flat()),
        )
        .map((parts) => [...labels, ...parts.flat()]);
    });
}

/** A value for each variable, with characters that YAML and shells treat specially. */
export const environmentOf = (variables: readonly { name: string; form: "line" | "json" }[]): Record<string, string> =>
  Object.fromEntries(
    variables.map(({ name: own, form }, i) => {
      const text = `${own} #${i}: 'x' "y" \\ $HOME {z}`;
      // Tokens go into headers, which have no blanks.
      const secret = own.endsWith("API_TOKEN") ? text.replaceAll(" ", "") : text;
      return [own, form === "line" ? secret : JSON.stringify(`-----BEGIN-----\n${secret}\n`).slice(1, -1)];
    }),
  );

export interface OneChange {
  readonly things: StateThing[];
  readonly kind: StateThing["kind"];
  readonly owner: string | null;
  readonly name: string;
  /** Dotted. */
  readonly path: string;
}

/** The configuration with one field changed to another valid value; null if `pick` finds none. */
export function changeOne(things: readonly StateThing[], pick: number): OneChange | null {
  const all = things.flatMap((one, at) => fieldsOf(one).map((field) => ({ at, ...field })));
  if (all.length === 0) return null;
  const { at, path, value } = all[pick % all.length]!;
  const changed = things.map((one, i) =>
    i === at ? { ...one, value: replaced(one.value as Json, path, value) as StateThing["value"] } : one,
  );
  const { kind, owner, name: own } = things[at]!;
  return { things: changed, kind, owner, name: own, path: path.join(".") };
}

/** Fields that can be changed alone, with another value. */
function fieldsOf({ kind, owner, name: own, value }: StateThing): { path: string[]; value: Json }[] {
  const found: { path: string[]; value: Json }[] = [];
  const walk = (at: Json, path: string[]) => {
    if (isRecord(at)) {
      for (const [key, one] of Object.entries(at)) walk(one, [...path, key]);
      return;
    }
    if (owner === NO_TEAM_NAME && path[0] === "calendar_events_enabled") return;
    const other = otherValue(kind, own, path, at);
    if (other !== undefined) found.push({ path, value: other });
  };
  if (value !== null) walk(value as Json, []);
  return found;
}

/** Keys whose values are subject to rules with others. */
const bound =
  /^(enable$|enable_(?!host_users|software_inventory|analytics|ssl_tls|start_tls|release|sso_idp_login|jit)|.*_enabled$|windows_|label_membership_type|criteria|hosts|platform|metadata|entity_id|minimum_version|deadline|grace|mode|interval|server_url|provider_|directory_|authentication_|name$|config|overrides|update_channels|sender_address|user_name|server$|query$|type$|svc_maintained_|patch_when_closed|notify_before_|resend_configuration_profile)/;
const ofQueries = new Set([
  "interval",
  "query",
  "calendar_events_enabled",
  "conditional_access_enabled",
  "webhooks_and_tickets_enabled",
  "automations_enabled",
]);

function otherValue(kind: StateThing["kind"], own: string, path: readonly string[], value: Json): Json | undefined {
  const key = path.at(-1)!;
  const isItem = kind === "policy" || kind === "query";
  if (bound.test(key) && !(isItem && ofQueries.has(key))) return undefined;
  if (kind === "config" && own === "integrations") return undefined;
  if (kind === "certificate_authority" && key === secretFields[own.split("/")[0] as keyof typeof secretFields])
    return undefined;
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value === 7 ? 8 : 7;
  if (typeof value !== "string") return undefined;
  if (own === "yara_rules") return `${value} // changed`;
  if (/url|uri/.test(key))
    return value === "https://changed.example.com" ? "https://other.example.com" : "https://changed.example.com";
  if (
    /description|resolution|org_name|databases_path|additional_queries/.test(path.join(".")) ||
    (isItem && key === "query")
  )
    return `${value.trim()} changed`;
  if (key === "logging") return value === "snapshot" ? "differential" : "snapshot";
  if (key === "min_qengine_version") return value === "5.0.0" ? "5.0.1" : "5.0.0";
  return undefined;
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json): Json {
  if (key === undefined) return by;
  const fields = value as Fields;
  return { ...fields, [key]: replaced(fields[key]!, rest, by) };
}
