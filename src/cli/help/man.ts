// Manual pages in roff, generated from the help: one for svc, and one for each topic and each command.
import type { Command } from "@oclif/core";
import type { Config } from "@oclif/core/config";
import { destructiveMark, destructiveText, isDestructive } from "./help.ts";
import { helpTopics, sharedFlagGroups as shared } from "./help-topics.ts";

type Flag = Command.Loadable["flags"][string];

/** Escapes text so that roff interprets nothing in it. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("`", "\\(ga")
    .replaceAll("'", "\\(aq")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .split("\n")
    .map((line) => (line.startsWith(".") ? `\\&${line}` : line))
    .join("\n");

/** Quotes a macro argument, so that it stays one argument whatever it contains. */
const quoted = (text: string): string => `"${roff(text).replaceAll('"', "\\(dq")}"`;

/** The pages by name: `svc`, `svc-hosts`, `svc-hosts-list` and so on. */
export function manPages(config: Config): Map<string, string> {
  const commands = config.commands.filter(({ hidden }) => !hidden);
  const heads = [...new Set(commands.map(({ id }) => id.split(":")[0] ?? id))].sort();
  const pages = new Map([[config.bin, mainPage(config, commands, heads)]]);
  for (const head of heads) {
    const topicCommands = commands.filter(({ id }) => id === head || id.startsWith(`${head}:`));
    pages.set(`${config.bin}-${head}`, page(config, head, topicCommands));
    for (const command of topicCommands.filter(({ id }) => id !== head))
      pages.set(nameOfPage(config, command.id), page(config, command.id, [command]));
  }
  return pages;
}

const nameOfPage = ({ bin }: Config, id: string): string => `${bin}-${id.replaceAll(":", "-")}`;

/** The name of the page that documents the command or topic; null if there is none. */
export function pageOf(config: Config, words: readonly string[]): string | null {
  if (words.length === 0) return config.bin;
  const id = words.join(":");
  const commands = config.commands.filter(({ hidden }) => !hidden);
  if (commands.some((command) => command.id === id)) return nameOfPage(config, id);
  return commands.some((command) => command.id.startsWith(`${id}:`)) ? `${config.bin}-${words[0]}` : null;
}

function mainPage(config: Config, commands: readonly Command.Loadable[], heads: readonly string[]): string {
  const { bin } = config;
  const listed = heads.map((head) => {
    const text = summaryOf(config, head, commands);
    return item(`.BR ${bin}\\-${roff(head)} (1)`, text);
  });
  const flags = new Map<string, Flag>();
  for (const command of commands)
    for (const flag of Object.values(command.flags)) if (isShared(flag)) flags.set(flag.name, flag);
  const grouped = shared.map((group) => {
    const groupFlags = [...flags.values()].filter(({ helpGroup }) => helpGroup === group);
    return [`.SS ${quoted(group)}`, ...groupFlags.map(flagText)].join("\n");
  });
  return [
    header(config, bin, "device management from the command line, and its server"),
    `.SH SYNOPSIS\n.B ${bin}\n.I COMMAND\n[\\fIARGUMENT\\fR ...] [\\fIFLAG\\fR ...]`,
    `.SH COMMANDS\n${listed.join("\n")}`,
    `.SH FLAGS\nMost commands have these flags; their pages describe the others.\n${grouped.join("\n")}`,
    ...Object.entries(helpTopics).map(([name, { about, rows }]) => {
      const title = { "exit-codes": "EXIT STATUS", formatting: "OUTPUT FORMATS" }[name] ?? name.toUpperCase();
      return [
        `.SH ${quoted(title)}`,
        about.map(roff).join("\n.PP\n"),
        ...rows.map(([row, text]) => item(`.B ${quoted(row)}`, text)),
      ].join("\n");
    }),
    `.SH SEE ALSO\n${heads.map((head) => `.BR ${bin}\\-${roff(head)} (1)`).join(",\n")}`,
  ]
    .join("\n")
    .concat("\n");
}

function page(config: Config, head: string, commands: readonly Command.Loadable[]): string {
  const { bin } = config;
  const single = commands.length === 1 && commands[0]?.id === head;
  const [topic = head] = head.split(":");
  return [
    header(config, nameOfPage(config, head), summaryOf(config, head, commands)),
    ".SH SYNOPSIS",
    ...commands.flatMap((command, at) => [...(at === 0 ? [] : [".br"]), synopsis(config, command)]),
    single ? ".SH DESCRIPTION" : ".SH COMMANDS",
    ...commands.map((command) => commandText(config, command, single)),
    `.SH SEE ALSO\n${[bin, ...(topic === head ? [] : [`${bin}\\-${roff(topic)}`])].map((name) => `.BR ${name} (1)`).join(",\n")}`,
  ]
    .join("\n")
    .concat("\n");
}

/** The header contains no date, so that the pages of a version are identical wherever they are generated. */
const header = ({ bin, version }: Config, name: string, text: string): string =>
  `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`${bin} ${version}`)} ${quoted(`${bin} manual`)}\n.SH NAME\n${roff(name)} \\- ${roff(text.replace(/\.$/, ""))}`;

function summaryOf(config: Config, head: string, commands: readonly Command.Loadable[]): string {
  const command = commands.find(({ id }) => id === head);
  const topic = config.topics.find(({ name }) => name === head);
  return command?.summary ?? topic?.description ?? head;
}

const isShared = (flag: Flag): boolean => shared.includes(flag.helpGroup ?? "");
const words = (config: Config, { id }: Command.Loadable): string => `${config.bin} ${id.replaceAll(":", " ")}`;
const argument = ({ name, required }: { name: string; required?: boolean | undefined }): string =>
  required ? `\\fI${roff(name.toUpperCase())}\\fR` : `[\\fI${roff(name.toUpperCase())}\\fR]`;

const synopsis = (config: Config, command: Command.Loadable): string =>
  [`.B ${quoted(words(config, command))}`, ...Object.values(command.args).map(argument), "[\\fIFLAG\\fR ...]"].join(
    "\n",
  );

function commandText(config: Config, command: Command.Loadable, single: boolean): string {
  const { summary = "", description, args, flags } = command;
  const destroys = isDestructive(command);
  const ownFlags = Object.values(flags).filter((flag) => !flag.hidden && !isShared(flag));
  const common = shared.filter((group) => Object.values(flags).some(({ helpGroup }) => helpGroup === group));
  const examples = (command.examples ?? []).map((example) =>
    fill(config, command, typeof example === "string" ? example : example.command),
  );
  return [
    ...(single ? [] : [`.SS ${quoted(`${words(config, command)}${destroys ? ` ${destructiveMark}` : ""}`)}`]),
    roff(summary),
    ...(destroys ? [".PP", roff(destructiveText)] : []),
    ...(description ? [".PP", roff(fill(config, command, description)).replaceAll("\n", "\n.br\n")] : []),
    ...Object.values(args).map(({ name, description: text }) => item(`.I ${quoted(name.toUpperCase())}`, text ?? "")),
    ...ownFlags.map(flagText),
    ...(common.length === 0
      ? []
      : [".PP", roff(`Flags of svc(1): ${common.map((group) => group.toLowerCase()).join(", ")}.`)]),
    ...(examples.length === 0 ? [] : [".PP", examples.length === 1 ? "Example:" : "Examples:", ".PP", ".EX"]),
    ...examples.map((text) => `    ${roff(text)}`),
    ...(examples.length === 0 ? [] : [".EE"]),
  ].join("\n");
}

function flagText(flag: Flag): string {
  const { name, char, summary, description, type } = flag;
  const value = type === "option" ? ` ${flag.helpValue ?? "VALUE"}` : "";
  const values =
    type === "option" && flag.options && flag.options.length > 0 ? ` One of: ${flag.options.join(", ")}.` : "";
  const named = type === "boolean" && flag.allowNo ? `--[no-]${name}` : `--${name}`;
  return item(
    `.B ${quoted(`${char ? `-${char}, ` : ""}${named}${value}`)}`,
    `${summary ?? description ?? ""}${values}`,
  );
}

const item = (tag: string, text: string): string => `.TP\n${tag}\n${roff(text === "" ? " " : text)}`;

const fill = (config: Config, { id }: Command.Loadable, template: string): string =>
  template.replaceAll("<%= config.bin %>", config.bin).replaceAll("<%= command.id %>", id.replaceAll(":", " "));
