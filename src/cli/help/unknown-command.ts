import type { Config } from "@oclif/core/config";
import { toConfiguredId } from "@oclif/core/util/ids";
import { type CliError, usage } from "../errors.ts";
import { helpTopics } from "./help-topics.ts";
import { commandMeant, commandWithin, nearCommand } from "./suggest.ts";

/** The error for words that are no command, with the command that they resemble. */
export function unknownCommand(argv: readonly string[], config: Config): CliError {
  const flagAt = argv.findIndex((word) => word.startsWith("-"));
  const words = flagAt === -1 ? argv : argv.slice(0, flagAt);
  const commandNames = [
    ...config.commands.filter(({ hidden }) => !hidden).map(({ id }) => id),
    ...config.topics.map(({ name }) => name),
    ...Object.keys(helpTopics),
  ];
  const names = new Set(commandNames.map((name) => toConfiguredId(name, config)));
  if (words.length === 0) return usage(`unknown flag ${argv[0]}`, `\`${config.bin} help\` lists the commands.`);
  if (config.findTopic(words.join(":")))
    return usage(
      `unknown flag ${argv[flagAt]}: ${config.bin} ${words.join(" ")} must be followed by a command`,
      `\`${config.bin} help ${words.join(" ")}\` lists the commands.`,
    );
  // The last words may be arguments.
  const near = commandMeant(words, names) ?? commandWithin(words, names) ?? nearCommand(words, [...names]);
  const topic = config.findTopic(words[0] ?? "") ? ` ${words[0]}` : "";
  return usage(
    `${words.join(" ")} is not a command of ${config.bin}`,
    near ? `Did you mean \`${config.bin} ${near}\`?` : `\`${config.bin} help${topic}\` lists the commands.`,
  );
}
