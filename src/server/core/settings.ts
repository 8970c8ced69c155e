// Every setting of the server, in one place. Flag, environment name (SVC_ + the key in capitals) and key of the
// configuration file are made from this table, and so are `svc serve --help` and docs/settings.md.
import { z } from "zod";
import { readDuration } from "./duration.ts";

/** In milliseconds. */
const duration = (fallback: string) =>
  z
    .union([z.string(), z.number()])
    .default(fallback)
    .transform((given, context) => {
      const milliseconds = readDuration(String(given));
      if (milliseconds !== null) return milliseconds;
      context.issues.push({
        code: "custom",
        message: "must be a duration such as 500ms, 25s, 10m or 24h",
        input: given,
      });
      return z.NEVER;
    });
const flag = (fallback: boolean) =>
  z
    .union([z.boolean(), z.stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] })])
    .default(fallback);
const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const list = z.union([
  z.array(z.string()),
  z.string().transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  ),
]);

export const Settings = z.strictObject({
  host: z.string().default("127.0.0.1").describe("address to listen on"),
  port: whole(0, 65_535).default(8412).describe("port to listen on; 0 picks a free one"),
  data_dir: z.string().default("./data").describe("directory of the embedded store, blobs, logs and generated keys"),
  database_url: z.string().optional().describe("postgres://... ; without it the embedded store is used"),
  database_pool_size: whole(1, 200).default(10).describe("connections to Postgres at most"),
  database_migrate: flag(true).describe("bring the Postgres schema up to date at start"),
  workers: whole(1, 64).default(1).describe("server processes (Postgres only)"),
  tls_cert: z.string().optional().describe("file with the certificate chain (PEM)"),
  tls_key: z.string().optional().describe("file with the private key (PEM)"),
  tls_self_signed: flag(false).describe("serve TLS with a certificate made at the first start"),
  server_url: z.string().optional().describe("address that agents and browsers use, when it is not the listening one"),
  server_private_key: z
    .string()
    .optional()
    .describe("key that seals secrets at rest (32 bytes, base64); default: made in the data directory"),
  dev_license: flag(false).describe("premium features for development"),
  license_key: z.string().optional().describe("license key (a signed JWT)"),
  license_public_key: z.string().optional().describe("public key that license keys are checked against (PEM)"),
  admin_email: z
    .string()
    .optional()
    .describe("with admin_password: creates the first admin at start where no user exists"),
  admin_password: z.string().optional().describe("password of the first admin"),
  admin_name: z.string().default("Admin").describe("name of the first admin"),
  org_name: z.string().default("").describe("name of the organization, set with the first admin"),
  trusted_proxies: list.default([]).describe("addresses or networks (CIDR) whose X-Forwarded-For is believed"),
  outbound_allow: list
    .default([])
    .describe(
      "host names (also *.domain), addresses and networks (CIDR) that requests to configured URLs may go to although they are private",
    ),
  check_integrations: flag(true).describe("ask a tracker whether it takes tickets before its settings are kept"),
  session_duration: duration("5d").describe("how long a session lives that is not used"),
  session_max_age: duration("90d").describe("how long a session lives, however much it is used"),
  mail_timeout: duration("15s").describe("how long sending one mail may take"),
  log_level: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace"])
    .default("info")
    .describe("least level that is logged"),
  log_format: z
    .enum(["auto", "json", "pretty"])
    .default("auto")
    .describe("auto: pretty on a terminal, else JSON lines"),
  metrics_host: z.string().optional().describe("address of a listener of its own for /metrics"),
  metrics_port: whole(0, 65_535).optional().describe("port of that listener"),
  host_identifier: z
    .enum(["provided", "uuid", "instance", "hostname"])
    .default("provided")
    .describe("which of the agent's names identifies a host"),
  enroll_cooldown: duration("0s").describe("least time between two enrollments of one host; 0 = no limit"),
  detail_interval: duration("1h").describe("how often a host's inventory is asked for"),
  label_interval: duration("1h").describe("how often a host's labels are asked for"),
  policy_interval: duration("1h").describe("how often a host's policies are asked for"),
  max_jitter_percent: whole(0, 100).default(10).describe("spread of these intervals over the hosts, percent"),
  seen_flush_interval: duration("10s").describe("how often last-seen times are written"),
  managed_agent_prefix: z
    .string()
    .regex(/^\/[A-Za-z0-9/_-]{1,100}$/)
    .optional()
    .describe(
      "path below which the managed agents' endpoints answer too, for third-party agents whose paths are fixed",
    ),
  max_agent_requests: whole(1, 1_000_000)
    .default(2_000)
    .describe("agent requests worked on at once; more are told to come again"),
  result_log: z.enum(["file", "stdout", "none"]).default("file").describe("where query results of agents go"),
  status_log: z.enum(["file", "stdout", "none"]).default("file").describe("where status lines of agents go"),
  result_log_file: z.string().optional().describe("default: results.log in the data directory's logs"),
  status_log_file: z.string().optional().describe("default: status.log in the data directory's logs"),
  log_rotate_size: z
    .string()
    .regex(/^\d+[KMG]$/)
    .default("500M")
    .describe("size at which these files rotate"),
  log_rotate_keep: whole(1, 1000).default(5).describe("rotated files that are kept"),
  log_rotate_compress: flag(false).describe("gzip rotated files"),
  carve_max_size: whole(1, 1e12).default(8_589_934_592).describe("bytes of one file carve at most"),
  carve_max_open: whole(1, 10_000).default(10).describe("file carves that one host sends at the same time, at most"),
  geoip_database: z
    .string()
    .optional()
    .describe(
      "file in MaxMind's format (City) that tells where hosts' public addresses are; read again when it changes",
    ),
  live_query_rest_period: duration("25s").describe("how long a blocking live query waits for its host"),
  require_expected_count: flag(false).describe(
    "take deletes, transfers, locks and wipes of hosts only with the headers X-Expected-Count and X-Selection-Digest",
  ),
  require_approval: flag(false).describe("have another user approve wipes, and deletes of many hosts"),
  approval_delete_threshold: whole(0, 1_000_000)
    .default(1)
    .describe("with require_approval: deletes of more hosts than this need approval"),
  wipes_per_hour: whole(0, 1_000_000).default(0).describe("hosts that one user may wipe within an hour; 0 = no limit"),
  host_deletes_per_hour: whole(0, 1_000_000)
    .default(0)
    .describe("hosts that one user may delete within an hour; 0 = no limit"),
  snapshot_bytes: whole(1_000_000, 1e12)
    .default(256_000_000)
    .describe("journal bytes after which the embedded store is compacted"),
});
export type Settings = z.output<typeof Settings>;
export type SettingsInput = z.input<typeof Settings>;
