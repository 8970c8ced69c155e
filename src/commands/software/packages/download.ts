import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../../cli/download.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";

export default class SoftwarePackagesDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the package of a software title.";
  static override description =
    "If the file exists and is the beginning of this package, the download continues where it ends. Lost connections " +
    "are resumed.";
  static override endpoints = [packagesApi.download];
  static override args = { title: titleArg };
  static override flags = { ...packageTeamFlag, ...downloadFlags("the package's name") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --team Workstations -o copy.sh"];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesDownload);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const client = await this.client();
    const request = { params: { id }, query: { team_id, alt: "media" } } as const;
    return downloadFile(
      this,
      (headers, signal) => client.open(packagesApi.download, request, { headers, signal }),
      "the package",
      flags,
    );
  }
}
