import { eulaApi } from "../../../api/devices/eula.ts";
import { DownloadCommand, downloadFlags } from "../../../cli/download-command.ts";

export default class MdmEulaDownload extends DownloadCommand {
  static override summary = "Download the license agreement.";
  static override endpoints = [eulaApi.metadata, eulaApi.download];
  static override flags = downloadFlags("the agreement's name");
  static override examples = ["<%= config.bin %> <%= command.id %> -o agreement.pdf"];

  async run() {
    const { flags } = await this.parse(MdmEulaDownload);
    const { token } = await this.call(eulaApi.metadata);
    const client = await this.client();
    return this.download(
      (headers, signal) => client.open(eulaApi.download, { params: { token } }, { headers, signal }),
      "the agreement",
      flags,
    );
  }
}
