import { invitesApi } from "../../api/accounts/invites.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { inviteToken, inviteTokenFlags } from "../../cli/topics/invites/token.ts";
import { inviteView } from "../../cli/topics/invites/view.ts";

export default class InvitesShow extends ClientCommand {
  static override summary = "Show the invite of a mailed link. No sign-in is needed.";
  static override endpoints = [invitesApi.show];
  static override args = { token: args.optional("the link, or the token at its end") };
  static override flags = { ...inviteTokenFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-file invite.txt"];

  async run() {
    const { args, flags } = await this.parse(InvitesShow);
    const token = await inviteToken(this.io, args.token, flags);
    const { invite } = await this.call(invitesApi.show, { params: { token } });
    await this.printOne(invite, inviteView(this.relativeTimes, this.io.now()));
  }
}
