import { hostsApi } from "../../api/inventory/hosts.ts";
import { HostSoftwareItem } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { cvesIn } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class HostsSoftware extends ClientCommand {
  static override summary = "List the software on a host.";
  static override endpoints = [hostsApi.software];
  static override args = { host: args.host };
  static override flags = { ...queryFlags(hostsApi.software), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --query firefox"];

  async run() {
    const { args, flags } = await this.parse(HostsSoftware);
    const { id } = await this.host(args.host);
    const query = queryOf(hostsApi.software, flags);
    const software = this.pages(hostsApi.software, { params: { id }, query }, "software");
    await this.printList(software, {
      schema: () => HostSoftwareItem,
      columns: [
        { key: "id" },
        { key: "name" },
        { key: "installed_versions.version", header: "version" },
        { key: "status" },
        { key: "source" },
        {
          key: "installed_versions.vulnerabilities",
          header: "vulnerabilities",
          text: cvesIn,
        },
      ],
    });
    await noteMissingData(this);
  }
}
