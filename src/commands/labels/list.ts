import * as Flags from "@oclif/core/flags";
import { labelsApi } from "../../api/hosts/labels.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { labelView } from "../../cli/topics/labels.ts";

export default class LabelsList extends ClientCommand {
  static override summary = "List labels, and how many hosts are in each.";
  static override endpoints = [labelsApi.list, labelsApi.summary, labelsApi.specs];
  static override flags = {
    ...queryFlags(labelsApi.list, ["query", "after", "include_host_counts"]),
    short: Flags.boolean({ summary: "Only ids, names and descriptions.", exclusive: ["spec"] }),
    spec: Flags.boolean({ summary: "Print them in the format of `svc labels apply`." }),
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --order-key name",
    "<%= config.bin %> <%= command.id %> --short -o csv",
    "<%= config.bin %> <%= command.id %> --spec -o yaml",
  ];

  async run() {
    const { flags } = await this.parse(LabelsList);
    if (flags.spec) {
      const { specs } = await this.call(labelsApi.specs);
      const columns = [{ key: "name" }, { key: "label_membership_type", header: "members" }, { key: "platform" }];
      return this.printList(specs, { columns: [...columns, { key: "query" }] });
    }
    if (flags.short) {
      const { labels } = await this.call(labelsApi.summary);
      return this.printList(labels, { columns: [{ key: "id" }, { key: "name" }, { key: "description" }] });
    }
    await this.printList(this.pages(labelsApi.list, { query: queryOf(labelsApi.list, flags) }, "labels"), labelView);
  }
}
