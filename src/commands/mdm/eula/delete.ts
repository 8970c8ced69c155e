import { eulaApi } from "../../../api/devices/eula.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmEulaDelete extends ClientCommand {
  static override summary = "Delete the license agreement.";
  static override destructive = true;
  static override endpoints = [eulaApi.metadata, eulaApi.delete];
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(MdmEulaDelete);
    const { token, name } = await this.call(eulaApi.metadata);
    if (flags["dry-run"]) this.trying("delete the license agreement", { name });
    await this.confirm("Delete the license agreement?");
    await this.call(eulaApi.delete, { params: { token } });
    await this.report("deleted the license agreement", { name, deleted: true });
  }
}
