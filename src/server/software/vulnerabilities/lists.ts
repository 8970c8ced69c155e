// Vulnerabilities that affect hosts of a team, with the number of these hosts.

import type { z } from "zod";
import type {
  HostVulnerability,
  HostVulnerabilityDetails,
  vulnerabilitiesApi,
} from "../../../api/software/vulnerabilities.ts";
import { isCve } from "../../../text/cve.ts";
import { NO_TEAM } from "../../hosts/count-changes/tables.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { asCounts } from "../../platform/core/counts.ts";
import {
  type ApiError,
  badRequest,
  forbidden,
  notFound,
  notThere,
  premiumRequired,
} from "../../platform/core/errors.ts";
import { afterOf, type PageOptions, page, pageOfArray } from "../../platform/core/http/paging.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import { authorize, inTeam, visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, nothing, oneOf, type Predicate, search } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { vulnerable } from "../software/host-conditions.ts";
import { type Scopes, scopesFor } from "../software/scopes.ts";
import { dataImportedAt } from "../software/vulnerabilities/imported.ts";
import { countedAt } from "../software/vulnerabilities/state.ts";
import { vulnerabilities, vulnerabilityCounts } from "../software/vulnerabilities/tables.ts";
import { detailsOf, linkOf } from "../software/vulnerabilities/wire.ts";
import { systemCpes } from "./matching/systems.ts";
import { referenceLookup } from "./reference/lookup.ts";

type ListQuery = z.output<typeof vulnerabilitiesApi.list.query>;
type VulnerabilityRow = RowOf<typeof vulnerabilities>;

const newest: PageOptions = { defaultOrder: [{ column: "created_at", direction: "desc" }] };
const byHosts: PageOptions = { orderBy: (_, direction) => ({ column: "hosts_count", direction }) };
const isByHosts = ({ order_key }: ListQuery): boolean => order_key === "host_count" || order_key === "hosts_count";

const premiumKeys: ReadonlySet<string> = new Set(["cvss_score", "epss_probability", "cve_published"]);

export async function listVulnerabilities(ctx: Context, query: ListQuery) {
  if (!isPremium(ctx) && premiumKeys.has(query.order_key ?? "")) throw premiumRequired();
  const { store } = ctx;
  const scopes = await scopesFor(ctx, query.team_id);
  const counts_updated_at = await countedAt(store);
  const filter = and(
    search(["cve"], query.query ?? ""),
    query.exploit === true ? eq("cisa_known_exploit", true) : everything,
  );
  const { rows, counts, count, meta } = await (scopes !== null && isByHosts(query)
    ? mostHosts(store, scopes, filter, query)
    : inOwnOrder(store, scopes, filter, query));
  const importedAt = await dataImportedAt(store);
  return {
    vulnerabilities: rows.map((row) => onWire(ctx, row, counts.get(row.id) ?? 0, counts_updated_at)),
    count,
    counts_updated_at,
    data_imported: importedAt !== null,
    vulnerability_data_imported_at: importedAt,
    meta,
  };
}

const counted = (scopes: Scopes): Predicate => (scopes.length === 1 ? eq("scope", scopes[0]) : oneOf("scope", scopes));

async function inOwnOrder(store: ServerTx, scopes: Scopes | null, filter: Predicate, query: ListQuery) {
  const where =
    scopes === null ? nothing : and(filter, exists(vulnerabilityCounts, "vulnerability_id", counted(scopes)));
  const [{ rows, meta }, count] = await Promise.all([
    page(store.vulnerabilities, query, where, newest),
    scopes?.length === 1 && filter.op === "all"
      ? store.vulnerabilityCounts.count(counted(scopes))
      : store.vulnerabilities.count(where),
  ]);
  const counts =
    scopes === null
      ? new Map<number, number>()
      : await hostsOf(
          store,
          scopes,
          rows.map(({ id }) => id),
        );
  return { rows, counts, count, meta };
}

async function mostHosts(store: ServerTx, scopes: Scopes, filter: Predicate, query: ListQuery) {
  const where = and(
    counted(scopes),
    filter.op === "all" ? everything : exists(vulnerabilities, "id", filter, "vulnerability_id"),
  );
  if (scopes.length === 1) {
    const [{ rows: pageRows, meta }, count] = await Promise.all([
      page(store.vulnerabilityCounts, query, where, byHosts),
      store.vulnerabilityCounts.count(where),
    ]);
    const counts = new Map(pageRows.map((row) => [row.vulnerability_id, row.hosts_count]));
    return { rows: await rowsInOrder(store, [...counts.keys()]), counts, count, meta };
  }
  // Refuses what a list from the store would refuse.
  afterOf(store.vulnerabilityCounts.table, query, byHosts);
  const counts = sumsOf(await store.vulnerabilityCounts.pick(["vulnerability_id", "hosts_count"], { where }));
  const sign = query.order_direction === "desc" ? -1 : 1;
  const after = query.after === undefined ? null : Number(query.after);
  const sorted = [...counts]
    .filter(([, hosts]) => after === null || sign * (hosts - after) > 0)
    .sort(([a, x], [b, y]) => sign * (x - y || a - b));
  const { items, meta } = pageOfArray(sorted, query);
  const rows = await rowsInOrder(
    store,
    items.map(([id]) => id),
  );
  return { rows, counts, count: counts.size, meta };
}

async function rowsInOrder(store: ServerTx, ids: readonly number[]): Promise<VulnerabilityRow[]> {
  const rows = byId(await store.vulnerabilities.getMany(ids));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

async function hostsOf(store: ServerTx, scopes: Scopes, ids: readonly number[]): Promise<Map<number, number>> {
  const where = and(oneOf("vulnerability_id", ids), counted(scopes));
  return sumsOf(await store.vulnerabilityCounts.pick(["vulnerability_id", "hosts_count"], { where }));
}

function sumsOf(rows: readonly { vulnerability_id: number; hosts_count: number }[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const { vulnerability_id: id, hosts_count } of rows) sums.set(id, (sums.get(id) ?? 0) + hosts_count);
  return sums;
}

const onWire = (
  ctx: Context,
  row: VulnerabilityRow,
  hosts_count: number,
  countedAt: string | null,
): HostVulnerability => ({
  cve: row.cve,
  created_at: row.created_at,
  hosts_count,
  hosts_count_updated_at: countedAt,
  details_link: linkOf(row.cve),
  ...(isPremium(ctx) ? detailsOf(row) : {}),
});

interface VulnerabilityRequest {
  readonly cve: string;
  readonly teamId: number | undefined;
  readonly reply: Reply;
}

async function unknown(store: ServerTx, cve: string): Promise<ApiError> {
  const error = notFound("vulnerability", cve);
  if ((await dataImportedAt(store)) !== null) return error;
  return notThere(`no vulnerability data was ever imported (vulnerability_data_url): ${error.errors[0]!.reason}`);
}

export async function getVulnerability(ctx: Context, { cve, teamId, reply }: VulnerabilityRequest) {
  const { store } = ctx;
  if (!isCve(cve)) throw badRequest(`Invalid cve: ${cve}`, "cve");
  if (teamId !== undefined) {
    authorize(ctx, "software:list", teamId === NO_TEAM ? null : teamId);
    // A list answers 404 here.
    if (teamId !== NO_TEAM && !(await store.teams.get(teamId))) throw forbidden();
  }
  const scopes = await scopesFor(ctx, teamId);
  const row = await store.vulnerabilities.first({ where: eq("cve", cve) });
  if (row === null && !(await ctx.running.of(referenceLookup).isKnown(cve))) throw await unknown(store, cve);
  const hosts = row === null || scopes === null ? 0 : await hostsWith(ctx, row, scopes, teamId);
  if (row === null || scopes === null || hosts === 0) {
    reply.status = 204;
    return {};
  }
  return {
    vulnerability: {
      ...onWire(ctx, row, hosts, await countedAt(store)),
      os_versions: await systemsWith(ctx, cve, teamId),
      software: await softwareWith(ctx, cve, scopes),
    },
  };
}

/** The stored number; after a comparison, hosts are counted only later. */
async function hostsWith(
  ctx: Context,
  row: VulnerabilityRow,
  scopes: Scopes,
  teamId: number | undefined,
): Promise<number> {
  const { store } = ctx;
  const stored = (await hostsOf(store, scopes, [row.id])).get(row.id);
  return stored ?? store.hosts.count(and(visible(ctx, "software:list"), inTeam(teamId), vulnerable(row.cve)));
}

async function systemsWith(
  ctx: Context,
  cve: string,
  teamId: number | undefined,
): Promise<HostVulnerabilityDetails["os_versions"]> {
  const { store } = ctx;
  const systemCves = await store.osCves.pick(["os_version_id", "resolved_in_version"], { where: eq("cve", cve) });
  const ids = systemCves.map(({ os_version_id }) => os_version_id);
  const hostPredicate = and(visible(ctx, "software:list"), inTeam(teamId), oneOf("os_version_id", ids));
  const counts = asCounts(ids.length === 0 ? [] : await store.hosts.groupCount("os_version_id", hostPredicate));
  const rows = byId(await store.osVersions.getMany([...counts.keys()]));
  return systemCves
    .flatMap(({ os_version_id, resolved_in_version }) => {
      const row = rows.get(os_version_id);
      return row === undefined
        ? []
        : {
            os_version_id,
            hosts_count: counts.get(os_version_id)!,
            name: `${row.name} ${row.version}`.trim(),
            name_only: row.name,
            version: row.version,
            generated_cpes: systemCpes(row),
            ...(isPremium(ctx) ? { resolved_in_version } : {}),
          };
    })
    .sort((a, b) => b.hosts_count - a.hosts_count || compareText(a.name, b.name) || a.os_version_id - b.os_version_id);
}

async function softwareWith(ctx: Context, cve: string, scopes: Scopes): Promise<HostVulnerabilityDetails["software"]> {
  const { store } = ctx;
  const versionCves = await store.softwareCves.pick(["software_id", "resolved_in_version"], { where: eq("cve", cve) });
  const resolved = new Map(
    versionCves.map(({ software_id, resolved_in_version }) => [software_id, resolved_in_version]),
  );
  const counts = await store.softwareVersionCounts.pick(["software_id", "hosts_count"], {
    where: and(counted(scopes), oneOf("software_id", [...resolved.keys()])),
  });
  const sums = groupBy(counts, ({ software_id }) => software_id);
  const versions = await store.software.getMany([...sums.keys()]);
  return versions
    .map((row) => ({
      id: row.id,
      software_title_id: row.title_id,
      name: row.name,
      version: row.version,
      source: row.source,
      extension_for: row.extension_for,
      generated_cpe: row.generated_cpe,
      hosts_count: sums.get(row.id)!.reduce((sum, { hosts_count }) => sum + hosts_count, 0),
      ...(isPremium(ctx) ? { resolved_in_version: resolved.get(row.id) ?? null } : {}),
    }))
    .sort((a, b) => b.hosts_count - a.hosts_count || compareText(a.name, b.name) || a.id - b.id);
}
