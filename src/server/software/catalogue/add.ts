// Adds maintained apps to the packages that a team offers.

import { createHash } from "node:crypto";
import type { z } from "zod";
import { fieldNames, pickSet } from "../../../api/plain-fields.ts";
import type { catalogueApi } from "../../../api/software/catalogue.ts";
import { newPackageFields, PACKAGE_MAX } from "../../../api/software/packages.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, invalid, notFound, upstreamFailed } from "../../platform/core/errors.ts";
import { authorize } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { DownloadError, fetchFile } from "../../platform/files/fetch.ts";
import { and, eq } from "../../platform/store/query.ts";
import { teamScope } from "../../settings/teams/access.ts";
import { addInstallPolicy } from "../installers/automatic.ts";
import { installerOfTitle } from "../installers/hosts.ts";
import { changingPackages, textsFor } from "../installers/packages.ts";
import { checkScriptVariables, sentTexts } from "../installers/scripts.ts";
import { createInstaller, type InstallerFile, type ReadInstaller } from "../installers/service.ts";
import type { InstallerKind } from "../installers/tables.ts";
import { type TitleIdentity, titleIdFor } from "../software/titles/titles.ts";
import { type CatalogueVersion, installerName, scriptsOf } from "./format.ts";
import type { AppRow } from "./tables.ts";

type AppInput = z.output<typeof catalogueApi.add.body>;

export const listedApp = async ({ store }: Pick<Context, "store">, id: number): Promise<AppRow> => {
  const app = await store.catalogueApps.first({ where: and(eq("id", id), eq("is_listed", true)) });
  if (!app) throw notFound("maintained app", id);
  return app;
};

export async function addApp(ctx: Context, input: AppInput): Promise<{ software_title_id: number }> {
  const team = await teamScope(ctx, "packages:write", input.team_id);
  const app = await listedApp(ctx, input.svc_maintained_app_id);
  const version = app.manifest.versions[0]!;
  const read = readOf(app, version);
  const defaults = scriptsOf(app.manifest, version);
  const scripts = { install: defaults.install_script, uninstall: defaults.uninstall_script };
  const texts = textsFor({ read, scripts }, sentTexts(ctx, input));
  if (input.automatic_install) authorize(ctx, "policies:write", team.team_id);
  // Checked again in the transaction: this saves a download.
  const title = await ctx.store.tx((store) => titleIdFor(store, read.title));
  if ((await installerOfTitle(ctx.store, team.team_id, title)) !== null)
    throw alreadyExists(`${team.team_name ?? "no team"} offers ${app.name} already`);
  const file = await downloadVersion(ctx, version);
  return changingPackages(ctx, async (inside) => {
    await checkScriptVariables(inside.store, texts, team.team_id);
    const installer = await createInstaller(inside, {
      team,
      file,
      read,
      choices: {
        ...texts,
        ...pickSet(input, fieldNames(newPackageFields)),
        categories: version.default_categories,
        catalogue_app_id: app.id,
        url: version.installer_url,
      },
      labels: (await resolveTargets(inside, input, "software")) ?? [],
    });
    await keepDefaults(inside.store, installer.id, defaults);
    if (input.automatic_install) await addInstallPolicy(inside, installer, version.queries.exists);
    return { software_title_id: installer.title_id };
  });
}

const kinds: readonly InstallerKind[] = ["pkg", "msi", "exe", "dmg", "zip"];

/** What the catalogue says of the file, which is therefore not read. */
export function readOf(app: NamedApp, version: CatalogueVersion): ReadInstaller {
  const { platform, unique_identifier } = app;
  const file = installerName(version);
  const kind = kinds.find((type) => file.toLowerCase().endsWith(`.${type}`));
  if (kind === undefined) throw invalid("svc_maintained_app_id", `hosts cannot install ${file}: its type is unknown`);
  return {
    kind,
    platform,
    version: version.version,
    package_ids: [],
    bundle_identifier: platform === "darwin" ? unique_identifier : "",
    upgrade_code: "",
    installs_app: null,
    title: titleOf(app),
  };
}

type NamedApp = Pick<AppRow, "name" | "platform" | "unique_identifier">;

/** The title under which hosts report the app. */
export const titleOf = ({ name, platform, unique_identifier }: NamedApp): TitleIdentity =>
  platform === "darwin"
    ? { name, source: "apps", bundle_identifier: unique_identifier }
    : { name: unique_identifier, source: "programs" };

/** Downloads a version of an app. Do not call it in a transaction. */
export async function downloadVersion(
  services: Parameters<typeof fetchFile>[0],
  version: CatalogueVersion,
  signal?: AbortSignal,
): Promise<InstallerFile> {
  const { installer_url: url, sha256 } = version;
  const download = { url, sha256, maxBytes: PACKAGE_MAX, ...(signal === undefined ? {} : { signal }) };
  try {
    const { id, size } = await fetchFile(services, download);
    return { id, name: installerName(version), size, sha256 };
  } catch (error) {
    if (error instanceof DownloadError) throw upstreamFailed(`the installer was not downloaded: ${error.message}`);
    throw error;
  }
}

type Scripts = ReturnType<typeof scriptsOf>;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Remembers the catalogue's scripts, so that updates replace them, and leave those that users have written. */
export async function keepDefaults(store: ServerTx, installerId: number, scripts: Scripts): Promise<void> {
  const row = {
    id: installerId,
    install_sha256: digest(scripts.install_script),
    uninstall_sha256: digest(scripts.uninstall_script),
  };
  await store.catalogueOffers.upsert([row], { on: ["id"], returning: [] });
}

/** The scripts of a newer version, without those that users have replaced. */
export async function newScripts(
  store: ServerTx,
  installer: Scripts & { readonly id: number },
  scripts: Scripts,
): Promise<Partial<Scripts>> {
  const offer = await store.catalogueOffers.get(installer.id);
  return {
    ...(offer?.install_sha256 === digest(installer.install_script) ? { install_script: scripts.install_script } : {}),
    ...(offer?.uninstall_sha256 === digest(installer.uninstall_script)
      ? { uninstall_script: scripts.uninstall_script }
      : {}),
  };
}
