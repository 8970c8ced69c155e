import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isActive } from "../../agent/service/apply.ts";
import { defaultStateDir, statusCommand, unitFile } from "../../agent/service/plan.ts";
import { readObject } from "../../agent/state/files.ts";
import { failed } from "../../cli/errors.ts";
import { AgentServiceCommand } from "../../cli/features/agent/service.ts";
import { agentSetupFlags } from "../../cli/features/agent/setup.ts";

export default class AgentStatus extends AgentServiceCommand {
  static override summary = "Show whether the agent is installed on this machine, runs, and has enrolled.";
  static override description = "Exit code 1 if it does not run. Reading the agent's keys needs root.";
  static override examples = ["<%= config.bin %> <%= command.id %>"];
  static override flags = { "state-dir": agentSetupFlags["state-dir"] };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentStatus);
    const known = await this.asRoot(() => readObject(join(flags["state-dir"] ?? defaultStateDir(), "agent.json")));
    const running = await isActive(statusCommand(this.platform));
    await this.printOne({
      installed: (await stat(unitFile(this.platform)).catch(() => null)) !== null,
      running,
      server_url: known?.server_url ?? null,
      hardware_uuid: known?.hardware_uuid ?? null,
      enrolled_for_queries: typeof known?.node_key === "string",
      enrolled_for_scripts: typeof known?.agent_node_key === "string",
    });
    if (!running) throw failed("the agent's service does not run on this machine");
  }
}
