// Renders host rows for the API. Data from other tables is read once for all hosts of a reply.

import type { Host } from "../../api/host.ts";
import type { SoftwareForm } from "../../api/host-filters.ts";
import { isoPlus, NEVER, seconds } from "../core/clock.ts";
import { type Context, isPremium } from "../core/context.ts";
import { byId } from "../core/maps.ts";
import type { HostRow } from "../hosts/access.ts";
import { geolocationOf } from "../hosts/geo.ts";
import { type hostDetails, hostSeen, hosts } from "../hosts/tables.ts";
import { type HostMdmView, mdmOfHosts, mdmSides } from "../mdm-status/host-view.ts";
import { failingCounts, issuesSide, policiesOfHosts } from "../policies/results.ts";
import { peopleOfHosts } from "../scim/people.ts";
import { softwareOfHosts } from "../software/service.ts";
import { oneOf } from "../store/query.ts";
import { side } from "../store/sides.ts";
import type { RowOf } from "../store/table.ts";
import { packStatsOfHost, packsOfHost } from "./packs.ts";
import { conflictsOfHosts, deviceMapping, emailsOfHosts, endUsers, labelsOfHosts } from "./parts.ts";

type Seen = Pick<RowOf<typeof hostSeen>, "seen_time" | "online_until">;
type Details = RowOf<typeof hostDetails>;

/** The parts of a reply beyond the host row. */
export interface HostParts {
  /** The fields that are used, if not all: the others may be wrong or missing. */
  readonly fields?: ReadonlySet<keyof Host>;
  readonly software?: SoftwareForm | null;
  readonly users?: boolean;
  readonly labels?: boolean;
  readonly policies?: boolean;
  readonly deviceMapping?: boolean;
  /** Issues are not counted: all counts are 0. */
  readonly noIssues?: boolean;
  /** Keys of `additional` to return. */
  readonly additional?: readonly string[];
  /** The single-host view: all parts except those that the other options exclude. */
  readonly whole?: boolean;
}

/** The columns of host rows that fields with another name are made from. */
const madeFrom: Partial<Record<keyof Host, keyof HostRow>> = {
  display_text: "hostname",
  status: "created_at",
  seen_time: "created_at",
  team_name: "team_id",
};

/** The columns that host rows need for these fields. */
export const columnsOf = (fields: ReadonlySet<keyof Host>): (keyof HostRow)[] =>
  [
    "id",
    ...[...fields].map((field) => madeFrom[field] ?? field).filter((name) => Object.hasOwn(hosts.columns, name)),
  ] as (keyof HostRow)[];

/** Hosts of an unpaged list are rendered in parts, so that other requests are served in between. */
const AT_ONCE = 500;

export async function hostsOnWire(ctx: Context, rows: readonly HostRow[], parts: HostParts = {}): Promise<Host[]> {
  if (rows.length <= AT_ONCE) return fewHosts(ctx, rows, parts);
  const made: Host[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE)
    made.push(...(await fewHosts(ctx, rows.slice(at, at + AT_ONCE), parts)));
  return made;
}

const seenSide = side(hostSeen, "seen_time", "online_until");

function sidesOf({ fields, noIssues }: HostParts) {
  const needs = (...names: (keyof Host)[]) => fields === undefined || names.some((name) => fields.has(name));
  return {
    seen: needs("status", "seen_time") ? seenSide : undefined,
    results: needs("issues") && !noIssues ? issuesSide : undefined,
    ...(needs("mdm", "last_mdm_checked_in_at", "last_mdm_enrolled_at") ? mdmSides : {}),
  };
}

async function fewHosts(ctx: Context, rows: readonly HostRow[], parts: HostParts): Promise<Host[]> {
  const { store } = ctx;
  const ids = rows.map(({ id }) => id);
  const withDetails = parts.whole || parts.users || (parts.additional?.length ?? 0) > 0;
  const sides = await store.hosts.sides(ids, sidesOf(parts));
  const [details, nameOfTeam, mdmOf, failing, addParts] = await Promise.all([
    withDetails ? store.hostDetails.getMany(ids) : [],
    teamNames(ctx, rows),
    mdmOfHosts(store, rows, sides, { whole: parts.whole ?? false }),
    failingCounts(
      store,
      sides.map(({ results }) => results),
    ),
    furtherParts(ctx, rows, parts),
  ]);
  const detailsById = byId(details);
  const now = ctx.clock.iso();
  const premium = isPremium(ctx);
  const made = rows.map((row, at) => {
    const host = hostFields(
      row,
      sides[at]!.seen,
      now,
      mdmOf(at),
      nameOfTeam(row.team_id),
      issuesOf(failing[at]!, sides[at]!.results?.critical_count ?? 0, premium),
    );
    addParts?.(host, detailsById.get(row.id));
    return host;
  });
  if (parts.whole) await addPacks(ctx, rows, made, detailsById);
  return made;
}

async function teamNames({ store }: Context, rows: readonly HostRow[]): Promise<(id: number | null) => string | null> {
  const ids = new Set<number>();
  for (const { team_id: id } of rows) if (id != null) ids.add(id);
  if (ids.size === 0) return () => null;
  const teams = await store.teams.pick(["id", "name"], { where: oneOf("id", [...ids]) });
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  return (id) => (id === null ? null : (names.get(id) ?? null));
}

/** Returns a function that adds the parts that only some replies have; null if this one has none. */
async function furtherParts(
  ctx: Context,
  rows: readonly HostRow[],
  parts: HostParts,
): Promise<((host: Host, detail: Details | undefined) => void) | null> {
  const { whole = false, users = whole, additional = [] } = parts;
  const { labels: withLabels = whole, policies: withPolicies = whole, deviceMapping: withMapping = false } = parts;
  const withEmails = withMapping || whole;
  if (!users && additional.length === 0 && !withLabels && !withPolicies && !parts.software && !withEmails) return null;
  const ids = rows.map(({ id }) => id);
  const [labels, policies, software, emails, people] = await Promise.all([
    withLabels ? labelsOfHosts(ctx, ids) : null,
    withPolicies ? policiesOfHosts(ctx, rows) : null,
    parts.software ? softwareOfHosts(ctx, ids, parts.software) : null,
    withEmails ? emailsOfHosts(ctx, ids) : null,
    whole ? peopleOfHosts(ctx.store, ids) : null,
  ]);
  return (host, detail) => {
    const addresses = emails?.get(host.id) ?? [];
    Object.assign(host, additionalOf(detail, parts));
    if (users) host.users = detail?.users ?? [];
    if (labels) host.labels = labels.get(host.id) ?? [];
    if (policies) host.policies = policies.get(host.id) ?? [];
    if (software) host.software = software.get(host.id) ?? [];
    if (withMapping) host.device_mapping = deviceMapping(addresses);
    if (whole) {
      host.batteries = detail?.batteries ?? [];
      host.end_users = endUsers(addresses, people?.get(host.id));
    }
  };
}

/** Adds the parts that need too many queries for a list. */
async function addPacks(
  ctx: Context,
  rows: readonly HostRow[],
  made: readonly Host[],
  details: ReadonlyMap<number, Details>,
): Promise<void> {
  const conflicts = await conflictsOfHosts(
    ctx,
    rows.map(({ id }) => id),
  );
  for (const [at, host] of made.entries()) {
    const row = rows[at]!;
    const conflict = conflicts.get(row.id);
    if (conflict !== undefined) host.agent_conflict = conflict;
    const labelIds = (host.labels ?? []).map(({ id }) => id);
    const [packs, stats] = await Promise.all([
      packsOfHost(ctx.store, row, labelIds),
      packStatsOfHost(ctx.store, row.id, details.get(row.id)?.pack_stats ?? []),
    ]);
    host.packs = packs;
    host.pack_stats = stats;
    const geolocation = geolocationOf(ctx, row.public_ip);
    if (geolocation !== undefined) host.geolocation = geolocation;
  }
}

const issuesOf = (failing: number, critical: number, premium: boolean): Host["issues"] => ({
  failing_policies_count: failing,
  total_issues_count: premium ? failing + critical : failing,
  critical_vulnerabilities_count: premium ? critical : undefined,
});

/**
 * The fields of every reply, in one object whose keys never vary: spreads and added keys are many times slower for an
 * object this wide. Undefined fields are not sent.
 */
function hostFields(
  row: HostRow,
  seen: Seen | null | undefined,
  now: string,
  { mdm, last_mdm_checked_in_at, last_mdm_enrolled_at }: HostMdmView,
  team_name: string | null,
  issues: Host["issues"],
): Host {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_enrolled_at: row.last_enrolled_at,
    refetch_requested: row.refetch_requested,
    uuid: row.uuid,
    hostname: row.hostname,
    display_name: row.display_name,
    computer_name: row.computer_name,
    platform: row.platform,
    platform_like: row.platform_like,
    code_name: row.code_name,
    build: row.build,
    os_version: row.os_version,
    qengine_version: row.qengine_version,
    agent_version: row.agent_version,
    svc_desktop_version: row.svc_desktop_version,
    scripts_enabled: row.scripts_enabled,
    uptime: row.uptime,
    memory: row.memory,
    cpu_type: row.cpu_type,
    cpu_subtype: row.cpu_subtype,
    cpu_brand: row.cpu_brand,
    cpu_physical_cores: row.cpu_physical_cores,
    cpu_logical_cores: row.cpu_logical_cores,
    hardware_vendor: row.hardware_vendor,
    hardware_model: row.hardware_model,
    hardware_version: row.hardware_version,
    hardware_serial: row.hardware_serial,
    timezone: row.timezone,
    public_ip: row.public_ip,
    primary_ip: row.primary_ip,
    primary_mac: row.primary_mac,
    distributed_interval: row.distributed_interval,
    config_tls_refresh: row.config_tls_refresh,
    logger_tls_period: row.logger_tls_period,
    team_id: row.team_id,
    gigs_disk_space_available: row.gigs_disk_space_available,
    gigs_total_disk_space: row.gigs_total_disk_space,
    percent_disk_space_available: row.percent_disk_space_available,
    detail_updated_at: row.detail_updated_at ?? NEVER,
    label_updated_at: row.label_updated_at ?? NEVER,
    policy_updated_at: row.policy_updated_at ?? NEVER,
    software_updated_at: row.software_updated_at ?? NEVER,
    last_restarted_at: row.last_restarted_at ?? NEVER,
    seen_time: seen?.seen_time ?? row.created_at,
    status: onlineUntil(row, seen) > now ? "online" : "offline",
    display_text: row.hostname,
    disk_encryption_enabled: row.disk_encryption_enabled ?? undefined,
    mdm,
    last_mdm_checked_in_at,
    last_mdm_enrolled_at,
    team_name,
    issues,
    pack_stats: null,
  };
}

/** Null means that the host has not been seen since it was created; undefined, that this was not read. */
const onlineUntil = (row: HostRow, seen: Seen | null | undefined): string =>
  seen === undefined ? "" : (seen?.online_until ?? isoPlus(row.created_at, seconds(60)));

function additionalOf(detail: Details | undefined, parts: HostParts): Pick<Host, "additional"> {
  const all = (detail?.additional ?? null) as Host["additional"] | null;
  if (parts.whole) return all === null ? {} : { additional: all as NonNullable<Host["additional"]> };
  if (!parts.additional || all === null || all === undefined) return {};
  const picked = parts.additional.filter((name) => Object.hasOwn(all, name));
  return { additional: Object.fromEntries(picked.map((name) => [name, all[name]!])) };
}
