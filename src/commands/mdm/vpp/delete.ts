import { vppApi } from "../../../api/delivery/vpp.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmVppDelete extends ClientCommand {
  static override summary = "Delete a token of the license program. Teams no longer offer the apps that it licenses.";
  static override destructive = true;
  static override endpoints = [vppApi.delete, vppApi.deleteFirst];
  static override args = { token: args.optional("id of the token; not needed if there is only one") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --yes",
    "<%= config.bin %> <%= command.id %> --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmVppDelete);
    const what = `${args.token === undefined ? "the only token" : `token ${args.token}`} of the license program`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id: args.token });
    await this.confirm(`Delete ${what}?`);
    if (args.token === undefined) await this.call(vppApi.deleteFirst);
    else await this.call(vppApi.delete, { params: { id: args.token } });
    await this.report(`deleted ${what}`, { id: args.token ?? null, deleted: true });
  }
}
