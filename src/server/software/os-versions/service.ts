// Operating system versions, counted over the hosts that the caller can see.
import type { z } from "zod";
import type { OsPlatform, OsVersion, OsVersionDetails, osVersionsApi } from "../../../api/software/os-versions.ts";
import type { osVersions } from "../../hosts/hosts/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { asCounts } from "../../platform/core/counts.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { pageOfArray } from "../../platform/core/http/paging.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { authorize, inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, oneOf, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { ownCves, type VersionCve, vulnerabilityRenderer } from "../software/vulnerabilities/wire.ts";
import { systemCpes } from "../vulnerabilities/matching/systems.ts";
import { type Kernel, kernelsBySystem } from "./kernels.ts";

type OsVersionRow = RowOf<typeof osVersions>;
type ListQuery = z.output<typeof osVersionsApi.list.query>;
type GetQuery = z.output<typeof osVersionsApi.get.query>;

async function hostsFor(ctx: Context, teamId: number | undefined): Promise<Predicate> {
  if (teamId !== undefined) {
    authorize(ctx, "software:list", teamId === 0 ? null : teamId);
    if (teamId !== 0 && !(await ctx.store.teams.get(teamId))) throw notFound("team", teamId);
  }
  return and(visible(ctx, "software:list"), inTeam(teamId));
}

const isOn = (platform: OsPlatform, row: OsVersionRow): boolean =>
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
  const counts = asCounts(await store.hosts.groupCount("os_version_id", await hostsFor(ctx, query.team_id)));
  const rows = await store.osVersions.list({ where: oneOf("id", [...counts.keys()]) });
  const { platform, os_name, os_version } = query;
  const sign = query.order_key === undefined || query.order_direction === "desc" ? -1 : 1;
  const after = query.after === undefined ? null : Number(query.after);
  if (after !== null && (query.order_key === undefined || !Number.isFinite(after)))
    throw badRequest(`Invalid after: ${query.after}`, "after");
  const counted = rows
    .map((row) => ({ row, count: counts.get(row.id) ?? 0 }))
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
  const renderedSystems = await systemsOnWire(ctx, items, query);
  return {
    count: counted.length,
    counts_updated_at: ctx.clock.iso(),
    os_versions: renderedSystems.map(({ os }) => os),
    meta,
  };
}

interface CountedVersion {
  readonly row: OsVersionRow;
  readonly count: number;
}

/** With the kernels of Linux releases. */
async function systemsOnWire(ctx: Context, counted: readonly CountedVersion[], query: GetQuery) {
  const { store } = ctx;
  const ids = counted.map(({ row }) => row.id);
  const linux = counted.filter(({ row }) => platformFamily(row.platform) === "linux").map(({ row }) => row.id);
  const onLinux = and(await hostsFor(ctx, query.team_id), oneOf("os_version_id", linux));
  const kernels = linux.length === 0 ? new Map<number, Kernel[]>() : await kernelsBySystem(ctx, onLinux);
  const [ofSystems, ofKernels] = [
    groupBy(
      await store.osCves.pick(["os_version_id", "cve", "resolved_in_version"], { where: oneOf("os_version_id", ids) }),
      ({ os_version_id }) => os_version_id,
    ),
    await ownCves(
      store,
      [...kernels.values()].flat().map(({ id }) => id),
    ),
  ];
  const systems = counted.map(({ row, count }) => {
    const running = kernels.get(row.id) ?? [];
    const cves = new Map<string, VersionCve>();
    for (const kernel of running) for (const cve of ofKernels.get(kernel.id) ?? []) cves.set(cve.cve, cve);
    for (const cve of ofSystems.get(row.id) ?? []) cves.set(cve.cve, cve);
    const all = [...cves.values()].sort((a, b) => compareText(a.cve, b.cve));
    const { max_vulnerabilities: most } = query;
    return {
      row,
      count,
      running,
      total: all.length,
      listed: most === undefined ? all : all.slice(0, Math.max(0, most)),
    };
  });
  const rendered = await vulnerabilityRenderer(
    ctx,
    systems.flatMap(({ listed }) => listed),
  );
  return systems.map(({ row, count, running, total, listed }) => ({
    os: {
      os_version_id: row.id,
      hosts_count: count,
      name: `${row.name} ${row.version}`.trim(),
      name_only: row.name,
      version: row.version,
      platform: row.platform,
      generated_cpes: systemCpes(row),
      vulnerabilities: listed.map(rendered),
      vulnerabilities_count: total,
    } satisfies OsVersion,
    kernels: running.map((kernel) => ({
      ...kernel,
      vulnerabilities: (ofKernels.get(kernel.id) ?? []).map(({ cve }) => cve),
    })),
  }));
}

/** A version that no visible host runs is answered like a missing one. */
export async function getOsVersion(ctx: Context, id: number, query: GetQuery) {
  const { store } = ctx;
  const hostPredicate = and(await hostsFor(ctx, query.team_id), eq("os_version_id", id));
  const row = await store.osVersions.get(id);
  const count = row === null ? 0 : await store.hosts.count(hostPredicate);
  if (row === null || count === 0) throw notFound("operating system version", id);
  const [rendered] = await systemsOnWire(ctx, [{ row, count }], query);
  const { os, kernels } = rendered!;
  const os_version: OsVersionDetails = {
    ...os,
    ...(platformFamily(row.platform) === "linux" ? { kernels } : {}),
  };
  return { counts_updated_at: ctx.clock.iso(), os_version };
}
