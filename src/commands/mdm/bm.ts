import { abmApi } from "../../api/devices/abm.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class MdmBm extends ClientCommand {
  static override summary = "Show the organization in the business portal, by its oldest token.";
  static override endpoints = [abmApi.businessManager];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(MdmBm);
    await this.printOne(await this.call(abmApi.businessManager));
  }
}
