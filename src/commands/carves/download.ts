import { carvesApi } from "../../api/checks/carves.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../cli/download.ts";
import { args, connectionFlags, generalFlags } from "../../cli/flags.ts";

export default class CarvesDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the archive of a carve: a tar file, or one compressed with Zstandard (.tar.zst).";
  static override description =
    "If the file exists and is the beginning of this archive, the download continues where it ends. Lost " +
    "connections are resumed. The paths in the archive are those of temporary copies on the host.";
  static override endpoints = [carvesApi.download];
  static override args = { id: args.required("id of the carve") };
  static override flags = downloadFlags("the carve's name");
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 -o logs.tar",
    "<%= config.bin %> <%= command.id %> 1 -o -",
  ];

  async run() {
    const { args, flags } = await this.parse(CarvesDownload);
    await this.requireToken();
    const client = await this.client();
    return downloadFile(
      this,
      (headers, signal) => client.open(carvesApi.download, { params: { id: args.id } }, { headers, signal }),
      "the archive",
      flags,
    );
  }
}
