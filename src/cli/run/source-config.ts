// oclif's configuration built from command classes in memory, for running from the sources and for tests.
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "@oclif/core";
import { type Config, Plugin } from "@oclif/core/config";
import { loadConfig } from "./config.ts";

type CommandClass = Command.Class;
export type ImportCommand = (file: string) => Promise<{ default: CommandClass }>;

/** All commands in the sources, by id. */
export async function sourceCommands(
  root: string,
  load: ImportCommand = (file) => import(pathToFileURL(file).href),
  isIncluded: (file: string) => boolean = () => true,
): Promise<Record<string, CommandClass>> {
  const folder = join(root, "src", "commands");
  const files = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith(".ts") && isIncluded(file))
    .sort();
  const entries = await Promise.all(
    files.map(async (file) => {
      const id = file.slice(0, -".ts".length).split(sep).join(":");
      return [id, (await load(join(folder, file))).default] as const;
    }),
  );
  return Object.fromEntries(entries);
}

export async function sourceConfig(
  root: string,
  load?: ImportCommand,
  isIncluded?: (file: string) => boolean,
): Promise<Config> {
  const pjson = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const commands = await sourceCommands(root, load, isIncluded);
  const plugin = new Plugin({
    isRoot: true,
    root,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    pjson: { ...pjson, oclif: { ...pjson.oclif, commands: { strategy: "explicit", target: "./src/commands" } } },
  });
  Object.assign(plugin, { loadCommandsFromTarget: async () => commands });
  await plugin.load();
  return loadConfig(root, plugin);
}
