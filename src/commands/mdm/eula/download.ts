import { eulaApi } from "../../../api/devices/eula.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../../cli/download.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";

export default class MdmEulaDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the license agreement.";
  static override endpoints = [eulaApi.metadata, eulaApi.download];
  static override flags = downloadFlags("the agreement's name");
  static override examples = ["<%= config.bin %> <%= command.id %> -o agreement.pdf"];

  async run() {
    const { flags } = await this.parse(MdmEulaDownload);
    const { token } = await this.call(eulaApi.metadata);
    const client = await this.client();
    return downloadFile(
      this,
      (headers, signal) => client.open(eulaApi.download, { params: { token } }, { headers, signal }),
      "the agreement",
      flags,
    );
  }
}
