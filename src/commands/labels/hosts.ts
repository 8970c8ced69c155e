import { labelHostsApi } from "../../api/inventory/label-hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { pagesWithFields, printedFields } from "../../cli/topics/hosts/printed-fields.ts";
import { hostView } from "../../cli/topics/hosts/view.ts";

export default class LabelsHosts extends ClientCommand {
  static override summary = "List the hosts in a label.";
  static override endpoints = [labelHostsApi.hosts];
  static override args = { label: args.label };
  static override flags = { ...queryFlags(labelHostsApi.hosts), ...teamFlag, ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> Loaners --status online"];

  async run() {
    const { args, flags } = await this.parse(LabelsHosts);
    const { id } = await this.label(args.label);
    const query = queryOf(labelHostsApi.hosts, flags, await this.teamFilter(flags.team));
    const view = hostView(this.relativeTimes, this.io.now());
    const hosts = pagesWithFields(printedFields(this, view), (part) =>
      this.pages(labelHostsApi.hosts, { params: { id }, query: { ...query, ...part } }, "hosts"),
    );
    await this.printList(hosts, view);
  }
}
