import * as Flags from "@oclif/core/flags";
import { PackSpec, packsApi } from "../../api/checks/packs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { packView } from "../../cli/topics/packs.ts";

export default class PacksList extends ClientCommand {
  static override summary = "List packs.";
  static override endpoints = [packsApi.list, packsApi.specs];
  static override flags = {
    ...queryFlags(packsApi.list),
    spec: Flags.boolean({ summary: "Print them in the format of `svc packs apply`." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --order-key name",
    "<%= config.bin %> <%= command.id %> --spec -o yaml",
  ];

  async run() {
    const { flags } = await this.parse(PacksList);
    if (flags.spec) {
      const { specs } = await this.call(packsApi.specs);
      return this.printList(specs, {
        schema: () => PackSpec,
        columns: ["name", "platform", "disabled", "queries.name"],
      });
    }
    const { packs } = await this.call(packsApi.list, { query: queryOf(packsApi.list, flags) });
    await this.printList(packs, packView);
  }
}
