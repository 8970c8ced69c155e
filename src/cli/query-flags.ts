// Flags generated from an endpoint's query schema, so that a new filter in the API becomes a flag automatically.
import type { Interfaces } from "@oclif/core";
import * as Flags from "@oclif/core/flags";
import type { AnyEndpoint, InputOf } from "../api/endpoint.ts";
import { hasQueryField, outlineOf } from "../api/outline.ts";

type QueryFlagSet = Interfaces.FlagInput;

const kebab = (field: string) => field.replaceAll("_", "-");

/** Texts for parameters that have no description in the API. */
const texts: Record<string, string> = {
  order_key: "Order rows by this field.",
  order_direction: "Direction of the order; needs --order-key.",
  after: "Only rows after this value of --order-key.",
  populate_software: "Include the software of each host.",
  populate_users: "Include the local users of each host.",
  populate_labels: "Include the labels of each host.",
  populate_policies: "Include the policies of each host, with their results.",
  device_mapping: "Include the users that each host is assigned to.",
  disable_failing_policies: "Do not count failing policies.",
  disable_issues: "Do not count issues.",
  additional_info_filters: "Include these additional queries, separated by commas.",
  start_created_at: "Only activities after this time: 2026-01-31, 2026-01-31T22:00:00Z, or how long ago: 24h, 7d.",
  end_created_at: "Only activities before this time, in the same formats.",
  exploit: "Only software with a known exploit (premium).",
};

/** For parameters that are described nowhere else. */
const plainTexts: Record<string, string> = {
  label_id: "Only hosts with the label that has this id.",
  os_version_id: "Only hosts with the operating system version that has this id.",
  software_version_id: "Only hosts with the version of software that has this id.",
  software_title_id: "Only hosts with the software title that has this id.",
  policy_id: "Only those that the policy with this id concerns.",
  mdm_id: "Only hosts that are enrolled in the device management product with this id.",
  mdm_name: "Only hosts that are enrolled in the device management product with this name.",
  mdm_enrollment_status: "Only hosts with this enrollment in device management.",
  macos_settings: "Only Macs on which the profiles have this status.",
  macos_settings_disk_encryption: "Only Macs on which disk encryption has this status.",
  os_settings: "Only hosts on which the profiles have this status.",
  os_settings_disk_encryption: "Only hosts on which disk encryption has this status.",
  bootstrap_package: "Only Macs on which the bootstrap package has this status (premium).",
  munki_issue_id: "Only Macs that have the Munki issue with this id.",
  vulnerable: "Only software with known vulnerabilities.",
  available_for_install: "Only software that can be installed from here.",
  self_service: "Only software that users of hosts may install.",
  packages_only: "Only packages, without store apps.",
  exclude_svc_maintained_apps: "Without apps of the catalogue.",
  min_cvss_score: "Only software with a vulnerability whose CVSS score is at least this (premium).",
  max_cvss_score: "Only software with a vulnerability whose CVSS score is at most this (premium).",
  command_uuid: "Only the command with this uuid.",
  request_type: "Only commands of this type, such as DeviceLock.",
  status: "Only those with this status.",
  state: "Only those in this state.",
  platform: "Only those of this platform.",
  query: "Only those that match this search text.",
  kind: "Only those of this kind.",
  event: "Only deliveries of this event.",
  format: "Format of the file.",
};

/** Left out: paging has flags of its own, a team is given by name, and the fields are those that are printed. */
const apart = new Set(["page", "per_page", "cursor", "with_count", "team_id", "dry_run", "fields"]);
/** Boolean filters for which false is a filter too, as opposed to no filter. */
const threeWay = new Set(["connected_to_svc", "has_known_exploit"]);

export function queryFlags(endpoint: AnyEndpoint, skip: readonly string[] = []): QueryFlagSet {
  const flags: QueryFlagSet = {};
  for (const { name: field, type, description, options, deprecated } of outlineOf(endpoint).query) {
    if (apart.has(field) || skip.includes(field) || deprecated) continue;
    const summary =
      texts[field] ??
      (description ? sentence(asFlags(description, endpoint)) : undefined) ??
      plainTexts[field] ??
      sentence(field.replaceAll("_", " "));
    const group = field.startsWith("order_") || field === "after" ? { helpGroup: "PAGING" } : {};
    flags[kebab(field)] =
      type === "boolean"
        ? Flags.boolean({ summary, ...group, allowNo: threeWay.has(field) })
        : Flags.string({ summary, ...group, ...(options === undefined ? {} : { options: [...options] }) });
  }
  return flags;
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

/** Replaces the names of parameters in a description by those of their flags. */
const asFlags = (text: string, endpoint: AnyEndpoint) =>
  text.replace(/[a-z]+(?:_[a-z]+)+/g, (word) => (hasQueryField(endpoint, word) ? `--${kebab(word)}` : word));

/** The query parameters from the flags. */
export function queryOf<E extends AnyEndpoint>(
  endpoint: E,
  flags: Readonly<Record<string, unknown>>,
  more: Record<string, unknown> = {},
): NonNullable<InputOf<E>["query"]> {
  const query: Record<string, unknown> = { ...more };
  for (const { name: field } of outlineOf(endpoint).query) {
    const value = flags[kebab(field)];
    if (apart.has(field) || value === undefined || (value === false && !threeWay.has(field))) continue;
    query[field] = value;
  }
  return query as NonNullable<InputOf<E>["query"]>;
}
