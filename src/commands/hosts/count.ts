import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { labelFlag, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { noteMissingDataFor } from "../../cli/topics/vulnerabilities/no-data.ts";

const listOnly = [
  "order_key",
  "order_direction",
  "after",
  "populate_software",
  "populate_users",
  "populate_labels",
  "populate_policies",
  "device_mapping",
  "additional_info_filters",
  "disable_failing_policies",
  "disable_issues",
];

export default class HostsCount extends ClientCommand {
  static override summary = "Count hosts.";
  static override endpoints = [hostsApi.count];
  static override flags = { ...queryFlags(hostsApi.count, listOnly), ...teamFlag, ...labelFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --status offline",
    "<%= config.bin %> <%= command.id %> --where 'team = none and seen > 1d'",
  ];

  async run() {
    const { flags } = await this.parse(HostsCount);
    const query = queryOf(hostsApi.count, flags, await this.hostFilter(flags));
    const reply = await this.call(hostsApi.count, { query });
    if (this.structured) await this.printOne(reply, { schema: () => hostsApi.count.response });
    else this.log([reply.count, reply.digest].filter((part) => part !== undefined).join(" "));
    await noteMissingDataFor(this, flags.where);
  }
}
