import { type DetailQuery, tableExists } from "../../agent-protocol/detail-query.ts";
import { softwareQueries } from "../../software/queries.ts";

/**
 * One query per source, so that a missing table or a denylisted query affects one source only. `*` where the columns
 * vary by agent version. CROSS JOIN keeps SQLite from reordering the loops: without a uid constraint these tables
 * return only the rows of the agent's own user.
 */
export const detailQueries: readonly DetailQuery[] = [
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
  {
    name: "users",
    platforms: ["darwin", "linux", "windows"],
    feature: "users",
    sql: "SELECT u.uid, u.username, u.type, u.shell, u.directory, g.groupname FROM users AS u LEFT JOIN (SELECT gid, groupname FROM groups) AS g ON g.gid = u.gid;",
  },
  ...softwareQueries,
  {
    name: "diskenc_darwin",
    platforms: ["darwin"],
    sql: "SELECT COUNT(*) AS unlocked_by FROM disk_encryption WHERE filevault_status = 'on' AND user_uuid <> '';",
  },
  {
    // The server selects the path, because filtering in SQL has returned wrong rows.
    name: "diskenc_linux",
    platforms: ["linux"],
    sql: "SELECT m.path, e.name, e.encrypted FROM mounts AS m JOIN disk_encryption AS e ON e.name = m.device_alias;",
  },
  {
    // With the BitLocker feature off, reading this table can crash the agent.
    name: "diskenc_windows",
    platforms: ["windows"],
    discovery:
      "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM windows_optional_features WHERE name = 'BitLocker' AND state <> 1);",
    needs: { platform: "windows", agent: [4, 3] },
    sql: "SELECT drive_letter, protection_status, conversion_status FROM bitlocker_info WHERE drive_letter = 'C:';",
  },
  {
    name: "battery",
    platforms: ["darwin", "windows"],
    discovery: tableExists("battery"),
    sql: "SELECT serial_number, cycle_count, designed_capacity, max_capacity FROM battery;",
  },
  {
    name: "mdm_darwin",
    platforms: ["darwin"],
    critical: true,
    discovery: tableExists("mdm"),
    sql: "SELECT enrolled, installed_from_dep, server_url, payload_identifier FROM mdm;",
  },
  {
    name: "mdm_windows",
    platforms: ["windows"],
    critical: true,
    sql: "SELECT key, name, data FROM registry WHERE path LIKE 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\%%' AND name IN ('UPN', 'DiscoveryServiceFullURL', 'ProviderID', 'EnrollmentState', 'AADResourceID');",
  },
  {
    name: "munki",
    platforms: ["darwin"],
    discovery: tableExists("munki_info"),
    sql: "SELECT version, errors, warnings FROM munki_info;",
  },
  {
    name: "chrome_profiles",
    platforms: "all",
    discovery: tableExists("google_chrome_profiles"),
    sql: "SELECT DISTINCT email FROM google_chrome_profiles WHERE email <> '' AND ephemeral = 0;",
  },
  {
    name: "certificates_darwin",
    platforms: ["darwin"],
    sql: "SELECT c.*, 'system' AS scope FROM certificates AS c WHERE c.path = '/Library/Keychains/System.keychain' UNION ALL SELECT c.*, 'user' FROM certificates AS c WHERE c.path LIKE '/Users/%/Library/Keychains/login.keychain-db';",
  },
  {
    name: "certificates_windows",
    platforms: ["windows"],
    sql: "SELECT c.* FROM certificates AS c WHERE c.store = 'Personal';",
  },
  {
    name: "agent_info",
    platforms: ["darwin", "linux", "windows"],
    discovery: tableExists("orbit_info"),
    sql: "SELECT a.* FROM orbit_info AS a LIMIT 1;",
  },
  {
    name: "schedule_stats",
    platforms: ["darwin", "linux", "windows"],
    sql: "SELECT s.*, f.value AS delimiter FROM osquery_schedule AS s, osquery_flags AS f WHERE f.name = 'pack_delimiter';",
  },
];
