// What patch policies ask hosts about maintained apps, and how it follows the packages of the apps.

import { type OfferedApp, patchPolicyOf } from "../../checks/policies/patch.ts";
import { updatePolicies } from "../../checks/policies/write.ts";
import { conflict } from "../../platform/core/errors.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import type { Installer } from "../installers/hosts.ts";
import type { InstallerListener } from "../installers/service.ts";
import type { CatalogueVersion } from "./format.ts";
import type { AppRow } from "./tables.ts";

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

type App = Pick<AppRow, "platform" | "unique_identifier">;

/** The tables and columns in which hosts list their apps. */
const listed = {
  darwin: { table: "apps", identifier: "bundle_identifier", version: "bundle_short_version" },
  windows: { table: "programs", identifier: "name", version: "version" },
} as const;

/** A query that returns a row on hosts that have at least this version of the app, or do not have the app. */
export function patchQuery(app: App, version: string, known?: CatalogueVersion): string {
  if (known?.queries.patched) return known.queries.patched;
  const { table, identifier, version: column } = listed[app.platform];
  const isOlder = `${identifier} = ${quote(app.unique_identifier)} AND version_compare(${column}, ${quote(version)}) < 0`;
  return `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${isOlder});`;
}

/** A query that returns a row on hosts on which the app is not running: no process is in the folder of the app. */
export function closedQuery({ platform, unique_identifier }: App, known?: CatalogueVersion): string {
  if (known?.queries.closed) return known.queries.closed;
  const { table, identifier } = listed[platform];
  const path = platform === "darwin" ? "a.path" : "a.install_location";
  const folder = platform === "darwin" ? `${path} || '/'` : `rtrim(${path}, '\\') || '\\'`;
  const isInside = `lower(substr(p.path, 1, length(${folder}))) = lower(${folder})`;
  return (
    `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} a JOIN processes p ON ${isInside} ` +
    `WHERE a.${identifier} = ${quote(unique_identifier)} AND ${path} != '');`
  );
}

/** The version that a package is; undefined if the catalogue has it no longer. */
const versionAt = ({ manifest }: AppRow, { sha256 }: Pick<Installer, "sha256">): CatalogueVersion | undefined =>
  manifest.versions.find((version) => version.sha256 === sha256);

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

/** The query before an installation that waits until the app is closed. Null: the package is of no maintained app. */
export async function closedQueryOf(
  store: Pick<ServerTx, "catalogueApps">,
  installer: Pick<Installer, "catalogue_app_id" | "sha256">,
): Promise<string | null> {
  const app = installer.catalogue_app_id === null ? null : await store.catalogueApps.get(installer.catalogue_app_id);
  return app && closedQuery(app, versionAt(app, installer));
}

/** The queries of patch policies follow the version of the package, which follows the catalogue or its pin. */
export const patchFollows: InstallerListener = {
  async changed(inside, installer) {
    const before = await patchPolicyOf(inside.store, installer);
    const app = before && (await inside.store.catalogueApps.get(installer.catalogue_app_id!));
    if (!before || !app) return;
    const query = patchQuery(app, installer.version, versionAt(app, installer));
    // The results of the earlier query are removed by the job that recounts.
    if (query !== before.query) await updatePolicies(inside, [{ before, set: { query }, labels: undefined }]);
  },
  async removed({ store }, installer) {
    const policy = await patchPolicyOf(store, installer);
    if (policy) throw conflict(`the policy ${JSON.stringify(policy.name)} patches the package: change it first`);
  },
};
