import { carvesApi } from "../../api/checks/carves.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { carveView } from "../../cli/topics/carves/view.ts";

export default class CarvesList extends ClientCommand {
  static override summary = "List file carves.";
  static override endpoints = [carvesApi.list];
  static override flags = { ...queryFlags(carvesApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --expired --order-key created_at --order-direction desc -o json",
  ];

  async run() {
    const { flags } = await this.parse(CarvesList);
    const carves = this.pages(carvesApi.list, { query: queryOf(carvesApi.list, flags) }, "carves");
    await this.printList(carves, carveView(this.relativeTimes, this.io.now()));
  }
}
