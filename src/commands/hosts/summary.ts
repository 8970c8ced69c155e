import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsSummary extends ClientCommand {
  static override summary = "Count hosts by status and platform.";
  static override endpoints = [hostsApi.summary];
  static override flags = { ...queryFlags(hostsApi.summary), ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(HostsSummary);
    const query = queryOf(hostsApi.summary, flags, await this.teamFilter(flags.team));
    const reply = await this.call(hostsApi.summary, { query });
    const schema = () => hostsApi.summary.response;
    if (this.structured || flags.fields !== undefined) return this.printOne(reply, { schema });
    await this.printOne({
      hosts: reply.totals_hosts_count,
      online: reply.online_count,
      offline: reply.offline_count,
      "missing for 30 days": reply.missing_30_days_count,
      new: reply.new_count,
      ...(reply.low_disk_space_count === undefined ? {} : { "low on disk space": reply.low_disk_space_count }),
      ...Object.fromEntries(reply.platforms.map(({ platform, hosts_count }) => [platform || "(unknown)", hosts_count])),
    });
  }
}
