import { z } from "zod";
import { endpoint, Streamed } from "./endpoint.ts";
import {
  CursorMeta,
  cursorQuery,
  Empty,
  Id,
  IdParam,
  Ids,
  Meta,
  paging,
  pagingAfter,
  QueryFlag,
  QueryId,
  QueryInt,
  QueryTeam,
  QueryText,
  Timestamp,
} from "./fields.ts";
import { HostMdm } from "./host-mdm.ts";
import { Label } from "./labels.ts";
import { HostPolicy } from "./policies.ts";
import { HostSoftwareEntry, HostSoftwareItem } from "./software.ts";

/** Values of the `status` filter. The host object's own `status` is only online or offline. */
export const hostStatuses = ["new", "online", "offline", "mia", "missing"] as const;

/** Columns of the hosts table, and of its one-to-one tables, that a list can be ordered by. */
export const hostOrderKeys = [
  "id",
  "created_at",
  "updated_at",
  "detail_updated_at",
  "label_updated_at",
  "policy_updated_at",
  "software_updated_at",
  "last_enrolled_at",
  "last_restarted_at",
  "seen_time",
  "uuid",
  "hostname",
  "display_name",
  "computer_name",
  "platform",
  "platform_like",
  "code_name",
  "build",
  "os_version",
  "qengine_version",
  "agent_version",
  "svc_desktop_version",
  "scripts_enabled",
  "uptime",
  "memory",
  "cpu_type",
  "cpu_subtype",
  "cpu_brand",
  "cpu_physical_cores",
  "cpu_logical_cores",
  "hardware_vendor",
  "hardware_model",
  "hardware_version",
  "hardware_serial",
  "timezone",
  "public_ip",
  "primary_ip",
  "primary_mac",
  "distributed_interval",
  "config_tls_refresh",
  "logger_tls_period",
  "team_id",
  "team_name",
  "refetch_requested",
  "gigs_disk_space_available",
  "gigs_total_disk_space",
  "percent_disk_space_available",
  "disk_encryption_enabled",
  "issues",
  // The same columns by the names that `after` used to need.
  "h.created_at",
  "h.updated_at",
] as const;

export const HostUser = z.object({
  uid: z.int(),
  username: z.string(),
  type: z.string(),
  groupname: z.string(),
  shell: z.string(),
});
export type HostUser = z.infer<typeof HostUser>;
export const Battery = z.object({ cycle_count: z.int(), health: z.string() });
export type Battery = z.infer<typeof Battery>;
export const HostGeolocation = z.object({
  country_iso: z.string(),
  city_name: z.string(),
  geometry: z
    .object({ type: z.literal("Point"), coordinates: z.array(z.number()).length(2) })
    .optional()
    .meta({ description: "longitude, latitude" }),
});
export type HostGeolocation = z.infer<typeof HostGeolocation>;
export const DeviceMapping = z.object({ email: z.string(), source: z.string() });
export type DeviceMapping = z.infer<typeof DeviceMapping>;
export const EndUser = z.object({
  idp_info_updated_at: Timestamp.nullable(),
  idp_id: z.string(),
  idp_username: z.string(),
  idp_full_name: z.string(),
  idp_department: z.string(),
  idp_groups: z.array(z.string()),
  other_emails: z.array(DeviceMapping),
});
export const HostQueryStats = z.object({
  scheduled_query_name: z.string(),
  scheduled_query_id: Id.nullable().meta({ description: "null: nothing goes by that name now" }),
  query_name: z.string(),
  pack_name: z.string(),
  pack_id: Id.nullable(),
  average_memory: z.number(),
  denylisted: z.boolean(),
  executions: z.number(),
  interval: z.number(),
  last_executed: Timestamp.nullable(),
  output_size: z.number(),
  system_time: z.number(),
  user_time: z.number(),
  wall_time: z.number().meta({ description: "milliseconds" }),
});
export const HostPackStats = z.object({
  pack_id: Id.nullable(),
  pack_name: z.string(),
  type: z.string().meta({ description: "global, team-<id>, or empty for a pack of its own" }),
  query_stats: z.array(HostQueryStats),
});
export type HostPackStats = z.infer<typeof HostPackStats>;
const Named = z.object({ id: Id, name: z.string() });
export const HostPack = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  platform: z.string(),
  disabled: z.boolean(),
  type: z.string().nullable(),
  labels: z.array(Named),
  label_ids: z.array(Id),
  hosts: z.array(Named).meta({ description: "this host, where it is targeted by itself" }),
  host_ids: z.array(Id),
  teams: z.array(Named).meta({ description: "the host's team, where that is targeted" }),
  team_ids: z.array(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type HostPack = z.infer<typeof HostPack>;

export const Host = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  detail_updated_at: Timestamp.meta({ description: "2000-01-01T00:00:00Z: never" }),
  label_updated_at: Timestamp,
  policy_updated_at: Timestamp,
  software_updated_at: Timestamp,
  last_enrolled_at: Timestamp,
  seen_time: Timestamp,
  last_restarted_at: Timestamp,
  last_mdm_checked_in_at: Timestamp.nullable(),
  last_mdm_enrolled_at: Timestamp.nullable(),
  refetch_requested: z.boolean(),
  uuid: z.string(),
  hostname: z.string(),
  display_name: z.string(),
  display_text: z.string(),
  computer_name: z.string(),
  platform: z.string(),
  platform_like: z.string(),
  code_name: z.string(),
  build: z.string(),
  os_version: z.string(),
  qengine_version: z.string(),
  agent_version: z.string().nullable(),
  svc_desktop_version: z.string().nullable(),
  scripts_enabled: z.boolean().nullable(),
  // Not z.int(): after 104 days it is beyond a safe integer, yet exact.
  uptime: z.number().meta({ description: "nanoseconds" }),
  memory: z.int().meta({ description: "bytes" }),
  cpu_type: z.string(),
  cpu_subtype: z.string(),
  cpu_brand: z.string(),
  cpu_physical_cores: z.int(),
  cpu_logical_cores: z.int(),
  hardware_vendor: z.string(),
  hardware_model: z.string(),
  hardware_version: z.string(),
  hardware_serial: z.string(),
  timezone: z.string().nullable(),
  public_ip: z.string(),
  primary_ip: z.string(),
  primary_mac: z.string(),
  distributed_interval: z.int().meta({ description: "seconds" }),
  config_tls_refresh: z.int().meta({ description: "seconds" }),
  logger_tls_period: z.int().meta({ description: "seconds" }),
  team_id: Id.nullable(),
  team_name: z.string().nullable(),
  gigs_disk_space_available: z.number(),
  gigs_total_disk_space: z.number(),
  percent_disk_space_available: z.number(),
  disk_encryption_enabled: z.boolean().optional().meta({ description: "left out when not known" }),
  status: z.enum(["online", "offline"]),
  additional: z.record(z.string(), z.json()).optional(),
  issues: z.object({
    failing_policies_count: z.int(),
    total_issues_count: z.int(),
    critical_vulnerabilities_count: z.int().optional().meta({ description: "premium" }),
  }),
  pack_stats: z.array(HostPackStats).nullable().meta({ description: "one host; null in lists" }),
  batteries: z.array(Battery).optional(),
  geolocation: HostGeolocation.optional().meta({ description: "one host, where a geo-IP database is configured" }),
  maintenance_window: z.object({ starts_at: z.string(), timezone: z.string() }).nullable().optional(),
  users: z.array(HostUser).optional(),
  end_users: z.array(EndUser).optional(),
  device_mapping: z.array(DeviceMapping).optional().meta({ description: "lists, with device_mapping=true" }),
  labels: z.array(Label).optional(),
  packs: z.array(HostPack).optional(),
  policies: z.array(HostPolicy).optional(),
  software: z.array(HostSoftwareEntry).optional(),
  mdm: HostMdm,
});
export type Host = z.infer<typeof Host>;

const Gigabytes = QueryInt.refine((value) => value >= 1 && value <= 100).meta({
  type: "integer",
  minimum: 1,
  maximum: 100,
  premium: true,
  description: "less than this many GB free, 1 to 100 (premium)",
});

const settingsStatuses = ["verified", "verifying", "pending", "failed"] as const;
const encryptionStatuses = [
  "verified",
  "verifying",
  "action_required",
  "enforcing",
  "failed",
  "removing_enforcement",
] as const;

/** A selector expression. */
export const Where = z
  .string()
  .max(4096)
  .meta({ description: 'a selector, such as: platform = darwin and label in (A, "B c") and seen < 7d' });

/** What picks hosts: list, count and every other use of host filters share these. */
export const hostFilters = {
  status: z.enum(hostStatuses).optional(),
  query: QueryText.optional().meta({
    description:
      "searches hostname, serial number, uuid, IPv4 address, and email addresses when it has an @ and no blank",
  }),
  team_id: QueryTeam.optional(),
  label_id: QueryId.optional(),
  os_name: z.string().max(255).optional().meta({ description: "needs os_version" }),
  os_version: z.string().max(255).optional().meta({ description: "needs os_name" }),
  os_version_id: QueryId.optional(),
  software_version_id: QueryId.optional(),
  software_title_id: QueryId.optional(),
  software_id: QueryId.optional().meta({ deprecated: true, description: "use software_version_id" }),
  low_disk_space: Gigabytes.optional(),
  policy_id: QueryId.optional(),
  policy_response: z.enum(["passing", "failing"]).optional().meta({ description: "needs policy_id" }),
  software_status: z
    .enum([
      "pending_install",
      "failed_install",
      "installed",
      "pending_uninstall",
      "failed_uninstall",
      "pending",
      "failed",
    ])
    .optional()
    .meta({ description: "needs software_title_id and team_id" }),
  vulnerability: z.string().max(64).regex(/^cve-/i).optional().meta({ description: "a CVE id, such as CVE-2026-1234" }),
  mdm_id: QueryId.optional(),
  mdm_name: z.string().max(255).optional(),
  mdm_enrollment_status: z.enum(["manual", "automatic", "enrolled", "pending", "unenrolled"]).optional(),
  connected_to_svc: QueryFlag.optional().meta({ description: "managed by this server, or not" }),
  macos_settings: z.enum(settingsStatuses).optional(),
  macos_settings_disk_encryption: z.enum(encryptionStatuses).optional(),
  os_settings: z.enum(settingsStatuses).optional(),
  os_settings_disk_encryption: z.enum(encryptionStatuses).optional(),
  profile_uuid: z.string().max(255).optional().meta({ description: "needs profile_status" }),
  profile_status: z.enum(settingsStatuses).optional().meta({ description: "needs profile_uuid" }),
  bootstrap_package: z.enum(["installed", "pending", "failed"]).optional().meta({ premium: true }),
  munki_issue_id: QueryId.optional(),
  where: Where.optional(),
};
export const HostFilter = z.object(hostFilters);
export type HostFilter = z.output<typeof HostFilter>;

/** How software tells its vulnerabilities: by their CVE ids, or with what is known of them. */
export type SoftwareForm = "ids" | "details";

export const HostListQuery = pagingAfter(...hostOrderKeys).extend({
  ...hostFilters,
  populate_software: z
    .enum(["true", "1", "false", "0", "without_vulnerability_details"])
    .optional()
    .transform((value): SoftwareForm | null =>
      value === "without_vulnerability_details" ? "ids" : value === "true" || value === "1" ? "details" : null,
    ),
  populate_users: QueryFlag.default(false),
  populate_labels: QueryFlag.default(false),
  populate_policies: QueryFlag.default(false),
  device_mapping: QueryFlag.default(false),
  additional_info_filters: z.string().max(4096).optional(),
  disable_failing_policies: QueryFlag.default(false),
  disable_issues: QueryFlag.optional(),
  ...cursorQuery,
});
export type HostListQuery = z.output<typeof HostListQuery>;

/** The filters that a body takes (bulk delete, transfer). An unknown key is an error. */
export const BodyHostFilter = z.strictObject({
  query: z.string().max(1024).optional(),
  status: z.enum(hostStatuses).optional(),
  label_id: Id.nullable().optional(),
  team_id: z.int().min(0).nullable().optional().meta({ description: "0 = no team" }),
  where: Where.optional(),
});
export type BodyHostFilter = z.output<typeof BodyHostFilter>;

/** The report lists every host that the filters pick: nothing of paging, and no host's parts. */
export const HostReportQuery = HostListQuery.pick({ order_key: true, order_direction: true }).extend({
  format: z.literal("csv"),
  columns: z.string().max(4096).optional().meta({ description: "columns, joined by commas; all when left out" }),
  ...hostFilters,
  disable_failing_policies: QueryFlag.default(false),
  disable_issues: QueryFlag.optional(),
});
export type HostReportQuery = z.output<typeof HostReportQuery>;

const DestinationTeam = z.int().min(0).nullable().meta({ description: "null or 0 = no team" });

/** Whether a host meets one part of a selector. Parts follow what they are part of, one level deeper. */
export const WherePart = z.object({ text: z.string(), depth: z.int(), held: z.boolean() });
export type WherePart = z.infer<typeof WherePart>;

const params = z.object({ id: IdParam });
const list = { action: "hosts:list", scope: "team" } as const;

export const hostsApi = {
  list: endpoint({
    method: "GET",
    path: "/hosts",
    summary: "List hosts.",
    access: list,
    query: HostListQuery,
    response: z.object({
      hosts: z.array(Host),
      meta: CursorMeta,
      mobile_device_management_solution: z
        .object({ id: Id, name: z.string(), server_url: z.string() })
        .optional()
        .meta({ description: "with mdm_id" }),
      munki_issue: z
        .object({ id: Id, name: z.string(), type: z.string() })
        .optional()
        .meta({ description: "with munki_issue_id" }),
      software: z.object({ id: Id, name: z.string(), version: z.string(), source: z.string() }).optional(),
      software_title: z.object({ id: Id, name: z.string(), source: z.string() }).optional(),
    }),
  }),
  count: endpoint({
    method: "GET",
    path: "/hosts/count",
    summary: "Count hosts; takes every filter of the list.",
    access: list,
    query: HostListQuery,
    response: z.object({ count: z.int() }),
  }),
  summary: endpoint({
    method: "GET",
    path: "/host_summary",
    summary: "Count hosts by status and platform.",
    access: list,
    query: z.object({
      team_id: QueryTeam.optional(),
      platform: z.string().max(64).optional(),
      low_disk_space: Gigabytes.optional(),
    }),
    response: z.object({
      team_id: z.int().optional(),
      totals_hosts_count: z.int(),
      online_count: z.int(),
      offline_count: z.int(),
      mia_count: z.int(),
      missing_30_days_count: z.int(),
      new_count: z.int(),
      all_linux_count: z.int(),
      low_disk_space_count: z.int().optional(),
      builtin_labels: z.array(z.object({ id: Id, name: z.string(), description: z.string(), label_type: z.string() })),
      platforms: z.array(z.object({ platform: z.string(), hosts_count: z.int() })),
    }),
  }),
  report: endpoint({
    method: "GET",
    path: "/hosts/report",
    summary: "Export hosts as CSV; takes every filter of the list.",
    access: list,
    query: HostReportQuery,
    produces: "text/csv",
    response: Streamed,
  }),
  transfer: endpoint({
    method: "POST",
    path: "/hosts/transfer",
    summary: "Move hosts to a team.",
    tier: "premium",
    access: { action: "hosts:transfer", scope: "team" },
    body: z.object({ team_id: DestinationTeam, hosts: Ids }),
    response: Empty,
  }),
  transferByFilter: endpoint({
    method: "POST",
    path: "/hosts/transfer/filter",
    summary: "Move the hosts that filters pick to a team; empty filters pick all hosts.",
    tier: "premium",
    access: { action: "hosts:transfer", scope: "team" },
    body: z.object({ team_id: DestinationTeam, filters: BodyHostFilter }),
    response: Empty,
  }),
  explain: endpoint({
    method: "GET",
    path: "/hosts/:id/explain",
    summary: "Tell which parts of a selector hold for a host.",
    access: { action: "hosts:read", scope: "team" },
    params,
    query: z.object({ where: Where }),
    response: z.object({ host_id: Id, where: z.string(), held: z.boolean(), parts: z.array(WherePart) }),
  }),
  get: endpoint({
    method: "GET",
    path: "/hosts/:id",
    summary: "Get a host with its details.",
    access: { action: "hosts:read", scope: "team" },
    params,
    query: z.object({ exclude_software: QueryFlag.default(false) }),
    response: z.object({ host: Host }),
  }),
  byIdentifier: endpoint({
    method: "GET",
    path: "/hosts/identifier/:identifier",
    summary: "Get a host by hostname, uuid or serial number.",
    access: { action: "hosts:identify", scope: "team" },
    params: z.object({ identifier: z.string().min(1).max(255) }),
    query: z.object({
      exclude_software: QueryFlag.default(false),
      exclude_svc_maintained_policies: QueryFlag.default(false),
    }),
    response: z.object({ host: Host }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/hosts/:id",
    summary: "Delete a host; it may enroll again.",
    access: { action: "hosts:delete", scope: "team" },
    params,
    response: Empty,
  }),
  deleteMany: endpoint({
    method: "POST",
    path: "/hosts/delete",
    summary: "Delete hosts by ids, or by filters; empty filters pick all hosts.",
    access: { action: "hosts:delete", scope: "team" },
    body: z.object({ ids: Ids.optional(), filters: BodyHostFilter.optional() }),
    otherStatus: [202],
    response: Empty,
  }),
  refetch: endpoint({
    method: "POST",
    path: "/hosts/:id/refetch",
    summary: "Ask a host for all its details at its next check-in.",
    access: { action: "hosts:refetch", scope: "team" },
    params,
    response: Empty,
  }),
  software: endpoint({
    method: "GET",
    path: "/hosts/:id/software",
    summary: "List the software on a host.",
    stability: "experimental",
    access: { action: "software:list", scope: "team" },
    params,
    query: paging("name").extend({
      query: QueryText.optional().meta({ description: "searches the name" }),
      vulnerable: QueryFlag.default(false),
      available_for_install: QueryFlag.default(false),
      self_service: QueryFlag.default(false),
      min_cvss_score: QueryInt.optional().meta({ premium: true }),
      max_cvss_score: QueryInt.optional().meta({ premium: true }),
      exploit: QueryFlag.optional().meta({ premium: true }),
    }),
    response: z.object({ count: z.int(), software: z.array(HostSoftwareItem), meta: Meta }),
  }),
};
