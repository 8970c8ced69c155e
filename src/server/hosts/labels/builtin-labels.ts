import { linuxPlatforms } from "../../platform/core/platforms.ts";

/** A label created by the server. Dynamic ones are evaluated like any other label. */
interface BuiltinLabel {
  readonly name: string;
  readonly description: string;
  readonly query: string;
  /** Only hosts of this platform run the query; empty: all. */
  readonly platform: string;
  readonly label_type: "builtin";
  readonly label_membership_type: "dynamic" | "manual";
}

const dynamic = (name: string, description: string, platform: string, query: string): BuiltinLabel => ({
  name,
  description,
  query,
  platform,
  label_type: "builtin",
  label_membership_type: "dynamic",
});

/** Hosts become members when they enroll, since these devices have no agent. */
const manual = (name: string, description: string, platform: string): BuiltinLabel => ({
  name,
  description,
  query: "",
  platform,
  label_type: "builtin",
  label_membership_type: "manual",
});

/** Hosts become members when they enroll. */
export const ALL_HOSTS = "All Hosts";

const linuxList = linuxPlatforms.map((platform) => `'${platform}'`).join(", ");

export const builtinLabels: readonly BuiltinLabel[] = [
  dynamic(ALL_HOSTS, "All hosts which have enrolled", "", "SELECT 1;"),
  dynamic("macOS", "All macOS hosts", "darwin", "SELECT 1 FROM os_version WHERE platform = 'darwin';"),
  dynamic("Ubuntu Linux", "All Ubuntu hosts", "ubuntu", "SELECT 1 FROM os_version WHERE platform = 'ubuntu';"),
  dynamic(
    "CentOS Linux",
    "All CentOS hosts",
    "",
    "SELECT 1 FROM os_version WHERE platform = 'centos' OR name LIKE '%centos%';",
  ),
  dynamic("MS Windows", "All Windows hosts", "windows", "SELECT 1 FROM os_version WHERE platform = 'windows';"),
  dynamic(
    "Red Hat Linux",
    "All Red Hat Enterprise Linux hosts",
    "",
    "SELECT 1 FROM os_version WHERE name LIKE '%red hat%';",
  ),
  dynamic("Fedora Linux", "All Fedora hosts", "", "SELECT 1 FROM os_version WHERE name LIKE '%fedora%';"),
  dynamic(
    "All Linux",
    "All Linux distributions",
    "",
    `SELECT 1 FROM os_version AS o, osquery_info AS i WHERE o.platform IN (${linuxList}) OR o.name LIKE '%centos%' OR i.build_platform LIKE '%linux%';`,
  ),
  dynamic("chrome", "All ChromeOS hosts", "chrome", "SELECT 1 FROM os_version WHERE platform = 'chrome';"),
  dynamic(
    "macOS 14+ (Sonoma+)",
    "macOS hosts with version 14 and above",
    "darwin",
    "SELECT 1 FROM os_version WHERE platform = 'darwin' AND major >= 14;",
  ),
  manual("iOS", "All iOS hosts", "ios"),
  manual("iPadOS", "All iPadOS hosts", "ipados"),
  manual("Android", "All Android hosts", "android"),
];

/** Labels of platforms whose devices may have no agent. */
export const platformLabels = builtinLabels.filter(
  ({ label_membership_type: type, name }) => type === "manual" || name === "macOS" || name === "MS Windows",
);
