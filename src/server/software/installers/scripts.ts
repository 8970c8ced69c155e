// The scripts and the query of a package: how they arrive, and what is accepted.

import {
  PACKAGE_SCRIPT_MAX,
  type PackageText,
  packageScripts,
  packageTexts,
  SCRIPTS_ENCODED,
} from "../../../api/software/packages.ts";
import { readPlistDict } from "../../../plist/read.ts";
import { BadPlist, type PlistDict } from "../../../plist/value.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, invalid } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { checkVariables, type VariableUser } from "../../settings/variables/use.ts";
import { checkText } from "../script-texts/texts.ts";
import type { Installer } from "./hosts.ts";
import type { InstallerKind } from "./tables.ts";

export type Texts = { readonly [F in PackageText]?: string | undefined };

/** Files that are themselves the script that hosts run. */
const scriptKinds: readonly InstallerKind[] = ["sh", "py", "ps1"];
export const isScript = (kind: InstallerKind): boolean => scriptKinds.includes(kind);
/** What these install cannot be known, so users say how. */
const needsScripts = (kind: InstallerKind): boolean => kind === "exe" || kind === "tar.gz";

/** The texts as they are meant: decoded if the request says that they are encoded. */
export function sentTexts({ headers }: Pick<Context, "headers">, input: Texts): Texts {
  const encoding = headers?.get(SCRIPTS_ENCODED) ?? "";
  if (encoding !== "" && encoding !== "base64") throw badRequest("must be base64", SCRIPTS_ENCODED);
  const texts: { [F in PackageText]?: string } = {};
  for (const field of packageTexts) {
    const text = input[field];
    if (text === undefined) continue;
    const decoded = encoding === "" || field === "configuration" ? text : decode(text, field);
    if (decoded.length > PACKAGE_SCRIPT_MAX) throw invalid(field, `has more than ${PACKAGE_SCRIPT_MAX} characters`);
    texts[field] = isTrimmed(field) ? decoded.trim() : decoded.replaceAll("\r\n", "\n");
  }
  return texts;
}

const isTrimmed = (field: PackageText): boolean => field === "pre_install_query" || field === "configuration";

function decode(text: string, field: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw badRequest("is not base64", field);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "base64"));
  } catch {
    throw badRequest("is not UTF-8 text", field);
  }
}

const isRequired = (kind: InstallerKind, field: PackageText): boolean =>
  field === "install_script" ? !isScript(kind) && kind !== "ipa" : field === "uninstall_script" && needsScripts(kind);

/** 422 for texts that a package of this kind cannot have. Empty ones are accepted: they stand for none. */
export function checkScripts({ kind, platform }: Pick<Installer, "kind" | "platform">, texts: Texts): void {
  if (isScript(kind) && texts.install_script)
    throw invalid("install_script", "a script package is its own install script");
  for (const field of packageScripts) {
    const text = texts[field] ?? "";
    if (text !== "") checkText(text, platform === "windows" ? ".ps1" : ".sh", field);
    if (text === "" && isRequired(kind, field)) throw invalid(field, `is required for packages of the type .${kind}`);
  }
  checkQueryText(texts);
  if (texts.configuration) {
    if (kind !== "ipa") throw invalid("configuration", "only apps for iPhones and iPads can be configured");
    checkAppConfiguration(texts.configuration);
  }
  if (kind !== "ipa") return;
  for (const field of packageTexts)
    if (field !== "configuration" && texts[field])
      throw invalid(field, "packages for iPhones and iPads have no scripts");
}

/** 422 if the query that hosts run before the installation can be none. */
export function checkQueryText({ pre_install_query: query = "" }: Texts): void {
  const problem = sqlProblem(query);
  if (problem !== null) throw invalid("pre_install_query", problem);
  if (query !== "" && !/^(select|with)\b/i.test(query))
    throw invalid("pre_install_query", "must be a SELECT statement");
}

const CONFIGURATION_MAX = 1024 * 1024;

/** The settings of an app for iPhones and iPads, which the device gets with it. Throws `BadPlist`. */
export const appConfiguration = (text: string): PlistDict =>
  readPlistDict(Buffer.from(text), { bytes: CONFIGURATION_MAX });

/** 422 for a text that is no property list. */
export function checkAppConfiguration(text: string): void {
  try {
    appConfiguration(text);
  } catch (error) {
    if (error instanceof BadPlist) throw invalid("configuration", `not a property list: ${error.message}`);
    throw error;
  }
}

/**
 * 422 for variables that do not exist, 403 for those that scripts of packages of the team may not use. Call it in the
 * transaction that stores the texts.
 */
export async function checkScriptVariables(store: ServerTx, texts: Texts, teamId: number | null): Promise<void> {
  for (const field of packageScripts)
    await checkVariables(store, texts[field] ?? "", field, { use: "software", teamId });
}

export const installersUseVariables: VariableUser = {
  async findUse(store, isUsedIn) {
    for await (const rows of store.softwareInstallers.pages({}, 50))
      for (const row of rows)
        if (packageScripts.some((field) => isUsedIn(row[field]))) return `the package ${JSON.stringify(row.file_name)}`;
    return null;
  },
};
