import * as Flags from "@oclif/core/flags";
import { Team, teamsApi } from "../../../api/settings/teams.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readValue } from "../../../cli/files/input.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";

export default class TeamsAgentOptionsSet extends ClientCommand {
  static override summary = "Replace a team's agent options.";
  static override endpoints = [teamsApi.agentOptions];
  static override args = { team: args.team };
  static override flags = {
    input: Flags.string({
      summary: "File with the options, as JSON or YAML; - is stdin.",
      required: true,
      helpValue: "FILE",
    }),
    force: Flags.boolean({ summary: "Skip the checks of the options." }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations --input agent-options.yml"];

  async run() {
    const { args, flags } = await this.parse(TeamsAgentOptionsSet);
    const body = await readValue(this.io, flags.input);
    const { id, name, agent_options } = await this.team(args.team);
    const query = { force: flags.force, dry_run: flags["dry-run"] };
    const { team } = await this.call(teamsApi.agentOptions, { params: { id }, query, body });
    if (flags["dry-run"]) {
      const change = { field: "agent_options", from: agent_options, to: body };
      return this.printPlan(`replace the agent options of team ${name}`, { id, name }, [change]);
    }
    await this.report(`replaced the agent options of team ${name}`, team, { schema: () => Team });
  }
}
