import { mailApi } from "../../api/settings/mail.ts";
import { linkToken } from "../../cli/auth/sign-in.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { denied } from "../../cli/errors.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { ApiCallError } from "../../client/errors.ts";

export default class UsersResetPassword extends ClientCommand {
  static override summary = "Replace a forgotten password with the mailed link.";
  static override description = "No sign-in is needed. All sessions of the account end.";
  static override endpoints = [mailApi.resetPassword];
  static override flags = {
    ...secretFlags("password-reset-token", "the mailed link, or its token,"),
    ...secretFlags("new-password", "the new password"),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --password-reset-token-file link.txt --new-password-file new.txt",
  ];

  async run() {
    const { flags } = await this.parse(UsersResetPassword);
    const link =
      (await readSecret(this.io, flags, "password-reset-token")) ??
      (await this.askSecret("Link", "--password-reset-token-stdin or --password-reset-token-file"));
    const fresh =
      (await readSecret(this.io, flags, "new-password")) ??
      (await this.askNewSecret("New password", "--new-password-stdin or --new-password-file"));
    const body = { password_reset_token: linkToken(link), new_password: fresh };
    if (flags["dry-run"]) {
      this.trying("set a new password for the account that this link was mailed to", null);
    }
    try {
      await this.call(mailApi.resetPassword, { body });
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 401) throw error;
      throw denied(
        "this link is invalid or has expired",
        "Links work once, for an hour. Request a new one with `svc users forgot-password`.",
      );
    }
    await this.report("the new password is set; sign in with it", { changed: true });
  }
}
