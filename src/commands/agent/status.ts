import { installedStateDir } from "../../agent/service/apply.ts";
import { installedPlatform } from "../../agent/service/detect.ts";
import { agentStatus } from "../../agent/service/status.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed } from "../../cli/errors.ts";
import { asRoot } from "../../cli/topics/agent/service.ts";
import { agentSetupFlags, asCliError } from "../../cli/topics/agent/setup.ts";

export default class AgentStatus extends BaseCommand {
  static override summary = "Show whether the agent is installed on this machine, runs, and has enrolled.";
  static override description =
    "Exit code 1 if it does not run. Reading the agent's keys needs root. own_page is the address of the page on which people see their own machine; it changes every hour.";
  static override examples = ["<%= config.bin %> <%= command.id %>"];
  static override flags = { "state-dir": agentSetupFlags["state-dir"] };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentStatus);
    const platform = await asCliError(() => installedPlatform(null));
    const status = await asRoot(async () =>
      agentStatus(platform, flags["state-dir"] ?? (await installedStateDir(platform, null))),
    );
    await this.printOne({ ...status });
    if (!status.running) throw failed("the agent's service does not run on this machine");
  }
}
