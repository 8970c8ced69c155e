import { conditionalAccessApi } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class ConditionalAccessConfirm extends ClientCommand {
  static override summary = "Complete the connection with the directory, when its administrator has given consent.";
  static override endpoints = [conditionalAccessApi.confirm];
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(ConditionalAccessConfirm);
    if (flags["dry-run"]) this.trying("ask the directory whether consent was given", {});
    const reply = await this.call(conditionalAccessApi.confirm);
    const text = reply.configuration_completed
      ? "the directory is connected"
      : "the directory's administrator has not given consent yet";
    await this.report(text, reply);
  }
}
