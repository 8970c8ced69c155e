import { teamsApi } from "../../api/settings/teams.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class TeamsDelete extends ClientCommand {
  static override summary = "Delete a team. Its hosts are kept, without a team.";
  static override destructive = true;
  static override endpoints = [teamsApi.delete];
  static override args = { team: args.team };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations --yes"];

  async run() {
    const { args, flags } = await this.parse(TeamsDelete);
    const { id, name, host_count } = await this.team(args.team);
    if (flags["dry-run"]) this.trying(`delete team ${name} (${plural(host_count, "host")})`, { id, name, host_count });
    await this.confirm(`Delete team ${name} with its settings? ${plural(host_count, "host")} will be without a team.`);
    await this.call(teamsApi.delete, { params: { id } });
    await this.report(`deleted team ${name}`, { id, name, deleted: true });
  }
}
