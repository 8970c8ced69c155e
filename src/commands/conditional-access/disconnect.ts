import { conditionalAccessApi } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class ConditionalAccessDisconnect extends ClientCommand {
  static override summary = "Remove the connection with the directory. The credentials of its app stay.";
  static override destructive = true;
  static override endpoints = [conditionalAccessApi.disconnect];
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(ConditionalAccessDisconnect);
    if (flags["dry-run"]) this.trying("remove the connection with the directory", {});
    await this.confirm("Remove the connection with the directory?");
    await this.call(conditionalAccessApi.disconnect);
    await this.report("removed the connection with the directory", { deleted: true });
  }
}
