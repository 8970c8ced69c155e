// The file of each package that an apply changes: stored, downloaded before by the caller, or in the request.

import { type Context, within } from "../../../../platform/core/context.ts";
import { type ApiError, invalid } from "../../../../platform/core/errors.ts";
import { filesOf, keepFile } from "../../../../platform/files/service.ts";
import { scriptsOf } from "../../../../software/catalogue/format.ts";
import type { Installer } from "../../../../software/installers/hosts.ts";
import { readInstaller } from "../../../../software/installers/read.ts";
import {
  appOf,
  ofPackage,
  ofVersion,
  type ResolvedPackage,
  versionOf,
  visiblePackage,
} from "../../../../software/package-batches/find.ts";
import { downloadsOf } from "../../../../software/package-batches/service.ts";
import { locating, type Step } from "../../changes.ts";
import { readSharedRows } from "../../shared-rows.ts";
import { keyOf } from "../../values.ts";
import { keepIcons } from "../title-icons.ts";
import { digestOf, type PackageEntry, packagesByKey, readPackages } from "./rows.ts";
import { type DesiredPackage, isOwnScript } from "./value.ts";

/** By the index of the change. Null: only a dry run, which downloads nothing, can go on without the file. */
export type PackagesByIndex = ReadonlyMap<number, ResolvedPackage | null>;

interface Finding {
  readonly ctx: Context;
  /** The package of this name that the team has. */
  readonly installer: Installer | null;
  readonly downloads: readonly ResolvedPackage[];
}

/** Before the transaction, because files are read and stored. */
export async function findFiles(ctx: Context, steps: readonly Step<DesiredPackage>[]): Promise<PackagesByIndex> {
  const packages = new Map<number, ResolvedPackage | null>();
  if (steps.length === 0) return packages;
  await keepIcons(ctx, steps);
  const entriesByKey = await ctx.store.tx(async (store): Promise<ReadonlyMap<string, PackageEntry>> => {
    const inside = within(ctx, store);
    return packagesByKey(await readPackages(inside), await readSharedRows(inside));
  });
  const downloads = await downloadsOf(ctx);
  for (const step of steps)
    await locating(step, async () => {
      const id = entriesByKey.get(keyOf(step))?.id;
      const installer = id === undefined ? null : await ctx.store.softwareInstallers.get(id);
      packages.set(step.index, await findFile({ ctx, installer, downloads }, step));
    });
  return packages;
}

const findFile = (finding: Finding, { name, desired }: Step<DesiredPackage>): Promise<ResolvedPackage | null> =>
  desired.value.slug !== ""
    ? ofApp(finding, desired)
    : isOwnScript(name, desired.value)
      ? ofScript(finding, name, desired)
      : ofFile(finding, desired);

const notDownloaded = (field: string): ApiError =>
  invalid(field, "the server does not have the file: let it download the file first, as `svc apply` does");

/** A package of the app keeps its file until its version changes: a job follows the catalogue. */
async function ofApp({ ctx, installer, downloads }: Finding, { value: { slug, version: pin } }: DesiredPackage) {
  if (installer?.catalogue_app_id && installer.pinned_version === pin) return ofOwnApp(ctx, installer);
  const app = await appOf(ctx, slug);
  const version = versionOf(app, pin);
  const usable =
    downloads.find(({ app_id, file }) => app_id === app.id && file.sha256 === version.sha256)?.file ??
    (await storedFile(ctx, version.sha256));
  const file = usable && (await stillStored(ctx, usable));
  if (file) return ofVersion(app, version, file);
  if (ctx.dryRun !== null) return null;
  throw notDownloaded("slug");
}

async function ofOwnApp(ctx: Context, installer: Installer): Promise<ResolvedPackage> {
  const appPackage = await ofPackage(ctx, installer, installer.url);
  const app = (await ctx.store.catalogueApps.get(installer.catalogue_app_id!))!;
  const { versions } = app.manifest;
  const version = versions.find(({ sha256 }) => sha256 === installer.sha256) ?? versions[0]!;
  const scripts = scriptsOf(app.manifest, version);
  const offer = await ctx.store.catalogueOffers.get(installer.id);
  // The catalogue may have changed since: what the package has from it stays until its next update.
  const defaultOf = (which: "install" | "uninstall") =>
    offer?.[`${which}_sha256`] === digestOf(installer[`${which}_script`])
      ? installer[`${which}_script`]
      : scripts[`${which}_script`];
  return {
    ...appPackage,
    scripts: { install: defaultOf("install"), uninstall: defaultOf("uninstall") },
    categories: version.default_categories,
  };
}

async function storedFile(ctx: Context, sha256: string): Promise<ResolvedPackage["file"] | null> {
  const row = await visiblePackage(ctx, sha256);
  return row && { id: row.file_id, name: row.file_name, size: row.size, sha256 };
}

/** Files that nothing refers to are deleted after a day. Null: this one is gone. */
async function stillStored(ctx: Context, file: ResolvedPackage["file"]): Promise<ResolvedPackage["file"] | null> {
  return (await filesOf(ctx, [file.sha256])).get(file.sha256) === file.id ? file : null;
}

async function ofScript(
  { ctx, installer }: Finding,
  name: string,
  { value, script }: DesiredPackage,
): Promise<ResolvedPackage | null> {
  if (installer?.sha256 === value.sha256) return ofPackage(ctx, installer, "");
  if (script === undefined) throw invalid("sha256", "the request does not contain the file with this digest");
  if (ctx.dryRun !== null) return null;
  const { row } = await keepFile(ctx, parts(script), { maxBytes: script.length });
  const file = { id: row.id, name, size: row.size, sha256: row.sha256 };
  return { ...(await readInstaller(ctx, file, "value")), file, url: "", app_id: null, categories: [] };
}

async function* parts(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

async function ofFile({ ctx, installer, downloads }: Finding, { value: { url, sha256 } }: DesiredPackage) {
  if (sha256 !== "") {
    if (installer?.sha256 === sha256) return ofPackage(ctx, installer, url);
    const download = downloads.find(({ file, app_id }) => file.sha256 === sha256 && app_id === null);
    if (download && (await stillStored(ctx, download.file))) return { ...download, url };
    const stored = await visiblePackage(ctx, sha256);
    if (stored) return ofPackage(ctx, stored, url);
  }
  if (ctx.dryRun !== null && url !== "") return null;
  if (url !== "") throw notDownloaded("url");
  throw invalid("sha256", "no package with this digest is stored: give its url");
}
