import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../cli/base-command.ts";
import { args, generalFlags } from "../cli/flags.ts";
import { showHelp } from "../cli/help/help.ts";
import { wholeConfig } from "../cli/run/config.ts";

export default class HelpCommand extends BaseCommand {
  static override summary = "Show help for a command or a topic.";
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags };
  static override strict = false;
  static override args = { command: args.optional("the command, topic, or exit-codes, environment, formatting") };
  static override flags = { "nested-commands": Flags.boolean({ char: "n", summary: "Include nested commands." }) };
  static override examples = [
    "<%= config.bin %> <%= command.id %> hosts list",
    "<%= config.bin %> <%= command.id %> environment",
  ];

  async run() {
    const { argv, flags } = await this.parse(HelpCommand);
    await showHelp(
      ["help", ...argv.map(String), ...(flags["nested-commands"] ? ["-n"] : [])],
      await wholeConfig(this.config),
      this.io,
    );
  }
}
