import { teamsApi } from "../../api/teams.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { teamView } from "../../cli/team-view.ts";

export default class TeamsGet extends ClientCommand {
  static override summary = "Show a team.";
  static override endpoints = [teamsApi.get];
  static override args = { team: args.team };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations"];

  async run() {
    const { args: given } = await this.parse(TeamsGet);
    const { id } = await this.team(given.team);
    const { team } = await this.call(teamsApi.get, { params: { id } });
    await this.printOne(team, {
      ...teamView,
      columns: [
        ...teamView.columns,
        { key: "host_expiry_settings.host_expiry_enabled", header: "host expiry" },
        { key: "host_expiry_settings.host_expiry_window", header: "host expiry days" },
        { key: "agent_options", header: "agent options" },
        { key: "created_at" },
      ],
    });
  }
}
