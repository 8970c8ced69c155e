import { hostsApi } from "../../api/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { hostView } from "../../cli/host-view.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsList extends ClientCommand {
  static override summary = "List hosts.";
  static override endpoints = [hostsApi.list];
  static override flags = { ...queryFlags(hostsApi.list), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --status online --order-key hostname",
    "<%= config.bin %> <%= command.id %> --query mac --all -o csv --fields id,hostname,primary_ip",
  ];

  async run() {
    const { flags } = await this.parse(HostsList);
    const query = queryOf(hostsApi.list, flags, await this.teamFilter(flags.team));
    const hosts = await this.rows(hostsApi.list, { query }, "hosts");
    await this.printList(hosts, hostView(this.relativeTimes, this.io.now()));
  }
}
