import * as Flags from "@oclif/core/flags";
import { usersApi } from "../../api/accounts/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class UsersPassword extends ClientCommand {
  static override summary = "Change your own password.";
  static override endpoints = [usersApi.changePassword, usersApi.performRequiredPasswordReset];
  static override flags = {
    required: Flags.boolean({ summary: "A new password is required for your account; the current one is not needed." }),
    ...secretFlags("old-password", "the current password"),
    ...secretFlags("new-password", "the new password"),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --old-password-file old.txt --new-password-file new.txt",
    "<%= config.bin %> <%= command.id %> --required --new-password-file new.txt",
  ];

  async run() {
    const { flags } = await this.parse(UsersPassword);
    const old = flags.required
      ? undefined
      : ((await readSecret(this.io, flags, "old-password")) ??
        (await this.askSecret("Current password", "--old-password-stdin or --old-password-file")));
    const fresh =
      (await readSecret(this.io, flags, "new-password")) ??
      (await this.askNewSecret("New password", "--new-password-stdin or --new-password-file"));
    if (flags["dry-run"]) {
      this.trying("change your password", null);
    }
    if (old === undefined) await this.call(usersApi.performRequiredPasswordReset, { body: { new_password: fresh } });
    else await this.call(usersApi.changePassword, { body: { old_password: old, new_password: fresh } });
    await this.report("changed your password", { changed: true });
  }
}
