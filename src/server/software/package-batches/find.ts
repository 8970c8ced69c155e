// The file of each package of a batch: of the catalogue, of a stored package, or downloaded.
import type { BatchPackage } from "../../../api/software/package-batches.ts";
import { PACKAGE_MAX } from "../../../api/software/packages.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, invalid } from "../../platform/core/errors.ts";
import { checkOutboundUrl, hasCredentials } from "../../platform/core/outbound/fetch.ts";
import { visible } from "../../platform/core/security/access.ts";
import { DownloadError, fetchLatest } from "../../platform/files/fetch.ts";
import { downloadName } from "../../platform/files/names.ts";
import { and, eq } from "../../platform/store/query.ts";
import { downloadVersion, readOf } from "../catalogue/add.ts";
import { type CatalogueVersion, scriptsOf } from "../catalogue/format.ts";
import type { AppRow } from "../catalogue/tables.ts";
import { versionFor } from "../catalogue/updates.ts";
import type { Installer } from "../installers/hosts.ts";
import { type ReadFile, readInstaller } from "../installers/read.ts";
import { isScript } from "../installers/scripts.ts";
import type { InstallerFile } from "../installers/service.ts";

/** What the server knows of a package whose file it has. */
export interface ResolvedPackage extends ReadFile {
  readonly file: InstallerFile;
  readonly url: string;
  /** The maintained app. Null: it is none. */
  readonly app_id: number | null;
  readonly categories: readonly string[];
}

/** The name of a package in messages. Of a URL only what cannot contain a secret. */
export function labelOf({ slug, url, hash_sha256 }: BatchPackage): string {
  if (slug !== undefined) return slug;
  if (url === undefined) return hash_sha256 === undefined ? "without a file" : `SHA-256 ${hash_sha256}`;
  return URL.canParse(url) ? `${downloadName(url)} of ${new URL(url).hostname}` : "an invalid URL";
}

/** Runs the work for the package at this place of the list: errors name it. */
export async function naming<R>(item: BatchPackage, at: number, work: () => R | Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { name = "base", reason = error.message } = error.errors[0] ?? {};
    const place = `software.packages.${at}${name === "base" ? "" : `.${name}`}`;
    throw new ApiError(error.status, error.message, [
      { name: place, reason: `package ${at + 1} (${labelOf(item)}): ${name === "base" ? "" : `${name}: `}${reason}` },
    ]);
  }
}

/** What can be refused at once, before anything is downloaded. */
export async function checkItem(ctx: Context, item: BatchPackage): Promise<void> {
  const { slug, url, hash_sha256, version } = item;
  if (slug === undefined && version) throw invalid("version", "only maintained apps have versions");
  if (slug !== undefined) {
    if (url !== undefined) throw invalid("url", "cannot be given with slug: the catalogue names the file");
    if (hash_sha256 !== undefined)
      throw invalid("hash_sha256", "cannot be given with slug: the catalogue names the file");
    versionOf(await appOf(ctx, slug), version);
    return;
  }
  if (url === undefined && hash_sha256 === undefined) throw invalid("url", "slug, url or hash_sha256 is required");
  if (url === undefined) {
    if (item.always_download) throw invalid("always_download", "needs a url");
    await storedPackage(ctx, hash_sha256!);
    return;
  }
  const problem = checkOutboundUrl(url);
  if (problem !== null) throw invalid("url", problem);
  if (hasCredentials(url)) throw invalid("url", "must not contain a user name or password");
}

export async function appOf({ store }: Context, slug: string): Promise<AppRow> {
  const app = await store.catalogueApps.first({ where: and(eq("slug", slug), eq("is_listed", true)) });
  if (!app) throw invalid("slug", "the catalogue has no such app");
  return app;
}

export function versionOf({ manifest, name }: AppRow, desiredVersion = ""): CatalogueVersion {
  const version = versionFor(manifest, desiredVersion.trim());
  if (version) return version;
  const versions = manifest.versions.map((candidate) => candidate.version).join(", ");
  throw invalid("version", `the catalogue has no such version of ${name}, but these: ${versions}`);
}

/** A package with this digest that the caller may see: to know a digest does not give access to a file. */
export const visiblePackage = (ctx: Context, sha256: string): Promise<Installer | null> =>
  ctx.store.softwareInstallers.first({ where: and(eq("sha256", sha256), visible(ctx, "packages:read")) });

async function storedPackage(ctx: Context, sha256: string): Promise<Installer> {
  const installer = await visiblePackage(ctx, sha256);
  if (!installer) throw invalid("hash_sha256", "no package with this digest is stored: give its url");
  return installer;
}

/** Finds a package. Do not call it in a transaction. */
export async function findPackage(ctx: Context, item: BatchPackage, signal: AbortSignal): Promise<ResolvedPackage> {
  const { slug, url, hash_sha256: sha256 } = item;
  if (slug !== undefined) return ofApp(ctx, slug, item.version, signal);
  const stored = sha256 === undefined ? null : await visiblePackage(ctx, sha256);
  if (stored) return ofPackage(ctx, stored, url ?? stored.url);
  if (url === undefined) return ofPackage(ctx, await storedPackage(ctx, sha256!), "");
  return downloaded(ctx, { url, sha256, isUnconditional: item.always_download === true }, signal);
}

async function ofApp(
  ctx: Context,
  slug: string,
  desiredVersion: string | undefined,
  signal: AbortSignal,
): Promise<ResolvedPackage> {
  const app = await appOf(ctx, slug);
  const version = versionOf(app, desiredVersion);
  const file = await downloadVersion(ctx, version, signal).catch((error: unknown) => {
    // The download was tried several times: the request ends, instead of being repeated for an hour.
    const isFinal = error instanceof ApiError && error.status === 502;
    throw isFinal ? invalid("slug", error.errors[0]!.reason) : error;
  });
  return ofVersion(app, version, file);
}

/** A version of a maintained app, whose file is stored. */
export function ofVersion(app: AppRow, version: CatalogueVersion, file: InstallerFile): ResolvedPackage {
  const { install_script: install, uninstall_script: uninstall } = scriptsOf(app.manifest, version);
  return {
    read: readOf(app, version),
    scripts: { install, uninstall },
    file,
    url: version.installer_url,
    app_id: app.id,
    categories: version.default_categories,
  };
}

/** Files of the catalogue say nothing of themselves, so what is known of the package is taken over. */
export async function ofPackage(ctx: Context, row: Installer, url: string): Promise<ResolvedPackage> {
  const file = { id: row.file_id, name: row.file_name, size: row.size, sha256: row.sha256 };
  const base = { file, url, app_id: null, categories: [] };
  if (row.catalogue_app_id === null && row.kind !== "dmg" && row.kind !== "zip")
    return { ...base, ...(await readInstaller(ctx, file, "hash_sha256")) };
  const title = (await ctx.store.softwareTitles.get(row.title_id))!;
  const { kind, platform, version, package_ids, bundle_identifier, upgrade_code, installs_app } = row;
  return {
    ...base,
    app_id: row.catalogue_app_id,
    read: {
      title: { name: title.name, source: title.source, bundle_identifier: title.bundle_identifier },
      ...{ kind, platform, version, package_ids, bundle_identifier, upgrade_code, installs_app },
    },
    scripts: { install: isScript(kind) ? "" : row.install_script, uninstall: row.uninstall_script },
  };
}

interface Download {
  readonly url: string;
  readonly sha256: string | undefined;
  readonly isUnconditional: boolean;
}

async function downloaded(ctx: Context, download: Download, signal: AbortSignal): Promise<ResolvedPackage> {
  const { row, name } = await fetchLatest(ctx, { ...download, maxBytes: PACKAGE_MAX, signal }).catch(
    (error: unknown) => {
      throw error instanceof DownloadError ? invalid("url", `the file was not downloaded: ${error.message}`) : error;
    },
  );
  const file = { id: row.id, name, size: row.size, sha256: row.sha256 };
  return { ...(await readInstaller(ctx, file, "url")), file, url: download.url, app_id: null, categories: [] };
}
