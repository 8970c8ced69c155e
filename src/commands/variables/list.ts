import { variablesApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { variableView } from "../../cli/topics/variables.ts";

export default class VariablesList extends ClientCommand {
  static override summary = "List custom variables. Their values are never shown.";
  static override endpoints = [variablesApi.list];
  static override flags = { ...queryFlags(variablesApi.list), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(VariablesList);
    const rows = this.pages(variablesApi.list, { query: queryOf(variablesApi.list, flags) }, "custom_variables");
    await this.printList(rows, variableView(this.relativeTimes, this.io.now()));
  }
}
