import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, labelFlag, limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { pagesWithFields, printedFields } from "../../cli/topics/hosts/printed-fields.ts";
import { hostView } from "../../cli/topics/hosts/view.ts";

const { vulnerability: _, ...filterFlags } = queryFlags(hostsApi.list);

export default class VulnerabilitiesHosts extends ClientCommand {
  static override summary = "List the hosts that a vulnerability affects.";
  static override description =
    "By their software or by their operating system. Takes the filters of `svc hosts list`.";
  static override endpoints = [hostsApi.list];
  static override args = { cve: args.required("id of the CVE, such as CVE-2026-0001") };
  static override flags = { ...filterFlags, ...teamFlag, ...labelFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> CVE-2026-0001",
    "<%= config.bin %> <%= command.id %> CVE-2026-0001 --team Workstations --status online -o csv",
  ];

  async run() {
    const { args, flags } = await this.parse(VulnerabilitiesHosts);
    const query = { ...queryOf(hostsApi.list, flags, await this.hostFilter(flags)), vulnerability: args.cve };
    const view = hostView(this.relativeTimes, this.io.now());
    const hosts = pagesWithFields(printedFields(this, view), (part) =>
      this.pages(hostsApi.list, { query: { ...query, ...part } }, "hosts"),
    );
    await this.printList(hosts, view);
  }
}
