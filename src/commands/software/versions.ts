import * as Flags from "@oclif/core/flags";
import { softwareApi } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { versionView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class SoftwareVersions extends ClientCommand {
  static override summary = "List software versions, and how many hosts have them.";
  static override endpoints = [softwareApi.versions, softwareApi.count];
  static override flags = {
    ...queryFlags(softwareApi.versions),
    count: Flags.boolean({ summary: "Print only how many there are." }),
    ...teamFlag,
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --query firefox",
    "<%= config.bin %> <%= command.id %> --team Workstations --vulnerable --count",
  ];

  async run() {
    const { flags } = await this.parse(SoftwareVersions);
    const team = await this.teamFilter(flags.team);
    if (flags.count) {
      const { count } = await this.call(softwareApi.count, { query: queryOf(softwareApi.count, flags, team) });
      await this.printOne({ count }, { columns: [{ key: "count", header: "versions" }] });
      if (count === 0) await noteMissingData(this);
      return;
    }
    const query = queryOf(softwareApi.versions, flags, team);
    await this.printList(this.pages(softwareApi.versions, { query }, "software"), versionView);
    await noteMissingData(this);
  }
}
