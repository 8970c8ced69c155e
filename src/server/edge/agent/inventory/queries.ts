import type { DetailQuery } from "../../../platform/agent-protocol/detail-query.ts";

/**
 * What identifies a host, its operating system, hardware, agent and network: needed before anything else is asked.
 * Everything else is asked by `InventorySource`s. `*` where the columns vary by agent version.
 */
export const systemQueries: readonly DetailQuery[] = [
  { name: "os_version", platforms: "all", sql: "SELECT o.* FROM os_version AS o LIMIT 1;" },
  { name: "qengine_info", platforms: "all", sql: "SELECT i.* FROM osquery_info AS i LIMIT 1;" },
  { name: "system_info", platforms: "all", sql: "SELECT s.* FROM system_info AS s LIMIT 1;" },
  { name: "uptime", platforms: "all", sql: "SELECT total_seconds FROM uptime;" },
  {
    name: "flags",
    platforms: ["darwin", "linux", "windows"],
    sql: "SELECT name, value FROM osquery_flags WHERE name IN ('distributed_interval', 'config_refresh', 'config_tls_refresh', 'logger_tls_period');",
  },
  {
    name: "os_windows",
    platforms: ["windows"],
    critical: true,
    sql: "SELECT name, data FROM registry WHERE key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion' AND name IN ('UBR', 'DisplayVersion', 'InstallationType');",
  },
  {
    name: "net_unix",
    platforms: ["darwin", "linux"],
    sql: "SELECT r.metric, a.address, d.mac FROM routes AS r JOIN interface_addresses AS a ON a.interface = r.interface JOIN interface_details AS d ON d.interface = r.interface WHERE r.type = 'gateway' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');",
  },
  {
    // On Windows, routes.interface is the local address.
    name: "net_windows",
    platforms: ["windows"],
    sql: "SELECT r.metric, a.address, d.mac FROM routes AS r JOIN interface_addresses AS a ON a.address = r.interface JOIN interface_details AS d ON d.interface = a.interface WHERE r.type = 'remote' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');",
  },
  {
    name: "disk_unix",
    platforms: ["darwin", "linux"],
    sql: "SELECT blocks, blocks_available, blocks_size FROM mounts WHERE path = '/' LIMIT 1;",
  },
  {
    name: "disk_windows",
    platforms: ["windows"],
    sql: "SELECT SUM(size) AS total_bytes, SUM(free_space) AS free_bytes FROM logical_drives WHERE file_system = 'NTFS';",
  },
];
