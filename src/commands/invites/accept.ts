import * as Flags from "@oclif/core/flags";
import { type AcceptInvite, invitesApi } from "../../api/accounts/invites.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { inviteToken, inviteTokenFlags } from "../../cli/topics/invites/token.ts";

export default class InvitesAccept extends ClientCommand {
  static override summary = "Accept an invite and create its account. No sign-in is needed.";
  static override endpoints = [invitesApi.show, invitesApi.accept];
  static override args = { token: args.optional("the link, or the token at its end") };
  static override flags = {
    name: Flags.string({ summary: "Your name. Default: the name in the invite." }),
    ...inviteTokenFlags,
    ...secretFlags("password", "the new password"),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --token-file invite.txt --password-file password.txt",
  ];

  async run() {
    const { args, flags } = await this.parse(InvitesAccept);
    const token = await inviteToken(this.io, args.token, flags);
    const { invite } = await this.call(invitesApi.show, { params: { token } });
    const body: AcceptInvite = { email: invite.email, name: flags.name ?? invite.name, invite_token: token };
    if (flags["dry-run"]) this.trying(`create the account ${invite.email}`, { email: invite.email });
    if (invite.sso_enabled) body.sso_invite = true;
    else
      body.password =
        (await readSecret(this.io, flags, "password", "SVC_USER_PASSWORD")) ??
        (await this.askNewSecret("Password", "--password-stdin, --password-file or SVC_USER_PASSWORD"));
    const { user } = await this.call(invitesApi.accept, { body });
    await this.report(`created the account ${user.email}; sign in with: svc login`, user);
  }
}
