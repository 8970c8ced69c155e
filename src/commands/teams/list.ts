import { teamsApi } from "../../api/settings/teams.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { teamView } from "../../cli/topics/teams.ts";

export default class TeamsList extends ClientCommand {
  static override summary = "List teams.";
  static override endpoints = [teamsApi.list];
  static override flags = { ...queryFlags(teamsApi.list), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> -o yaml"];

  async run() {
    const { flags } = await this.parse(TeamsList);
    await this.printList(this.pages(teamsApi.list, { query: queryOf(teamsApi.list, flags) }, "teams"), teamView);
  }
}
