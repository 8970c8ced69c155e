import * as Flags from "@oclif/core/flags";
import { PackSpec, packsApi } from "../../api/checks/packs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { packView } from "../../cli/topics/packs.ts";

export default class PacksGet extends ClientCommand {
  static override summary = "Show a pack.";
  static override endpoints = [packsApi.get, packsApi.spec];
  static override args = { pack: args.pack };
  static override flags = { spec: Flags.boolean({ summary: "Print it in the format of `svc packs apply`." }) };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Compliance",
    "<%= config.bin %> <%= command.id %> Compliance --spec -o yaml",
  ];

  async run() {
    const { args, flags } = await this.parse(PacksGet);
    const { id, name } = await this.pack(args.pack);
    if (flags.spec) {
      const { specs } = await this.call(packsApi.spec, { params: { name } });
      return this.printOne(specs, { schema: () => PackSpec });
    }
    const { pack } = await this.call(packsApi.get, { params: { id } });
    const targets = ["hosts", "labels", "teams"].map((kind) => ({
      key: `${kind}.display_text`,
      header: `for ${kind}`,
    }));
    await this.printOne(pack, { ...packView, columns: [...packView.columns, ...targets, { key: "updated_at" }] });
  }
}
