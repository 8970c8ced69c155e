import { mailApi } from "../../api/settings/mail.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";

export default class UsersForgotPassword extends ClientCommand {
  static override summary = "Request a mail with a link to replace a forgotten password.";
  static override description =
    "No sign-in is needed. The server does not reveal whether the address belongs to a user. The link works once, for an hour.";
  static override endpoints = [mailApi.forgotPassword];
  static override args = { email: args.required("email address of the account") };
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com"];

  async run() {
    const { args, flags } = await this.parse(UsersForgotPassword);
    const body = { email: args.email };
    if (flags["dry-run"]) {
      this.trying(`request a link for ${args.email}`, { email: args.email });
    }
    await this.call(mailApi.forgotPassword, { body });
    await this.report(
      `if ${args.email} is the address of an account, a link was mailed; continue with \`svc users reset-password\``,
      { email: args.email },
    );
  }
}
