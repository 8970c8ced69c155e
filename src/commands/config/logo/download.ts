import { Flags } from "@oclif/core";
import { logoApi, logoModes } from "../../../api/settings/logo.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../../cli/download.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";

export default class ConfigLogoDownload extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
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
    return downloadFile(
      this,
      (headers, signal) => client.open(logoApi.get, { query }, { headers, signal }),
      "the logo",
      flags,
    );
  }
}
