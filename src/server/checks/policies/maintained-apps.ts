// What patch policies ask hosts about maintained apps. The catalogue keeps the apps, and the packages of teams follow it.
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";

/** A maintained app, and what the team offers of it. */
export interface OfferedApp {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly platform: string;
  /** Null: the team does not offer the app. */
  readonly offer: {
    readonly title_id: number;
    readonly version: string;
    readonly pre_install_query: string;
    /** Returns a row on hosts that have at least this version, or do not have the app. */
    readonly query: string;
  } | null;
}

export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export type CatalogueApp = RowOf<Tables["catalogueApps"]>;
type App = Pick<CatalogueApp, "platform" | "unique_identifier">;
type CatalogueVersion = CatalogueApp["manifest"]["versions"][number];

/** The tables and columns in which hosts list their apps. */
export const listedIn = {
  darwin: { table: "apps", identifier: "bundle_identifier", version: "bundle_short_version" },
  windows: { table: "programs", identifier: "name", version: "version" },
} as const;

/** A query that returns a row on hosts that have at least this version of the app, or do not have the app. */
export function patchQuery(app: App, version: string, catalogued?: CatalogueVersion): string {
  if (catalogued?.queries.patched) return catalogued.queries.patched;
  const { table, identifier, version: column } = listedIn[app.platform];
  const isOlder = `${identifier} = ${quote(app.unique_identifier)} AND version_compare(${column}, ${quote(version)}) < 0`;
  return `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${isOlder});`;
}

/** The version that a package is; undefined if the catalogue has it no longer. */
export const versionAt = (
  { manifest }: CatalogueApp,
  { sha256 }: Pick<RowOf<Tables["softwareInstallers"]>, "sha256">,
): CatalogueVersion | undefined => manifest.versions.find((version) => version.sha256 === sha256);

/** Null: the catalogue has no such app. */
export async function offeredApp(
  store: Pick<ServerTx, "catalogueApps" | "softwareInstallers">,
  teamId: number | null,
  named: { readonly slug: string } | { readonly id: number },
): Promise<OfferedApp | null> {
  const app =
    "id" in named
      ? await store.catalogueApps.get(named.id)
      : await store.catalogueApps.first({ where: eq("slug", named.slug) });
  if (!app) return null;
  const where = and(inTeam(teamId ?? 0), eq("catalogue_app_id", app.id));
  const installer = await store.softwareInstallers.first({ where });
  const { id, slug, name, platform } = app;
  return {
    id,
    slug,
    name,
    platform,
    offer: installer && {
      title_id: installer.title_id,
      version: installer.version,
      pre_install_query: installer.pre_install_query,
      query: patchQuery(app, installer.version, versionAt(app, installer)),
    },
  };
}
