import { bootstrapApi } from "../../../api/devices/bootstrap.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../../cli/download.ts";
import { connectionFlags, generalFlags, teamFlag } from "../../../cli/flags.ts";

export default class MdmBootstrapDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the bootstrap package of a team, or of hosts without one.";
  static override description =
    "If the file exists and is the beginning of this package, the download continues where it ends. Lost connections " +
    "are resumed.";
  static override endpoints = [bootstrapApi.metadata, bootstrapApi.download];
  static override flags = { ...teamFlag, ...downloadFlags("the package's name") };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations -o setup.pkg"];

  async run() {
    const { flags } = await this.parse(MdmBootstrapDownload);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const { token } = await this.call(bootstrapApi.metadata, { params: { team_id } });
    const client = await this.client();
    return downloadFile(
      this,
      (headers, signal) => client.open(bootstrapApi.download, { query: { token } }, { headers, signal }),
      "the package",
      flags,
    );
  }
}
