import type { Battery, HostUser } from "../../api/hosts.ts";
import { bool, id, idOf, int, json, packed, real, ref, table, text, time } from "../store/table.ts";

export const osVersions = table(
  "os_versions",
  {
    id: id(),
    /** As the system calls itself: 'Ubuntu', 'macOS', 'Microsoft Windows 11 Enterprise'. */
    name: text(),
    version: text(),
    platform: text(),
    hosts_count: int().default(0),
  },
  { unique: [["name", "version", "platform"]] },
);

export const hosts = table("hosts", {
  id: id(),
  created_at: time().index(),
  updated_at: time(),
  detail_updated_at: time().nullable(),
  label_updated_at: time().nullable(),
  policy_updated_at: time().nullable(),
  software_updated_at: time().nullable(),
  last_enrolled_at: time().index(),
  last_restarted_at: time().nullable(),
  /** What the agent calls itself: the one identity that enrollment matches by. */
  identifier: text().unique(),
  /** SHA-256 of the node key, hex. */
  node_key_hash: text().nullable().unique(),
  refetch_requested: bool().default(true),
  refetch_critical_queries_until: time().nullable(),
  uuid: text().default("").index().search(),
  hostname: text().default("").index().search(),
  display_name: text().default("").index().search(),
  computer_name: text().default(""),
  platform: text().default("").index(),
  platform_like: text().default(""),
  code_name: text().default(""),
  build: text().default(""),
  os_version: text().default("").index(),
  os_version_id: ref("os_versions").nullable(),
  qengine_version: text().default(""),
  agent_version: text().nullable(),
  svc_desktop_version: text().nullable(),
  scripts_enabled: bool().nullable(),
  /** Nanoseconds: after 104 days beyond a safe integer, yet exact as a double. */
  uptime: real().default(0),
  memory: int().default(0),
  cpu_type: text().default(""),
  cpu_subtype: text().default(""),
  cpu_brand: text().default(""),
  cpu_physical_cores: int().default(0),
  cpu_logical_cores: int().default(0),
  hardware_vendor: text().default(""),
  hardware_model: text().default(""),
  hardware_version: text().default(""),
  hardware_serial: text().default("").index().search(),
  timezone: text().nullable(),
  public_ip: text().default(""),
  primary_ip: text().default("").search(),
  primary_mac: text().default(""),
  distributed_interval: int().default(0),
  config_tls_refresh: int().default(0),
  logger_tls_period: int().default(0),
  team_id: ref("teams").nullable(),
  gigs_disk_space_available: real().default(0),
  gigs_total_disk_space: real().default(0),
  percent_disk_space_available: real().default(0),
  disk_encryption_enabled: bool().nullable(),
});

/** When a host was last heard of. Apart from the host row: it changes with every request, and is flushed in bulk. */
export const hostSeen = table("host_seen", {
  id: idOf("hosts"),
  seen_time: time(),
  /** seen_time + min(distributed_interval, config_tls_refresh) + 60 s: the host is online while this is to come. */
  online_until: time(),
});

/** What only the view of one host shows. */
export const hostDetails = table("host_details", {
  id: idOf("hosts"),
  users: packed<HostUser[]>(),
  batteries: json<Battery[]>(),
  additional: packed<Record<string, unknown>>().nullable(),
  pack_stats: packed<unknown[]>().nullable(),
  certificates: packed<unknown[]>().nullable(),
  mdm: json<Record<string, unknown>>().nullable(),
  munki: json<Record<string, unknown>>().nullable(),
});

export const hostEmails = table(
  "host_emails",
  { id: id(), host_id: ref("hosts"), email: text().search(), source: text() },
  { unique: [["host_id", "email", "source"]] },
);
