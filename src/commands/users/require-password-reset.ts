import * as Flags from "@oclif/core/flags";
import { usersApi } from "../../api/accounts/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";

export default class UsersRequirePasswordReset extends ClientCommand {
  static override summary = "Require a user to choose a new password, and end their sessions.";
  static override endpoints = [usersApi.requirePasswordReset];
  static override args = { user: args.user };
  static override flags = {
    require: Flags.boolean({ summary: "Whether the user must choose a new password.", default: true, allowNo: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com"];

  async run() {
    const { args, flags } = await this.parse(UsersRequirePasswordReset);
    const { id, email } = await this.user(args.user);
    const change = flags.require
      ? `require a new password for ${email}`
      : `no longer require a new password for ${email}`;
    if (flags["dry-run"]) this.trying(change, { id, email });
    const { user } = await this.call(usersApi.requirePasswordReset, {
      params: { id },
      body: { require: flags.require },
    });
    await this.report(
      user.force_password_reset ? `${email} must choose a new password` : `${email} can keep the password`,
      user,
    );
  }
}
