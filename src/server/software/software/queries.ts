import type { SoftwarePlatform } from "../../../api/software/software.ts";
import { type DetailQuery, tableExists } from "../../platform/agent-protocol/detail-query.ts";

/** Names of results that device management reports: agents are not asked for them. */
export const deviceSources: readonly { readonly name: string; readonly platform: string; readonly source: string }[] = [
  { name: "software_ios", platform: "ios", source: "ios_apps" },
  { name: "software_ipados", platform: "ipados", source: "ipados_apps" },
  { name: "software_android", platform: "android", source: "android_apps" },
];

/**
 * One query per source, so that a missing table or a denylisted query affects one source only.
 * CROSS JOIN keeps SQLite from reordering the loops: without a uid constraint some tables return only the rows of the
 * agent's own user.
 */
export const softwareQueries: readonly (DetailQuery & { readonly source: string })[] = [
  {
    name: "software_apps",
    platforms: ["darwin"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "apps",
    sql: "SELECT name, bundle_identifier, bundle_short_version, bundle_version, last_opened_time, path FROM apps;",
  },
  {
    name: "software_homebrew",
    platforms: ["darwin"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "homebrew_packages",
    sql: "SELECT name, version, path FROM homebrew_packages;",
  },
  {
    name: "software_safari",
    platforms: ["darwin"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "safari_extensions",
    sql: "SELECT x.name, x.version, x.path FROM users AS u CROSS JOIN safari_extensions AS x ON x.uid = u.uid;",
  },
  {
    name: "software_deb",
    platforms: ["linux"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "deb_packages",
    sql: "SELECT name, version, revision, arch, source FROM deb_packages WHERE status LIKE '% ok installed';",
  },
  {
    name: "software_rpm",
    platforms: ["linux"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "rpm_packages",
    sql: "SELECT name, version, release, epoch, arch, vendor, source FROM rpm_packages;",
  },
  {
    name: "software_portage",
    platforms: ["linux"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "portage_packages",
    sql: "SELECT package AS name, version FROM portage_packages;",
  },
  {
    name: "software_pacman",
    platforms: ["linux"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "pacman_packages",
    discovery: tableExists("pacman_packages"),
    sql: "SELECT name, version, arch FROM pacman_packages;",
  },
  {
    name: "software_apk",
    platforms: ["linux"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "apk_packages",
    discovery: tableExists("apk_packages"),
    sql: "SELECT name, version, arch, origin FROM apk_packages;",
  },
  {
    name: "software_programs",
    platforms: ["windows"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "programs",
    sql: "SELECT name, version, publisher, install_location, identifying_number FROM programs;",
  },
  {
    name: "software_choco",
    platforms: ["windows"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "chocolatey_packages",
    sql: "SELECT name, version, path FROM chocolatey_packages;",
  },
  {
    name: "software_ie",
    platforms: ["windows"],
    feature: "enable_software_inventory",
    isLarge: true,
    source: "ie_extensions",
    sql: "SELECT name, version, path FROM ie_extensions;",
  },
  {
    name: "software_npm",
    platforms: "all",
    feature: "enable_software_inventory",
    isLarge: true,
    source: "npm_packages",
    discovery: tableExists("npm_packages"),
    sql: "SELECT name, version, path FROM npm_packages;",
  },
  {
    name: "software_python",
    platforms: "all",
    feature: "enable_software_inventory",
    isLarge: true,
    source: "python_packages",
    sql: "SELECT p.name, p.version, p.path FROM users AS u CROSS JOIN python_packages AS p ON p.uid = u.uid;",
    older: { before: [5, 16], sql: "SELECT p.name, p.version, p.path FROM python_packages AS p;" },
  },
  {
    name: "software_chrome",
    platforms: "all",
    feature: "enable_software_inventory",
    isLarge: true,
    source: "chrome_extensions",
    sql: "SELECT x.name, x.version, x.identifier, x.browser_type, x.path FROM users AS u CROSS JOIN chrome_extensions AS x ON x.uid = u.uid;",
  },
  {
    name: "software_firefox",
    platforms: "all",
    feature: "enable_software_inventory",
    isLarge: true,
    source: "firefox_addons",
    sql: "SELECT x.name, x.version, x.identifier, x.path FROM users AS u CROSS JOIN firefox_addons AS x ON x.uid = u.uid;",
  },
  {
    name: "software_vscode",
    platforms: "all",
    feature: "enable_software_inventory",
    isLarge: true,
    source: "vscode_extensions",
    discovery: tableExists("vscode_extensions"),
    sql: "SELECT x.name, x.version, x.uuid, x.publisher, x.path FROM users AS u CROSS JOIN vscode_extensions AS x ON x.uid = u.uid;",
  },
];

/** The sources of software on hosts of these platforms. */
export function sourcesOn(platforms: readonly SoftwarePlatform[]): string[] {
  const agentNames = new Set<string>(platforms.map((platform) => (platform === "macos" ? "darwin" : platform)));
  const agents = softwareQueries.filter(
    ({ platforms: queryPlatforms }) =>
      [...agentNames].some((platform) => agentPlatforms.has(platform)) &&
      (queryPlatforms === "all" ||
        queryPlatforms === undefined ||
        queryPlatforms.some((platform) => agentNames.has(platform))),
  );
  const devices = deviceSources.filter(({ platform }) => agentNames.has(platform));
  return [...agents, ...devices].map(({ source }) => source);
}

/** Platforms whose hosts have the query agent. */
const agentPlatforms: ReadonlySet<string> = new Set(["darwin", "windows", "linux", "chrome"]);
