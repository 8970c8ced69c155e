// From argv to exit code: finds the command, runs it, and reports errors. oclif provides the commands; dispatch is
// done here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@oclif/core";
import { Config, Plugin } from "@oclif/core/config";
import { Help, normalizeArgv } from "@oclif/core/help";
import { settings } from "@oclif/core/settings";
import { toConfiguredId } from "@oclif/core/util/ids";
import { nearest } from "../../text/nearest.ts";
import { CliError, renderError, tell, usage } from "../errors.ts";
import { topics } from "../help/command-topics.ts";
import { helpTopics, sharedFlagGroups, topicText } from "../help/help-topics.ts";
import { commandMeant, flagMeant } from "../help/suggest.ts";
import { attachIo, type Io, isDumb, processIo } from "../io.ts";
import { adoptStyles, style } from "../output/terminal.ts";

interface Executable {
  execute(argv: string[], config: Config): Promise<unknown>;
}

/** oclif's configuration of the package at `root`, without a search for other plugins, because there are none. */
export async function loadConfig(root: string, plugin?: Plugin): Promise<Config> {
  // With NODE_ENV=development or test, oclif would look for the TypeScript sources of the built files.
  settings.enableAutoTranspile = false;
  const own = plugin ?? new Plugin({ isRoot: true, root });
  if (!plugin) await own.load();
  own.pjson.oclif.topics = topics;
  const config = await Config.load({ root, plugins: new Map([[own.name, own]]) });
  // `svc --version` and `svc help` print the name of the command, not of the npm package.
  config.userAgent = config.userAgent.replace(config.name, config.bin);
  return config;
}

/**
 * Like `loadConfig`, but with only the command that `argv` names, if it is one of the built commands. Only help and
 * error messages need the whole manifest, which is half a megabyte.
 */
export async function runConfig(root: string, argv: readonly string[]): Promise<Config> {
  const id = builtCommand(root, argv);
  if (id === null) return loadConfig(root);
  const plugin = new Plugin({ isRoot: true, root });
  const relativePath = ["dist", "commands", ...`${id}.js`.split(":")];
  // The command parses its arguments itself, so none are declared here.
  const command = { id, strict: false, aliases: [], hiddenAliases: [], args: {}, flags: {}, isESM: true, relativePath };
  Object.assign(plugin, { _manifest: async () => ({ commands: { [id]: command }, version: "" }) });
  await plugin.load();
  return loadConfig(root, plugin);
}

function builtCommand(root: string, argv: readonly string[]): string | null {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.includes("--help") || own.includes("-h")) return null;
  const stop = own.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  for (let words = own.slice(0, stop === -1 ? own.length : stop); words.length > 0; words = words.slice(0, -1))
    if (words[0] !== "help" && existsSync(join(root, "dist", "commands", `${join(...words)}.js`)))
      return words.join(":");
  return null;
}

/** The configuration with all commands, for code that lists or searches them. */
export const wholeConfig = async (config: Config): Promise<Config> =>
  config.commands.length > 1 ? config : loadConfig(config.root);

/** Runs one command line and returns the exit code. */
export async function main(argv: string[], config: Config, given: Io = processIo()): Promise<number> {
  const io = attachIo(config, given);
  try {
    await dispatch(argv, config, io);
    return 0;
  } catch (error) {
    const { exitCode, code } = tell(error);
    if (exitCode === 0) return 0;
    // An empty message: the command has already reported everything.
    if (error instanceof CliError && error.message === "") return exitCode;
    const colour = io.tty.stderr && !isDumb(io) && !io.env.NO_COLOR && !argv.includes("--no-color");
    io.err(
      renderError(code === "usage" ? await withSuggestion(error, argv, config) : error, {
        json: wantsJson(argv, io),
        red: (text) => (colour ? style(31, text) : text),
        debug: /(^|[,\s])(svc|\*)/.test(io.env.DEBUG ?? ""),
      }),
    );
    return exitCode;
  }
}

async function dispatch(argv: string[], config: Config, io: Io): Promise<void> {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own[0] === "--version" || own[0] === "-v") return io.out(`${config.userAgent}\n`);
  if (own.length === 0 || own[0] === "help" || own.includes("--help") || own.includes("-h")) {
    const words = own.filter((arg) => arg !== "--help" && arg !== "-h");
    // --help may follow arguments: show help for the command that they belong to.
    const [id = ""] = words[0] === "help" ? [] : normalizeArgv(config, [...words]);
    return showHelp(config.findCommand(id) ? id.split(":") : words, config, io);
  }
  const [id = "", ...rest] = normalizeArgv(config, [...argv]);
  const command = config.findCommand(id);
  if (!command) {
    // A topic followed by more words is not a request for help: a flag there was meant for a command.
    if (config.findTopic(id) && rest.length === 0) return showHelp(id.split(":"), config, io);
    throw unknownCommand([...id.split(":"), ...rest], config);
  }
  const loaded = (await command.load()) as unknown as Executable;
  await loaded.execute(rest, config);
}

export async function showHelp(argv: string[], config: Config, io: Io): Promise<void> {
  const words = argv[0] === "help" ? argv.slice(1) : argv;
  const nested = words.includes("-n") || words.includes("--nested-commands");
  const help = new IoHelp(config, {
    all: nested,
    docopts: false,
    stripAnsi: !io.tty.stdout || isDumb(io) || Boolean(io.env.NO_COLOR),
  });
  help.io = io;
  const subject = words.filter((word) => !word.startsWith("-"));
  const topic = argv[0] === "help" ? helpTopics[subject[0] ?? ""] : undefined;
  if (subject.length === 1 && topic) return io.out(`${topicText(topic)}\n`);
  if (subject.length > 0) {
    const [id = ""] = normalizeArgv(config, [...subject]);
    if (!config.findCommand(id) && !config.findTopic(id)) throw unknownCommand(id.split(":"), config);
  }
  await help.showHelp(subject);
  if (subject.length > 0) return;
  const about = Object.entries(helpTopics).map(([name, { summary }]) => `  help ${name.padEnd(13)} ${summary}`);
  io.out(`\nMORE HELP\n${about.join("\n")}\n`);
}

/** A destructive command is marked in its help, in lists of commands and in its manual page. */
export const isDestructive = (command: object): boolean => "destructive" in command && command.destructive === true;
export const destructiveMark = "(destructive)";
export const destructiveText =
  "Destructive: its effect cannot be undone, or users lose something. It asks for confirmation; without a terminal, give the flag that " +
  "confirms.";

/** Lists the flags that most commands take; `help formatting` and `help flags` describe them. */
function foldedText(flags: readonly Command.Flag.Any[]): string {
  const has = new Set(flags.map(({ helpGroup }) => helpGroup));
  const names = flags.map(({ name, char }) => (char ? `-${char}` : `--${name}`)).join(" ");
  const where =
    has.has("OUTPUT") || has.has("PAGING") ? "`svc help formatting` and `svc help flags`" : "`svc help flags`";
  return `COMMON FLAGS\n  ${names}\n  ${where} describe${where.includes("and") ? "" : "s"} them.`;
}

class IoHelp extends Help {
  io: Io | undefined;

  override async showCommandHelp(command: Command.Loadable): Promise<void> {
    // Long lists of values would bury the rest of the help; completion and error messages show them.
    const all = Object.entries(command.flags);
    const own = all.filter(([, { helpGroup }]) => !sharedFlagGroups.includes(helpGroup ?? ""));
    const folded = all.filter(([, { hidden, helpGroup }]) => !hidden && sharedFlagGroups.includes(helpGroup ?? ""));
    const flags = own.map(([name, flag]) => {
      if (flag.type !== "option" || (flag.options?.length ?? 0) <= 12) return [name, flag] as const;
      const { options: _, ...shown } = flag;
      return [name, { ...shown, helpValue: "KEY" }] as const;
    });
    const description = [isDestructive(command) ? destructiveText : "", command.description ?? ""].filter(Boolean);
    await super.showCommandHelp({
      ...command,
      ...(description.length === 0 ? {} : { description: description.join("\n\n") }),
      flags: Object.fromEntries(flags),
    });
    if (folded.length > 0) this.log(`${foldedText(folded.map(([, flag]) => flag))}\n`);
  }

  protected override formatCommands(commands: Command.Loadable[]): string {
    return super.formatCommands(
      // Copies, because oclif modifies the given objects.
      commands.map((one) => ({
        ...one,
        ...(isDestructive(one) ? { summary: `${one.summary} ${destructiveMark}` } : {}),
      })),
    );
  }

  protected override log(...lines: string[]): void {
    this.io?.out(`${adoptStyles(lines.join(" "))}\n`);
  }
}

function unknownCommand(given: readonly string[], config: Config): CliError {
  const flagAt = given.findIndex((word) => word.startsWith("-"));
  const words = flagAt === -1 ? given : given.slice(0, flagAt);
  const known = [
    ...config.commands.filter(({ hidden }) => !hidden).map(({ id }) => id),
    ...config.topics.map(({ name }) => name),
    ...Object.keys(helpTopics),
  ];
  const names = known.map((name) => toConfiguredId(name, config));
  if (words.length === 0) return usage(`unknown flag ${given[0]}`, `\`${config.bin} help\` lists the commands.`);
  if (config.findTopic(words.join(":")))
    return usage(
      `unknown flag ${given[flagAt]}: ${config.bin} ${words.join(" ")} must be followed by a command`,
      `\`${config.bin} help ${words.join(" ")}\` lists the commands.`,
    );
  let near = commandMeant(words, new Set(names));
  // The words may include arguments: use the longest prefix that is close to a known command.
  for (let count = words.length; count > 0 && !near; count--) near = nearest(words.slice(0, count).join(" "), names);
  const topic = config.findTopic(words[0] ?? "") ? ` ${words[0]}` : "";
  return usage(
    `${words.join(" ")} is not a command of ${config.bin}`,
    near ? `Did you mean \`${config.bin} ${near}\`?` : `\`${config.bin} help${topic}\` lists the commands.`,
  );
}

/** oclif's parser only reports that a flag does not exist: suggest a similar flag. */
async function withSuggestion(error: unknown, argv: string[], running: Config): Promise<unknown> {
  if (!(error instanceof Error) || !("flags" in error) || !Array.isArray(error.flags)) return error;
  const config = await wholeConfig(running);
  const [id = ""] = normalizeArgv(config, [...argv]);
  const unknown = error.flags.map(String);
  const flags = Object.values(config.findCommand(id)?.flags ?? {}).filter(({ hidden }) => !hidden);
  const names = flags.flatMap((flag) => [
    `--${flag.name}`,
    ...("allowNo" in flag && flag.allowNo ? [`--no-${flag.name}`] : []),
  ]);
  const given = (unknown[0] ?? "").split("=")[0] ?? "";
  const near = flagMeant(given, new Set(names)) ?? nearest(given, names);
  const bin = `${config.bin} ${toConfiguredId(id, config)}`;
  return usage(
    `unknown flag ${unknown.join(", ")}`,
    near ? `Did you mean ${near}? \`${bin} --help\` lists the flags.` : `\`${bin} --help\` lists the flags.`,
  );
}

/** Errors may occur before flags are parsed, so this checks argv directly. */
function wantsJson(argv: string[], io: Io): boolean {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.includes("--json") || own.includes("--output=json") || own.includes("-ojson") || own.includes("-o=json"))
    return true;
  const at = own.findIndex((arg) => arg === "-o" || arg === "--output");
  if (at !== -1) return own[at + 1] === "json";
  return io.env.SVC_OUTPUT === "json" && !own.some((arg) => arg.startsWith("--output=") || /^-o./.test(arg));
}
