// What commands for packages share.
import * as Flags from "@oclif/core/flags";
import { readText } from "../../files/input.ts";
import { listOf } from "../../flags.ts";
import type { Io } from "../../io.ts";
import { labelFlags, labelsOf } from "../mdm/profiles.ts";

export const packageTeamFlag = {
  team: Flags.string({ summary: "Name or id of the team. Default: hosts without a team.", helpValue: "TEAM" }),
};

const file = (summary: string) => Flags.string({ summary: `${summary}; - is stdin.`, helpValue: "FILE" });
const textFlags = {
  "install-script": file("File with the script that installs the package"),
  "uninstall-script": file("File with the script that removes the software"),
  "post-install-script": file(
    "File with a script that runs after the installation; if it fails, the software is removed",
  ),
};

export const packageFlags = {
  ...textFlags,
  configuration: file("File with settings of an app for iPhones and iPads, as a property list"),
  "pre-install-query": Flags.string({
    summary: "Hosts install the package only if this query returns a row.",
    helpValue: "SQL",
  }),
  "self-service": Flags.boolean({ summary: "Users of hosts may install it.", allowNo: true }),
  "automatic-install": Flags.boolean({ summary: "Create a policy that installs it on hosts without it." }),
  categories: Flags.string({
    summary: "Categories in which users of hosts find it.",
    helpValue: "NAME",
    multiple: true,
  }),
  ...labelFlags,
};

type PackageFlags = {
  readonly [K in keyof typeof textFlags | "pre-install-query" | "configuration"]?: string | undefined;
} & { readonly "self-service"?: boolean | undefined; readonly "automatic-install"?: boolean | undefined } & {
  readonly categories?: readonly string[] | undefined;
} & Parameters<typeof labelsOf>[0];

/** The fields of the request that the flags give. An empty name stands for an empty list. */
export async function packageFields(io: Io, flags: PackageFlags) {
  const text = async (flag: keyof typeof textFlags | "configuration") =>
    flags[flag] === undefined ? undefined : await readText(io, flags[flag], `--${flag}`);
  const texts = {
    install_script: await text("install-script"),
    uninstall_script: await text("uninstall-script"),
    post_install_script: await text("post-install-script"),
    configuration: await text("configuration"),
    pre_install_query: flags["pre-install-query"],
    self_service: flags["self-service"],
    automatic_install: flags["automatic-install"],
    categories: flags.categories && orEmpty(listOf(flags.categories)),
    ...Object.fromEntries(Object.entries(labelsOf(flags)).map(([field, names]) => [field, orEmpty(names as string[])])),
  };
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined));
}

/** Forms cannot contain empty lists. */
const orEmpty = (names: readonly string[]): string[] => (names.length === 0 ? [""] : [...names]);
