import { invitesApi } from "../../api/accounts/invites.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { inviteView } from "../../cli/topics/invites/view.ts";

export default class InvitesList extends ClientCommand {
  static override summary = "List invites that nobody has accepted yet.";
  static override endpoints = [invitesApi.list];
  static override flags = { ...queryFlags(invitesApi.list), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --query example.com"];

  async run() {
    const { flags } = await this.parse(InvitesList);
    const rows = this.pages(invitesApi.list, { query: queryOf(invitesApi.list, flags) }, "invites");
    await this.printList(rows, inviteView(this.relativeTimes, this.io.now()));
  }
}
