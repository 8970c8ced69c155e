// Lists of software titles, with the number of hosts of a team that have them.

import type { z } from "zod";
import type { SoftwareTitle, SoftwareTitleDetails, softwareApi } from "../../../../api/software/software.ts";
import { NO_TEAM } from "../../../hosts/count-changes/tables.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest, notFound } from "../../../platform/core/errors.ts";
import { orderOf, type PageQuery, page, pageOfArray } from "../../../platform/core/http/paging.ts";
import { byId, groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import {
  and,
  eq,
  everything,
  exists,
  nothing,
  oneOf,
  or,
  type Predicate,
  search,
} from "../../../platform/store/query.ts";
import { compareText } from "../../../platform/store/rows.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { countedAt } from "../counts.ts";
import { sourcesOn } from "../queries.ts";
import { type Scopes, scopesFor } from "../scopes.ts";
import { cvesOf } from "../service.ts";
import { checkAfter, cveIs, isCve, mostHosts, pageOfSums, pageWithOthers, total } from "../sums.ts";
import { softwareTitles, softwareVersionCounts } from "../tables.ts";
import { matchingCveFilter } from "../vulnerabilities/filter.ts";
import { softwareCves } from "../vulnerabilities/tables.ts";
import { detailedExtras, listedExtras, offeredTitles } from "./titles.ts";

type TitlesQuery = z.output<typeof softwareApi.titles.query>;

/** Counts of titles of which a version in these scopes has such a vulnerability. */
const titleWithCve = (scopes: Scopes, cves: Predicate): Predicate =>
  exists(
    softwareVersionCounts,
    "title_id",
    and(oneOf("scope", scopes), exists(softwareCves, "software_id", cves, "software_id")),
    "title_id",
  );

function titlesWhere(scopes: Scopes, query: TitlesQuery): Predicate {
  for (const name of ["platform", "hash_sha256", "package_name"] as const)
    if (query[name] !== undefined && query.team_id === undefined)
      throw badRequest(`Missing team_id (it must be present when ${name} is specified)`, "team_id");
  const text = query.query ?? "";
  const vulnerable = matchingCveFilter(query);
  const named = exists(softwareTitles, "id", search(["name"], text), "title_id");
  return and(
    oneOf("scope", scopes),
    text === "" ? everything : isCve(text) ? or(named, titleWithCve(scopes, cveIs(text))) : named,
    vulnerable === null ? everything : titleWithCve(scopes, vulnerable),
    query.platform === undefined
      ? everything
      : exists(softwareTitles, "id", oneOf("source", sourcesOn(query.platform)), "title_id"),
  );
}

export async function listTitles(ctx: Context, query: TitlesQuery) {
  const { store } = ctx;
  const scopes = await scopesFor(ctx, query.team_id);
  const counts_updated_at = await countedAt(store);
  const where = scopes === null ? nothing : titlesWhere(scopes, query);
  const onWire = (rows: readonly TitleSum[]) => titlesOnWire(ctx, scopes ?? [NO_TEAM], rows, query.team_id);
  if (scopes !== null && isAboutOffers(query)) {
    checkAfter(ctx, query);
    const sums = await offeredSums(ctx, scopes, query, where);
    const { items, meta } = pageOfSums(sums, query, ({ title_id }) => title_id);
    return { counts_updated_at, count: sums.length, software_titles: await onWire(items), meta };
  }
  const others = scopes === null || query.team_id === undefined ? [] : await offeredElsewhere(ctx, scopes, query);
  if (others.length > 0) {
    const past = checkAfter(ctx, query);
    const order = orderOf(query, { defaultOrder: mostHosts });
    const stored = (offset: number, limit: number) =>
      store.softwareTitleCounts.list({ where: and(where, past), order, offset, limit, transient: true });
    const [{ items, meta }, count] = await Promise.all([
      pageWithOthers<TitleSum>(stored, others, query, ({ title_id }) => title_id),
      store.softwareTitleCounts.count(where),
    ]);
    return { counts_updated_at, count: count + others.length, software_titles: await onWire(items), meta };
  }
  if (scopes === null || scopes.length === 1) {
    const [{ rows, meta }, count] = await Promise.all([
      page(store.softwareTitleCounts, query, where, { defaultOrder: mostHosts }),
      store.softwareTitleCounts.count(where),
    ]);
    return { counts_updated_at, count, software_titles: await onWire(rows), meta };
  }
  const sums = sumTitles(await store.softwareTitleCounts.list({ where }));
  checkAfter(ctx, query);
  const { items, meta } = pageOfSums(sums, query, ({ title_id }) => title_id);
  return { counts_updated_at, count: sums.length, software_titles: await onWire(items), meta };
}

const anyOffer = { self_service: false, packages_only: false, exclude_svc_maintained_apps: false };

const isAboutOffers = (query: TitlesQuery): boolean =>
  query.available_for_install ||
  query.self_service ||
  query.packages_only ||
  query.hash_sha256 !== undefined ||
  query.package_name !== undefined;

/** Titles that teams offer, also those that are on no host yet. */
async function offeredSums(ctx: Context, scopes: Scopes, query: TitlesQuery, onHosts: Predicate): Promise<TitleSum[]> {
  const { store } = ctx;
  const ids = [...(await offeredTitles(ctx, query.team_id, query))];
  if (ids.length === 0) return [];
  const among = needsHosts(query) ? onHosts : oneOf("scope", scopes);
  const sums = sumTitles(await store.softwareTitleCounts.list({ where: and(oneOf("title_id", ids), among) }));
  return needsHosts(query) ? sums : withoutHostsToo(store, sums, amongTitles(ids, query));
}

/** Titles that the team offers and that are on none of its hosts. */
async function offeredElsewhere(ctx: Context, scopes: Scopes, query: TitlesQuery): Promise<TitleSum[]> {
  const { exclude_svc_maintained_apps } = query;
  if (needsHosts(query)) return [];
  const { store } = ctx;
  const ids = [...(await offeredTitles(ctx, query.team_id, { ...anyOffer, exclude_svc_maintained_apps }))];
  if (ids.length === 0) return [];
  const where = and(oneOf("title_id", ids), oneOf("scope", scopes));
  const onHosts = new Set((await store.softwareTitleCounts.pick(["title_id"], { where })).map((row) => row.title_id));
  const others = ids.filter((id) => !onHosts.has(id));
  return others.length === 0 ? [] : withoutHostsToo(store, [], amongTitles(others, query));
}

/** Only hosts show which versions are vulnerable. */
const needsHosts = (query: TitlesQuery): boolean => matchingCveFilter(query) !== null || isCve(query.query ?? "");

const amongTitles = (ids: readonly number[], { query: text = "", platform }: TitlesQuery): Predicate =>
  and(
    oneOf("id", ids),
    text === "" ? everything : search(["name"], text),
    platform === undefined ? everything : oneOf("source", sourcesOn(platform)),
  );

/** The titles that the predicate selects, also those that have no sum. */
async function withoutHostsToo(store: ServerTx, sums: readonly TitleSum[], where: Predicate): Promise<TitleSum[]> {
  const countOf = new Map(sums.map(({ title_id, hosts_count }) => [title_id, hosts_count]));
  const titles = await store.softwareTitles.pick(["id", "name"], { where });
  return titles.map(({ id, name }) => ({ title_id: id, name, hosts_count: countOf.get(id) ?? 0 }));
}

/**
 * A page of these titles as lists of the team show them, also of those that are on none of its hosts. Unless the query
 * asks for an order, those in `first` come first, in the order there.
 */
export async function pageOfTitles(
  ctx: Context,
  teamId: number,
  ids: readonly number[],
  query: PageQuery,
  first: readonly number[] = [],
) {
  const { store } = ctx;
  checkAfter(ctx, query);
  const counts = and(oneOf("title_id", ids), eq("scope", teamId));
  const sums = sumTitles(await store.softwareTitleCounts.list({ where: counts }));
  const all = await withoutHostsToo(store, sums, oneOf("id", ids));
  const { items, meta } =
    query.order_key === undefined && query.after === undefined && first.length > 0
      ? pageOfArray(startingWith(first, all), query)
      : pageOfSums(all, query, ({ title_id }) => title_id);
  const software_titles = await titlesOnWire(ctx, [teamId], items, teamId);
  return { counts_updated_at: await countedAt(store), count: all.length, software_titles, meta };
}

function startingWith(first: readonly number[], all: readonly TitleSum[]): TitleSum[] {
  const rankOf = new Map(first.map((id, rank) => [id, rank]));
  const rank = ({ title_id }: TitleSum): number => rankOf.get(title_id) ?? first.length;
  return all.toSorted((a, b) => rank(a) - rank(b) || compareText(a.name, b.name) || a.title_id - b.title_id);
}

type TitleSum = Pick<RowOf<typeof import("../tables.ts").softwareTitleCounts>, "title_id" | "name" | "hosts_count">;

function sumTitles(rows: readonly TitleSum[]): TitleSum[] {
  return [...groupBy(rows, ({ title_id }) => title_id).values()].map((counts) => ({
    ...counts[0]!,
    hosts_count: total(counts),
  }));
}

interface VersionOfTitle {
  readonly id: number;
  readonly version: string;
  readonly hosts_count: number;
  readonly vulnerabilities: string[] | null;
}

/** The versions in these scopes of each title, those on most hosts first. */
async function versionsByTitle(
  store: ServerTx,
  scopes: Scopes,
  titleIds: readonly number[],
): Promise<Map<number, VersionOfTitle[]>> {
  const counts = await store.softwareVersionCounts.pick(["software_id", "title_id", "name", "hosts_count"], {
    where: and(oneOf("scope", scopes), oneOf("title_id", titleIds)),
  });
  const ids = [...new Set(counts.map(({ software_id }) => software_id))];
  const [rows, cves] = [
    byId(await store.software.pick(["id", "version"], { where: oneOf("id", ids) })),
    await cvesOf(store, ids),
  ];
  const sums = [...groupBy(counts, ({ software_id }) => software_id)].map(([id, versionCounts]) => ({
    id,
    title_id: versionCounts[0]!.title_id,
    version: rows.get(id)?.version ?? "",
    hosts_count: total(versionCounts),
    vulnerabilities: cves.get(id) ?? null,
  }));
  sums.sort((a, b) => b.hosts_count - a.hosts_count || a.id - b.id);
  return groupBy(sums, ({ title_id }) => title_id);
}

const notInstallable = { icon_url: null, software_package: null, packages: null, app_store_app: null } as const;

async function titlesOnWire(
  ctx: Context,
  scopes: Scopes,
  counts: readonly TitleSum[],
  teamId: number | undefined,
): Promise<SoftwareTitle[]> {
  const { store } = ctx;
  const ids = counts.map(({ title_id }) => title_id);
  const rows = byId(await store.softwareTitles.getMany(ids));
  const versions = await versionsByTitle(store, scopes, ids);
  const extrasOf = await listedExtras(ctx, teamId, ids);
  return counts.flatMap(({ title_id, hosts_count }) => {
    const row = rows.get(title_id);
    const titleVersions = versions.get(title_id) ?? [];
    return row === undefined
      ? []
      : {
          ...titleOnWire(row),
          hosts_count,
          versions_count: titleVersions.length,
          versions: titleVersions.map(({ id, version, vulnerabilities }) => ({ id, version, vulnerabilities })),
          ...extrasOf(title_id),
        };
  });
}

const titleOnWire = (row: RowOf<typeof softwareTitles>) => ({
  id: row.id,
  name: row.name,
  display_name: "",
  source: row.source,
  extension_for: row.extension_for,
  browser: row.extension_for,
  ...(row.bundle_identifier === "" ? {} : { bundle_identifier: row.bundle_identifier }),
  ...notInstallable,
});

/** A title that is on no host of the scope, and that nobody there offers, is answered like a missing one. */
export async function getTitle(
  ctx: Context,
  id: number,
  teamId: number | undefined,
): Promise<{ software_title: SoftwareTitleDetails }> {
  const { store } = ctx;
  const scopes = await scopesFor(ctx, teamId);
  const row = await store.softwareTitles.get(id);
  const where = and(eq("title_id", id), oneOf("scope", scopes ?? []));
  const counts = row === null ? [] : await store.softwareTitleCounts.list({ where });
  if (row === null || scopes === null) throw notFound("software title", id);
  if (counts.length === 0 && !(await offeredTitles(ctx, teamId, anyOffer)).has(id))
    throw notFound("software title", id);
  const versions = (await versionsByTitle(store, scopes, [id])).get(id) ?? [];
  return {
    software_title: {
      ...titleOnWire(row),
      hosts_count: total(counts),
      versions_count: versions.length,
      versions: versions.map(({ id: versionId, version, vulnerabilities, hosts_count }) => ({
        id: versionId,
        version,
        vulnerabilities,
        hosts_count,
      })),
      counts_updated_at: await countedAt(store),
      ...(await detailedExtras(ctx, teamId, id)),
    },
  };
}
