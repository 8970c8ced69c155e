import { appleTrustApi } from "../../api/devices/apple-trust.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class MdmApns extends ClientCommand {
  static override summary = "Show the push certificate, which device management of Apple devices needs.";
  static override endpoints = [appleTrustApi.get];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(MdmApns);
    await this.printOne(await this.call(appleTrustApi.get));
  }
}
