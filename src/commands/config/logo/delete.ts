import { logoApi } from "../../../api/settings/logo.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { logoFlags } from "../../../cli/topics/config/logo.ts";

export default class ConfigLogoDelete extends ClientCommand {
  static override summary = "Remove the organization's logo.";
  static override destructive = true;
  static override endpoints = [logoApi.delete];
  static override flags = { ...yesFlag, ...dryRunFlag, ...logoFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(ConfigLogoDelete);
    const { mode } = flags;
    if (flags["dry-run"]) this.trying("remove the organization's logo", { mode });
    await this.confirm("Remove the organization's logo?");
    await this.call(logoApi.delete, { query: { mode } });
    await this.report("removed the organization's logo", { mode, deleted: true });
  }
}
