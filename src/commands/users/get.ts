import { usersApi } from "../../api/accounts/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { userView } from "../../cli/topics/users.ts";

export default class UsersGet extends ClientCommand {
  static override summary = "Show a user.";
  static override endpoints = [usersApi.get];
  static override args = { user: args.user };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com"];

  async run() {
    const { args } = await this.parse(UsersGet);
    const { id } = await this.user(args.user);
    const { user } = await this.call(usersApi.get, { params: { id } });
    await this.printOne(user, {
      ...userView,
      columns: [...userView.columns, { key: "position" }, { key: "created_at" }, { key: "updated_at" }],
    });
  }
}
