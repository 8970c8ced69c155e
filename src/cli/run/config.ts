// oclif's configuration: of the whole package, or of the one command that a command line names.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Interfaces } from "@oclif/core";
import { Config, Plugin } from "@oclif/core/config";
import { setLogger } from "@oclif/core/logger";
import { settings } from "@oclif/core/settings";
import { topics } from "../help/command-topics.ts";

/** oclif's configuration of the package at `root`, without a search for other plugins, because there are none. */
export async function loadConfig(root: string, plugin?: Plugin): Promise<Config> {
  // With NODE_ENV=development or test, oclif would look for the TypeScript sources of the built files.
  settings.enableAutoTranspile = false;
  const rootPlugin = plugin ?? new Plugin({ isRoot: true, root });
  if (!plugin) await rootPlugin.load();
  rootPlugin.pjson.oclif.topics = topics;
  const config = await Config.load({ root, plugins: new Map([[rootPlugin.name, rootPlugin]]) });
  // `svc --version` and `svc help` print the name of the command, not of the npm package.
  config.userAgent = config.userAgent.replace(config.name, config.bin);
  return config;
}

/**
 * `loadConfig` with only the command that `argv` names, if it is one of the built commands. Only help and error
 * messages need the whole manifest, which is half a megabyte.
 */
export async function runConfig(root: string, argv: readonly string[]): Promise<Config> {
  const id = builtCommand(root, argv);
  return id === null ? loadConfig(root) : configOf(root, id);
}

const nothing = () => {};
const silent: Interfaces.Logger = {
  ...{ namespace: "svc", debug: nothing, info: nothing, warn: nothing, error: nothing, trace: nothing },
  child: () => silent,
};

/** What oclif's `Config.load` would set, as far as a command reads it; to find that out, it takes as long as a command. */
function configOf(root: string, id: string): Config {
  const pjson = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Config["pjson"];
  const { bin = "", topicSeparator } = pjson.oclif;
  const { platform, arch } = process;
  const userAgent = `${bin}/${pjson.version} ${platform}-${arch} node-${process.version}`;
  // The library of the messages that DEBUG turns on would otherwise be loaded to write none.
  if (!process.env.DEBUG) setLogger({ root, logger: silent });
  const config = new Config({ root });
  const file = pathToFileURL(join(root, "dist", "commands", ...`${id}.js`.split(":"))).href;
  const load = async () => Object.assign((await import(file)).default, { id });
  // The command parses its arguments itself, so none are declared here.
  const command = { id, strict: false, aliases: [], hiddenAliases: [], args: {}, flags: {}, load };
  return Object.assign(config, {
    ...{ pjson, bin, dirname: bin, topicSeparator, name: pjson.name, version: pjson.version },
    ...{ root, platform, arch, userAgent, _commands: new Map([[id, command]]) },
    // Hooks are those of plugins, of which there are none.
    runHook: async () => ({ successes: [], failures: [] }),
  });
}

function builtCommand(root: string, argv: readonly string[]): string | null {
  const end = argv.indexOf("--");
  const ownArgs = end === -1 ? argv : argv.slice(0, end);
  if (ownArgs.includes("--help") || ownArgs.includes("-h")) return null;
  const stop = ownArgs.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  for (let words = ownArgs.slice(0, stop === -1 ? ownArgs.length : stop); words.length > 0; words = words.slice(0, -1))
    if (words[0] !== "help" && existsSync(join(root, "dist", "commands", `${join(...words)}.js`)))
      return words.join(":");
  return null;
}

/** The configuration with all commands, for code that lists or searches them. */
export const wholeConfig = async (config: Config): Promise<Config> =>
  config.commands.length > 1 ? config : loadConfig(config.root);
