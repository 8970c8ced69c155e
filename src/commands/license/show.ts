import { appConfigApi } from "../../api/settings/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { hasExpired } from "../../cli/topics/license.ts";

export default class LicenseShow extends ClientCommand {
  static override summary = "Show the server's license.";
  static override endpoints = [appConfigApi.get];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(LicenseShow);
    const { license } = await this.call(appConfigApi.get);
    const expired = hasExpired(license, this.io.now());
    await this.printOne({ ...license, expired });
    if (expired)
      this.warn(
        `the license expired on ${license.expiration.slice(0, 10)}: premium settings and objects can be read, but not changed`,
      );
  }
}
