// Reads what an uploaded package says of itself.
import type { Context } from "../core/context.ts";
import { invalid } from "../core/errors.ts";
import { startOf } from "../files/service.ts";
import { checkText, extensionOf } from "../scripts/texts.ts";
import type { InstallerFile, ReadInstaller } from "./service.ts";
import type { InstallerKind, InstallerPlatform } from "./tables.ts";

export interface ReadFile {
  readonly read: ReadInstaller;
  /** What hosts run unless users give scripts of their own. Empty: there are no defaults. */
  readonly scripts: { readonly install: string; readonly uninstall: string };
}

/** Of a script that is a package. */
const SCRIPT_FILE_MAX = 1.5 * 1024 * 1024;

const scriptPlatforms: readonly (readonly [InstallerKind, InstallerPlatform])[] = [
  ["sh", "linux"],
  ["py", "linux"],
  ["ps1", "windows"],
];

/** 422 that says why, if hosts could not install the file. */
export async function readInstaller(ctx: Context, file: InstallerFile, field: string): Promise<ReadFile> {
  if (file.size === 0) throw invalid(field, "the package is empty");
  const script = scriptPlatforms.find(([kind]) => file.name.toLowerCase().endsWith(`.${kind}`));
  if (script === undefined)
    throw invalid(field, "the file has to be named .pkg, .msi, .exe, .deb, .rpm, .tar.gz, .ipa, .sh, .py or .ps1");
  const [kind, platform] = script;
  const install = await scriptIn(ctx, file, field);
  checkText(install, extensionOf(file.name, field), field);
  const title = { name: file.name.replace(/\.[^.]+$/, ""), source: `${kind}_packages` };
  const read = { title, kind, platform, version: "", package_ids: [], bundle_identifier: "", upgrade_code: "" };
  return { read, scripts: { install, uninstall: "" } };
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
