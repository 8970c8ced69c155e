// Operating system versions, counted over the hosts that the caller can see.
import type { z } from "zod";
import type { OsPlatform, OsVersion, OsVersionDetails, osVersionsApi } from "../../api/os-versions.ts";
import { type Context, isPremium } from "../core/context.ts";
import { asCounts } from "../core/counts.ts";
import { badRequest, notFound } from "../core/errors.ts";
import { pageOfArray } from "../core/http/paging.ts";
import { groupBy } from "../core/maps.ts";
import { platformFamily } from "../core/platforms.ts";
import { authorize, inTeam, visible } from "../core/security/access.ts";
import type { osVersions } from "../hosts/tables.ts";
import { hosts } from "../hosts/tables.ts";
import { cvesOf, vulnerabilityOf } from "../software/service.ts";
import { and, contains, eq, exists, has, oneOf, or, type Predicate } from "../store/query.ts";
import { compareText } from "../store/rows.ts";
import type { RowOf } from "../store/table.ts";
import { systemCpes } from "../vulnerabilities/matching/systems.ts";

type Row = RowOf<typeof osVersions>;
type ListQuery = z.output<typeof osVersionsApi.list.query>;
type GetQuery = z.output<typeof osVersionsApi.get.query>;

async function hostsFor(ctx: Context, teamId: number | undefined): Promise<Predicate> {
  if (teamId !== undefined) {
    authorize(ctx, "software:list", teamId === 0 ? null : teamId);
    if (teamId !== 0 && !(await ctx.store.teams.get(teamId))) throw notFound("team", teamId);
  }
  return and(visible(ctx, "software:list"), inTeam(teamId));
}

const isOn = (platform: OsPlatform, row: Row): boolean =>
  platform === "linux" ? platformFamily(row.platform) === "linux" : row.platform === platform;

function checkNames(query: ListQuery): void {
  const [name, other] =
    query.os_name === undefined ? (["os_version", "os_name"] as const) : (["os_name", "os_version"] as const);
  if (query[name] !== undefined && query[other] === undefined)
    throw badRequest(`Missing ${other} (it must be present when ${name} is specified)`, other);
}

export async function listOsVersions(ctx: Context, query: ListQuery) {
  checkNames(query);
  const { store } = ctx;
  const found = asCounts(await store.hosts.groupCount("os_version_id", await hostsFor(ctx, query.team_id)));
  const rows = await store.osVersions.list({ where: oneOf("id", [...found.keys()]) });
  const { platform, os_name, os_version } = query;
  const sign = query.order_key === undefined || query.order_direction === "desc" ? -1 : 1;
  const after = query.after === undefined ? null : Number(query.after);
  if (after !== null && (query.order_key === undefined || !Number.isFinite(after)))
    throw badRequest(`Invalid after: ${query.after}`, "after");
  const counted = rows
    .map((row) => ({ row, count: found.get(row.id) ?? 0 }))
    .filter(
      ({ row, count }) =>
        count > 0 &&
        (platform === undefined || isOn(platform, row)) &&
        (os_name === undefined || (row.name === os_name && row.version === os_version)),
    );
  const sorted = counted
    .filter(({ count }) => after === null || sign * (count - after) > 0)
    .sort((a, b) => sign * (a.count - b.count) || compareText(a.row.name, b.row.name) || a.row.id - b.row.id);
  const { items, meta } = pageOfArray(sorted, query);
  const cves = await cvesOfSystems(
    ctx,
    items.map(({ row }) => row.id),
  );
  return {
    count: counted.length,
    counts_updated_at: ctx.clock.iso(),
    os_versions: items.map(({ row, count }) => onWire(ctx, row, count, cves.get(row.id) ?? [], query)),
    meta,
  };
}

async function cvesOfSystems({ store }: Context, ids: readonly number[]): Promise<Map<number, string[]>> {
  const rows = await store.osCves.pick(["os_version_id", "cve"], { where: oneOf("os_version_id", ids) });
  const groups = groupBy(rows, ({ os_version_id }) => os_version_id);
  return new Map([...groups].map(([id, some]) => [id, some.map(({ cve }) => cve).sort(compareText)]));
}

function onWire(
  ctx: Context,
  row: Row,
  hosts_count: number,
  cves: readonly string[],
  { max_vulnerabilities }: GetQuery,
): OsVersion {
  const listed = max_vulnerabilities === undefined ? cves : cves.slice(0, Math.max(0, max_vulnerabilities));
  return {
    os_version_id: row.id,
    hosts_count,
    name: `${row.name} ${row.version}`.trim(),
    name_only: row.name,
    version: row.version,
    platform: row.platform,
    generated_cpes: systemCpes(row),
    vulnerabilities: listed.map((cve) => vulnerabilityOf(cve, isPremium(ctx))),
    vulnerabilities_count: cves.length,
  };
}

/** A version that no visible host runs is answered like a missing one. */
export async function getOsVersion(ctx: Context, id: number, query: GetQuery) {
  const { store } = ctx;
  const own = and(await hostsFor(ctx, query.team_id), eq("os_version_id", id));
  const row = await store.osVersions.get(id);
  const count = row === null ? 0 : await store.hosts.count(own);
  if (row === null || count === 0) throw notFound("operating system version", id);
  const cves = (await cvesOfSystems(ctx, [id])).get(id) ?? [];
  const os_version: OsVersionDetails = {
    ...onWire(ctx, row, count, cves, query),
    ...(platformFamily(row.platform) === "linux" ? { kernels: await kernelsOf(ctx, own) } : {}),
  };
  return { counts_updated_at: ctx.clock.iso(), os_version };
}

/** Packages that are kernels: those of Debian and Ubuntu, and of Red Hat, SUSE and Amazon Linux. */
const kernelPackages: Predicate = or(
  and(eq("source", "deb_packages"), contains("name", "linux-image-")),
  and(eq("source", "rpm_packages"), oneOf("name", ["kernel", "kernel-core", "kernel-default"])),
);

async function kernelsOf({ store }: Context, own: Predicate): Promise<NonNullable<OsVersionDetails["kernels"]>> {
  const kernels = await store.software.pick(["id", "name", "version"], { where: kernelPackages });
  const named = kernels.filter(({ name }) => !name.startsWith("linux-image-") || /^linux-image-\d/.test(name));
  const ids = named.map(({ id }) => id);
  const running = and(has("software_ids", ...ids), exists(hosts, "id", own));
  const found = asCounts(ids.length === 0 ? [] : await store.hostSoftware.groupCount("software_ids", running));
  const cves = await cvesOf(store, ids);
  return named
    .filter(({ id }) => found.has(id))
    .map(({ id, version }) => ({ id, version, vulnerabilities: cves.get(id) ?? [], hosts_count: found.get(id)! }))
    .sort((a, b) => b.hosts_count - a.hosts_count || a.id - b.id);
}
