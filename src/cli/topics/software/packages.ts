// What commands for packages share.
import * as Flags from "@oclif/core/flags";
import { fieldNames } from "../../../api/plain-fields.ts";
import { newPackageFields, packageFields } from "../../../api/software/packages.ts";
import { readText } from "../../files/input.ts";
import { listOf } from "../../flags.ts";
import type { Io } from "../../io.ts";
import { fieldsOfFlags, plainFlags } from "../../plain-flags.ts";
import { labelFlags, labelsOf } from "../mdm/profiles.ts";

export const packageTeamFlag = {
  team: Flags.string({ summary: "Name or id of the team. Default: hosts without a team.", helpValue: "TEAM" }),
};

const file = (summary: string) => Flags.string({ summary: `${summary}; - is stdin.`, helpValue: "FILE" });
const fileFlags = {
  "install-script": file("File with the script that installs the package"),
  "uninstall-script": file("File with the script that removes the software"),
  "post-install-script": file(
    "File with a script that runs after the installation; if it fails, the software is removed",
  ),
  configuration: file("File with settings of an app for iPhones and iPads, as a property list"),
};

export const packageFlags = {
  ...fileFlags,
  "pre-install-query": Flags.string({
    summary: "Hosts install the package only if this query returns a row.",
    helpValue: "SQL",
  }),
  ...plainFlags(newPackageFields),
  "automatic-install": Flags.boolean({ summary: "Create a policy that installs it on hosts without it." }),
  categories: Flags.string({
    summary: "Categories in which users of hosts find it.",
    helpValue: "NAME",
    multiple: true,
  }),
  ...labelFlags,
};

type PackageFlags = Readonly<Record<string, unknown>> & {
  readonly [K in keyof typeof fileFlags]?: string | undefined;
} & { readonly categories?: readonly string[] | undefined } & Parameters<typeof labelsOf>[0];

/** The fields of the request that the flags give. An empty name stands for an empty list. */
export async function packageBody(io: Io, flags: PackageFlags): Promise<Record<string, unknown>> {
  const body = fieldsOfFlags(flags, ["pre_install_query", "automatic_install", ...fieldNames(packageFields)]);
  for (const flag of Object.keys(fileFlags) as (keyof typeof fileFlags)[])
    if (flags[flag] !== undefined) body[flag.replaceAll("-", "_")] = await readText(io, flags[flag], `--${flag}`);
  const lists = { ...(flags.categories && { categories: listOf(flags.categories) }), ...labelsOf(flags) };
  for (const [field, names] of Object.entries(lists)) body[field] = orEmpty(names as string[]);
  return body;
}

/** Forms cannot contain empty lists. */
const orEmpty = (names: readonly string[]): string[] => (names.length === 0 ? [""] : [...names]);
