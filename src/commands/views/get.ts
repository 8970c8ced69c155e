import { viewsApi } from "../../api/settings/views.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { viewView } from "../../cli/topics/views.ts";

export default class ViewsGet extends ClientCommand {
  static override summary = "Show a saved view of a list.";
  static override endpoints = [viewsApi.get];
  static override args = { id: args.required("id of the view") };
  static override examples = ["<%= config.bin %> <%= command.id %> 7"];

  async run() {
    const { args: given } = await this.parse(ViewsGet);
    const { view } = await this.call(viewsApi.get, { params: { id: given.id } });
    await this.printOne(view, {
      ...viewView,
      columns: [...viewView.columns, { key: "created_at" }, { key: "updated_at" }],
    });
  }
}
