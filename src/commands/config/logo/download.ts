import { Flags } from "@oclif/core";
import { logoApi, logoModes } from "../../../api/settings/logo.ts";
import { DownloadCommand, downloadFlags } from "../../../cli/download-command.ts";

export default class ConfigLogoDownload extends DownloadCommand {
  static override summary = "Download the organization's logo that was uploaded.";
  static override endpoints = [logoApi.get];
  static override flags = {
    ...downloadFlags("logo"),
    mode: Flags.option({ options: logoModes })({ summary: "Which one.", default: "light" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> -o logo.png"];

  async run() {
    const { flags } = await this.parse(ConfigLogoDownload);
    const client = await this.client();
    const query = { mode: flags.mode };
    return this.download(
      (headers, signal) => client.open(logoApi.get, { query }, { headers, signal }),
      "the logo",
      flags,
    );
  }
}
