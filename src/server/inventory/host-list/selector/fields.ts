// All fields of selector expressions.
import { hostOrderKeys, hostStatuses } from "../../../../api/inventory/host-filters.ts";
import { hostPolicies } from "../../../checks/policies/tables.ts";
import { hostProfiles } from "../../../devices/profiles/tables.ts";
import { hostActions } from "../../../hosts/host-actions/tables.ts";
import { byStatus } from "../../../hosts/host-contact/contact.ts";
import { online, onPlatform, seenWhen } from "../../../hosts/hosts/status.ts";
import { hostEmails, hostSeen, hosts, osVersions } from "../../../hosts/hosts/tables.ts";
import { labelMembers, labels } from "../../../hosts/labels/tables.ts";
import { hostMunki, munkiIssues } from "../../../hosts/munki/tables.ts";
import { eq, exists, hasOf, isNull, not, type Predicate } from "../../../platform/store/query.ts";
import { teams } from "../../../settings/teams/tables.ts";
import { vulnerableWhere } from "../../../software/software/host-conditions.ts";
import { hostSoftware, software } from "../../../software/software/tables.ts";
import { softwareCves } from "../../../software/software/vulnerabilities/tables.ts";
import {
  type Field,
  flagColumn,
  flagField,
  numberField,
  relatedText,
  relatedTimeField,
  textField,
  timeField,
  wordField,
} from "./kinds.ts";
import { bootstrapPackage, connectedToSvc, diskEncryption, enrolledAs, inSolutionWhere, osSettings } from "./mdm.ts";
import { answering } from "./policies.ts";
import type { Unit } from "./values.ts";
import { namedSystemVersion, softwareVersion, systemVersion } from "./versions.ts";

const unitOf: Readonly<Record<string, Unit>> = {
  memory: "bytes",
  uptime: "nanoseconds",
  distributed_interval: "seconds",
  config_tls_refresh: "seconds",
  logger_tls_period: "seconds",
  gigs_disk_space_available: "gigabytes",
  gigs_total_disk_space: "gigabytes",
};

/** The host columns that the API shows, with their kinds of field. */
function ownFields(): [string, Field][] {
  return hostOrderKeys.flatMap((name): [string, Field][] => {
    const spec = Object.hasOwn(hosts.columns, name) ? hosts.columns[name as keyof typeof hosts.columns].spec : null;
    if (!spec) return [];
    const none = spec.nullable ? { none: isNull(name) } : {};
    if (spec.kind === "text")
      return [[name, textField(name, { searchable: spec.searchable, anyCase: spec.searchable, ...none })]];
    if (spec.kind === "bool") return [[name, flagColumn(name, spec.nullable)]];
    if (spec.kind === "time") return [[name, timeField(name, spec.nullable)]];
    return [[name, numberField(name, { unit: unitOf[name] ?? "plain", ...none })]];
  });
}

/** Names of labels and teams in their stored form. */
export const trimmed = (text: string): string => text.normalize("NFC").trim();
const capitals = (text: string): string => text.toUpperCase();

const ofVersions = (version: Predicate): Predicate =>
  exists(hostSoftware, "id", hasOf("software_ids", software, version));
const inTeams = (team: Predicate): Predicate => exists(teams, "id", team, "team_id");
const named = (name: string): Predicate => {
  const key = trimmed(name).toLowerCase();
  return key === "no team" ? isNull("team_id") : inTeams(eq("name_key", key));
};
const onSystem = (system: Predicate): Predicate => exists(osVersions, "id", system, "os_version_id");
const noPolicies = not(exists(hostPolicies, "id"));
/** Hosts of which nothing is recorded have no issues. */
const issuesField = (column: "issues_count" | "critical_count"): Field =>
  numberField(column, { wrap: (row) => exists(hostPolicies, "id", row), absent: { value: 0, where: noPolicies } });
const seen = relatedTimeField(seenWhen, not(exists(hostSeen, "id")));
const email = relatedText("email", (row) => exists(hostEmails, "host_id", row), { searchable: true });
const encryption = ["verified", "verifying", "action_required", "enforcing", "failed", "removing_enforcement"] as const;

/** Text fields of a software version, used by themselves or within `software(...)`. */
const versionText = (wrap: (row: Predicate) => Predicate): [string, Field][] => [
  ["name", relatedText("name", wrap, { searchable: true })],
  ["version", relatedText("version", wrap, { ordered: (operator, word) => wrap(softwareVersion(operator, word)) })],
  ...(["source", "vendor", "bundle_identifier"] as const).map((column): [string, Field] => [
    column,
    relatedText(column, wrap),
  ]),
];

export const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ...ownFields(),
  ["platform", textField("platform", { equals: onPlatform })],
  ["serial", textField("hardware_serial", { searchable: true, anyCase: true })],
  ["seen", seen],
  ["seen_time", seen],
  ["status", wordField(hostStatuses, byStatus)],
  ["online", flagField(online)],
  ["issues", issuesField("issues_count")],
  ["critical_vulnerabilities", issuesField("critical_count")],
  ["team", textField("name", { searchable: true, wrap: inTeams, equals: named, none: isNull("team_id") })],
  [
    "label",
    relatedText("name", (row) => exists(labelMembers, "host_id", exists(labels, "id", row, "label_id")), {
      searchable: true,
      clean: trimmed,
    }),
  ],
  ["policy.passing", relatedText("name", (row) => answering("passing", row), { searchable: true })],
  ["policy.failing", relatedText("name", (row) => answering("failing", row), { searchable: true })],
  ...versionText(ofVersions).map(([name, field]): [string, Field] => [`software.${name}`, field]),
  ["cve", relatedText("cve", vulnerableWhere, { clean: capitals })],
  ["os.name", relatedText("name", onSystem)],
  [
    "os.version",
    relatedText("version", onSystem, { ordered: (operator, word) => onSystem(systemVersion(operator, word)) }),
  ],
  [
    "os_version",
    textField("os_version", { ordered: (operator, word) => onSystem(namedSystemVersion(operator, word)) }),
  ],
  ["email", email],
  ["user.email", email],
  ["mdm.name", relatedText("name", inSolutionWhere)],
  ["mdm.server_url", relatedText("server_url", inSolutionWhere)],
  ["mdm.enrollment_status", wordField(["manual", "automatic", "enrolled", "pending", "unenrolled"], enrolledAs)],
  ["mdm.connected_to_svc", flagField(() => connectedToSvc(true))],
  ["mdm.os_settings", wordField(["verified", "verifying", "pending", "failed"], osSettings)],
  ["mdm.disk_encryption", wordField(encryption, diskEncryption)],
  ["mdm.bootstrap_package", wordField(["installed", "pending", "failed"], bootstrapPackage)],
  ["mdm.profile", relatedText("name", (row) => exists(hostProfiles, "host_id", row))],
  ["munki.version", relatedText("version", (row) => exists(hostMunki, "id", row))],
  ["munki.issue", relatedText("name", (row) => exists(hostMunki, "id", hasOf("issue_ids", munkiIssues, row)))],
  ["locked", flagField(() => exists(hostActions, "id", eq("locked", true)))],
]);

/** Fields that take conditions in parentheses. One related row must satisfy all of them. */
export const groups: ReadonlyMap<
  string,
  { readonly fields: ReadonlyMap<string, Field>; readonly wrap: (row: Predicate) => Predicate }
> = new Map([
  [
    "software",
    {
      wrap: ofVersions,
      fields: new Map<string, Field>([
        ["version", textField("version", { ordered: softwareVersion })],
        ...(["name", "source", "vendor", "bundle_identifier"] as const).map((column): [string, Field] => [
          column,
          textField(column, { searchable: column === "name" }),
        ]),
        ["cve", relatedText("cve", (row) => exists(softwareCves, "software_id", row), { clean: capitals })],
      ]),
    },
  ],
]);
