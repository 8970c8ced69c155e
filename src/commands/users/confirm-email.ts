import { mailApi } from "../../api/settings/mail.ts";
import { linkToken } from "../../cli/auth/sign-in.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class UsersConfirmEmail extends ClientCommand {
  static override summary = "Confirm your own new email address, with the link that was mailed there.";
  static override endpoints = [mailApi.confirmEmail];
  static override flags = { ...secretFlags("token", "the mailed link, or its token,"), ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-file link.txt"];

  async run() {
    const { flags } = await this.parse(UsersConfirmEmail);
    const link =
      (await readSecret(this.io, flags, "token")) ?? (await this.askSecret("Link", "--token-stdin or --token-file"));
    if (flags["dry-run"]) this.trying("confirm the new address that this link was mailed to", null);
    const reply = await this.call(mailApi.confirmEmail, { params: { token: linkToken(link) } });
    await this.report(`your address is now ${reply.new_email}`, reply);
  }
}
