// Lists of software versions, with the number of hosts of a team that have them.

import type { z } from "zod";
import type { Vulnerability } from "../../../api/hosts/host-software.ts";
import type { SoftwareVersion, softwareApi } from "../../../api/software/software.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { notFound, premiumRequired } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import {
  and,
  contains,
  eq,
  everything,
  exists,
  nothing,
  oneOf,
  or,
  type Predicate,
  search,
} from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { countedAt } from "./counts.ts";
import { type Scopes, scopesFor } from "./scopes.ts";
import { checkAfter, cveIs, isCve, mostHosts, pageOfSums, total } from "./sums.ts";
import { software, softwareVersionCounts } from "./tables.ts";
import { matchingCveFilter } from "./vulnerabilities/filter.ts";
import { softwareCves } from "./vulnerabilities/tables.ts";
import { ownCves, type VersionCve, vulnerabilityRenderer } from "./vulnerabilities/wire.ts";

type VersionsQuery = z.output<typeof softwareApi.versions.query>;
type CountQuery = z.output<typeof softwareApi.count.query>;

/** Filter of versions, or of their counts: `id` is the column with the id of the version. */
function versionsWhere(query: CountQuery, id: "id" | "software_id"): Predicate {
  const text = query.query ?? "";
  const vulnerable = matchingCveFilter(query);
  // No index supports versions, so only what could be a part of one is looked for there.
  const isVersion = /^\S*\d\S*$/.test(text);
  const inName = search(["name"], text);
  const inBoth = isVersion ? or(inName, contains("version", text)) : inName;
  const named = id === "id" ? inBoth : exists(software, "id", inBoth, id);
  const withCve = (cves: Predicate) => exists(softwareCves, "software_id", cves, id);
  return and(
    text === "" ? everything : isCve(text) ? or(named, withCve(cveIs(text))) : named,
    vulnerable === null ? everything : withCve(vulnerable),
  );
}

const countsWhere = (scopes: Scopes, query: CountQuery): Predicate =>
  and(oneOf("scope", scopes), versionsWhere(query, "software_id"));

type VersionSum = Pick<RowOf<typeof softwareVersionCounts>, "software_id" | "name" | "hosts_count">;

const sumVersions = (rows: readonly VersionSum[]): VersionSum[] =>
  [...groupBy(rows, ({ software_id }) => software_id).values()].map((counts) => ({
    ...counts[0]!,
    hosts_count: total(counts),
  }));

/** Orders by the worst vulnerability of each version, which are premium. */
const bySeverity: ReadonlySet<string> = new Set([
  "cve_published",
  "cvss_score",
  "epss_probability",
  "cisa_known_exploit",
]);

export async function listVersions(ctx: Context, query: VersionsQuery) {
  const { store } = ctx;
  const isBySeverity = bySeverity.has(query.order_key ?? "");
  if (isBySeverity && !isPremium(ctx)) throw premiumRequired();
  const scopes = await scopesFor(ctx, query.team_id);
  const counts_updated_at = await countedAt(store);
  const form = query.without_vulnerability_details ? "ids" : "details";
  const { rows, count, meta } = await (scopes !== null && isBySeverity
    ? worstVersions(store, scopes, query)
    : countedVersions(ctx, scopes, query));
  return { counts_updated_at, count, software: await versionsOnWire(ctx, rows, form), meta };
}

async function countedVersions(ctx: Context, scopes: Scopes | null, query: VersionsQuery) {
  const { softwareVersionCounts: counts } = ctx.store;
  const where = scopes === null ? nothing : countsWhere(scopes, query);
  if (scopes === null || scopes.length === 1) {
    const [listed, count] = await Promise.all([
      page(counts, query, where, { defaultOrder: mostHosts }),
      counts.count(where),
    ]);
    return { ...listed, count };
  }
  checkAfter(ctx, query);
  const sums = sumVersions(await counts.list({ where }));
  const { items, meta } = pageOfSums(sums, query, ({ software_id }) => software_id);
  return { rows: items, count: sums.length, meta };
}

async function worstVersions(store: ServerTx, scopes: Scopes, query: VersionsQuery) {
  const where = and(exists(softwareVersionCounts, "software_id", oneOf("scope", scopes)), versionsWhere(query, "id"));
  const [{ rows, meta }, count] = await Promise.all([page(store.software, query, where), store.software.count(where)]);
  const ids = rows.map(({ id }) => id);
  const counts = await store.softwareVersionCounts.list({
    where: and(oneOf("scope", scopes), oneOf("software_id", ids)),
  });
  const sums = new Map(sumVersions(counts).map((sum) => [sum.software_id, sum]));
  return { rows: ids.flatMap((id) => sums.get(id) ?? []), count, meta };
}

export async function countVersions(ctx: Context, query: CountQuery): Promise<{ count: number }> {
  const scopes = await scopesFor(ctx, query.team_id);
  if (scopes === null) return { count: 0 };
  const where = countsWhere(scopes, query);
  if (scopes.length === 1) return { count: await ctx.store.softwareVersionCounts.count(where) };
  const rows = await ctx.store.softwareVersionCounts.pick(["software_id"], { where });
  return { count: new Set(rows.map(({ software_id }) => software_id)).size };
}

async function versionsOnWire(
  ctx: Context,
  counts: readonly VersionSum[],
  form: "ids" | "details" | "dated details",
): Promise<SoftwareVersion[]> {
  const { store } = ctx;
  const ids = counts.map(({ software_id }) => software_id);
  const [rows, cves] = [byId(await store.software.getMany(ids)), await ownCves(store, ids)];
  const rendered: (versionCve: VersionCve) => Vulnerability | string =
    form === "ids"
      ? ({ cve }: VersionCve) => cve
      : await vulnerabilityRenderer(ctx, [...cves.values()].flat(), { isDated: form === "dated details" });
  return counts.flatMap(({ software_id, hosts_count }) => {
    const row = rows.get(software_id);
    return row === undefined
      ? []
      : {
          id: row.id,
          title_id: row.title_id,
          name: row.name,
          display_name: "",
          version: row.version,
          source: row.source,
          extension_for: row.extension_for,
          browser: row.extension_for,
          ...nonEmpty({
            bundle_identifier: row.bundle_identifier,
            release: row.release,
            vendor: row.vendor,
            arch: row.arch,
            extension_id: row.extension_id,
          }),
          generated_cpe: row.generated_cpe,
          hosts_count,
          vulnerabilities: cves.get(software_id)?.map(rendered) ?? null,
        };
  });
}

/** Without empty texts. */
const nonEmpty = <T extends Record<string, string>>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<T>;

/** A version that is on no host of the scope is answered like a missing one. */
export async function getVersion(
  ctx: Context,
  id: number,
  teamId: number | undefined,
): Promise<{ software: SoftwareVersion }> {
  const scopes = await scopesFor(ctx, teamId);
  const where = and(eq("software_id", id), oneOf("scope", scopes ?? []));
  const counts = sumVersions(await ctx.store.softwareVersionCounts.list({ where }));
  const [version] = await versionsOnWire(ctx, counts, "dated details");
  if (version === undefined) throw notFound("software version", id);
  return { software: version };
}
