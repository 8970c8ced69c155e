import type { z } from "zod";
import type { CatalogueApp, CatalogueAppDetails, catalogueApi } from "../../api/catalogue.ts";
import type { Context } from "../core/context.ts";
import { badRequest, notFound } from "../core/errors.ts";
import { pageOfArray } from "../core/http/paging.ts";
import { groupBy } from "../core/maps.ts";
import { and, eq, everything, search } from "../store/query.ts";
import { compareText } from "../store/rows.ts";
import type { RowOf } from "../store/table.ts";
import { getTeamRow } from "../teams/access.ts";
import { fileNameOf, scriptsOf } from "./format.ts";
import type { catalogueApps } from "./tables.ts";

type ListQuery = z.output<typeof catalogueApi.list.query>;
type AppRow = RowOf<typeof catalogueApps>;
const columns = ["id", "name", "slug", "platform", "version", "unique_identifier"] as const;
type AppBrief = Pick<AppRow, (typeof columns)[number]>;

/** A catalogue has some hundreds of apps, so they are grouped in memory. */
export async function listApps(ctx: Context, query: ListQuery) {
  if (query.available && query.team_id === undefined)
    throw badRequest("Missing team_id (it must be present when available is specified)", "team_id");
  await requireTeam(ctx, query.team_id);
  const text = query.query ?? "";
  const where = and(
    eq("is_listed", true),
    text === "" ? everything : search(["name"], text),
    query.platform === undefined ? everything : eq("platform", query.platform),
  );
  const apps = await ctx.store.catalogueApps.pick(columns, { where });
  const sign = query.order_direction === "desc" ? -1 : 1;
  const groups = [...groupBy(apps, ({ name }) => name.toLowerCase())]
    .sort(([a], [b]) => sign * compareText(a, b))
    .map(([, group]) => group.sort((a, b) => compareText(a.slug, b.slug)));
  const { items, meta } = pageOfArray(groups, query);
  return { svc_maintained_apps: items.flat().map(briefOf), count: apps.length, meta };
}

async function requireTeam(ctx: Context, teamId: number | undefined): Promise<void> {
  if (teamId) await getTeamRow(ctx, "catalogue:read", teamId);
}

const briefOf = ({ id, name, slug, platform, version }: AppBrief): CatalogueApp => ({
  id,
  name,
  slug,
  platform,
  version,
  software_title_id: null,
});

export async function getApp(ctx: Context, id: number, teamId: number | undefined): Promise<CatalogueAppDetails> {
  await requireTeam(ctx, teamId);
  const app = await ctx.store.catalogueApps.first({ where: and(eq("id", id), eq("is_listed", true)) });
  if (!app) throw notFound("maintained app", id);
  const newest = app.manifest.versions[0]!;
  return {
    ...briefOf(app),
    filename: fileNameOf(newest),
    url: newest.installer_url,
    ...scriptsOf(app.manifest, newest),
    automatic_install_query: newest.queries.exists,
    categories: newest.default_categories,
  };
}
