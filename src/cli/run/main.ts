// From argv to exit code: finds the command, runs it, and reports errors. oclif provides the commands; dispatch is
// done here.
import type { Config } from "@oclif/core/config";
import { toConfiguredId } from "@oclif/core/util/ids";
import { nearest } from "../../text/nearest.ts";
import { CliError, errorReport, renderError, usage } from "../errors.ts";
import { flagMeant } from "../help/suggest.ts";
import { unknownCommand } from "../help/unknown-command.ts";
import { attachIo, type Io, isDumb, processIo } from "../io.ts";
import { style } from "../output/terminal.ts";
import { expandAlias } from "./aliases.ts";
import { withCommandNames } from "./command-names.ts";
import { wholeConfig } from "./config.ts";

interface Executable {
  execute(argv: string[], config: Config): Promise<unknown>;
}

/** Runs one command line and returns the exit code. */
export async function main(argv: string[], config: Config, baseIo: Io = processIo()): Promise<number> {
  const io = attachIo(config, baseIo);
  try {
    await dispatch(argv, config, io);
    return 0;
  } catch (error) {
    const { exitCode, code } = errorReport(error);
    if (exitCode === 0) return 0;
    // An empty message: the command has already reported everything.
    if (error instanceof CliError && error.message === "") return exitCode;
    const colour = io.tty.stderr && !isDumb(io) && !io.env.NO_COLOR && !argv.includes("--no-color");
    const json = wantsJson(argv, io);
    const text = renderError(code === "usage" ? await withSuggestion(error, argv, config) : error, {
      json,
      red: (text) => (colour ? style(31, text) : text),
      debug: /(^|[,\s])(svc|\*)/.test(io.env.DEBUG ?? ""),
    });
    // A reader of JSON may be a program that calls the API itself. Usage errors are ours, and repeat what was typed.
    io.err(json || code === "usage" ? text : await withCommandNames(text, error, () => wholeConfig(config)));
    return exitCode;
  }
}

async function dispatch(input: string[], config: Config, io: Io): Promise<void> {
  const argv = await withoutAlias(input, config, io);
  const end = argv.indexOf("--");
  const ownArgs = end === -1 ? argv : argv.slice(0, end);
  if (ownArgs[0] === "--version" || ownArgs[0] === "-v") return io.out(`${config.userAgent}\n`);
  if (ownArgs.length === 0 || ownArgs[0] === "help" || ownArgs.includes("--help") || ownArgs.includes("-h")) {
    const words = ownArgs.filter((arg) => arg !== "--help" && arg !== "-h");
    const [{ showHelp }, { normalizeArgv }] = await Promise.all([
      import("../help/help.ts"),
      import("@oclif/core/help"),
    ]);
    // --help may follow arguments: show help for the command that they belong to.
    const [id = ""] = words[0] === "help" ? [] : normalizeArgv(config, [...words]);
    return showHelp(config.findCommand(id) ? id.split(":") : words, config, io);
  }
  const [id = "", ...rest] = await normalized(argv, config);
  const command = config.findCommand(id);
  if (!command) {
    // A topic followed by more words is not a request for help: a flag there was meant for a command.
    if (config.findTopic(id) && rest.length === 0)
      return (await import("../help/help.ts")).showHelp(id.split(":"), config, io);
    throw unknownCommand([...id.split(":"), ...rest], config);
  }
  refuseInherited(rest);
  const loaded = (await command.load()) as unknown as Executable;
  await loaded.execute(rest, config);
}

/** The id of the command and its arguments, from the words of a command line. */
async function normalized(argv: readonly string[], config: Config): Promise<string[]> {
  const [only, ...others] = config.commands;
  // A configuration of one command was made for this command line, which begins with its name.
  if (only && others.length === 0) return [only.id, ...argv.slice(only.id.split(":").length)];
  return (await import("@oclif/core/help")).normalizeArgv(config, [...argv]);
}

/** The command line with an alias of the user expanded. Commands come first, so that no alias can replace one. */
async function withoutAlias(argv: string[], config: Config, io: Io): Promise<string[]> {
  const [first = ""] = argv[0] === "help" ? argv.slice(1) : argv;
  // A configuration of one command was made for this command line.
  if (config.commands.length === 1 || config.findCommand(first) || config.findTopic(first)) return argv;
  if (argv[0] === "help") return ["help", ...((await expandAlias(argv.slice(1), io.env)) ?? argv.slice(1))];
  return (await expandAlias(argv, io.env)) ?? argv;
}

/** oclif's parser finds flags in a plain object, and so takes what every object inherits (`--toString`) for a flag. */
function refuseInherited(argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const flags = (end === -1 ? argv : argv.slice(0, end)).filter(
    (word) => word.startsWith("--") && word.slice(2).replace(/=.*/s, "") in Object.prototype,
  );
  if (flags.length > 0) throw Object.assign(usage(`unknown flag ${flags.join(", ")}`), { flags });
}

/** oclif's parser only reports that a flag does not exist: suggest a similar flag. */
async function withSuggestion(error: unknown, argv: string[], running: Config): Promise<unknown> {
  if (!(error instanceof Error) || !("flags" in error) || !Array.isArray(error.flags)) return error;
  const config = await wholeConfig(running);
  const [id = ""] = await normalized(argv, config);
  const unknown = error.flags.map(String);
  const flags = Object.values(config.findCommand(id)?.flags ?? {}).filter(({ hidden }) => !hidden);
  const names = flags.flatMap((flag) => [
    `--${flag.name}`,
    ...("allowNo" in flag && flag.allowNo ? [`--no-${flag.name}`] : []),
  ]);
  const word = (unknown[0] ?? "").split("=")[0] ?? "";
  const near = flagMeant(word, new Set(names)) ?? nearest(word, names);
  const bin = `${config.bin} ${toConfiguredId(id, config)}`;
  return usage(
    `unknown flag ${unknown.join(", ")}`,
    near ? `Did you mean ${near}? \`${bin} --help\` lists the flags.` : `\`${bin} --help\` lists the flags.`,
  );
}

/** Errors may occur before flags are parsed, so this checks argv directly. */
function wantsJson(argv: string[], io: Io): boolean {
  const end = argv.indexOf("--");
  const ownArgs = end === -1 ? argv : argv.slice(0, end);
  if (
    ownArgs.includes("--json") ||
    ownArgs.includes("--output=json") ||
    ownArgs.includes("-ojson") ||
    ownArgs.includes("-o=json")
  )
    return true;
  const at = ownArgs.findIndex((arg) => arg === "-o" || arg === "--output");
  if (at !== -1) return ownArgs[at + 1] === "json";
  return io.env.SVC_OUTPUT === "json" && !ownArgs.some((arg) => arg.startsWith("--output=") || /^-o./.test(arg));
}
