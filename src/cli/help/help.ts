// The help of commands, of topics and of svc itself.
import type { Command } from "@oclif/core";
import type { Config } from "@oclif/core/config";
import { Help, normalizeArgv } from "@oclif/core/help";
import { ownOf } from "../../text/record.ts";
import { type Io, isDumb } from "../io.ts";
import { adoptStyles } from "../output/terminal.ts";
import { helpTopics, sharedFlagGroups, topicText } from "./help-topics.ts";
import { unknownCommand } from "./unknown-command.ts";

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
  const topic = argv[0] === "help" ? ownOf(helpTopics, subject[0] ?? "") : undefined;
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
    const ownFlags = all.filter(([, { helpGroup }]) => !sharedFlagGroups.includes(helpGroup ?? ""));
    const folded = all.filter(([, { hidden, helpGroup }]) => !hidden && sharedFlagGroups.includes(helpGroup ?? ""));
    const flags = ownFlags.map(([name, flag]) => {
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
      commands.map((command) => ({
        ...command,
        ...(isDestructive(command) ? { summary: `${command.summary} ${destructiveMark}` } : {}),
      })),
    );
  }

  protected override log(...lines: string[]): void {
    this.io?.out(`${adoptStyles(lines.join(" "))}\n`);
  }
}
