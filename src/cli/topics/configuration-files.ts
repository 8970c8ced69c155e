// Which files the commands read, and which variables these may use: from flags, or from the environment.
import { delimiter } from "node:path";
import * as Flags from "@oclif/core/flags";
import { NAME_PATTERN } from "../../gitops/environment/variables.ts";
import { printable } from "../../text/printable.ts";
import { usage } from "../errors.ts";
import { textOf } from "../files/file-errors.ts";
import type { Io } from "../io.ts";

type Environment = Io["env"];

export const filesFlags = {
  file: Flags.string({
    char: "f",
    multiple: true,
    summary: "File with configuration (- is stdin); can be given several times. Env: SVC_APPLY_FILE.",
    helpValue: "FILE",
    helpGroup: "FILES",
  }),
  "delete-other-teams": Flags.boolean({
    summary: "Delete teams that are in no file. Env: SVC_APPLY_DELETE_OTHER_TEAMS.",
    helpGroup: "FILES",
  }),
  "allow-unknown-hosts": Flags.boolean({
    summary:
      "Hosts that files name but the server does not have are warnings instead of errors. Env: SVC_APPLY_ALLOW_UNKNOWN_HOSTS.",
    helpGroup: "FILES",
  }),
  "env-allow": Flags.string({
    multiple: true,
    summary:
      "Variable of the environment that files may use as $NAME; several with commas, and NAME* for all that begin so. Without it, files may use all but those of svc itself. Env: SVC_APPLY_ENV_ALLOW.",
    helpValue: "NAME",
    helpGroup: "FILES",
  }),
  "env-allow-file": Flags.string({
    summary:
      "File with the names of such variables, one in a line; NAME= is allowed, as in .env.example. Env: SVC_APPLY_ENV_ALLOW_FILE.",
    helpValue: "FILE",
    helpGroup: "FILES",
  }),
  "allow-unknown-keys": Flags.boolean({
    summary: "Unknown nested keys are warnings instead of errors. Env: SVC_APPLY_ALLOW_UNKNOWN_KEYS.",
    helpGroup: "FILES",
  }),
};

export interface FilesFlags {
  readonly file?: readonly string[] | undefined;
  readonly "delete-other-teams"?: boolean;
  readonly "allow-unknown-keys"?: boolean;
  readonly "allow-unknown-hosts"?: boolean;
  readonly "env-allow"?: readonly string[] | undefined;
  readonly "env-allow-file"?: string | undefined;
}

export function pathsOf(env: Environment, { file }: FilesFlags): string[] {
  if (file !== undefined && file.length > 0) return [...file];
  const named = (env.SVC_APPLY_FILE ?? "").split(new RegExp(`[\n${delimiter}]`)).filter((path) => path !== "");
  if (named.length === 0)
    throw usage("no files are given", "Name the files: -f default.yml -f teams/*.yml, or in SVC_APPLY_FILE.");
  return named;
}

/** The variables that files may use. Null: all. */
export async function allowedNames(env: Environment, flags: FilesFlags): Promise<readonly string[] | null> {
  const named = flags["env-allow"] ?? (env.SVC_APPLY_ENV_ALLOW === undefined ? undefined : [env.SVC_APPLY_ENV_ALLOW]);
  const file = flags["env-allow-file"] ?? env.SVC_APPLY_ENV_ALLOW_FILE;
  if (named === undefined && !file) return null;
  const lines = file ? (await textOf(file)).replace(/^\uFEFF/, "").split(/\r\n?|\n/) : [];
  const names = [
    ...(named ?? []).flatMap((text) => text.split(/[\s,]+/)),
    ...lines.map((line) =>
      line
        .replace(/#.*$/, "")
        .replace(/=.*$/, "")
        .replace(/^\s*export\s/, "")
        .trim(),
    ),
  ].filter((name) => name !== "");
  const wrong = names.find((name) => !NAME_PATTERN.test(name));
  if (wrong !== undefined)
    throw usage(
      `${printable(wrong)} is not the name of a variable`,
      "Names are like ENROLL_SECRET, or SMTP_* for all that begin so: --env-allow ENROLL_SECRET,SMTP_PASSWORD.",
    );
  return names;
}
