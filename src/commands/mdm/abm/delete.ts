import { abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmAbmDelete extends ClientCommand {
  static override summary = "Delete a token. Hosts that have not enrolled yet are deleted with it.";
  static override destructive = true;
  static override endpoints = [abmApi.delete];
  static override args = { token: args.required("id of the token") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args, flags } = await this.parse(MdmAbmDelete);
    const what = `token ${args.token} of the business portal`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id: args.token });
    await this.confirm(`Delete ${what}?`);
    await this.call(abmApi.delete, { params: { id: args.token } });
    await this.report(`deleted ${what}`, { id: args.token, deleted: true });
  }
}
