import * as Flags from "@oclif/core/flags";
import { installedStateDir, uninstall } from "../../agent/service/apply.ts";
import { installedPlatform } from "../../agent/service/detect.ts";
import { removalPlan } from "../../agent/service/plan.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { asRoot, rootFlag } from "../../cli/topics/agent/service.ts";
import { agentSetupFlags, asCliError } from "../../cli/topics/agent/setup.ts";

export default class AgentUninstall extends BaseCommand {
  static override summary = "Stop the agent's service on this machine, and remove it.";
  static override description =
    "The host stays on the server: delete it with `svc hosts delete`. Without --purge the agent's program and keys stay, so that a later installation is the same host without enrolling.";
  static override destructive = true;
  static override examples = ["<%= config.bin %> <%= command.id %> --purge --yes"];
  static override flags = {
    purge: Flags.boolean({ summary: "Also remove the agent's program, keys, journals and log." }),
    "state-dir": agentSetupFlags["state-dir"],
    ...rootFlag,
    ...yesFlag,
    ...dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentUninstall);
    await this.confirm("Remove the agent from this machine?");
    const root = flags.root ?? null;
    const platform = await asCliError(() => installedPlatform(root));
    const stateDir = flags.purge ? (flags["state-dir"] ?? (await installedStateDir(platform, root))) : null;
    const plan = removalPlan(platform, stateDir);
    const where = { root, isDryRun: this.triesOut };
    const changes = await asRoot(() => uninstall(plan, where));
    for (const { path, outcome } of changes)
      this.note(`${path}: ${this.triesOut && outcome === "removed" ? "would be " : ""}${outcome}`);
    if (this.structured) await this.printOne({ dry_run: this.triesOut, files: changes });
  }
}
