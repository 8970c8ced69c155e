type Platform = "darwin" | "linux" | "windows";

export interface DetailQuery {
  readonly name: string;
  readonly sql: string;
  /** The query runs only if this one returns a row. */
  readonly discovery?: string;
  readonly platforms: "all" | readonly Platform[];
  readonly feature?: "users" | "software";
  /** The API's `source` of the software that this query returns. */
  readonly source?: string;
  /** Set if the discovery query reads a table that may be missing, which would fail the whole distributed read. */
  readonly needs?: { readonly platform: Platform; readonly agent: readonly [number, number] };
  /** SQL for agents below version `before`. */
  readonly older?: { readonly before: readonly [number, number]; readonly sql: string };
  /** Also requested while the MDM state of a host is about to change. */
  readonly critical?: true;
}

// Discovery queries use the agent's registry only: on an unknown table the agent drops all queries of the read.
const tableExists = (name: string): string =>
  `SELECT 1 FROM osquery_registry WHERE registry = 'table' AND active = 1 AND name = '${name}';`;

const D = ["darwin"] as const;
const L = ["linux"] as const;
const W = ["windows"] as const;
const DL = ["darwin", "linux"] as const;
const DW = ["darwin", "windows"] as const;
const DLW = ["darwin", "linux", "windows"] as const;

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
    platforms: DLW,
    sql: "SELECT name, value FROM osquery_flags WHERE name IN ('distributed_interval', 'config_refresh', 'config_tls_refresh', 'logger_tls_period');",
  },
  {
    name: "os_windows",
    platforms: W,
    critical: true,
    sql: "SELECT name, data FROM registry WHERE key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion' AND name IN ('UBR', 'DisplayVersion', 'InstallationType');",
  },
  {
    name: "net_unix",
    platforms: DL,
    sql: "SELECT r.metric, a.address, d.mac FROM routes AS r JOIN interface_addresses AS a ON a.interface = r.interface JOIN interface_details AS d ON d.interface = r.interface WHERE r.type = 'gateway' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');",
  },
  {
    // On Windows, routes.interface is the local address.
    name: "net_windows",
    platforms: W,
    sql: "SELECT r.metric, a.address, d.mac FROM routes AS r JOIN interface_addresses AS a ON a.address = r.interface JOIN interface_details AS d ON d.interface = a.interface WHERE r.type = 'remote' AND r.netmask = 0 AND r.destination IN ('0.0.0.0', '::');",
  },
  {
    name: "disk_unix",
    platforms: DL,
    sql: "SELECT blocks, blocks_available, blocks_size FROM mounts WHERE path = '/' LIMIT 1;",
  },
  {
    name: "disk_windows",
    platforms: W,
    sql: "SELECT SUM(size) AS total_bytes, SUM(free_space) AS free_bytes FROM logical_drives WHERE file_system = 'NTFS';",
  },
  {
    name: "users",
    platforms: DLW,
    feature: "users",
    sql: "SELECT u.uid, u.username, u.type, u.shell, u.directory, g.groupname FROM users AS u LEFT JOIN (SELECT gid, groupname FROM groups) AS g ON g.gid = u.gid;",
  },
  {
    name: "software_apps",
    platforms: D,
    feature: "software",
    source: "apps",
    sql: "SELECT name, bundle_identifier, bundle_short_version, bundle_version, last_opened_time, path FROM apps;",
  },
  {
    name: "software_homebrew",
    platforms: D,
    feature: "software",
    source: "homebrew_packages",
    sql: "SELECT name, version, path FROM homebrew_packages;",
  },
  {
    name: "software_safari",
    platforms: D,
    feature: "software",
    source: "safari_extensions",
    sql: "SELECT x.name, x.version, x.path FROM users AS u CROSS JOIN safari_extensions AS x ON x.uid = u.uid;",
  },
  {
    name: "software_deb",
    platforms: L,
    feature: "software",
    source: "deb_packages",
    sql: "SELECT name, version, revision, arch FROM deb_packages WHERE status LIKE '% ok installed';",
  },
  {
    name: "software_rpm",
    platforms: L,
    feature: "software",
    source: "rpm_packages",
    sql: "SELECT name, version, release, epoch, arch, vendor FROM rpm_packages;",
  },
  {
    name: "software_portage",
    platforms: L,
    feature: "software",
    source: "portage_packages",
    sql: "SELECT package AS name, version FROM portage_packages;",
  },
  {
    name: "software_programs",
    platforms: W,
    feature: "software",
    source: "programs",
    sql: "SELECT name, version, publisher, install_location, identifying_number FROM programs;",
  },
  {
    name: "software_choco",
    platforms: W,
    feature: "software",
    source: "chocolatey_packages",
    sql: "SELECT name, version, path FROM chocolatey_packages;",
  },
  {
    name: "software_ie",
    platforms: W,
    feature: "software",
    source: "ie_extensions",
    sql: "SELECT name, version, path FROM ie_extensions;",
  },
  {
    name: "software_npm",
    platforms: "all",
    feature: "software",
    source: "npm_packages",
    discovery: tableExists("npm_packages"),
    sql: "SELECT name, version, path FROM npm_packages;",
  },
  {
    name: "software_python",
    platforms: "all",
    feature: "software",
    source: "python_packages",
    sql: "SELECT p.name, p.version, p.path FROM users AS u CROSS JOIN python_packages AS p ON p.uid = u.uid;",
    older: { before: [5, 16], sql: "SELECT p.name, p.version, p.path FROM python_packages AS p;" },
  },
  {
    name: "software_chrome",
    platforms: "all",
    feature: "software",
    source: "chrome_extensions",
    sql: "SELECT x.name, x.version, x.identifier, x.browser_type, x.path FROM users AS u CROSS JOIN chrome_extensions AS x ON x.uid = u.uid;",
  },
  {
    name: "software_firefox",
    platforms: "all",
    feature: "software",
    source: "firefox_addons",
    sql: "SELECT x.name, x.version, x.identifier, x.path FROM users AS u CROSS JOIN firefox_addons AS x ON x.uid = u.uid;",
  },
  {
    name: "software_vscode",
    platforms: "all",
    feature: "software",
    source: "vscode_extensions",
    discovery: tableExists("vscode_extensions"),
    sql: "SELECT x.name, x.version, x.uuid, x.publisher, x.path FROM users AS u CROSS JOIN vscode_extensions AS x ON x.uid = u.uid;",
  },
  {
    name: "diskenc_darwin",
    platforms: D,
    sql: "SELECT COUNT(*) AS unlocked_by FROM disk_encryption WHERE filevault_status = 'on' AND user_uuid <> '';",
  },
  {
    // The server selects the path, because filtering in SQL has returned wrong rows.
    name: "diskenc_linux",
    platforms: L,
    sql: "SELECT m.path, e.name, e.encrypted FROM mounts AS m JOIN disk_encryption AS e ON e.name = m.device_alias;",
  },
  {
    // With the BitLocker feature off, reading this table can crash the agent.
    name: "diskenc_windows",
    platforms: W,
    discovery:
      "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM windows_optional_features WHERE name = 'BitLocker' AND state <> 1);",
    needs: { platform: "windows", agent: [4, 3] },
    sql: "SELECT drive_letter, protection_status, conversion_status FROM bitlocker_info WHERE drive_letter = 'C:';",
  },
  {
    name: "battery",
    platforms: DW,
    discovery: tableExists("battery"),
    sql: "SELECT serial_number, cycle_count, designed_capacity, max_capacity FROM battery;",
  },
  {
    name: "mdm_darwin",
    platforms: D,
    critical: true,
    discovery: tableExists("mdm"),
    sql: "SELECT enrolled, installed_from_dep, server_url, payload_identifier FROM mdm;",
  },
  {
    name: "mdm_windows",
    platforms: W,
    critical: true,
    sql: "SELECT key, name, data FROM registry WHERE path LIKE 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\%%' AND name IN ('UPN', 'DiscoveryServiceFullURL', 'ProviderID', 'EnrollmentState', 'AADResourceID');",
  },
  {
    name: "munki",
    platforms: D,
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
    platforms: D,
    sql: "SELECT c.*, 'system' AS scope FROM certificates AS c WHERE c.path = '/Library/Keychains/System.keychain' UNION ALL SELECT c.*, 'user' FROM certificates AS c WHERE c.path LIKE '/Users/%/Library/Keychains/login.keychain-db';",
  },
  {
    name: "certificates_windows",
    platforms: W,
    sql: "SELECT c.* FROM certificates AS c WHERE c.store = 'Personal';",
  },
  {
    name: "agent_info",
    platforms: DLW,
    discovery: tableExists("orbit_info"),
    sql: "SELECT a.* FROM orbit_info AS a LIMIT 1;",
  },
  {
    name: "schedule_stats",
    platforms: DLW,
    sql: "SELECT s.*, f.value AS delimiter FROM osquery_schedule AS s, osquery_flags AS f WHERE f.name = 'pack_delimiter';",
  },
];
