import { NoTeam, teamsApi } from "../../api/settings/teams.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, isNoTeam } from "../../cli/flags.ts";
import { teamView } from "../../cli/topics/teams.ts";

export default class TeamsGet extends ClientCommand {
  static override summary = "Show a team; 0 stands for hosts without a team.";
  static override endpoints = [teamsApi.get, teamsApi.noTeam];
  static override args = { team: args.team };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Workstations",
    "<%= config.bin %> <%= command.id %> 0",
  ];

  async run() {
    const { args } = await this.parse(TeamsGet);
    if (isNoTeam(args.team)) {
      const { team } = await this.call(teamsApi.noTeam);
      return this.printOne(team, { schema: () => NoTeam });
    }
    const { id } = await this.team(args.team);
    const { team } = await this.call(teamsApi.get, { params: { id } });
    await this.printOne(team, {
      ...teamView,
      columns: [
        ...teamView.columns,
        { key: "host_expiry_settings.host_expiry_enabled", header: "host expiry" },
        { key: "host_expiry_settings.host_expiry_window", header: "host expiry days" },
        { key: "webhook_settings", header: "webhooks" },
        { key: "integrations" },
        { key: "mdm", header: "device management" },
        { key: "agent_options", header: "agent options" },
        { key: "created_at" },
      ],
    });
  }
}
