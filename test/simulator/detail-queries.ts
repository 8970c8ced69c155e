import type { Family } from "../../src/simulator/inventory/platforms.ts";

type DetailQuery = { sql: string; on: Family[]; discovery?: string };

const D: Family[] = ["darwin"];
const L: Family[] = ["linux"];
const W: Family[] = ["windows"];
const ALL: Family[] = ["darwin", "linux", "windows"];

export const tableExists = (name: string) =>
  `SELECT 1 FROM osquery_registry WHERE registry = 'table' AND active = 1 AND name = '${name}'`;

const perUser = (table: string, columns: string) =>
  `SELECT ${columns} FROM users AS u CROSS JOIN ${table} AS x ON x.uid = u.uid;`;

/**
 * What agents run for the inventory of a host, as the server sent it when this list was made (docs/protocols/agent.md,
 * Inventory).
 */
export const DETAIL_QUERIES: Record<string, DetailQuery> = {
  os_version: { on: ALL, sql: "SELECT o.* FROM os_version AS o LIMIT 1;" },
  qengine_info: { on: ALL, sql: "SELECT i.* FROM osquery_info AS i LIMIT 1;" },
  system_info: { on: ALL, sql: "SELECT s.* FROM system_info AS s LIMIT 1;" },
  uptime: { on: ALL, sql: "SELECT total_seconds FROM uptime;" },
  flags: {
    on: ALL,
    sql: `SELECT name, value FROM osquery_flags
 WHERE name IN ('distributed_interval', 'config_refresh', 'config_tls_refresh', 'logger_tls_period');`,
  },
  os_windows: {
    on: W,
    sql: `SELECT name, data FROM registry WHERE key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion'
   AND name IN ('UBR', 'DisplayVersion', 'InstallationType');`,
  },
  net_unix: {
    on: [...D, ...L],
    sql: `SELECT r.metric, a.address, d.mac FROM routes AS r
  JOIN interface_addresses AS a ON a.interface = r.interface
  JOIN interface_details AS d ON d.interface = r.interface
 WHERE r.type = 'gateway' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');`,
  },
  net_windows: {
    on: W,
    sql: `SELECT r.metric, a.address, d.mac FROM routes AS r
  JOIN interface_addresses AS a ON a.address = r.interface
  JOIN interface_details AS d ON d.interface = a.interface
 WHERE r.type = 'remote' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');`,
  },
  disk_unix: {
    on: [...D, ...L],
    sql: "SELECT blocks, blocks_available, blocks_size FROM mounts WHERE path = '/' LIMIT 1;",
  },
  disk_windows: {
    on: W,
    sql: "SELECT SUM(size) AS total_bytes, SUM(free_space) AS free_bytes FROM logical_drives WHERE file_system = 'NTFS';",
  },
  users: {
    on: ALL,
    sql: `SELECT u.uid, u.username, u.type, u.shell, u.directory, g.groupname
 FROM users AS u LEFT JOIN (SELECT gid, groupname FROM groups) AS g ON g.gid = u.gid;`,
  },
  software_apps: {
    on: D,
    sql: "SELECT name, bundle_identifier, bundle_short_version, bundle_version, last_opened_time, path FROM apps;",
  },
  software_homebrew: { on: D, sql: "SELECT name, version, path FROM homebrew_packages;" },
  software_safari: { on: D, sql: perUser("safari_extensions", "x.name, x.version, x.path") },
  software_deb: {
    on: L,
    sql: "SELECT name, version, revision, arch, source FROM deb_packages WHERE status LIKE '% ok installed';",
  },
  software_rpm: { on: L, sql: "SELECT name, version, release, epoch, arch, vendor, source FROM rpm_packages;" },
  software_portage: { on: L, sql: "SELECT package AS name, version FROM portage_packages;" },
  software_pacman: {
    on: L,
    discovery: tableExists("pacman_packages"),
    sql: "SELECT name, version, arch FROM pacman_packages;",
  },
  software_apk: {
    on: L,
    discovery: tableExists("apk_packages"),
    sql: "SELECT name, version, arch, origin FROM apk_packages;",
  },
  software_programs: {
    on: W,
    sql: "SELECT name, version, publisher, install_location, identifying_number FROM programs;",
  },
  software_choco: { on: W, sql: "SELECT name, version, path FROM chocolatey_packages;" },
  software_ie: { on: W, sql: "SELECT name, version, path FROM ie_extensions;" },
  software_npm: {
    on: ALL,
    discovery: tableExists("npm_packages"),
    sql: "SELECT name, version, path FROM npm_packages;",
  },
  software_python: {
    on: ALL,
    sql: "SELECT p.name, p.version, p.path FROM users AS u CROSS JOIN python_packages AS p ON p.uid = u.uid;",
  },
  software_chrome: {
    on: ALL,
    sql: perUser("chrome_extensions", "x.name, x.version, x.identifier, x.browser_type, x.path"),
  },
  software_firefox: { on: ALL, sql: perUser("firefox_addons", "x.name, x.version, x.identifier, x.path") },
  software_vscode: {
    on: ALL,
    discovery: tableExists("vscode_extensions"),
    sql: perUser("vscode_extensions", "x.name, x.version, x.uuid, x.publisher, x.path"),
  },
  diskenc_darwin: {
    on: D,
    sql: "SELECT COUNT(*) AS unlocked_by FROM disk_encryption WHERE filevault_status = 'on' AND user_uuid <> '';",
  },
  diskenc_linux: {
    on: L,
    sql: "SELECT m.path, e.name, e.encrypted FROM mounts AS m JOIN disk_encryption AS e ON e.name = m.device_alias;",
  },
  diskenc_windows: {
    on: W,
    discovery:
      "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM windows_optional_features WHERE name = 'BitLocker' AND state <> 1);",
    sql: "SELECT drive_letter, protection_status, conversion_status FROM bitlocker_info WHERE drive_letter = 'C:';",
  },
  battery: {
    on: [...D, ...W],
    discovery: tableExists("battery"),
    sql: "SELECT serial_number, cycle_count, designed_capacity, max_capacity FROM battery;",
  },
  mdm_darwin: {
    on: D,
    discovery: tableExists("mdm"),
    sql: "SELECT enrolled, installed_from_dep, server_url, payload_identifier FROM mdm;",
  },
  mdm_windows: {
    on: W,
    sql: `SELECT key, name, data FROM registry WHERE path LIKE 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\%%'
   AND name IN ('UPN', 'DiscoveryServiceFullURL', 'ProviderID', 'EnrollmentState', 'AADResourceID');`,
  },
  munki: { on: D, discovery: tableExists("munki_info"), sql: "SELECT version, errors, warnings FROM munki_info;" },
  chrome_profiles: {
    on: ALL,
    discovery: tableExists("google_chrome_profiles"),
    sql: "SELECT DISTINCT email FROM google_chrome_profiles WHERE email <> '' AND ephemeral = 0;",
  },
  certificates_darwin: {
    on: D,
    sql: `SELECT c.*, 'system' AS scope FROM certificates AS c WHERE c.path = '/Library/Keychains/System.keychain'
 UNION ALL
SELECT c.*, 'user' FROM certificates AS c WHERE c.path LIKE '/Users/%/Library/Keychains/login.keychain-db';`,
  },
  certificates_windows: { on: W, sql: "SELECT c.* FROM certificates AS c WHERE c.store = 'Personal';" },
  agent_info: { on: ALL, discovery: tableExists("orbit_info"), sql: "SELECT a.* FROM orbit_info AS a LIMIT 1;" },
  schedule_stats: {
    on: ALL,
    sql: `SELECT s.*, f.value AS delimiter FROM osquery_schedule AS s, osquery_flags AS f WHERE f.name = 'pack_delimiter';`,
  },
};
