import * as Flags from "@oclif/core/flags";
import { CaItem, caApi } from "../../api/certificates/ca.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { caView } from "../../cli/topics/ca.ts";

export default class CaList extends ClientCommand {
  static override summary = "List certificate authorities.";
  static override endpoints = [caApi.list, caApi.specs];
  static override flags = {
    spec: Flags.boolean({ summary: "Print them in the format of `svc ca apply`; secrets are masked." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --spec -o yaml",
  ];

  async run() {
    const { flags } = await this.parse(CaList);
    if (flags.spec) {
      const { certificate_authorities: groups } = await this.call(caApi.specs);
      return this.printOne(groups);
    }
    const { certificate_authorities: rows } = await this.call(caApi.list);
    await this.printList(rows, { columns: [], ...caView, schema: () => CaItem });
  }
}
