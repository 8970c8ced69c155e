// What patch policies ask hosts about maintained apps, and how it follows the packages of the apps.

import { type CatalogueApp, listedIn, patchQuery, quote, versionAt } from "../../checks/policies/maintained-apps.ts";
import { patchPolicyOf } from "../../checks/policies/patch.ts";
import { updatePolicies } from "../../checks/policies/write.ts";
import { conflict } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { Installer } from "../installers/hosts.ts";
import type { InstallerListener } from "../installers/service.ts";
import type { CatalogueVersion } from "./format.ts";

/** A query that returns a row on hosts on which the app is not running: no process is in the folder of the app. */
export function closedQuery(
  { platform, unique_identifier }: Pick<CatalogueApp, "platform" | "unique_identifier">,
  version?: CatalogueVersion,
): string {
  if (version?.queries.closed) return version.queries.closed;
  const { table, identifier } = listedIn[platform];
  const path = platform === "darwin" ? "a.path" : "a.install_location";
  const folder = platform === "darwin" ? `${path} || '/'` : `rtrim(${path}, '\\') || '\\'`;
  const isInside = `lower(substr(p.path, 1, length(${folder}))) = lower(${folder})`;
  return (
    `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} a JOIN processes p ON ${isInside} ` +
    `WHERE a.${identifier} = ${quote(unique_identifier)} AND ${path} != '');`
  );
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
