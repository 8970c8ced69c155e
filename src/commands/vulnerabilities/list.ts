import { vulnerabilitiesApi } from "../../api/software/vulnerabilities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { vulnerabilityView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class VulnerabilitiesList extends ClientCommand {
  static override summary = "List vulnerabilities, and how many hosts they affect.";
  static override description =
    "Lists the CVEs that affect software or operating systems of hosts that you may see, those found last first. " +
    "Scores, publication dates and known exploits are premium.";
  static override endpoints = [vulnerabilitiesApi.list];
  static override flags = { ...queryFlags(vulnerabilitiesApi.list), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --order-key hosts_count --order-direction desc",
    "<%= config.bin %> <%= command.id %> --team Workstations --exploit -o csv",
    "<%= config.bin %> <%= command.id %> --query CVE-2026",
  ];

  async run() {
    const { flags } = await this.parse(VulnerabilitiesList);
    const query = queryOf(vulnerabilitiesApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(vulnerabilitiesApi.list, { query }, "vulnerabilities"), vulnerabilityView);
    await noteMissingData(this);
  }
}
