import { hostVitalsApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { vitalView } from "../../cli/topics/variables.ts";

export default class VitalsList extends ClientCommand {
  static override summary = "List custom host vitals.";
  static override endpoints = [hostVitalsApi.list];
  static override flags = { ...queryFlags(hostVitalsApi.list), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --query site"];

  async run() {
    const { flags } = await this.parse(VitalsList);
    const rows = this.pages(hostVitalsApi.list, { query: queryOf(hostVitalsApi.list, flags) }, "custom_host_vitals");
    await this.printList(rows, vitalView(this.relativeTimes, this.io.now()));
  }
}
