import { type CreateInvite, invitesApi } from "../../api/accounts/invites.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { inviteFlags } from "../../cli/topics/invites/flags.ts";
import { userFields } from "../../cli/topics/users.ts";

export default class InvitesCreate extends ClientCommand {
  static override summary = "Invite someone by email.";
  static override description =
    "The mail contains a link that is valid for five days. If the server cannot send mail, the link is printed on stdout instead, " +
    "only once: send it to the user yourself.";
  static override endpoints = [invitesApi.create];
  static override flags = { ...inviteFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Grace --email grace@example.com --global-role observer",
  ];

  async run() {
    const { flags } = await this.parse(InvitesCreate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await userFields(this.findTeam, flags)),
    };
    body.email ??= await this.askText("Email", "--email");
    body.name ??= await this.askText("Name", "--name");
    const invitation = body as unknown as CreateInvite;
    if (flags["dry-run"]) {
      this.trying(`invite ${invitation.email}`, null, changesOf({}, body));
    }
    const { invite, link } = await this.call(invitesApi.create, { body: invitation });
    await this.report(`invited ${invite.email} (${invite.id})`, { ...invite, ...(link ? { link } : {}) });
    if (link && !this.structured) {
      this.note("this server sends no mail; the link is only shown now:");
      this.log(link);
    }
  }
}
