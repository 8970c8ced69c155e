import { usersApi } from "../../api/accounts/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class UsersDelete extends ClientCommand {
  static override summary = "Delete a user.";
  static override destructive = true;
  static override endpoints = [usersApi.delete];
  static override args = { user: args.user };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com --yes"];

  async run() {
    const { args, flags } = await this.parse(UsersDelete);
    const { id, email } = await this.user(args.user);
    if (flags["dry-run"]) this.trying(`delete user ${email}`, { id, email });
    await this.confirm(`Delete user ${email}?`);
    await this.call(usersApi.delete, { params: { id } });
    await this.report(`deleted user ${email}`, { id, email, deleted: true });
  }
}
