// Host rows as the API shows them. What lies in other tables is read once for all hosts of a reply.

import type { Host } from "../../api/host.ts";
import type { SoftwareForm } from "../../api/host-filters.ts";
import { isoPlus, NEVER, seconds } from "../core/clock.ts";
import { type Context, isPremium } from "../core/context.ts";
import { mdmOfHosts } from "../mdm/host-view.ts";
import { failingCounts, policiesOfHosts } from "../policies/results.ts";
import { softwareOfHosts } from "../software/service.ts";
import { oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { HostRow } from "./access.ts";
import { geolocationOf } from "./geo.ts";
import { packStatsOfHost, packsOfHost } from "./host-packs.ts";
import { byId, deviceMapping, emailsOfHosts, endUsers, labelsOfHosts } from "./parts.ts";
import type { hostDetails, hostSeen } from "./tables.ts";

type Seen = RowOf<typeof hostSeen>;
type Details = RowOf<typeof hostDetails>;

/** What a reply shows beside the host itself. */
export interface HostParts {
  readonly software?: SoftwareForm | null;
  readonly users?: boolean;
  readonly labels?: boolean;
  readonly policies?: boolean;
  readonly deviceMapping?: boolean;
  /** Issues are not counted: all are 0. */
  readonly noIssues?: boolean;
  /** Fields of `additional`. */
  readonly additional?: readonly string[];
  /** The view of one host: everything but what the fields above leave out. */
  readonly whole?: boolean;
}

/** Hosts of an unpaged list are made ready in parts, so that other requests get their turn. */
const AT_ONCE = 500;

export async function hostsOnWire(ctx: Context, rows: readonly HostRow[], parts: HostParts = {}): Promise<Host[]> {
  const made: Host[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE)
    made.push(...(await fewHosts(ctx, rows.slice(at, at + AT_ONCE), parts)));
  return made;
}

async function fewHosts(ctx: Context, rows: readonly HostRow[], parts: HostParts): Promise<Host[]> {
  const { store } = ctx;
  const ids = rows.map(({ id }) => id);
  const teamIds = [...new Set(rows.map((row) => row.team_id).filter((id) => id !== null))];
  const withDetails = parts.whole || parts.users || (parts.additional?.length ?? 0) > 0;
  const [seen, teams, details, mdmOf, failing, labels, policies, software, emails] = await Promise.all([
    store.hostSeen.getMany(ids),
    teamIds.length > 0 ? store.teams.pick(["id", "name"], { where: oneOf("id", teamIds) }) : [],
    withDetails ? store.hostDetails.getMany(ids) : [],
    mdmOfHosts(store, rows, { whole: parts.whole ?? false }),
    parts.noIssues ? null : failingCounts(store, ids),
    parts.labels || parts.whole ? labelsOfHosts(ctx, ids) : null,
    parts.policies || parts.whole ? policiesOfHosts(ctx, rows) : null,
    parts.software ? softwareOfHosts(ctx, ids, parts.software) : null,
    parts.deviceMapping || parts.whole ? emailsOfHosts(ctx, ids) : null,
  ]);
  const seenById = byId(seen);
  const teamsById = byId(teams);
  const detailsById = byId(details);
  const made = rows.map((row): Host => {
    const detail = detailsById.get(row.id);
    const addresses = emails?.get(row.id) ?? [];
    return Object.assign(hostFields(ctx, row, seenById.get(row.id)), mdmOf(row.id), {
      team_name: row.team_id === null ? null : (teamsById.get(row.team_id)?.name ?? null),
      issues: issuesOf(ctx, failing?.get(row.id) ?? 0),
      pack_stats: null,
      ...additionalOf(detail, parts),
      ...(parts.users || parts.whole ? { users: detail?.users ?? [] } : {}),
      ...(labels ? { labels: labels.get(row.id) ?? [] } : {}),
      ...(policies ? { policies: policies.get(row.id) ?? [] } : {}),
      ...(software ? { software: software.get(row.id) ?? [] } : {}),
      ...(parts.deviceMapping ? { device_mapping: deviceMapping(addresses) } : {}),
      ...(parts.whole ? { batteries: detail?.batteries ?? [], end_users: endUsers(addresses) } : {}),
    });
  });
  if (parts.whole)
    for (const [i, host] of made.entries()) Object.assign(host, await packParts(ctx, rows[i]!, host, detailsById));
  return made;
}

/** What costs more questions than a list may ask. */
async function packParts(
  ctx: Context,
  row: HostRow,
  host: Host,
  details: ReadonlyMap<number, Details>,
): Promise<Pick<Host, "packs" | "pack_stats" | "geolocation">> {
  const labelIds = (host.labels ?? []).map(({ id }) => id);
  const [packs, stats] = await Promise.all([
    packsOfHost(ctx.store, row, labelIds),
    packStatsOfHost(ctx.store, row.id, details.get(row.id)?.pack_stats ?? []),
  ]);
  const geolocation = geolocationOf(ctx, row.public_ip);
  return { packs, pack_stats: stats, ...(geolocation === undefined ? {} : { geolocation }) };
}

/** Of vulnerabilities no score is known yet: none counts as critical. */
const issuesOf = (ctx: Context, failing: number): Host["issues"] => ({
  failing_policies_count: failing,
  total_issues_count: failing,
  ...(isPremium(ctx) ? { critical_vulnerabilities_count: 0 } : {}),
});

/** What the host row itself says, key by key: copying all but some keys of a row this wide takes many times as long. */
function hostFields(
  ctx: Context,
  row: HostRow,
  seen: Seen | undefined,
): Omit<Host, "team_name" | "mdm" | "pack_stats" | "issues" | "last_mdm_checked_in_at" | "last_mdm_enrolled_at"> {
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
    status: onlineUntil(row, seen) > ctx.clock.iso() ? "online" : "offline",
    display_text: row.hostname,
    ...(row.disk_encryption_enabled === null ? {} : { disk_encryption_enabled: row.disk_encryption_enabled }),
  };
}

const onlineUntil = (row: HostRow, seen: Seen | undefined): string =>
  seen?.online_until ?? isoPlus(row.created_at, seconds(60));

function additionalOf(detail: Details | undefined, parts: HostParts): Pick<Host, "additional"> {
  const all = (detail?.additional ?? null) as Host["additional"] | null;
  if (parts.whole) return all === null ? {} : { additional: all as NonNullable<Host["additional"]> };
  if (!parts.additional || all === null || all === undefined) return {};
  const picked = parts.additional.filter((name) => Object.hasOwn(all, name));
  return { additional: Object.fromEntries(picked.map((name) => [name, all[name]!])) };
}
