import { invitesApi } from "../../api/accounts/invites.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { resolveInvite } from "../../cli/topics/invites/resolve.ts";

export default class InvitesDelete extends ClientCommand {
  static override summary = "Withdraw an invite.";
  static override destructive = true;
  static override endpoints = [invitesApi.delete];
  static override args = { invite: args.required("id or email of the invite") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> invited@example.com --yes"];

  async run() {
    const { args, flags } = await this.parse(InvitesDelete);
    const { id, email } = await resolveInvite((endpoint, input) => this.call(endpoint, input), args.invite);
    if (flags["dry-run"]) this.trying(`withdraw the invite of ${email}`, { id, email });
    await this.confirm(`Withdraw the invite of ${email}?`);
    await this.call(invitesApi.delete, { params: { id } });
    await this.report(`withdrew the invite of ${email}`, { id, email, deleted: true });
  }
}
