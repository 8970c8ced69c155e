import { Carve, carvesApi } from "../../api/checks/carves.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { sizeText } from "../../cli/output/size.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { stateOf } from "../../cli/topics/carves/view.ts";

export default class CarvesGet extends ClientCommand {
  static override summary = "Show a carve and its progress.";
  static override endpoints = [carvesApi.get];
  static override args = { id: args.required("id of the carve") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(CarvesGet);
    const { carve } = await this.call(carvesApi.get, { params: { id: args.id } });
    const state = stateOf(carve);
    await this.printOne(carve, {
      schema: () => Carve,
      columns: [
        { key: "id" },
        { key: "name" },
        { key: "host_id", header: "host id" },
        { key: "max_block", header: "state", text: () => state },
        { key: "carve_size", header: "size", text: (size) => sizeText(Number(size)) },
        {
          key: "block_count",
          header: "blocks",
          text: (count) => `${carve.max_block + 1} of ${count}, ${sizeText(carve.block_size)} each`,
        },
        { key: "carve_id", header: "carve id" },
        { key: "request_id", header: "request id" },
        { key: "session_id", header: "session id" },
        timeColumn("created_at", "began", this.relativeTimes, this.io.now()),
      ],
    });
  }
}
