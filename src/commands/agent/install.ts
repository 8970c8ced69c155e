import { join } from "node:path";
import { install } from "../../agent/service/apply.ts";
import { platformToInstall } from "../../agent/service/detect.ts";
import { servicePlan, statusCommand } from "../../agent/service/plan.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { asRoot, rootFlag } from "../../cli/topics/agent/service.ts";
import { agentSetup, agentSetupFlags, asCliError } from "../../cli/topics/agent/setup.ts";

export default class AgentInstall extends BaseCommand {
  static override summary = "Install the agent as a service of this machine, and start it.";
  static override description =
    "Uses systemd or OpenRC, launchd, or on Windows a task of the task scheduler. Running it again changes only what is different, and restarts the agent only then.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --server-url https://svc.example.com --enroll-secret-file secret.txt",
    "<%= config.bin %> <%= command.id %> --server-url https://svc.example.com --enroll-secret-file secret.txt --root /mnt/image",
  ];
  static override flags = { ...agentSetupFlags, ...rootFlag, ...dryRunFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentInstall);
    const setup = await agentSetup(flags, this.io.env);
    const root = flags.root ?? null;
    const platform = await asCliError(() => platformToInstall(root, `${this.config.bin} agent run`));
    const program = [process.execPath, join(this.config.root, "bin", "run.js"), "agent"];
    const where = { root, isDryRun: this.triesOut };
    const { changes, commands } = await asRoot(() =>
      install(servicePlan({ ...setup, platform, program }), statusCommand(platform), where),
    );
    const verb = this.triesOut ? "would be " : "";
    for (const { path, outcome } of changes) this.note(`${path}: ${outcome === "unchanged" ? "" : verb}${outcome}`);
    for (const command of commands) this.note(`${this.triesOut ? "would run" : "ran"}: ${command.join(" ")}`);
    if (this.structured) await this.printOne({ dry_run: this.triesOut, files: changes, commands });
  }
}
