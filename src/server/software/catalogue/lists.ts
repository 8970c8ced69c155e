import type { z } from "zod";
import type { CatalogueApp, CatalogueAppDetails, catalogueApi } from "../../../api/software/catalogue.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { pageOfArray } from "../../platform/core/http/paging.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq, everything, oneOf, search } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { getTeamRow } from "../../settings/teams/access.ts";
import { titleKey } from "../software/inventory.ts";
import { listedApp, titleOf } from "./add.ts";
import { installerName, scriptsOf } from "./format.ts";
import type { AppRow } from "./tables.ts";

type ListQuery = z.output<typeof catalogueApi.list.query>;
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
  const listedApps = await ctx.store.catalogueApps.pick(columns, { where });
  const offered = await offeredTitles(ctx, query.team_id, listedApps);
  const apps = query.available ? listedApps.filter(({ id }) => !offered.has(id)) : listedApps;
  const sign = query.order_direction === "desc" ? -1 : 1;
  const groups = [...groupBy(apps, ({ name }) => name.toLowerCase())]
    .sort(([a], [b]) => sign * compareText(a, b))
    .map(([, group]) => group.sort((a, b) => compareText(a.slug, b.slug)));
  const { items, meta } = pageOfArray(groups, query);
  return { svc_maintained_apps: items.flat().map((app) => briefOf(app, offered)), count: apps.length, meta };
}

async function requireTeam(ctx: Context, teamId: number | undefined): Promise<void> {
  if (teamId) await getTeamRow(ctx, "catalogue:read", teamId);
}

/** The titles of apps that the team offers, whether it has added them from the catalogue or not, by the app's id. */
async function offeredTitles(
  { store }: Context,
  teamId: number | undefined,
  apps: readonly AppBrief[],
): Promise<ReadonlyMap<number, number>> {
  if (teamId === undefined) return new Map();
  const keys = apps.map(
    (app) => [app.id, titleKey({ extension_for: "", bundle_identifier: "", ...titleOf(app) })] as const,
  );
  const titles = await store.softwareTitles.pick(["id", "key"], {
    where: oneOf(
      "key",
      keys.map(([, key]) => key),
    ),
  });
  const ids = new Map(titles.map(({ id, key }) => [key, id]));
  const isOfTitle = and(inTeam(teamId), oneOf("title_id", [...ids.values()]));
  const packages = await store.softwareInstallers.pick(["title_id"], { where: isOfTitle });
  const storeApps = await store.storeApps.pick(["title_id"], { where: isOfTitle });
  const offered = new Set([...packages, ...storeApps].map(({ title_id }) => title_id));
  return new Map(
    keys.flatMap(([id, key]) => {
      const title = ids.get(key);
      return title !== undefined && offered.has(title) ? [[id, title] as const] : [];
    }),
  );
}

const briefOf = (
  { id, name, slug, platform, version }: AppBrief,
  offered: ReadonlyMap<number, number>,
): CatalogueApp => ({
  id,
  name,
  slug,
  platform,
  version,
  software_title_id: offered.get(id) ?? null,
});

export async function getApp(ctx: Context, id: number, teamId: number | undefined): Promise<CatalogueAppDetails> {
  await requireTeam(ctx, teamId);
  const app = await listedApp(ctx, id);
  const newest = app.manifest.versions[0]!;
  return {
    ...briefOf(app, await offeredTitles(ctx, teamId, [app])),
    filename: installerName(newest),
    url: newest.installer_url,
    ...scriptsOf(app.manifest, newest),
    automatic_install_query: newest.queries.exists,
    categories: newest.default_categories,
  };
}
