// Converts host filters to one predicate. List, count, summary, bulk changes and every other selection of hosts use
// it.
import type { Action } from "../../../api/access.ts";
import type { BodyHostFilter, HostFilter } from "../../../api/inventory/host-filters.ts";
import { unansweredHosts } from "../../checks/policies/unanswered.ts";
import { byStatus } from "../../hosts/host-contact/contact.ts";
import { lowDiskSpace, matching } from "../../hosts/hosts/status.ts";
import { osVersions } from "../../hosts/hosts/tables.ts";
import { labelMembers } from "../../hosts/labels/tables.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { badRequest, invalid, premiumOption } from "../../platform/core/errors.ts";
import { authorize, inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, exists, isNull, type Predicate } from "../../platform/store/query.ts";
import { vulnerable, withInstall, withSoftware, withTitle } from "../../software/software/host-conditions.ts";
import { checkNames } from "./selector/known-names.ts";
import {
  bootstrapPackage,
  connectedToSvc,
  diskEncryption,
  enrolledAs,
  inSolution,
  inSolutionWhere,
  macosDiskEncryption,
  macosSettings,
  noWindowsServer,
  osSettings,
  withMunkiIssue,
  withProfile,
} from "./selector/mdm.ts";
import { withPolicy } from "./selector/policies.ts";
import { compileWhere } from "./selector/where.ts";

type Asker = Pick<Context, "user" | "clock" | "license">;

const withLabel = (labelId: number): Predicate => exists(labelMembers, "host_id", eq("label_id", labelId));

const ifGiven = <T>(value: T | undefined, predicate: (value: T) => Predicate): Predicate =>
  value === undefined ? everything : predicate(value);

/** The hosts of a list: `hostsWhere`, with what has to be read first. */
export async function hostsOfQuery(ctx: Context, filter: HostFilter, action: Action): Promise<Predicate> {
  const where = hostsWhere(ctx, filter, action);
  await checkNames(ctx, filter.where);
  return filter.policy_response === "none" ? and(where, await unansweredHosts(ctx.store, filter.policy_id!)) : where;
}

/** The hosts that match the filter, among those on which the caller may do the action. */
export function hostsWhere(ctx: Asker, filter: HostFilter, action: Action): Predicate {
  checkFilter(filter);
  return and(visible(ctx, action), inTeam(filter.team_id), ...ownFilters(ctx, filter), ...relatedFilters(ctx, filter));
}

function ownFilters(ctx: Asker, filter: HostFilter): Predicate[] {
  return [
    ifGiven(filter.status, (status) => byStatus(status, ctx.clock.now())),
    ifGiven(filter.query, matching),
    ifGiven(filter.label_id, withLabel),
    ifGiven(filter.os_version_id, (id) => eq("os_version_id", id)),
    ifGiven(filter.os_name, (name) =>
      exists(osVersions, "id", and(eq("name", name), eq("version", filter.os_version!)), "os_version_id"),
    ),
    ifGiven(filter.low_disk_space, lowDiskSpace),
    ifGiven(filter.where, (text) => compileWhere(text, ctx)),
  ];
}

function relatedFilters(ctx: Asker, filter: HostFilter): Predicate[] {
  const { policy_response: response, software_status: install } = filter;
  return [
    // Without a response the policy filter matches hosts that pass, fail or have not run the policy: all hosts.
    response === undefined || response === "none" ? everything : withPolicy(filter.policy_id!, response),
    ifGiven(filter.software_version_id, withSoftware),
    ifGiven(filter.software_id, withSoftware),
    ifGiven(filter.software_title_id, (id) => (install === undefined ? withTitle(id) : withInstall(id, install))),
    ifGiven(filter.vulnerability, vulnerable),
    ifGiven(filter.mdm_id, inSolution),
    ifGiven(filter.mdm_name, (name) => inSolutionWhere(eq("name", name))),
    ifGiven(filter.mdm_enrollment_status, enrolledAs),
    ifGiven(filter.connected_to_svc, connectedToSvc),
    ifGiven(filter.macos_settings, macosSettings),
    // Settings belong to the hosts of one team, or to the hosts without a team.
    filter.macos_settings !== undefined && filter.team_id === undefined && isPremium(ctx)
      ? isNull("team_id")
      : everything,
    ifGiven(filter.macos_settings_disk_encryption, macosDiskEncryption),
    ifGiven(filter.os_settings, osSettings),
    ifGiven(filter.os_settings_disk_encryption, diskEncryption),
    ifGiven(filter.profile_uuid, (uuid) => withProfile(uuid, filter.profile_status!)),
    ifGiven(filter.bootstrap_package, bootstrapPackage),
    ifGiven(filter.munki_issue_id, withMunkiIssue),
    withoutServers.some((name) => filter[name] !== undefined) ? noWindowsServer : everything,
  ];
}

/** Filters that exclude Windows servers. */
const withoutServers = [
  "mdm_id",
  "mdm_name",
  "mdm_enrollment_status",
  "os_settings",
  "os_settings_disk_encryption",
] as const satisfies readonly (keyof HostFilter)[];

/** Pairs of a filter and the other filter that it requires. */
const needs = [
  ["os_name", "os_version"],
  ["os_version", "os_name"],
  ["policy_response", "policy_id"],
  ["software_status", "software_title_id"],
  ["profile_uuid", "profile_status"],
  ["profile_status", "profile_uuid"],
] as const satisfies readonly (readonly [keyof HostFilter, keyof HostFilter])[];

function checkFilter(filter: HostFilter): void {
  if (filter.software_status !== undefined && filter.software_version_id !== undefined) {
    const reason = "it cannot be used with software_version_id";
    throw badRequest(`Invalid software_status: ${filter.software_status} (${reason})`, "software_status");
  }
  for (const [name, other] of needs)
    if (filter[name] !== undefined && filter[other] === undefined)
      throw badRequest(`Missing ${other} (it must be present when ${name} is specified)`, other);
}

/** The filters that count and report accept together with a label. */
const besideLabel: ReadonlySet<string> = new Set(["label_id", "status", "query", "team_id", "where"]);

/** Count and report accept only a few filters together with a label. */
export function checkLabelFilter(filter: HostFilter, names: readonly (keyof HostFilter)[]): void {
  if (filter.label_id === undefined) return;
  const other = names.find((name) => filter[name] !== undefined && !besideLabel.has(name));
  if (other !== undefined)
    throw badRequest(`Invalid label_id: ${filter.label_id} (it cannot be used with ${other})`, "label_id");
}

/** Converts the filter of a request body to that of a query string. Null means the same as absent. */
const filterOfBody = (body: BodyHostFilter): HostFilter => ({
  query: body.query?.trim(),
  status: body.status ?? undefined,
  label_id: body.label_id ?? undefined,
  team_id: body.team_id ?? undefined,
  where: body.where ?? undefined,
});

/** The hosts that match the filter of a bulk change's request body. */
export function hostsOfBody(ctx: Context, filters: BodyHostFilter, action: Action): Predicate {
  if (filters.label_id != null && filters.status != null)
    throw invalid("filters.label_id", "label_id and status cannot be combined");
  if (filters.team_id != null) {
    if (!isPremium(ctx)) throw premiumOption("team_id", "filters.team_id");
    authorize(ctx, action, filters.team_id === 0 ? null : filters.team_id);
  }
  return hostsWhere(ctx, filterOfBody(filters), action);
}
