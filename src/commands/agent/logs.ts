import * as Flags from "@oclif/core/flags";
import { show } from "../../agent/service/apply.ts";
import { installedPlatform } from "../../agent/service/detect.ts";
import { logCommand } from "../../agent/service/plan.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed } from "../../cli/errors.ts";
import { asRoot } from "../../cli/topics/agent/service.ts";
import { asCliError } from "../../cli/topics/agent/setup.ts";

export default class AgentLogs extends BaseCommand {
  static override summary = "Show the log of the agent's service on this machine.";
  static override examples = ["<%= config.bin %> <%= command.id %> --follow"];
  static override flags = {
    lines: Flags.integer({ char: "n", summary: "Number of lines.", min: 1, default: 100 }),
    follow: Flags.boolean({ char: "f", summary: "Show new lines until interrupted." }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentLogs);
    const command = logCommand(await asCliError(() => installedPlatform(null)), flags);
    if ((await asRoot(() => show(command))) !== 0) throw failed(`${command[0]} could not show the log`);
  }
}
