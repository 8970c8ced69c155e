import { titleIconsApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../../cli/download.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { ownIcon } from "../../../cli/topics/software/icons.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";

export default class SoftwareIconsDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the icon that a team has set for a software title.";
  static override endpoints = [titleIconsApi.get];
  static override args = { title: titleArg };
  static override flags = { ...packageTeamFlag, ...downloadFlags("icon") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 -o icon.png"];

  async run() {
    const { args, flags } = await this.parse(SoftwareIconsDownload);
    const client = await this.client();
    const query = await this.teamFilter(flags.team);
    const id = await titleNamed(client, args.title, offered(query.team_id ?? 0));
    const input = { params: { id }, query };
    return downloadFile(
      this,
      (headers, signal) => ownIcon(() => client.open(titleIconsApi.get, input, { headers, signal })),
      "the icon",
      flags,
    );
  }
}
