import { SoftwareTitleDetails, softwareApi } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { teamFlag } from "../../cli/flags.ts";
import { titleArg, titleNamed } from "../../cli/topics/software/titles.ts";
import { titleColumns } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class SoftwareGet extends ClientCommand {
  static override summary = "Show a software title with its versions.";
  static override endpoints = [softwareApi.title];
  static override args = { title: titleArg };
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1",
    "<%= config.bin %> <%= command.id %> 1 -o json --jq '.versions[] | {version, hosts_count}'",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwareGet);
    const query = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, query);
    const reply = await this.call(softwareApi.title, { params: { id }, query });
    const title = reply.software_title;
    await this.printOne(title, {
      schema: () => SoftwareTitleDetails,
      columns: [
        ...titleColumns,
        { key: "bundle_identifier", header: "bundle identifier" },
        {
          key: "versions",
          header: "on hosts",
          text: () => title.versions.map(({ version, hosts_count }) => `${version} (${hosts_count})`).join(", "),
        },
        { key: "counts_updated_at", header: "counted at" },
      ],
    });
    await noteMissingData(this, reply);
  }
}
