import { viewsApi } from "../../api/settings/views.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { viewView } from "../../cli/topics/views.ts";

export default class ViewsList extends ClientCommand {
  static override summary = "List your saved views of lists, and those that are shared with you.";
  static override endpoints = [viewsApi.list];
  static override flags = { ...queryFlags(viewsApi.list), ...teamFlag, ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --of hosts"];

  async run() {
    const { flags } = await this.parse(ViewsList);
    const query = queryOf(viewsApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(viewsApi.list, { query }, "views"), viewView);
  }
}
