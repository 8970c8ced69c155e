import { BaseCommand } from "../cli/base-command.ts";

export default class Version extends BaseCommand {
  static override summary = "Print the version of this program; `svc status` shows the server's.";
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(Version);
    const { version, arch, platform } = this.config;
    if (this.structured) await this.printOne({ version, platform, arch, node: process.version });
    else this.log(this.config.userAgent);
  }
}
