import { SoftwareVersion, softwareApi } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { versionView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class SoftwareVersionGet extends ClientCommand {
  static override summary = "Show a software version.";
  static override endpoints = [softwareApi.version];
  static override args = { id: args.required("id of the version") };
  static override flags = { ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args, flags } = await this.parse(SoftwareVersionGet);
    const query = await this.teamFilter(flags.team);
    const reply = await this.call(softwareApi.version, { params: { id: args.id }, query });
    await this.printOne(reply.software, {
      schema: () => SoftwareVersion,
      columns: [
        ...versionView.columns,
        { key: "vendor" },
        { key: "release" },
        { key: "arch" },
        { key: "title_id", header: "title id" },
      ],
    });
    await noteMissingData(this, reply);
  }
}
