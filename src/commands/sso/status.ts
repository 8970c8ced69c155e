import { SsoInfo, ssoApi } from "../../api/accounts/sso.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class SsoStatus extends ClientCommand {
  static override summary = "Show whether single sign-on is turned on.";
  static override endpoints = [ssoApi.settings];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(SsoStatus);
    const { settings } = await this.call(ssoApi.settings);
    await this.printOne(settings, { schema: () => SsoInfo });
  }
}
