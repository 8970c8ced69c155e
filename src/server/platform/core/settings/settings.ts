// All settings of the server. Flags, environment variables (SVC_ + the key in capitals), the keys of the
// configuration file, `svc serve --help` and docs/settings.md are generated from this table.
import { z } from "zod";
import { readDuration } from "../duration.ts";

/** A duration, parsed to milliseconds. */
const duration = (fallback: string) =>
  z
    .union([z.string(), z.number()])
    .default(fallback)
    .transform((input, context) => {
      const milliseconds = readDuration(String(input));
      if (milliseconds !== null) return milliseconds;
      context.issues.push({
        code: "custom",
        message: "must be a duration such as 500ms, 25s, 10m or 24h",
        input,
      });
      return z.NEVER;
    });
const flag = (fallback: boolean) =>
  z
    .union([z.boolean(), z.stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] })], {
      error: "must be true or false",
    })
    .default(fallback);
const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const list = z.union(
  [
    z.array(z.string()),
    z.string().transform((text) =>
      text
        .split(",")
        .map((item) => item.trim())
        .filter(Boolean),
    ),
  ],
  { error: "must be a list" },
);

export const Settings = z.strictObject({
  host: z.string().default("127.0.0.1").describe("address to listen on"),
  port: whole(0, 65_535).default(8412).describe("port to listen on; 0 picks a free one"),
  data_dir: z
    .string()
    .default("./data")
    .describe("directory for the embedded store, uploaded files, logs and generated keys"),
  database_url: z
    .string()
    .optional()
    .describe("Postgres database, as postgres://...; without it, the server uses the embedded store"),
  database_pool_size: whole(1, 200).default(10).describe("maximum number of connections to Postgres"),
  script_sync_period: duration("5m").describe("how long a request to run a script waits for the result, at least 1s"),
  database_migrate: flag(true).describe("update the Postgres schema at start"),
  blobs_url: z
    .string()
    .optional()
    .describe(
      "S3-compatible bucket for uploaded files, as s3://BUCKET/PREFIX?endpoint=URL&region=NAME; default: the folder blobs in the data directory",
    ),
  blobs_access_key_id: z
    .string()
    .optional()
    .describe(
      "access key for the bucket; default: the standard AWS variables and files, or the role of the machine or container",
    ),
  blobs_secret_access_key: z.string().optional().describe("secret of that access key"),
  workers: whole(1, 64).default(1).describe("number of server processes (more than one needs Postgres)"),
  tls_cert: z.string().optional().describe("file with the certificate chain (PEM)"),
  tls_key: z.string().optional().describe("file with the private key (PEM)"),
  tls_self_signed: flag(false).describe(
    "use TLS with a certificate that the server creates at its first start, in tls/cert.pem of the data directory",
  ),
  server_url: z
    .string()
    .optional()
    .describe(
      "URL that agents and browsers use for this server, if it differs from the address that the server listens on",
    ),
  server_private_key: z
    .string()
    .optional()
    .describe(
      "key that encrypts secrets in the store (32 bytes, base64); default: server.key, created in the data directory",
    ),
  dev_license: flag(false).describe(
    "turn on the premium features for development and trials; --quickstart does so too",
  ),
  license_key: z.string().optional().describe("license key (a signed JWT)"),
  license_public_key: z
    .string()
    .optional()
    .describe(
      "public key that the license key is verified with (PEM, or its base64 on one line); default: the built-in one",
    ),
  admin_email: z
    .string()
    .optional()
    .describe("with admin_password: at start, create the first admin if no user exists"),
  admin_password: z.string().optional().describe("password of the first admin"),
  admin_name: z.string().default("Admin").describe("name of the first admin"),
  org_name: z.string().default("").describe("name of the organization, set when the first admin is created"),
  console: flag(true).describe(
    "serve the administrators' console to browsers; pages for sign-in and for end users stay",
  ),
  trusted_proxies: list
    .default([])
    .describe("addresses or networks (CIDR) of proxies whose X-Forwarded-For header is trusted"),
  mdm_identity_header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, "must be the name of a header")
    .optional()
    .describe(
      "header in which trusted proxies pass the client certificate of a device, in the format of RFC 9440 or as PEM with escapes",
    ),
  outbound_allow: list
    .default([])
    .describe(
      "host names (also *.domain), addresses and networks (CIDR) that requests to configured URLs, and mail, may go to although they are private",
    ),
  https_proxy: z
    .string()
    .optional()
    .describe(
      "proxy for requests to vendors' services, as http://HOST:PORT; default: the variable HTTPS_PROXY of the environment",
    ),
  no_proxy: list
    .default([])
    .describe(
      "host names and domains that are not reached through https_proxy; default: the variable NO_PROXY of the environment",
    ),
  apns_url: z
    .string()
    .default("https://api.push.apple.com")
    .describe("push service of Apple devices; http:// is accepted for this machine only"),
  dep_url: z
    .string()
    .default("https://mdmenrollment.apple.com")
    .describe("address of the service for automatic enrollment of Apple devices"),
  dep_sync_interval: duration("1m").describe("how often the devices of the business portal are synchronized"),
  vpp_url: z
    .string()
    .default("https://vpp.itunes.apple.com/mdm/v2")
    .describe("address of the service that assigns licenses for store apps"),
  app_lookup_url: z
    .string()
    .default("https://itunes.apple.com/lookup")
    .describe("where names, versions and icons of store apps are looked up"),
  vpp_verify_timeout: duration("10m").describe(
    "how long a device that has accepted a store app may take until it lists the app as installed",
  ),
  apple_device_ca: z
    .string()
    .optional()
    .describe(
      "file with the certificates (PEM) that sign the machine info of Apple devices which enroll automatically or over the air; default: Apple's own",
    ),
  apple_software_update_url: z
    .url({ protocol: /^https?$/ })
    .default("https://gdmf.apple.com/v2/pmv")
    .describe("list of the system versions that Apple devices can be asked to install"),
  apple_vendor_cert: z
    .string()
    .optional()
    .describe(
      "file with the certificate chain (PEM) of an MDM vendor, with which requests for push certificates are signed as Apple's portal takes them",
    ),
  apple_vendor_key: z.string().optional().describe("file with the private key (PEM) of apple_vendor_cert"),
  apple_profile_cert: z
    .string()
    .optional()
    .describe("file with the certificate chain (PEM) with which profiles for Apple devices are signed"),
  apple_profile_key: z.string().optional().describe("file with the private key (PEM) of apple_profile_cert"),
  android_management_url: z
    .string()
    .default("https://androidmanagement.googleapis.com/v1")
    .describe("address of the Android Management API"),
  android_service_account: z
    .string()
    .optional()
    .describe("file with the JSON key of the service account that uses the Android Management API"),
  android_agent_package: z
    .string()
    .max(255)
    .regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/, { error: "must be the name of a package such as com.example.agent" })
    .optional()
    .describe("package name of the agent's app, which Android devices install to get certificates"),
  android_pubsub_topic: z
    .string()
    .regex(/^projects\/[^/\s]+\/topics\/[^/\s]+$/, { error: "must be a topic such as projects/example/topics/devices" })
    .optional()
    .describe("topic to which the Android Management API sends what devices report"),
  android_pubsub_token: z
    .string()
    .min(16, { error: "must have at least 16 characters" })
    .optional()
    .describe("secret that the topic's push address contains as its parameter token"),
  google_token_url: z
    .string()
    .default("https://oauth2.googleapis.com/token")
    .describe("where the service account gets its access tokens"),
  google_calendar_url: z
    .url({ protocol: /^https?$/ })
    .default("https://www.googleapis.com/calendar/v3")
    .describe("address of the calendar API, for events of users whose hosts fail policies"),
  google_jwks_url: z
    .string()
    .default("https://www.googleapis.com/oauth2/v3/certs")
    .describe("public keys with which messages of the topic are signed"),
  directory_graph_url: z
    .url({ protocol: /^https?$/ })
    .default("https://graph.microsoft.com/v1.0")
    .describe("address of the REST API of the organization's cloud directory"),
  directory_login_url: z
    .url({ protocol: /^https?$/ })
    .default("https://login.microsoftonline.com")
    .describe("where the server gets its access tokens for the cloud directory"),
  directory_compliance_attribute: whole(0, 15)
    .default(0)
    .describe(
      "number of the extension attribute of the cloud directory's devices that compliance is written to, for apps that the directory does not accept as device management; 0: isCompliant and isManaged; see docs/operations.md",
    ),
  directory_jwks_url: z
    .url({ protocol: /^https?$/ })
    .default("https://login.microsoftonline.com/common/discovery/v2.0/keys")
    .describe("public keys with which the cloud directory signs the tokens of Windows devices that enroll"),
  directory_issuer: z
    .url({ protocol: /^https?$/ })
    .default("https://sts.windows.net/")
    .describe("issuer of these tokens, without the tenant that follows it"),
  catalogue_url: z
    .string()
    .optional()
    .describe("address or directory of the catalogue of maintained apps; see docs/catalogue.md"),
  catalogue_key: z
    .string()
    .optional()
    .describe(
      "Ed25519 public key (PEM, or its base64 on one line) with which the signature of the catalogue is verified",
    ),
  vulnerability_data_url: z
    .string()
    .optional()
    .describe(
      "where vulnerability data is imported from: the URL or directory of a mirror, or publishers for the feeds at their publishers; without it, none is imported; see docs/vulnerabilities.md",
    ),
  text_service_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "base URL of a text service with the OpenAI-compatible API, for example https://api.openai.com/v1; it writes descriptions of policies on request, and gets their SQL",
    ),
  text_service_key: z.string().optional().describe("API key of the text service"),
  text_service_model: z.string().min(1).default("gpt-4o-mini").describe("model that the text service uses"),
  check_integrations: flag(true).describe(
    "check with ticket systems and identity providers that their settings can be used before they are saved",
  ),
  shutdown_grace: duration("3s").describe(
    "after SIGTERM, how long new connections are still accepted while /healthz answers 503, so that load balancers notice; see docs/operations.md",
  ),
  shutdown_timeout: duration("5s").describe(
    "after that, how long requests in progress may take before their connections are closed",
  ),
  session_duration: duration("5d").describe("how long a session lasts without use"),
  history_days: whole(1, 400).default(31).describe("how many days of the past charts can show; older data is deleted"),
  session_max_age: duration("90d").describe("how long a session lasts in any case"),
  mail_timeout: duration("15s").describe("time limit for sending one mail"),
  log_level: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace"])
    .default("info")
    .describe("lowest level that is logged"),
  log_format: z
    .enum(["auto", "json", "pretty"])
    .default("auto")
    .describe("format of the log; auto: readable on a terminal, JSON lines elsewhere"),
  metrics_host: z.string().optional().describe("address of a separate listener for /metrics"),
  metrics_port: whole(0, 65_535).optional().describe("port of the separate listener for /metrics"),
  host_identifier: z
    .enum(["provided", "uuid", "instance", "hostname"])
    .default("provided")
    .describe("which of the identifiers that an agent sends identifies the host"),
  global_reenroll: z
    .enum(["keep", "move", "refuse"])
    .default("keep")
    .describe(
      "what a global enroll secret does with a known host of a team: keep = it enrolls again in its team, move = it leaves the team, refuse = it cannot enroll",
    ),
  enroll_max_new_hosts: whole(1, 1e9)
    .default(50_000)
    .describe(
      "maximum number of new hosts that enroll with one secret in an hour; hosts that enroll again do not count",
    ),
  enroll_cooldown: duration("0s").describe(
    "minimum time between two enrollments of one host by the same kind of agent; 0: no limit",
  ),
  detail_interval: duration("1h").describe("how often hosts report their inventory"),
  label_interval: duration("1h").describe("how often hosts evaluate labels"),
  policy_interval: duration("1h").describe("how often hosts evaluate policies"),
  max_jitter_percent: whole(0, 100)
    .default(10)
    .describe("random variation of the three intervals above between hosts, in percent"),
  seen_flush_interval: duration("10s").describe("how often last-seen times are written to the store"),
  agent_updates: flag(true).describe(
    "offer agents of svc the version of this server, which they install by themselves; see docs/agent.md",
  ),
  managed_agent_prefix: z
    .string()
    .regex(/^\/[A-Za-z0-9/_-]{1,100}$/)
    .optional()
    .describe("additional path for the endpoints of managed agents, for third-party agents whose paths are fixed"),
  managed_agent_capabilities: z
    .string()
    .max(500)
    .regex(/^[A-Za-z0-9-]+: *[A-Za-z0-9_-]+(, *[A-Za-z0-9_-]+)*$/)
    .optional()
    .describe(
      "header, as `NAME: word,word`, that names the server's capabilities below managed_agent_prefix, as third-party agents know them",
    ),
  max_agent_requests: whole(1, 1_000_000)
    .default(2_000)
    .describe("maximum number of agent requests in progress; further ones are refused, and the agents retry"),
  result_log: z
    .enum(["file", "stdout", "none"])
    .default("file")
    .describe("where query results from agents are written"),
  status_log: z.enum(["file", "stdout", "none"]).default("file").describe("where status lines from agents are written"),
  result_log_file: z
    .string()
    .optional()
    .describe("file for query results; default: logs/results.log in the data directory"),
  status_log_file: z
    .string()
    .optional()
    .describe("file for status lines; default: logs/status.log in the data directory"),
  log_rotate_size: z
    .string()
    .regex(/^\d+[KMG]$/)
    .default("500M")
    .describe("size at which the result and status files are rotated"),
  log_rotate_keep: whole(1, 1000).default(5).describe("number of rotated files to keep"),
  log_rotate_compress: flag(false).describe("compress rotated files with gzip"),
  carve_max_size: whole(1, 1e12).default(8_589_934_592).describe("maximum size of one file carve, in bytes"),
  carve_max_open: whole(1, 10_000)
    .default(10)
    .describe("maximum number of file carves that one host uploads at the same time"),
  upload_max_per_user: whole(1, 1e15)
    .default(21_474_836_480)
    .describe("maximum size of the uploads of one user together, in bytes"),
  upload_max_per_team: whole(1, 1e15)
    .default(107_374_182_400)
    .describe(
      "maximum size of the uploads of all users of one team together, in bytes; users with a global role do not count",
    ),
  package_max_per_team: whole(1, 1e15)
    .default(214_748_364_800)
    .describe(
      "maximum size of the packages that one team offers together, in bytes; hosts without a team count as one",
    ),
  package_max_total: whole(1, 1e15)
    .default(1_099_511_627_776)
    .describe("maximum size of the packages of all teams together, in bytes"),
  geoip_database: z
    .string()
    .optional()
    .describe(
      "City database in MaxMind's format, to locate hosts by their public addresses; reloaded when the file changes",
    ),
  live_query_rest_period: duration("25s").describe("how long a blocking live query waits for hosts to answer"),
  require_expected_count: flag(false).describe(
    "refuse to delete, transfer, lock or wipe hosts, and to act on many at once, without the headers X-Expected-Count and X-Selection-Digest",
  ),
  require_approval: flag(false).describe("another user must approve wipes, and deletes of many hosts"),
  approval_delete_threshold: whole(0, 1_000_000)
    .default(1)
    .describe("with require_approval: deleting more hosts than this needs approval"),
  wipes_per_hour: whole(0, 1_000_000)
    .default(0)
    .describe("number of hosts that one user may wipe within an hour; 0: no limit"),
  host_deletes_per_hour: whole(0, 1_000_000)
    .default(0)
    .describe("number of hosts that one user may delete within an hour; 0: no limit"),
  snapshot_bytes: whole(1_000_000, 1e12)
    .default(256_000_000)
    .describe("size of the journal, in bytes, at which the embedded store is compacted"),
});
export type Settings = z.output<typeof Settings>;
export type SettingsInput = z.input<typeof Settings>;
