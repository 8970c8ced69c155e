import { usersApi } from "../../api/accounts/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { userView } from "../../cli/topics/users.ts";

export default class UsersList extends ClientCommand {
  static override summary = "List users.";
  static override endpoints = [usersApi.list];
  static override flags = { ...queryFlags(usersApi.list), ...teamFlag, ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --query admin"];

  async run() {
    const { flags } = await this.parse(UsersList);
    const query = queryOf(usersApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(usersApi.list, { query }, "users"), userView);
  }
}
