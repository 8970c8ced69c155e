import { softwareApi } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { titleView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class SoftwareList extends ClientCommand {
  static override summary = "List software titles, and how many hosts have them.";
  static override description =
    "Lists the titles on hosts that you may see, those on most hosts first. Counts follow the hosts within seconds.";
  static override endpoints = [softwareApi.titles];
  static override flags = { ...queryFlags(softwareApi.titles), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --query firefox",
    "<%= config.bin %> <%= command.id %> --team Workstations --order-key name -o csv",
    "<%= config.bin %> <%= command.id %> --vulnerable",
  ];

  async run() {
    const { flags } = await this.parse(SoftwareList);
    const query = queryOf(softwareApi.titles, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(softwareApi.titles, { query }, "software_titles"), titleView);
    await noteMissingData(this);
  }
}
