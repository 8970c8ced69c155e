// Reads what an uploaded package says of itself.
import { defaultScripts } from "../../../packages/default-scripts.ts";
import { PackageError, type PackageInfo } from "../../../packages/package.ts";
import { readPackage } from "../../../packages/read.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { partsOf, startOf } from "../../platform/files/service.ts";
import { checkText, extensionOf } from "../script-texts/texts.ts";
import { isScript } from "./scripts.ts";
import type { InstallerFile, ReadInstaller } from "./service.ts";

export interface ReadFile {
  readonly read: ReadInstaller;
  /** What hosts run unless users give scripts of their own. Empty: there are no defaults. */
  readonly scripts: { readonly install: string; readonly uninstall: string };
}

/** Bytes of a script that is a package. */
const SCRIPT_FILE_MAX = 1.5 * 1024 * 1024;

/** 422 that says why, if hosts could not install the file. */
export async function readInstaller(ctx: Context, file: InstallerFile, field: string): Promise<ReadFile> {
  const info = await infoOf(ctx, file, field);
  const { kind, platform, name, version, source } = info;
  const read: ReadInstaller = {
    title: { name, source, bundle_identifier: info.bundleIdentifier },
    kind,
    platform,
    version,
    package_ids: info.packageIds,
    bundle_identifier: info.bundleIdentifier,
    upgrade_code: info.upgradeCode,
    installs_app: info.installsApp,
  };
  if (!isScript(kind)) return { read, scripts: defaultScripts(info) };
  const install = await scriptIn(ctx, file, field);
  checkText(install, extensionOf(file.name, field), field);
  return { read, scripts: { install, uninstall: "" } };
}

async function infoOf(ctx: Context, { id, name }: InstallerFile, field: string): Promise<PackageInfo> {
  try {
    return await readPackage({ name, ...(await partsOf(ctx, id)) });
  } catch (error) {
    throw error instanceof PackageError ? invalid(field, error.message) : error;
  }
}

async function scriptIn(ctx: Context, { id, size }: InstallerFile, field: string): Promise<string> {
  if (size > SCRIPT_FILE_MAX) throw invalid(field, `the script is larger than ${SCRIPT_FILE_MAX} bytes`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await startOf(ctx, id, size));
    return text.replaceAll("\r\n", "\n");
  } catch (error) {
    throw error instanceof TypeError ? invalid(field, "the script is not UTF-8 text") : error;
  }
}
