import { User } from "../../../api/accounts/users.ts";
import { teamsApi } from "../../../api/settings/teams.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { userView } from "../../../cli/topics/users.ts";

export default class TeamsUsersList extends ClientCommand {
  static override summary = "List a team's users.";
  static override endpoints = [teamsApi.users];
  static override args = { team: args.team };
  static override flags = { ...queryFlags(teamsApi.users), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations"];

  async run() {
    const { args, flags } = await this.parse(TeamsUsersList);
    const { id } = await this.team(args.team);
    const query = queryOf(teamsApi.users, flags);
    const users = this.pages(teamsApi.users, { params: { id }, query }, "users");
    await this.printList(users, { ...userView, schema: () => User });
  }
}
