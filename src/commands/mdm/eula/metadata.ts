import { Eula, eulaApi } from "../../../api/devices/eula.ts";
import { ClientCommand } from "../../../cli/client-command.ts";

export default class MdmEulaMetadata extends ClientCommand {
  static override summary = "Show the license agreement's name, digest, and token.";
  static override endpoints = [eulaApi.metadata];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(MdmEulaMetadata);
    await this.printOne(await this.call(eulaApi.metadata), { schema: () => Eula });
  }
}
