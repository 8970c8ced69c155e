import { viewsApi } from "../../api/settings/views.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class ViewsDelete extends ClientCommand {
  static override summary = "Delete a saved view of a list.";
  static override destructive = true;
  static override endpoints = [viewsApi.delete];
  static override args = { id: args.required("id of the view") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 7 --yes"];

  async run() {
    const { args: given, flags } = await this.parse(ViewsDelete);
    const params = { id: given.id };
    const { view } = await this.call(viewsApi.get, { params });
    const { id, name } = view;
    if (flags["dry-run"]) this.trying(`delete the view ${name}`, { id, name });
    await this.confirm(`Delete the view ${name}?`);
    await this.call(viewsApi.delete, { params });
    await this.report(`deleted the view ${name}`, { id, name });
  }
}
