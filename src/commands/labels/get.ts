import * as Flags from "@oclif/core/flags";
import { LabelSpec, labelsApi } from "../../api/hosts/labels.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { errorColumns } from "../../cli/output/query-errors.ts";
import { labelView } from "../../cli/topics/labels.ts";

export default class LabelsGet extends ClientCommand {
  static override summary = "Show a label.";
  static override endpoints = [labelsApi.get, labelsApi.spec];
  static override args = { label: args.label };
  static override flags = { spec: Flags.boolean({ summary: "Print it in the format of `svc labels apply`." }) };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'All Linux'",
    "<%= config.bin %> <%= command.id %> Loaners --spec -o yaml",
  ];

  async run() {
    const { args, flags } = await this.parse(LabelsGet);
    const { id, name } = await this.label(args.label);
    if (flags.spec) {
      const { specs } = await this.call(labelsApi.spec, { params: { name } });
      return this.printOne(specs, { schema: () => LabelSpec });
    }
    const { label } = await this.call(labelsApi.get, { params: { id } });
    await this.printOne(label, {
      ...labelView,
      columns: [
        ...labelView.columns,
        ...errorColumns([label]),
        { key: "query" },
        { key: "criteria" },
        { key: "created_at" },
      ],
    });
  }
}
