// Names that a user has given to command lines.
import { join } from "node:path";
import { ownOf } from "../../text/record.ts";
import { configDir } from "../files/paths.ts";
import { openPrivate } from "../files/private-file.ts";
import type { Io } from "../io.ts";

interface AliasesFile {
  /** The words after `svc`, by alias. */
  aliases: Record<string, string[]>;
}
type Env = Io["env"];

const openFile = (env: Env) => openPrivate<AliasesFile>(join(configDir(env), "aliases.json"), { aliases: {} });

export const listAliases = async (env: Env): Promise<Readonly<Record<string, readonly string[]>>> =>
  (await openFile(env)).data.aliases;

export async function saveAlias(env: Env, name: string, words: readonly string[]): Promise<void> {
  const file = await openFile(env);
  file.data.aliases = { ...file.data.aliases, [name]: [...words] };
  await file.write();
}

/** Returns whether the alias existed. */
export async function removeAlias(env: Env, name: string): Promise<boolean> {
  const file = await openFile(env);
  const { [name]: words, ...others } = file.data.aliases;
  if (words === undefined) return false;
  file.data.aliases = others;
  await file.write();
  return true;
}

/** The command line with the words of an alias in place of its first word; null if that is not an alias. */
export async function expandAlias([name, ...rest]: readonly string[], env: Env): Promise<string[] | null> {
  if (name === undefined || name.startsWith("-")) return null;
  const words = ownOf(await listAliases(env), name);
  return words === undefined ? null : [...words, ...rest];
}
