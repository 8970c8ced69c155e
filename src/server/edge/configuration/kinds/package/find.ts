// The file of each package that an apply changes: stored, downloaded before by the caller, or in the request.

import { type Context, within } from "../../../../platform/core/context.ts";
import { type ApiError, invalid } from "../../../../platform/core/errors.ts";
import { filesOf, keepFile } from "../../../../platform/files/service.ts";
import { scriptsOf } from "../../../../software/catalogue/format.ts";
import type { Installer } from "../../../../software/installers/hosts.ts";
import { readInstaller } from "../../../../software/installers/read.ts";
import {
  appOf,
  type FoundPackage,
  ofPackage,
  ofVersion,
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
export type FoundFiles = ReadonlyMap<number, FoundPackage | null>;

interface Finding {
  readonly ctx: Context;
  /** The package of this name that the team has. */
  readonly own: Installer | null;
  readonly downloads: readonly FoundPackage[];
}

/** Before the transaction, because files are read and stored. */
export async function findFiles(ctx: Context, steps: readonly Step<DesiredPackage>[]): Promise<FoundFiles> {
  const found = new Map<number, FoundPackage | null>();
  if (steps.length === 0) return found;
  await keepIcons(ctx, steps);
  const known = await ctx.store.tx(async (store): Promise<ReadonlyMap<string, PackageEntry>> => {
    const inside = within(ctx, store);
    return packagesByKey(await readPackages(inside), await readSharedRows(inside));
  });
  const downloads = await downloadsOf(ctx);
  for (const step of steps)
    await locating(step, async () => {
      const id = known.get(keyOf(step))?.id;
      const own = id === undefined ? null : await ctx.store.softwareInstallers.get(id);
      found.set(step.index, await findFile({ ctx, own, downloads }, step));
    });
  return found;
}

const findFile = (finding: Finding, { name, wanted }: Step<DesiredPackage>): Promise<FoundPackage | null> =>
  wanted.value.slug !== ""
    ? ofApp(finding, wanted)
    : isOwnScript(name, wanted.value)
      ? ofScript(finding, name, wanted)
      : ofFile(finding, wanted);

const notDownloaded = (field: string): ApiError =>
  invalid(field, "the server does not have the file: let it download the file first, as `svc apply` does");

/** A package of the app keeps its file until its version changes: a job follows the catalogue. */
async function ofApp({ ctx, own, downloads }: Finding, { value: { slug, version: pin } }: DesiredPackage) {
  if (own?.catalogue_app_id && own.pinned_version === pin) return ofOwnApp(ctx, own);
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

async function ofOwnApp(ctx: Context, own: Installer): Promise<FoundPackage> {
  const found = await ofPackage(ctx, own, own.url);
  const app = (await ctx.store.catalogueApps.get(own.catalogue_app_id!))!;
  const { versions } = app.manifest;
  const version = versions.find(({ sha256 }) => sha256 === own.sha256) ?? versions[0]!;
  const scripts = scriptsOf(app.manifest, version);
  const kept = await ctx.store.catalogueOffers.get(own.id);
  // The catalogue may have changed since: what the package has from it stays until its next update.
  const defaultOf = (which: "install" | "uninstall") =>
    kept?.[`${which}_sha256`] === digestOf(own[`${which}_script`])
      ? own[`${which}_script`]
      : scripts[`${which}_script`];
  return {
    ...found,
    scripts: { install: defaultOf("install"), uninstall: defaultOf("uninstall") },
    categories: version.default_categories,
  };
}

async function storedFile(ctx: Context, sha256: string): Promise<FoundPackage["file"] | null> {
  const row = await visiblePackage(ctx, sha256);
  return row && { id: row.file_id, name: row.file_name, size: row.size, sha256 };
}

/** Files that nothing refers to are deleted after a day. Null: this one is gone. */
async function stillStored(ctx: Context, file: FoundPackage["file"]): Promise<FoundPackage["file"] | null> {
  return (await filesOf(ctx, [file.sha256])).get(file.sha256) === file.id ? file : null;
}

async function ofScript(
  { ctx, own }: Finding,
  name: string,
  { value, script }: DesiredPackage,
): Promise<FoundPackage | null> {
  if (own?.sha256 === value.sha256) return ofPackage(ctx, own, "");
  if (script === undefined) throw invalid("sha256", "the request does not contain the file with this digest");
  if (ctx.dryRun !== null) return null;
  const { row } = await keepFile(ctx, parts(script), { maxBytes: script.length });
  const file = { id: row.id, name, size: row.size, sha256: row.sha256 };
  return { ...(await readInstaller(ctx, file, "value")), file, url: "", app_id: null, categories: [] };
}

async function* parts(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

async function ofFile({ ctx, own, downloads }: Finding, { value: { url, sha256 } }: DesiredPackage) {
  if (sha256 !== "") {
    if (own?.sha256 === sha256) return ofPackage(ctx, own, url);
    const download = downloads.find(({ file, app_id }) => file.sha256 === sha256 && app_id === null);
    if (download && (await stillStored(ctx, download.file))) return { ...download, url };
    const stored = await visiblePackage(ctx, sha256);
    if (stored) return ofPackage(ctx, stored, url);
  }
  if (ctx.dryRun !== null && url !== "") return null;
  if (url !== "") throw notDownloaded("url");
  throw invalid("sha256", "no package with this digest is stored: give its url");
}
