import { osVersionsApi } from "../../api/software/os-versions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { osVersionView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class OsVersionsList extends ClientCommand {
  static override summary = "List operating system versions, and how many hosts run them.";
  static override endpoints = [osVersionsApi.list];
  static override flags = { ...queryFlags(osVersionsApi.list), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --platform linux",
    "<%= config.bin %> <%= command.id %> --team Workstations -o csv",
  ];

  async run() {
    const { flags } = await this.parse(OsVersionsList);
    const query = queryOf(osVersionsApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(osVersionsApi.list, { query }, "os_versions"), osVersionView);
    await noteMissingData(this);
  }
}
