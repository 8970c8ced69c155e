import { invitesApi, type ModifyInvite } from "../../api/accounts/invites.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { inviteFlags } from "../../cli/topics/invites/flags.ts";
import { resolveInvite } from "../../cli/topics/invites/resolve.ts";
import { userFields } from "../../cli/topics/users.ts";

export default class InvitesUpdate extends ClientCommand {
  static override summary = "Change an invite. A new address gets a new link, and the old link becomes invalid.";
  static override description =
    "If the server cannot send mail, the new link is printed on stdout instead, only once: send it to the user yourself.";
  static override endpoints = [invitesApi.modify];
  static override args = { invite: args.required("id or email of the invite") };
  static override flags = { ...inviteFlags, ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> invited@example.com --global-role maintainer"];

  async run() {
    const { args, flags } = await this.parse(InvitesUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await userFields(this.findTeam, flags)),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const before = await resolveInvite((endpoint, input) => this.call(endpoint, input), args.invite);
    const change = body as ModifyInvite;
    if (flags["dry-run"]) {
      const { id, email } = before;
      this.trying(`change the invite of ${email}`, { id, email }, changesOf(before, body));
    }
    const { invite, link } = await this.call(invitesApi.modify, { params: { id: before.id }, body: change });
    await this.report(`changed the invite of ${invite.email}`, { ...invite, ...(link ? { link } : {}) });
    if (link && !this.structured) {
      this.note("this server sends no mail; the new link is only shown now:");
      this.log(link);
    }
  }
}
