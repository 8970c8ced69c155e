import { labelHostsApi } from "../../api/inventory/label-hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
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
    const hosts = this.pages(labelHostsApi.hosts, { params: { id }, query }, "hosts");
    await this.printList(hosts, hostView(this.relativeTimes, this.io.now()));
  }
}
